/* SPDX-License-Identifier: MIT
 * What the recorders of traces/record/ write (wire.h): blocks of several processes, one behind the
 * other.
 */
#include "traces/import/recording.h"

#include <string.h>

#include "base/error.h"
#include "traces/event.h"
#include "traces/import/process.h"
#include "traces/record/calls.h"
#include "traces/record/wire.h"

#define CANNOT                                                                                     \
	"time other than in instructions; the order of processes that ran at once, but for what "  \
	"system calls make of it"

/* A store of the kernel that waits for its system call: the call comes first in the trace. */
struct held {
	uint32_t tid;
	uint64_t addr, len;
};

struct process {
	uint32_t pid, seq; /* of the next block */
	struct rf_process *process;
	GHashTable *threads; /* the recorder's number → task */
	GHashTable *forks;   /* serial → struct process whose first block was not seen yet */
	uint32_t tid;        /* who runs */
	uint64_t page[3];    /* the last one of each type, shifted to an address */
	uint64_t owed[3];    /* accesses to pages that are not told, to be counted */
	gboolean code;       /* was a page of code told? */
	char *left;          /* the program that it execs, not recorded, unless more comes; or NULL */
	gboolean window, kernel_told;
	unsigned arch;
};

struct recording {
	struct rf_input *in;
	struct rf_builder *b;
	gboolean kernel_accesses, strict, any, header;
	GHashTable *processes; /* pid → struct process; living ones */
	GPtrArray *order;      /* the same, as they began */
	uint32_t tids;         /* given out */
	GArray *held;
};

/* The records of a block while it is read. */
struct cursor {
	const uint8_t *p, *start, *end;
	const char *wrong; /* what, or NULL */
};

static void process_free(gpointer data)
{
	struct process *p = data;

	rf_process_free(p->process);
	g_hash_table_destroy(p->threads);
	g_hash_table_destroy(p->forks);
	g_free(p->left);
	g_free(p);
}

static struct process *process_new(struct rf_process *process)
{
	struct process *p = g_new0(struct process, 1);

	p->process = process;
	p->threads = g_hash_table_new(NULL, NULL);
	p->forks = g_hash_table_new_full(NULL, NULL, NULL, process_free);
	return p;
}

/* ---- members ---- */

static uint64_t varint(struct cursor *c)
{
	uint64_t v = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t bits;

		if (c->p == c->end)
			break;
		bits = *c->p & 127;
		if (shift == 63 && bits > 1)
			break;
		v |= bits << shift;
		if (!(*c->p++ & 128))
			return v;
	}
	c->wrong = "a number that does not end, or of more than 64 bits";
	return 0;
}

static uint64_t below(struct cursor *c, uint64_t limit, const char *wrong)
{
	uint64_t v = varint(c);

	if (!c->wrong && v >= limit)
		c->wrong = wrong;
	return c->wrong ? 0 : v;
}

static uint32_t number32(struct cursor *c)
{
	return (uint32_t)below(c, UINT32_MAX, "a number of more than 32 bits");
}

/* Caller frees; never NULL. */
static char *string(struct cursor *c)
{
	uint64_t n = below(c, RF_WIRE_STRING + 1, "a string that is too long");
	char *s;

	if (c->wrong || n > (size_t)(c->end - c->p)) {
		c->wrong = c->wrong ? c->wrong : "a string that does not end";
		return g_strdup("");
	}
	if (memchr(c->p, 0, n))
		c->wrong = "a NUL byte in a string";
	s = g_strndup((const char *)c->p, n);
	c->p += n;
	return s;
}

/* ---- processes ---- */

static gboolean new_task(struct recording *r, struct process *p, uint32_t thread, GError **error)
{
	p->tid = ++r->tids;
	g_hash_table_insert(p->threads, GUINT_TO_POINTER(thread), GUINT_TO_POINTER(p->tid));
	return rf_process_task(p->process, p->tid, error);
}

static void adopt(struct recording *r, struct process *p, uint32_t pid)
{
	p->pid = pid;
	g_hash_table_insert(r->processes, GUINT_TO_POINTER(pid), p);
	g_ptr_array_add(r->order, p);
}

static gboolean end_process(struct recording *r, struct process *p, GError **error)
{
	static const struct rf_call all = { .name = "exit_group" };
	GHashTableIter it;
	gpointer child;
	gboolean good = rf_process_call(p->process, p->tid, &all, error);

	/* forks that failed */
	g_hash_table_iter_init(&it, p->forks);
	while (good && g_hash_table_iter_next(&it, NULL, &child))
		good = rf_process_call(((struct process *)child)->process,
		                       ((struct process *)child)->tid, &all, error);
	g_hash_table_remove(r->processes, GUINT_TO_POINTER(p->pid));
	g_ptr_array_remove(r->order, p); /* frees it */
	return good;
}

/* ---- counts ---- */

/* How many of n accesses to pages that are not told are counted now.  Such counts would be most of
 * the bytes of a trace; so they are few different ones, powers of two, and the rest is counted later,
 * but before anything happens that is no access. */
static uint64_t portion(uint64_t n)
{
	return n < 64 ? 0 : UINT64_C(1) << MIN(63 - __builtin_clzll(n), 31);
}

/* Count what is left, at the last page of a type. */
static void settle_type(struct recording *r, struct process *p, unsigned type)
{
	while (p->owed[type]) {
		uint32_t n = (uint32_t)MIN(p->owed[type], UINT32_MAX);

		rf_builder_access(r->b, p->tid, type, p->page[type], 1, n);
		p->owed[type] -= n;
	}
}

static void settle(struct recording *r, struct process *p)
{
	for (unsigned type = 0; type < 3; type++)
		settle_type(r, p, type);
}

/* It was killed, or the recording was cut off. */
static gboolean lose_process(struct recording *r, struct process *p, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_LOST, .len = 1 };

	if (r->strict) {
		rf_set_data(error, "%s: the records of a process have no end",
		            rf_input_name(r->in));
		return FALSE;
	}
	settle(r, p);
	if (p->left) {
		g_autofree char *path = g_strescape(p->left, NULL);
		g_autofree char *reason =
			g_strconcat("exec of a program that this recorder can't run: ", path, NULL);

		rf_builder_skipped(r->b, reason);
	} else {
		rf_builder_skipped(
			r->b, "end of a process: it was killed, or the recording was cut off");
	}
	return rf_builder_event(r->b, &ev, error) && end_process(r, p, error);
}

static void tell_number(struct rf_header *h, const char *key, uint64_t v)
{
	g_autofree char *s = g_strdup_printf("%" G_GUINT64_FORMAT, v);

	rf_header_set(h, key, s);
}

/* RF_WIRE_HELLO; p is NULL, or the process that exec'ed. */
static struct process *hello(struct recording *r, struct process *p, uint32_t pid,
                             struct cursor *c, GError **error)
{
	uint64_t how = below(c, 2, "an unknown way of recording");
	uint64_t pages = varint(c), instructions = varint(c);
	unsigned arch = (unsigned)below(c, RF_WIRE_NARCHS, "an unknown architecture");
	unsigned shift = (unsigned)below(c, 31, "an impossible size of pages");
	gboolean told = below(c, 2, "neither 0 nor 1") == 1;
	g_autofree char *recorder = string(c), *program = string(c), *command = string(c),
			*cwd = string(c);

	if (!c->wrong && shift < RF_WIRE_PAGE_SHIFT)
		c->wrong = "an impossible size of pages";
	if (c->wrong)
		return NULL;
	if (!r->header) {
		struct rf_header *h = rf_builder_header(r->b);

		r->header = TRUE;
		rf_header_set(h, "recorder", recorder);
		rf_header_set(h, "command", command);
		rf_header_set(h, "program", program);
		rf_header_set(h, "clock", "instructions");
		rf_header_set(h, "kernel-accesses", r->kernel_accesses ? "yes" : "no");
		rf_header_set(h, "architecture", arch == RF_WIRE_ARM64 ? "arm64" : "x86-64");
		if (shift != RF_WIRE_PAGE_SHIFT)
			tell_number(h, "recorded-page-size", UINT64_C(1) << shift);
		if (how == RF_WIRE_WINDOW) {
			tell_number(h, "window-pages", pages);
			tell_number(h, "window-instructions", instructions);
		}
	}
	if (p) {
		settle(r, p);
		if (!rf_process_exec(p->process, p->tid, error))
			return NULL;
		g_hash_table_remove_all(p->threads);
		g_hash_table_insert(p->threads, GUINT_TO_POINTER(1), GUINT_TO_POINTER(p->tid));
		memset(p->page, 0, sizeof(p->page));
		p->code = FALSE;
	} else {
		p = process_new(rf_process_new(r->b, r->kernel_accesses));
		adopt(r, p, pid);
		if (!new_task(r, p, 1, error))
			return NULL;
	}
	if (cwd[0] == '/')
		rf_process_set_cwd(p->process, cwd);
	rf_process_set_page(p->process, UINT64_C(1) << shift);
	if (told)
		rf_process_kernel_told(p->process);
	p->window = how == RF_WIRE_WINDOW;
	p->kernel_told = told;
	p->arch = arch;
	return p;
}

/* RF_WIRE_FORKED */
static struct process *forked(struct recording *r, uint32_t pid, struct cursor *c, GError **error)
{
	uint32_t parent = number32(c), serial = number32(c);
	struct process *p = NULL, *from;

	if (c->wrong)
		return NULL;
	from = g_hash_table_lookup(r->processes, GUINT_TO_POINTER(parent));
	if (from)
		p = g_hash_table_lookup(from->forks, GUINT_TO_POINTER(serial));
	if (!p) {
		/* the parent's end came first, or is lost */
		rf_builder_skipped(r->b, "fork whose parent is not known");
		p = process_new(rf_process_new(r->b, r->kernel_accesses));
		p->kernel_told = r->any;
		adopt(r, p, pid);
		return new_task(r, p, 1, error) ? p : NULL;
	}
	g_hash_table_steal(from->forks, GUINT_TO_POINTER(serial));
	adopt(r, p, pid);
	return p;
}

/* RF_WIRE_FORK: the child begins here, whenever its first block comes. */
static gboolean fork_here(struct recording *r, struct process *p, struct cursor *c, GError **error)
{
	uint32_t serial = number32(c);
	struct rf_process *copy;
	struct process *child;

	if (!c->wrong && g_hash_table_contains(p->forks, GUINT_TO_POINTER(serial)))
		c->wrong = "a fork for the second time";
	if (c->wrong)
		return TRUE;
	copy = rf_process_fork(p->process, p->tid, ++r->tids, error);
	if (!copy)
		return FALSE;
	child = process_new(copy);
	child->tid = r->tids;
	child->window = p->window;
	child->kernel_told = p->kernel_told;
	child->arch = p->arch;
	g_hash_table_insert(p->forks, GUINT_TO_POINTER(serial), child);
	return TRUE;
}

/* ---- records ---- */

static gboolean call(struct process *p, struct cursor *c, GError **error)
{
	uint64_t nr = varint(c);
	struct rf_call call = { .result = varint(c) };
	const struct rf_wire_call *known;
	char *path[RF_WIRE_PATHS] = { NULL };
	unsigned npaths;
	gboolean good = TRUE;
	uint64_t size;

	call.nargs = (unsigned)below(c, RF_WIRE_ARGS + 1, "too many arguments");
	for (unsigned i = 0; i < call.nargs; i++)
		call.arg[i] = varint(c);
	size = varint(c);
	npaths = (unsigned)below(c, RF_WIRE_PATHS + 1, "too many paths");
	for (unsigned i = 0; i < npaths; i++)
		call.path[i] = path[i] = string(c);
	known = c->wrong ? NULL : rf_wire_call(p->arch, nr);
	if (known) {
		call.name = known->name;
		good = rf_process_call(p->process, p->tid, &call, error);
		if (known->opens)
			rf_process_open_size(p->process, (int32_t)call.result, size);
	}
	for (unsigned i = 0; i < npaths; i++)
		g_free(path[i]);
	return good;
}

static gboolean switch_to(struct recording *r, struct process *p, struct cursor *c, GError **error)
{
	uint32_t thread = number32(c);
	gpointer tid;

	if (c->wrong)
		return TRUE;
	if (g_hash_table_lookup_extended(p->threads, GUINT_TO_POINTER(thread), NULL, &tid)) {
		p->tid = GPOINTER_TO_UINT(tid);
		return TRUE;
	}
	if (g_hash_table_size(p->threads) == 0) {
		/* a process that was forked: its only task is whoever runs first */
		g_hash_table_insert(p->threads, GUINT_TO_POINTER(thread), GUINT_TO_POINTER(p->tid));
		return TRUE;
	}
	return new_task(r, p, thread, error);
}

static gboolean thread_exit(struct process *p, struct cursor *c, GError **error)
{
	static const struct rf_call exit = { .name = "exit" };
	uint32_t thread = number32(c);
	gpointer tid;

	if (c->wrong ||
	    !g_hash_table_lookup_extended(p->threads, GUINT_TO_POINTER(thread), NULL, &tid) ||
	    g_hash_table_size(p->threads) == 1)
		return TRUE; /* the last one ends with the process */
	g_hash_table_remove(p->threads, GUINT_TO_POINTER(thread));
	return rf_process_call(p->process, GPOINTER_TO_UINT(tid), &exit, error);
}

static gboolean mapping(struct process *p, struct cursor *c, gboolean fresh, GError **error)
{
	uint64_t addr = varint(c), len = varint(c);
	uint8_t prot = (uint8_t)below(c, 8, "an unknown protection");
	g_autofree char *path = NULL, *name = NULL;
	uint64_t off, size;

	if (!fresh)
		return c->wrong || rf_process_protect(p->process, p->tid, addr, len, prot, error);
	off = varint(c);
	size = varint(c);
	path = string(c);
	name = string(c);
	if (!c->wrong && path[0])
		rf_process_file_size(p->process, path, size);
	return c->wrong || rf_process_map(p->process, p->tid, addr, len, prot,
	                                  path[0] ? path : NULL, off, name[0] ? name : NULL, error);
}

static void release(struct recording *r)
{
	for (guint i = 0; i < r->held->len; i++) {
		const struct held *h = &g_array_index(r->held, struct held, i);

		rf_builder_access(r->b, h->tid, RF_WRITE, h->addr, h->len, 1);
	}
	g_array_set_size(r->held, 0);
}

static void range(struct recording *r, struct process *p, struct cursor *c)
{
	uint64_t type = below(c, RF_WIRE_KERNEL + 2, "an unknown type of access");
	uint64_t addr = varint(c), len = varint(c);
	struct held h = { p->tid, addr, len };

	if (!c->wrong && type == RF_WIRE_CONTROL)
		c->wrong = "an unknown type of access";
	if (!c->wrong && (!len || len > RF_RW_MAX))
		c->wrong = "an access of an impossible length";
	if (c->wrong || ((type & RF_WIRE_KERNEL) && !r->kernel_accesses))
		return;
	if (type == (RF_WIRE_STORE | RF_WIRE_KERNEL))
		g_array_append_val(r->held, h);
	else
		rf_builder_access(r->b, p->tid, type & 3, addr, len, 1);
}

static gboolean lost(struct recording *r, struct process *p, struct cursor *c, GError **error)
{
	struct rf_event ev = { .kind = RF_EV_LOST, .len = varint(c) };

	if (c->wrong)
		return TRUE;
	memset(p->page, 0, sizeof(p->page));
	p->code = FALSE;
	return rf_builder_event(r->b, &ev, error);
}

static gboolean control(struct recording *r, struct process *p, unsigned kind, struct cursor *c,
                        GError **error)
{
	if (kind != RF_WIRE_RANGE)
		settle(r, p);
	if (kind != RF_WIRE_RANGE && kind != RF_WIRE_CALL)
		release(r);
	switch (kind) {
	case RF_WIRE_FORK:
		return fork_here(r, p, c, error);
	case RF_WIRE_MAP:
	case RF_WIRE_PROTECT:
		return mapping(p, c, kind == RF_WIRE_MAP, error);
	case RF_WIRE_CALL:
		if (!call(p, c, error))
			return FALSE;
		release(r);
		return TRUE;
	case RF_WIRE_SWITCH:
		return switch_to(r, p, c, error);
	case RF_WIRE_THREAD_EXIT:
		return thread_exit(p, c, error);
	case RF_WIRE_RANGE:
		range(r, p, c);
		return TRUE;
	case RF_WIRE_LOST:
		return lost(r, p, c, error);
	case RF_WIRE_END:
		if (c->p < c->end)
			c->wrong = "records behind the end of a process";
		return c->wrong || end_process(r, p, error);
	case RF_WIRE_NOT_FOLLOWED:
		g_free(p->left);
		p->left = string(c);
		return TRUE;
	case RF_WIRE_HELLO:
	case RF_WIRE_FORKED:
		c->wrong = "a process that begins for the second time";
		return TRUE;
	default:
		c->wrong = "an unknown record";
		return TRUE;
	}
}

static void access_record(struct recording *r, struct process *p, unsigned code, struct cursor *c)
{
	unsigned type = code & 3;
	uint64_t n = code >> RF_WIRE_N_SHIFT, d;

	if (n == RF_WIRE_N_MORE)
		n = varint(c);
	if (n > UINT32_MAX - 1) {
		c->wrong = "an impossible number of accesses";
		return;
	}
	if (!p->window && n) {
		if (!p->code) {
			c->wrong = "fetches before a page of code";
			return;
		}
		rf_builder_access(r->b, p->tid, RF_EXEC, p->page[RF_WIRE_FETCH], 1, (uint32_t)n);
	}
	if (code & RF_WIRE_NEW) {
		d = varint(c);
		p->page[type] += ((d >> 1) ^ (0 - (d & 1))) << RF_WIRE_PAGE_SHIFT;
		p->code |= type == RF_WIRE_FETCH;
	}
	if (p->window && (code & RF_WIRE_NEW)) {
		p->owed[type] += n;
		n = portion(p->owed[type]);
		p->owed[type] -= n;
		rf_builder_access(r->b, p->tid, type, p->page[type], 1, (uint32_t)n + 1);
	} else if (p->window) {
		p->owed[type] += n;
		settle_type(r, p, type);
	} else if (type != RF_WIRE_FETCH) {
		rf_builder_access(r->b, p->tid, type, p->page[type], 1, 1);
	}
}

/* ---- blocks ---- */

static gboolean here(struct recording *r, uint64_t at, GError **error)
{
	g_prefix_error(error, "%s: offset %" G_GUINT64_FORMAT ": ", rf_input_name(r->in), at);
	return FALSE;
}

/* The process of a block; the first record of a process is taken. */
static struct process *process_of(struct recording *r, uint32_t pid, uint32_t seq,
                                  struct cursor *c, GError **error)
{
	struct process *p = g_hash_table_lookup(r->processes, GUINT_TO_POINTER(pid));
	unsigned code = *c->p;

	if (seq == 0 && code == (RF_WIRE_CONTROL | RF_WIRE_HELLO << 2)) {
		c->p++;
		return hello(r, p, pid, c, error);
	}
	if (seq == 0 && code == (RF_WIRE_CONTROL | RF_WIRE_FORKED << 2)) {
		c->p++;
		if (p && !lose_process(r, p, error))
			return NULL;
		return forked(r, pid, c, error);
	}
	if (!p)
		c->wrong = "a process that did not begin";
	else if (seq != p->seq)
		c->wrong = "a block of the process is missing before";
	return c->wrong ? NULL : p;
}

static gboolean records(struct recording *r, uint32_t pid, uint32_t seq, struct cursor *c,
                        GError **error)
{
	struct process *p = process_of(r, pid, seq, c, error);

	if (!p)
		return FALSE;
	r->any = TRUE;
	p->seq = seq + 1;
	g_clear_pointer(&p->left, g_free);
	while (c->p < c->end && !c->wrong) {
		unsigned code = *c->p++;

		if ((code & 3) != RF_WIRE_CONTROL) {
			if (G_UNLIKELY(r->held->len))
				release(r);
			access_record(r, p, code, c);
		} else if (!control(r, p, code >> 2, c, error)) {
			return FALSE;
		} else if (code == (RF_WIRE_CONTROL | RF_WIRE_END << 2)) {
			break;
		}
	}
	release(r);
	return !c->wrong;
}

static uint32_t le(const uint8_t *p, unsigned n)
{
	uint32_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint32_t)p[i] << 8 * i;
	return v;
}

static enum rf_step block(struct recording *r, GError **error)
{
	uint64_t at = rf_input_offset(r->in);
	struct cursor c = { .wrong = NULL };
	const uint8_t *p;
	uint32_t n, pid, seq;
	size_t have;

	p = rf_input_peek(r->in, RF_WIRE_HEAD, &have, error);
	if (!p)
		return RF_STEP_ERROR;
	if (!have)
		return RF_STEP_END;
	if (have < RF_WIRE_HEAD || memcmp(p, RF_WIRE_MAGIC, 4) || le(p + 6, 2) ||
	    !le(p + 4, 2) || le(p + 4, 2) > RF_WIRE_PAYLOAD) {
		rf_set_data(error, "no block begins here; expected \"" RF_WIRE_MAGIC "\"");
		here(r, at, error);
		return RF_STEP_ERROR;
	}
	n = le(p + 4, 2);
	pid = le(p + 8, 4);
	seq = le(p + 12, 4);
	p = rf_input_peek(r->in, RF_WIRE_HEAD + n, &have, error);
	if (!p)
		return RF_STEP_ERROR;
	if (have < RF_WIRE_HEAD + n) {
		rf_set_data(error, "the input ends inside a block of %u bytes", n);
		here(r, at, error);
		return RF_STEP_ERROR;
	}
	c.p = c.start = p + RF_WIRE_HEAD;
	c.end = c.p + n;
	if (!records(r, pid, seq, &c, error)) {
		if (c.wrong)
			rf_set_data(error, "%s", c.wrong);
		here(r, at + RF_WIRE_HEAD + (uint64_t)(c.p - c.start), error);
		return RF_STEP_ERROR;
	}
	rf_input_consume(r->in, RF_WIRE_HEAD + n);
	return RF_STEP_MORE;
}

/* ---- the importer ---- */

static int probe(const uint8_t *head, size_t n)
{
	return n >= 4 && !memcmp(head, RF_WIRE_MAGIC, 4) ? 100 : 0;
}

static void recording_close(void *self)
{
	struct recording *r = self;

	g_hash_table_destroy(r->processes);
	g_ptr_array_unref(r->order);
	g_array_unref(r->held);
	g_free(r);
}

static void *recording_open(struct rf_input *in, struct rf_builder *b,
                            const struct rf_source_options *opt, GError **error)
{
	struct recording *r = g_new0(struct recording, 1);

	r->in = in;
	r->b = b;
	r->kernel_accesses = !(opt && opt->no_kernel_accesses);
	r->strict = opt && opt->strict;
	r->processes = g_hash_table_new(NULL, NULL);
	r->order = g_ptr_array_new_with_free_func(process_free);
	r->held = g_array_new(FALSE, FALSE, sizeof(struct held));
	/* the header is in the first block */
	switch (block(r, error)) {
	case RF_STEP_MORE:
		return r;
	case RF_STEP_END:
		rf_set_data(error, "%s: is empty; expected a recording", rf_input_name(in));
		break;
	case RF_STEP_ERROR:
		break;
	}
	recording_close(r);
	return NULL;
}

static enum rf_step recording_step(void *self, struct rf_builder *b, GError **error)
{
	struct recording *r = self;

	do {
		enum rf_step step = block(r, error);

		if (step == RF_STEP_END)
			while (r->order->len)
				if (!lose_process(r, r->order->pdata[0], error))
					return RF_STEP_ERROR;
		if (step != RF_STEP_MORE)
			return step;
	} while (!rf_builder_full(b));
	return RF_STEP_MORE;
}

const struct rf_importer rf_recording_importer = {
	.name = "recording",
	.summary = "what the recorders of `refault record' write",
	.cannot = CANNOT,
	.probe = probe,
	.open = recording_open,
	.step = recording_step,
	.close = recording_close,
};
