/* SPDX-License-Identifier: MIT
 * Traces: where events come from and where they go.
 *
 * Data's way: bytes (input.h) → importer (a file a format) → builder (names pages, coalesces runs) →
 * source → items.  The .rft reader is a source without a builder: ids are on disk.  Whoever takes
 * items (a replay, a writer) sees the same stream whatever the format was.
 *
 * A page is named by (space, vpn): space is an address space, numbered from 0 in the order of the
 * task and exec events that open them; vpn counts granules of the trace (normally 4 KiB).  The
 * stream gives every page a dense id, in order of first access; an item RF_ITEM_PAGES tells the
 * names of new ids before their first use.
 */
#ifndef RF_TRACE_H
#define RF_TRACE_H

#include <glib.h>
#include <stdint.h>
#include <stdio.h>

#define RF_GRANULE_SHIFT 12 /* the usual granule, 4 KiB */

/* ORDER type: bits 0..1 of rf_runs.type, the letters in text.c, totals.accesses. */
enum rf_access { RF_READ, RF_WRITE, RF_EXEC, RF_NACCESS };
#define RF_TYPE_MASK 3
#define RF_RUN_CONT 4 /* this page belongs to the access that began on the page before */

/* Runs of accesses to one page by one task: columns. */
struct rf_runs {
	uint32_t n;
	uint32_t tid;
	const uint32_t *page;  /* dense id */
	const uint8_t *type;   /* enum rf_access | RF_RUN_CONT */
	const uint32_t *count; /* accesses in the run, >= 1 */
};

struct rf_page_name {
	uint32_t space;
	uint64_t vpn;
};

/* ORDER event kinds: names in event.c, payloads in rft-event.c. */
enum rf_event_kind {
	RF_EV_FILE,     /* id name len(size) */
	RF_EV_CGROUP,   /* name(path) text("memory.max=… …") */
	RF_EV_TASK,     /* tid; parent + has_parent; name(cgroup path or NULL); thread; space */
	RF_EV_EXEC,     /* tid; space: the new one */
	RF_EV_EXIT,     /* tid */
	RF_EV_MMAP,     /* tid addr len prot mkind id off shared locked name */
	RF_EV_MUNMAP,   /* tid addr len */
	RF_EV_MREMAP,   /* tid addr len addr2 len2 */
	RF_EV_MPROTECT, /* tid addr len prot */
	RF_EV_MADVISE,  /* tid addr len advice */
	RF_EV_MLOCK,    /* tid addr len */
	RF_EV_MUNLOCK,  /* tid addr len */
	RF_EV_VRANGE,   /* tid addr len flag(1 = volatile) */
	RF_EV_REFPAGE,  /* id len(size) */
	RF_EV_READ,     /* tid id off len: read(2) */
	RF_EV_WRITE,    /* tid id off len: write(2) */
	RF_EV_FSYNC,    /* tid id */
	RF_EV_HUGETLB,  /* len */
	RF_EV_MEMORY,   /* flag(1 = online) len */
	RF_EV_THINK,    /* tid len(ns) */
	RF_EV_AT,       /* len(ns) */
	RF_EV_MARK,     /* name */
	RF_EV_LOST,     /* len(events) */
	RF_NEVENTS
};

enum rf_prot { RF_PROT_R = 1, RF_PROT_W = 2, RF_PROT_X = 4 };
enum rf_mkind { RF_MAP_ANON, RF_MAP_FILE, RF_MAP_SHMEM, RF_MAP_REFPAGE };
/* ORDER advice: names in event.c. */
enum rf_advice {
	RF_ADV_NORMAL, RF_ADV_RANDOM, RF_ADV_SEQUENTIAL, RF_ADV_WILLNEED, RF_ADV_DONTNEED, RF_ADV_FREE,
	RF_ADV_COLD, RF_ADV_PAGEOUT, RF_ADV_HUGEPAGE, RF_ADV_NOHUGEPAGE, RF_NADVICE
};

/* One event; members that a kind does not use are 0 or NULL.  Strings belong to whoever made the
 * event and live until the source's next call. */
struct rf_event {
	enum rf_event_kind kind;
	uint32_t tid, parent, id, space;
	uint64_t addr, len, addr2, len2, off;
	uint8_t prot, mkind, advice;
	uint8_t flag, shared, locked, thread, has_parent;
	uint8_t implied; /* a task that the input did not declare: not kept in a .rft */
	const char *name, *text;
};

const char *rf_event_kind_name(enum rf_event_kind kind); /* "mmap" */
const char *rf_advice_name(enum rf_advice advice);

enum rf_item_kind { RF_ITEM_RUNS, RF_ITEM_EVENT, RF_ITEM_PAGES, RF_ITEM_END };

struct rf_item {
	enum rf_item_kind kind;
	uint64_t record; /* number of the first run or event in the trace, from 0, for messages */
	union {
		struct rf_runs runs;
		struct rf_event event;
		struct {
			uint32_t first, n;
			const struct rf_page_name *name;
		} pages;
	};
};

/* Sums over a trace.  Every report carries them. */
struct rf_totals {
	uint64_t accesses[RF_NACCESS]; /* a straddling access counts once */
	uint64_t runs, events, lost;
	uint64_t pages;           /* dense ids */
	uint64_t footprint[3];    /* distinct pages at 4, 16, 64 KiB, those of read(2) and write(2)
	                             included; 0 where the granule is larger */
	uint64_t digest;          /* of the item stream: independent of container and compression */
};

/* The header: key=value in the order given.  Known keys: page-size clock recorder program command
 * window-pages window-instructions source cannot-know. */
struct rf_header {
	unsigned granule_shift;
	GPtrArray *keys, *values; /* char *, parallel */
};
const char *rf_header_get(const struct rf_header *h, const char *key); /* or NULL */
void rf_header_set(struct rf_header *h, const char *key, const char *value);
void rf_header_copy(struct rf_header *to, const struct rf_header *from);
void rf_header_clear(struct rf_header *h);

struct rf_source;

struct rf_source_options {
	const char *format; /* importer's name, or NULL: sniff */
	const char *maps;   /* companion file with mappings, or NULL */
	gboolean strict;    /* refuse what the text contract calls an error in strict mode */
	gboolean no_kernel_accesses; /* importers: leave out what the kernel itself touched in user
	                                memory for a system call */
	const char *const *params; /* of a scenario, "NAME=VALUE", NULL-terminated; or NULL */
};

/* Open a trace: "-" is standard input.  Compression (zstd, gzip) and format come from the content.
 * options may be NULL. */
struct rf_source *rf_source_open(const char *path, const struct rf_source_options *options,
                                 GError **error);
/* A text trace held in memory, for tests and tutorials.  name stands for the file in messages; a
 * broken header is an error of the first rf_source_next. */
struct rf_source *rf_source_from_text(const char *name, const char *text, gssize len);
void rf_source_close(struct rf_source *s);

/* The next item.  FALSE on error; RF_ITEM_END (again and again) after the last.  Pointers in the
 * item live until the next call. */
gboolean rf_source_next(struct rf_source *s, struct rf_item *item, GError **error);

/* Before the first item: compute totals, footprint and digest included, from the items, and compare
 * them at the end with what the trace says of itself.  Otherwise a .rft's checksums must do. */
void rf_source_verify(struct rf_source *s);

/* Before the first item: runs of other pages than those for which wants() says so may be left out,
 * where that saves work; everything else, names, events and totals, stays.  wants() is asked once for
 * each page, perhaps before its name is given.  A source that is verified can't be selected from. */
typedef gboolean (*rf_wants_page)(void *user, const struct rf_page_name *name);
void rf_source_select(struct rf_source *s, rf_wants_page wants, void *user);

const char *rf_source_path(const struct rf_source *s);
const char *rf_source_format(const struct rf_source *s); /* "rft", "text", "lackey", … */
const struct rf_header *rf_source_header(const struct rf_source *s);
/* Totals of the whole trace, from the footer of a seekable .rft; NULL when not known ahead. */
const struct rf_totals *rf_source_totals_ahead(const struct rf_source *s);
/* Totals of what has been read: complete after RF_ITEM_END. */
const struct rf_totals *rf_source_totals(const struct rf_source *s);
/* Share read, 0..1, or -1 when the size is not known (a pipe). */
double rf_source_progress(const struct rf_source *s);

/* Records that an importer skipped, by reason: FALSE when there is no nth reason.  Complete after
 * RF_ITEM_END. */
gboolean rf_source_skipped(const struct rf_source *s, guint nth, const char **reason, uint64_t *n);

/* A source whose totals are known ahead and whose frames can be read backwards: s itself when it
 * is a seekable .rft, else a temporary .rft made from it (s is then closed; the file is unlinked). */
struct rf_source *rf_source_spool(struct rf_source *s, GError **error);
/* From the start again.  Only for spooled or seekable sources. */
gboolean rf_source_rewind(struct rf_source *s, GError **error);
/* Random access to the run columns of a seekable .rft: frames in file order, for a backward pass.
 * Events and names of the frame are not decoded.  Columns live until the next call. */
uint32_t rf_source_frames(const struct rf_source *s);
gboolean rf_source_frame_runs(struct rf_source *s, uint32_t frame, struct rf_runs *runs, GError **error);

/* ---- the other direction ---- */

struct rf_sink;
/* A .rft; level is zstd's (0: the default).  The file is whole or absent. */
struct rf_sink *rf_sink_rft(const char *path, const struct rf_header *h, int level, GError **error);
/* The text form, version 1. */
struct rf_sink *rf_sink_text(const char *path, const struct rf_header *h, GError **error);
/* ids in runs must follow the pages items given before them. */
gboolean rf_sink_put(struct rf_sink *s, const struct rf_item *item, GError **error);
/* Before the first item: all those of s will be put, and no others.  The totals are then taken from s,
 * which must live until the commit, rather than computed twice. */
void rf_sink_copies(struct rf_sink *sink, const struct rf_source *s);
/* Write footer, flush, rename; frees the sink also on error (nothing is left then). */
gboolean rf_sink_commit(struct rf_sink *s, GError **error);
void rf_sink_abort(struct rf_sink *s);

#endif
