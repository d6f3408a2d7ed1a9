/* SPDX-License-Identifier: MIT
 * refault verify, from inside: what the verify-*.c files share.  Nobody else includes this.
 *
 * The trace is read three times: once to see whether it can be reproduced and where it fits (the
 * plan), once for the kernel, once for the model.  For the kernel a child process in a fresh memory
 * cgroup does what the trace says; its parent, outside, decodes and hands it small commands through
 * a ring of shared memory, so that neither the trace nor its decoder is charged to the cgroup.
 */
#ifndef RF_VERIFY_H
#define RF_VERIFY_H

#include <glib.h>
#include <stdint.h>
#include <sys/types.h>

#include "sim/config.h"
#include "sim/result.h"
#include "traces/trace.h"
#include "traces/vma.h"

#define RF_VERIFY_PAGE ((uint64_t)1 << RF_GRANULE_SHIFT)
#define RF_VERIFY_END (UINT64_MAX - 0xffff) /* no address of a trace from here on */
#define RF_VERIFY_PREFIX "refault-verify-"  /* of whatever we make that has a name */

/* ---- trace.c: a trace as what one process does ---- */

enum rf_vop_kind {
	RF_VOP_READ,
	RF_VOP_WRITE, /* touch a page */
	RF_VOP_MMAP,
	RF_VOP_MUNMAP,
	RF_VOP_MREMAP,
	RF_VOP_MPROTECT,
	RF_VOP_MADVISE,
	RF_VOP_MLOCK,
	RF_VOP_MUNLOCK,
	RF_VOP_FREAD,
	RF_VOP_FWRITE,
	RF_VOP_FSYNC,
	RF_VOP_SLEEP, /* len ns */
	RF_VOP_UNTIL, /* len ns after the start */
	RF_VOP_NEXT,  /* go on in the next slot of the ring */
	RF_VOP_END,
};

#define RF_VOP_NO_OBJECT UINT32_MAX

struct rf_vop {
	uint8_t kind, prot, shared, locked, advice;
	uint32_t count;  /* accesses or calls of the trace; 0: part of the one before */
	uint32_t object; /* index into the plan's objects, or RF_VOP_NO_OBJECT */
	uint64_t addr, len, addr2, len2, off; /* whole pages where they are of memory */
	uint64_t record;
};

/* A file, or a piece of shared memory. */
struct rf_vobject {
	uint32_t id;
	gboolean shmem;
	uint64_t size;  /* as large as the trace needs it */
	gboolean grown; /* larger than declared */
};

struct rf_vplan {
	uint32_t tid, space;
	gboolean task;        /* is there one? */
	GArray *objects;      /* struct rf_vobject */
	struct rf_vmas *used; /* all addresses that are ever mapped */
	uint64_t accesses, anon_pages, implicit, widened, left_out, sleep;
	int64_t offset; /* what the child adds to addresses; set by rf_vlayout_place */
};

typedef gboolean (*rf_vop_fn)(void *data, const struct rf_vop *op, GError **error);

/* Follows the items of a trace and says what the process must do. */
struct rf_vtrace;
struct rf_vtrace *rf_vtrace_new(struct rf_vplan *plan, gboolean planning, rf_vop_fn emit,
                                void *data);
void rf_vtrace_free(struct rf_vtrace *t);
/* RF_USAGE_ERROR for what one process in one cgroup can't reproduce. */
gboolean rf_vtrace_item(struct rf_vtrace *t, const struct rf_item *item, GError **error);

void rf_vplan_init(struct rf_vplan *p);
void rf_vplan_clear(struct rf_vplan *p);
/* Read the whole source. */
gboolean rf_vplan_make(struct rf_vplan *p, struct rf_source *source, GError **error);
uint32_t rf_vplan_object(const struct rf_vplan *p, uint32_t id,
                         gboolean shmem); /* or RF_VOP_NO_OBJECT */

/* ---- layout.c: where the trace's addresses go in the child ---- */

struct rf_vrange {
	uint64_t start, end;
};

struct rf_vlayout {
	GArray *taken;    /* struct rf_vrange: mappings of this process, sorted */
	GArray *files;    /* of them, private ones of files that can be read */
	GArray *writable; /* private ones that can be written to */
	uint64_t min, max;
	uint64_t own; /* room of RF_VERIFY_OWN_ROOM bytes away from everything else */
};

#define RF_VERIFY_OWN_ROOM ((uint64_t)64 << 20)

/* maps: text of /proc/self/maps. */
gboolean rf_vlayout_parse(struct rf_vlayout *l, const char *maps, uint64_t min, GError **error);
void rf_vlayout_clear(struct rf_vlayout *l);
/* An address that no mapping of the trace shares a page table with. */
uint64_t rf_vplan_own_address(const struct rf_vplan *plan);
/* Choose plan->offset and l->own: 0 where that is free; else a distance that keeps page tables
 * alike. */
gboolean rf_vlayout_place(struct rf_vlayout *l, struct rf_vplan *plan, GError **error);

/* ---- undo.c: what must be undone, also by the next run if this one is killed ---- */

struct rf_vundo;
/* Takes the lock (one verify at a time), undoes what a killed run left; *recovered says what, or is
 * NULL, and is the caller's.  dir NULL: /run/refault-verify. */
struct rf_vundo *rf_vundo_new(const char *dir, char **recovered, GError **error);
/* Undo everything, latest first, and let go of the lock.  FALSE: something is left, *error says
 * what. */
gboolean rf_vundo_free(struct rf_vundo *u, GError **error);
/* Note first, then do. */
gboolean rf_vundo_note_dir(struct rf_vundo *u, const char *path, GError **error); /* of files */
gboolean rf_vundo_note_cgroup(struct rf_vundo *u, const char *path, GError **error);
gboolean rf_vundo_note_swap(struct rf_vundo *u, const char *device, const char *uuid,
                            GError **error);
/* A device that has, or will have, this disksize.  remove: it was made for us. */
gboolean rf_vundo_note_zram(struct rf_vundo *u, const char *name, uint64_t disksize,
                            gboolean remove, GError **error);
/* Write value into a file of /proc or /sys; undo restores what was there, unless somebody else has
 * changed it since. */
gboolean rf_vundo_setting(struct rf_vundo *u, const char *path, const char *value, GError **error);
/* Undo the latest note now. */
gboolean rf_vundo_pop(struct rf_vundo *u, GError **error);
guint rf_vundo_depth(const struct rf_vundo *u);
int rf_vundo_lock_fd(const struct rf_vundo *u); /* a child must close it */

/* Files of /proc, /sys and cgroups: one value.  The read text is stripped. */
char *rf_vread(const char *dir, const char *file, GError **error);
/* A device's swap header names this uuid (32 hexadecimal digits). */
gboolean rf_vswap_is(const char *device, const char *uuid);
gboolean rf_vwrite(const char *dir, const char *file, const char *value, GError **error);

/* ---- cgroup.c ---- */

struct rf_vcgroup_where {
	enum rf_cgroup_version version;
	char *mount; /* where cgroups are made */
};
/* mounts: text of /proc/self/mounts.  has_memory tells whether a v2 mount has the controller. */
gboolean rf_vcgroup_find(const char *mounts, gboolean (*has_memory)(const char *mount),
                         struct rf_vcgroup_where *w, GError **error);
/* A fresh one with the limit set. */
char *rf_vcgroup_make(const struct rf_vcgroup_where *w, struct rf_vundo *u,
                      const struct rf_config *cfg, unsigned nth, GError **error);
/* "name value" lines: value of a name, or FALSE. */
gboolean rf_vstat_get(const char *text, const char *name, uint64_t *value);
/* OOM kills in the cgroup so far. */
uint64_t rf_vcgroup_oom_kills(const struct rf_vcgroup_where *w, const char *path);
/* Pages of process pid outside [from, to) that are charged to the cgroup.  FALSE: the kernel does
 * not tell (no /proc/kpagecgroup). */
gboolean rf_vcgroup_own_pages(const char *path, pid_t pid, const struct rf_vrange *except,
                              guint nexcept, uint64_t *pages);

/* Does a load from fresh anonymous memory map the shared zero page here?  Not where a hypervisor or
 * the hardware's keys forbid it. */
gboolean rf_vkernel_has_zero_page(void);

/* ---- swap.c ---- */

struct rf_vswap {
	uint64_t size; /* 0: none */
	int device;    /* enum rf_device_kind */
	char *name;    /* "zram0" */
	gboolean made;
};
/* want: "auto", "none" or "zram[:SIZE]". */
gboolean rf_vswap_set_up(struct rf_vswap *s, const char *want, const struct rf_vplan *plan,
                         struct rf_vundo *u, GError **error);
void rf_vswap_clear(struct rf_vswap *s);
/* Text of /proc/swaps: how many are active; the device of the first.  Caller frees. */
unsigned rf_vswap_active(const char *swaps, char **device, uint64_t *bytes);

/* ---- files.c ---- */

struct rf_vfiles {
	char *dir;
	char *ra_path; /* read_ahead_kb of its device, or NULL */
	guint n;
	int *fd; /* by object */
};
/* Make a directory below base for files with data, none of it cached. */
gboolean rf_vfiles_make(struct rf_vfiles *f, const char *base, const struct rf_vplan *plan,
                        struct rf_vundo *u, GError **error);
/* Drop what is cached, open every file anew with this read-ahead. */
gboolean rf_vfiles_open(struct rf_vfiles *f, const struct rf_vplan *plan, struct rf_vundo *u,
                        int64_t read_ahead_kb, GError **error);
void rf_vfiles_close(struct rf_vfiles *f);
void rf_vfiles_clear(struct rf_vfiles *f);

/* ---- ring.c: commands from the parent to the child ---- */

#define RF_VRING_SLOTS 8
#define RF_VRING_UNITS 4096 /* of 16 bytes, a slot */
#define RF_VRING_ROUNDS 4   /* of faults to make statistics fresh, at most */

struct rf_vunit {
	uint64_t addr;
	uint32_t count;
	uint8_t kind, prot, flags, advice;
};

/* Follows the unit of whatever is no touch. */
struct rf_vmore {
	uint64_t len, addr2, len2, off, record;
	uint32_t object, unused;
};

enum rf_vphase {
	RF_VPHASE_NEW,
	RF_VPHASE_PREPARED, /* the child's: before it is put into the cgroup */
	RF_VPHASE_ENTERED,  /* statistics are fresh */
	RF_VPHASE_OWN,      /* its own pages are touched */
	RF_VPHASE_DONE,
	RF_VPHASE_FAILED,
};

/* Shared by both; charged to the parent's cgroup because the parent touches it first. */
struct rf_vshared {
	uint32_t phase;         /* of the child */
	uint32_t go;            /* the last phase that the parent lets the child leave */
	uint32_t filled, taken; /* slots */
	uint32_t stale;         /* statistics could not be made fresh */
	uint64_t accesses;      /* done so far */
	uint64_t own_pages;     /* to touch */
	uint64_t nudged; /* page faults of our own the last time that statistics were made fresh */
	uint64_t ns;     /* time of the replay */
	uint64_t minflt, majflt,
		refused; /* refused: advice and the like that the kernel did not take */
	int32_t error;
	uint32_t failed_kind;
	uint64_t failed_addr, failed_len, failed_record;
	struct rf_vunit slot[RF_VRING_SLOTS][RF_VRING_UNITS];
	char buffer[256 << 10]; /* of read(2) and write(2) */
	char stat[64 << 10];    /* memory.stat as the child polls it */
};

struct rf_vring {
	struct rf_vshared *shared;
	char *nudge; /* pages to fault on, in two halves: before the replay and after it */
	size_t nudge_bytes;
	uint32_t at; /* next unit of the slot being filled */
};

struct rf_vring *rf_vring_new(guint ncpus, GError **error);
void rf_vring_free(struct rf_vring *r);
/* Waits while the ring is full; alive() is asked now and then, and FALSE with an error ends the
 * wait. */
typedef gboolean (*rf_valive_fn)(void *data, GError **error);
gboolean rf_vring_put(struct rf_vring *r, const struct rf_vop *op, rf_valive_fn alive, void *data,
                      GError **error);
/* The child's side: the slot to be read next, waited for; done with it; a unit as a command. */
const struct rf_vunit *rf_vring_slot(struct rf_vshared *s);
void rf_vring_took(struct rf_vshared *s);
void rf_vring_op(const struct rf_vunit *u, struct rf_vop *op);
static inline gboolean rf_vop_is_touch(unsigned kind)
{
	return kind <= RF_VOP_WRITE;
}
/* Units that a kind takes. */
static inline uint32_t rf_vop_units(unsigned kind)
{
	return rf_vop_is_touch(kind) || kind >= RF_VOP_NEXT
	               ? 1
	               : 1 + sizeof(struct rf_vmore) / sizeof(struct rf_vunit);
}
/* Sleep until *word is no longer value, or some milliseconds have passed. */
void rf_vwait(uint32_t *word, uint32_t value, unsigned ms);
void rf_vwake(uint32_t *word);

/* ---- child.c ---- */

struct rf_vchild {
	struct rf_vshared *shared;
	const struct rf_vlayout *layout;
	const struct rf_vfiles *files;
	int lock_fd, stat_fd; /* of memory.stat */
	uint32_t poll;        /* accesses between reads of it; 0: never */
	pid_t parent;
	int cpu;     /* to stay on, or -1 */
	char *nudge; /* of the ring */
	size_t nudge_bytes;
};
/* Never returns. */
void rf_vchild_main(const struct rf_vchild *c) G_GNUC_NORETURN;

/* ---- run.c: one run on the kernel ---- */

struct rf_vrun {
	char *stat, *stat0;     /* memory.stat at the end and the start */
	char *vmstat, *vmstat0; /* /proc/vmstat */
	uint64_t own_pages,
		stray_pages; /* the child's own in the cgroup, before the replay; added later */
	gboolean own_known, stale;
	uint64_t nudges;                  /* page faults of ours between the two, to be taken off */
	uint64_t swap, kernel, usage_max; /* bytes; not known: UINT64_MAX */
	uint64_t accesses, ns, refused;
	uint64_t oom_kills;
};
struct rf_vsetup {
	struct rf_config *cfg;
	struct rf_vplan *plan;
	struct rf_vcgroup_where where;
	struct rf_vfiles files;
	struct rf_vundo *undo;
	uint64_t own_pages;
	int64_t poll;
	gboolean quiet;
	unsigned nth;
};
gboolean rf_vrun_kernel(struct rf_vsetup *s, struct rf_source *source, struct rf_vrun *out,
                        GError **error);
void rf_vrun_clear(struct rf_vrun *r);
/* The same on the model, with own pages. */
gboolean rf_vrun_model(const struct rf_config *cfg, const struct rf_vplan *plan, uint64_t own_pages,
                       struct rf_source *source, gboolean quiet, struct rf_result *out,
                       GError **error);

/* ---- report.c ---- */

struct rf_vreport {
	const char *path;
	const struct rf_config *cfg;
	const struct rf_vplan *plan;
	const struct rf_vswap *swap;
	const struct rf_vcgroup_where *where;
	const char *release;
	GPtrArray *notes;   /* char * */
	const GArray *runs; /* struct rf_vrun */
	const struct rf_result *model;
	int64_t poll;
};
void rf_vreport_normal(GString *out, const struct rf_vreport *r);
void rf_vreport_csv(GString *out, const struct rf_vreport *r);
/* Model against the mean of the runs, as a share of it; FALSE where there is none. */
gboolean rf_vreport_error(const struct rf_vreport *r, const char *counter, double *error);

#endif
