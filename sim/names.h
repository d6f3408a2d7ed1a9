/* SPDX-License-Identifier: MIT
 * Pages that are nothing but names: what the ideal machine of --frames, and the look into the
 * future that belady needs, make of a trace's page names and events.  Every (address space, page
 * number) is a page of its own, and every (file, page number) that read(2) and write(2) touch.  A
 * page keeps its index; the pages of one run are the same ones for everybody who follows the same
 * items.
 */
#ifndef RF_NAMES_H
#define RF_NAMES_H

#include "traces/trace.h"
#include "traces/vma.h"

#define RF_NAME_FILE (1u << 31) /* in rf_name.space: the rest numbers a file */
#define RF_NO_NAME UINT32_MAX

struct rf_name {
	uint64_t vpn;    /* in pages of the run */
	uint32_t space;
	uint32_t chain;  /* next page of the space */
};

struct rf_name_space {
	struct rf_vmas *vmas; /* NULL for a file */
	uint32_t pages, npages; /* chain */
	uint32_t users;       /* tasks alive */
	uint32_t resident, resident_max; /* for the ideal machine's use */
};

struct rf_name_task {
	uint32_t tid, space;
	gboolean exited;
	uint64_t accesses, faults; /* for the ideal machine's use */
};

struct rf_names {
	unsigned page_shift;
	struct rf_name *page;
	uint32_t npages, size;
	uint32_t *slot, mask;      /* hash of indices, RF_NO_NAME where free */
	uint32_t hashed;           /* pages below are in it */
	uint32_t *map;             /* ids of the trace to pages; NULL while each id is its own page */
	uint32_t nids, map_size;
	GArray *spaces, *files;    /* struct rf_name_space */
	GHashTable *file_by_id, *task_by_tid;
	GPtrArray *tasks;          /* struct rf_name_task, in order of their start */
};

/* Whoever follows: freed() for each page that is freed, touched or not, in memory or not;
 * used() for each page that a read or write event touches. */
struct rf_names_user {
	void (*freed)(void *self, uint32_t page);
	void (*used)(void *self, uint32_t page, const struct rf_event *ev);
	void *self;
};

void rf_names_init(struct rf_names *n, unsigned page_shift);
void rf_names_clear(struct rf_names *n);

/* Follow an item of kind pages or event; others change nothing. */
gboolean rf_names_item(struct rf_names *n, const struct rf_item *item,
                       const struct rf_names_user *user, GError **error);

struct rf_name_task *rf_names_task(struct rf_names *n, uint32_t tid); /* or NULL */
struct rf_name_space *rf_names_space(struct rf_names *n, uint32_t page);
/* The mapping that covers the page, or part of it, or NULL. */
const struct rf_vma *rf_names_vma(struct rf_names *n, uint32_t page);

#endif
