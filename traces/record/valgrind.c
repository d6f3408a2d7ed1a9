/* SPDX-License-Identifier: GPL-2.0-or-later
 * A tool for Valgrind that records which pages a program accesses, what it has mapped there, and
 * what the kernel touches for it; wire.h has the form.  It is linked with Valgrind's core, which is
 * under the GNU General Public License, version 2 or later; so is this file.
 *
 * Code is added to each superblock.  An access is compared with the last page of its type; only when
 * it is to another one is a function called.  What is not told is counted:
 *
 *   all accesses: a byte of code is written for each.
 *   window: one addition at each exit of a superblock adds the loads, stores and fetches up to there.
 */
#include "pub_tool_basics.h"
#include "pub_tool_aspacemgr.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcassert.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_vki.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_xarray.h"
#include "config.h"

#include "traces/record/calls.h"
#include "traces/record/writer.h"

/* Of the core, not among the headers for tools: a descriptor out of the program's way. */
extern Int VG_(safe_fd)(Int oldfd);
/* Where the core has what the kernel's vdso does. */
extern void VG_(trampoline_stuff_start)(void);

#define PAGE ((ULong)1 << RF_WIRE_PAGE_SHIFT)
#define NOWHERE (~(ULong)0) /* no access is near it */

static const HChar *clo_out;
static Long clo_window_pages, clo_window_instructions;

static Int fd = -1;
static struct rf_writer w;
static struct rf_window window;
static ULong base[3]; /* address of the last page of each type, or NOWHERE */
static ThreadId current;
static UInt forks;
static ULong stack_low, stack_floor; /* where the stack begins now, and at the lowest */
static Bool started; /* the stream was opened */
static Bool have_vdso;

/* ---- counts, in a window ----
 *
 * One word has three: accesses that were not accounted for yet, by type.  A record is written before
 * its own access was added, so a count may be below zero for a while: each begins at BIAS. */

#define BIAS ((ULong)1 << 12)
#define COUNT_BITS 21
#define COUNT_SHIFT(type) ((type) * COUNT_BITS)
#define COUNT_MASK (((ULong)1 << COUNT_BITS) - 1)
#define ONE(type) ((ULong)1 << COUNT_SHIFT(type))
#define INSTRUCTIONS_MAX 500000

static ULong count;
static ULong instructions; /* accounted for */

static Long pending(UInt type)
{
	return (Long)(count >> COUNT_SHIFT(type) & COUNT_MASK) - (Long)BIAS;
}

/* Account for what is pending of a type and one more; how many before it. */
static ULong take(UInt type)
{
	Long n = pending(type);

	if (n < 0)
		n = 0;
	count -= (ULong)(n + 1) << COUNT_SHIFT(type);
	if (type == RF_WIRE_FETCH)
		instructions += (ULong)n + 1;
	return (ULong)n;
}

static ULong now(void)
{
	return instructions + (ULong)pending(RF_WIRE_FETCH);
}

/* Tell of all accesses so far, though their pages were not told. */
static void settle(void)
{
	if (!window.pages)
		return;
	for (UInt type = 0; type < 3; type++) {
		Long n = pending(type);

		if (n <= 0)
			continue;
		rf_writer_same(&w, type, (ULong)n);
		count -= (ULong)n << COUNT_SHIFT(type);
		if (type == RF_WIRE_FETCH)
			instructions += (ULong)n;
	}
}

static void forget_pages(void)
{
	base[0] = base[1] = base[2] = NOWHERE;
	rf_window_drop(&window, now());
}

/* ---- the stream ---- */

static int rf_writer_output(const void *data, rf_u32 n)
{
	const UChar *p = data;

	while (n > 0 && fd >= 0) {
		Int r = VG_(write)(fd, p, (Int)n);

		if (r == -VKI_EINTR || r == -VKI_EAGAIN)
			continue;
		if (r <= 0)
			break;
		p += r;
		n -= (rf_u32)r;
	}
	if (n > 0)
		base[0] = base[1] = base[2] = NOWHERE;
	return n == 0;
}

static void open_stream(void)
{
	Int f = VG_(fd_open)(clo_out, VKI_O_WRONLY | VKI_O_CREAT | VKI_O_APPEND, 0644);

	if (f < 0) {
		VG_(umsg)("cannot write to %s\n", clo_out);
		VG_(exit)(4);
	}
	fd = VG_(safe_fd)(f);
}

static void append_argument(HChar *to, SizeT size, const HChar *s)
{
	SizeT n = VG_(strlen)(to);

	if (n && n + 1 < size)
		to[n++] = ' ';
	for (; *s && n + 1 < size; s++)
		to[n++] = *s;
	to[n] = 0;
}

static void hello(void)
{
	HChar command[RF_WIRE_STRING] = "", cwd[RF_WIRE_STRING] = "";
	const HChar *program = VG_(strrchr)(VG_(args_the_exename), '/');

	append_argument(command, sizeof(command), VG_(args_the_exename));
	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++)
		append_argument(command, sizeof(command),
		                *(HChar **)VG_(indexXA)(VG_(args_for_client), i));
	if (VG_(get_startup_wd)())
		append_argument(cwd, sizeof(cwd), VG_(get_startup_wd)());
	rf_writer_control(&w, RF_WIRE_HELLO, 8 * 10 + 2 * RF_WIRE_STRING + 256);
	rf_writer_varint(&w, window.pages ? RF_WIRE_WINDOW : RF_WIRE_EXACT);
	rf_writer_varint(&w, window.pages);
	rf_writer_varint(&w, window.instructions);
	rf_writer_varint(&w, RF_WIRE_X86_64);
	rf_writer_varint(&w, RF_WIRE_PAGE_SHIFT);
	rf_writer_varint(&w, 1);
	rf_writer_string(&w, "valgrind-" VERSION);
	rf_writer_string(&w, program ? program + 1 : VG_(args_the_exename));
	rf_writer_string(&w, command);
	rf_writer_string(&w, cwd);
}

static void map(ULong addr, ULong len, UInt prot, ULong off, const HChar *path, const HChar *name)
{
	struct vg_stat st;
	ULong size = 0;

	if (path[0] && !sr_isError(VG_(stat)(path, &st)))
		size = (ULong)st.size;
	rf_writer_control(&w, RF_WIRE_MAP, 6 * 10 + RF_WIRE_STRING + 64);
	rf_writer_varint(&w, addr);
	rf_writer_varint(&w, len);
	rf_writer_varint(&w, prot);
	rf_writer_varint(&w, off);
	rf_writer_varint(&w, size);
	rf_writer_string(&w, path);
	rf_writer_string(&w, name);
}

/* The kernel lets a stack grow when something below it is touched. */
static void __attribute__((noinline)) grow_stack(ULong page)
{
	map(page, stack_low - page, 3, 0, "", "[stack]");
	stack_low = page;
}

static inline void stack_touched(ULong addr)
{
	if (addr < stack_low && addr >= stack_floor)
		grow_stack(addr & ~(PAGE - 1));
}

/* ---- accesses: called from instrumented code ---- */

#define INFO(type, size, n) ((ULong)(type) | (ULong)(size) << 8 | (ULong)(n) << 32)

/* All accesses; it is to another page than the last one of its type, or over an edge. */
static void VG_REGPARM(2) exact_access(Addr addr, ULong info)
{
	UInt type = info & 255, size = info >> 8 & 0xffffff, n = (UInt)(info >> 32);

	if (type == RF_WIRE_STORE || type == RF_WIRE_LOAD)
		stack_touched(addr);
	if ((addr & (PAGE - 1)) + size > PAGE) {
		if (n)
			rf_writer_same(&w, RF_WIRE_FETCH, n);
		rf_writer_range(&w, type, addr, size);
		return;
	}
	base[type] = addr & ~(PAGE - 1);
	rf_writer_page(&w, type, addr >> RF_WIRE_PAGE_SHIFT, n);
}

/* The same where it may be to the last page: an access under a condition. */
static void VG_REGPARM(2) exact_guarded(Addr addr, ULong info)
{
	UInt type = info & 255, size = info >> 8 & 0xffffff;

	if (addr - base[type] <= PAGE - size)
		rf_writer_same(&w, type, 0);
	else
		exact_access(addr, info);
}

static void tell(UInt type, ULong page)
{
	if (rf_window_tell(&window, type, page))
		rf_writer_page(&w, type, page, take(type));
}

static void window_access(Addr addr, ULong info)
{
	UInt type = info & 255, size = info >> 8 & 0xffffff;
	ULong page = addr >> RF_WIRE_PAGE_SHIFT;

	if (now() - window.dropped >= window.instructions)
		forget_pages();
	if (type != RF_WIRE_FETCH)
		stack_touched(addr);
	base[type] = page << RF_WIRE_PAGE_SHIFT;
	tell(type, page);
	if ((addr & (PAGE - 1)) + size > PAGE)
		tell(type, page + 1);
}

static void VG_REGPARM(2) window_guarded(Addr addr, ULong info)
{
	UInt type = info & 255, size = info >> 8 & 0xffffff;

	count += ONE(type);
	if (addr - base[type] > PAGE - size)
		window_access(addr, info);
}

/* So many instructions were executed on pages told of. */
static void window_over(void)
{
	settle();
	forget_pages();
}

static void flush(void)
{
	rf_writer_flush(&w);
}

/* ---- instrumentation ---- */

/* An access of an instruction. */
struct access {
	IRExpr *addr, *guard; /* guard NULL: always */
	UInt type, size;
};

struct block {
	IRSB *out;
	UInt fetched;     /* all: instructions since the last record */
	ULong counted;    /* window: what is to be added to count */
	Addr page;        /* of code, at this place; NOWHERE: not known */
	UInt records;     /* that inlined code may have written since it asked for room */
	struct access access[16]; /* of the instruction so far */
	UInt n;
};

static IRExpr *constant(ULong v)
{
	return IRExpr_Const(IRConst_U64(v));
}

static IRExpr *assign(struct block *b, IRType type, IRExpr *e)
{
	IRTemp t = newIRTemp(b->out->tyenv, type);

	addStmtToIRSB(b->out, IRStmt_WrTmp(t, e));
	return IRExpr_RdTmp(t);
}

static IRExpr *load(struct block *b, const void *p)
{
	return assign(b, Ity_I64, IRExpr_Load(Iend_LE, Ity_I64, constant((Addr)p)));
}

static void store(struct block *b, const void *p, IRExpr *value)
{
	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, constant((Addr)p), value));
}

static IRExpr *binop(struct block *b, IRType type, IROp op, IRExpr *x, IRExpr *y)
{
	return assign(b, type, IRExpr_Binop(op, x, y));
}

static void call(struct block *b, const HChar *name, void *fn, IRExpr **args, IRExpr *guard)
{
	Int n = 0;

	while (args[n])
		n++;
	IRDirty *d = unsafeIRDirty_0_N(n, name, VG_(fnptr_to_fnentry)(fn), args);

	if (guard)
		d->guard = guard;
	addStmtToIRSB(b->out, IRStmt_Dirty(d));
}
#define CALL(b, fn, args, guard) call(b, #fn, &fn, args, guard)

/* Write a byte of code; where, if only under a condition, it is told that it is. */
static void write_code(struct block *b, UInt code, IRExpr *where)
{
	IRExpr *at = load(b, &w.at);
	IRExpr *step = where ? assign(b, Ity_I64, IRExpr_Unop(Iop_1Uto64, where)) : constant(1);

	addStmtToIRSB(b->out, IRStmt_Store(Iend_LE, at, IRExpr_Const(IRConst_U8((UChar)code))));
	store(b, &w.at, binop(b, Ity_I64, Iop_Add64, at, step));
	b->records++;
}

/* Inlined code writes without asking: see that there is room for it. */
static void ask_for_room(struct block *b)
{
	IRExpr *limit = constant((Addr)(w.block + RF_WIRE_BLOCK - RF_WRITER_SPARE));
	IRExpr *full = binop(b, Ity_I1, Iop_CmpLT64U, limit, load(b, &w.at));

	CALL(b, flush, mkIRExprVec_0(), full);
	b->records = 0;
}

static void flush_fetched(struct block *b, IRExpr *guard)
{
	while (b->fetched >= RF_WIRE_N_MORE) {
		write_code(b, RF_WIRE_FETCH | (RF_WIRE_N_MORE - 1) << RF_WIRE_N_SHIFT, NULL);
		b->fetched -= RF_WIRE_N_MORE - 1;
	}
	if (b->fetched)
		write_code(b, RF_WIRE_FETCH | b->fetched << RF_WIRE_N_SHIFT, guard);
}

/* The block may end here, if guard holds. */
static void leave(struct block *b, IRExpr *guard)
{
	if (!window.pages) {
		flush_fetched(b, guard);
		if (!guard)
			b->fetched = 0;
	} else if (b->counted) {
		store(b, &count,
		      binop(b, Ity_I64, Iop_Add64, load(b, &count), constant(b->counted)));
		b->counted = 0;
	}
}

static IRExpr *elsewhere(struct block *b, UInt type, IRExpr *addr, UInt size)
{
	IRExpr *d = binop(b, Ity_I64, Iop_Sub64, addr, load(b, &base[type]));

	return binop(b, Ity_I1, Iop_CmpLT64U, constant(PAGE - size), d);
}

static void window_data(struct block *b, const struct access *a)
{
	IRExpr **args = mkIRExprVec_2(a->addr, constant(INFO(a->type, a->size, 0)));

	if (a->guard) {
		CALL(b, window_guarded, args, a->guard);
		return;
	}
	CALL(b, window_access, args, elsewhere(b, a->type, a->addr, a->size));
	b->counted += ONE(a->type);
}

static void exact_data(struct block *b, const struct access *a)
{
	IRExpr *other, *same;

	if (a->guard || b->fetched >= RF_WIRE_N_MORE)
		flush_fetched(b, NULL), b->fetched = 0;
	if (a->guard) {
		CALL(b, exact_guarded,
		     mkIRExprVec_2(a->addr, constant(INFO(a->type, a->size, 0))), a->guard);
		return;
	}
	other = elsewhere(b, a->type, a->addr, a->size);
	CALL(b, exact_access,
	     mkIRExprVec_2(a->addr, constant(INFO(a->type, a->size, b->fetched))), other);
	same = assign(b, Ity_I1, IRExpr_Unop(Iop_Not1, other));
	write_code(b, a->type | b->fetched << RF_WIRE_N_SHIFT, same);
	b->fetched = 0;
}

/* An instruction begins. */
static void fetch(struct block *b, Addr addr, UInt size)
{
	Addr page = addr & ~(PAGE - 1);
	IRExpr **args = mkIRExprVec_2(constant(addr), constant(INFO(RF_WIRE_FETCH, size, 0)));
	Bool over = (addr & (PAGE - 1)) + size > PAGE;

	if (b->records > RF_WRITER_SPARE / 4)
		ask_for_room(b);
	if (over || page != b->page) {
		IRExpr *guard = NULL;

		if (b->page == NOWHERE && !over)
			guard = binop(b, Ity_I1, Iop_CmpNE64, load(b, &base[RF_WIRE_FETCH]),
			              constant(page));
		if (window.pages) {
			CALL(b, window_access, args, guard);
		} else {
			flush_fetched(b, NULL);
			b->fetched = 0;
			CALL(b, exact_access, args, guard);
		}
		/* after one over an edge, the page of code is as it was; nobody knows which */
		if (!over || window.pages)
			b->page = page;
	}
	if (window.pages)
		b->counted += ONE(RF_WIRE_FETCH);
	else if (!over)
		b->fetched++;
}

/* Accesses wait for the end of the instruction's reads and writes of one address, which are one
 * access; then code for them must precede what they do. */
static void accesses(struct block *b)
{
	for (UInt i = 0; i < b->n; i++) {
		if (window.pages)
			window_data(b, &b->access[i]);
		else
			exact_data(b, &b->access[i]);
	}
	b->n = 0;
}

static Bool same_atom(IRExpr *x, IRExpr *y)
{
	return x && y && isIRAtom(x) && isIRAtom(y) && eqIRAtom(x, y);
}

static void add(struct block *b, UInt type, IRExpr *addr, UInt size, IRExpr *guard)
{
	struct access *a = &b->access[b->n];

	if (!guard && type == RF_WIRE_STORE && b->n && a[-1].type == RF_WIRE_LOAD && !a[-1].guard &&
	    a[-1].size == size && same_atom(a[-1].addr, addr)) {
		a[-1].type = RF_WIRE_STORE;
		return;
	}
	if (b->n == sizeof(b->access) / sizeof(b->access[0]))
		accesses(b), a = b->access;
	*a = (struct access){ addr, guard, type, size };
	b->n++;
}

static void statement(struct block *b, const IRTypeEnv *types, IRStmt *st)
{
	switch (st->tag) {
	case Ist_WrTmp:
		if (st->Ist.WrTmp.data->tag == Iex_Load)
			add(b, RF_WIRE_LOAD, st->Ist.WrTmp.data->Iex.Load.addr,
			    sizeofIRType(st->Ist.WrTmp.data->Iex.Load.ty), NULL);
		break;
	case Ist_Store:
		add(b, RF_WIRE_STORE, st->Ist.Store.addr,
		    sizeofIRType(typeOfIRExpr(types, st->Ist.Store.data)), NULL);
		break;
	case Ist_StoreG:
		add(b, RF_WIRE_STORE, st->Ist.StoreG.details->addr,
		    sizeofIRType(typeOfIRExpr(types, st->Ist.StoreG.details->data)),
		    st->Ist.StoreG.details->guard);
		break;
	case Ist_LoadG: {
		IRType loaded, widened;

		typeOfIRLoadGOp(st->Ist.LoadG.details->cvt, &widened, &loaded);
		add(b, RF_WIRE_LOAD, st->Ist.LoadG.details->addr, sizeofIRType(loaded),
		    st->Ist.LoadG.details->guard);
		break;
	}
	case Ist_Dirty: {
		IRDirty *d = st->Ist.Dirty.details;
		IRExpr *guard = d->guard;

		if (guard && guard->tag == Iex_Const && guard->Iex.Const.con->Ico.U1)
			guard = NULL;
		if (d->mFx == Ifx_Read || d->mFx == Ifx_Modify)
			add(b, RF_WIRE_LOAD, d->mAddr, (UInt)d->mSize, guard);
		if (d->mFx == Ifx_Write || d->mFx == Ifx_Modify)
			add(b, RF_WIRE_STORE, d->mAddr, (UInt)d->mSize, guard);
		break;
	}
	case Ist_CAS: {
		IRCAS *c = st->Ist.CAS.details;
		UInt size = sizeofIRType(typeOfIRExpr(types, c->dataLo));

		add(b, RF_WIRE_STORE, c->addr, c->dataHi ? 2 * size : size, NULL);
		break;
	}
	case Ist_LLSC:
		if (st->Ist.LLSC.storedata)
			add(b, RF_WIRE_STORE, st->Ist.LLSC.addr,
			    sizeofIRType(typeOfIRExpr(types, st->Ist.LLSC.storedata)), NULL);
		else
			add(b, RF_WIRE_LOAD, st->Ist.LLSC.addr,
			    sizeofIRType(typeOfIRTemp(types, st->Ist.LLSC.result)), NULL);
		break;
	default:
		break;
	}
}

/* Does a store of the same instruction follow to where this statement loads from?  Then the two are
 * one access, and the store tells it. */
static Bool store_follows(IRSB *in, Int i)
{
	IRStmt *st = in->stmts[i];
	IRExpr *addr = st->Ist.WrTmp.data->Iex.Load.addr;
	Int size = sizeofIRType(st->Ist.WrTmp.data->Iex.Load.ty);

	for (i++; i < in->stmts_used; i++) {
		st = in->stmts[i];
		if (!st)
			continue;
		switch (st->tag) {
		case Ist_Store:
			return same_atom(st->Ist.Store.addr, addr) &&
			       sizeofIRType(typeOfIRExpr(in->tyenv, st->Ist.Store.data)) == size;
		case Ist_CAS:
			return same_atom(st->Ist.CAS.details->addr, addr) &&
			       !st->Ist.CAS.details->dataHi &&
			       sizeofIRType(typeOfIRExpr(in->tyenv, st->Ist.CAS.details->dataLo)) ==
				       size;
		case Ist_WrTmp:
			if (st->Ist.WrTmp.data->tag == Iex_Load)
				return False;
			break;
		case Ist_IMark:
		case Ist_Exit:
		case Ist_Dirty:
		case Ist_StoreG:
		case Ist_LoadG:
		case Ist_LLSC:
			return False;
		default:
			break;
		}
	}
	return False;
}

static void begin(struct block *b)
{
	if (!window.pages) {
		ask_for_room(b);
	} else {
		/* the topmost count is that of fetches */
		ULong limit = (window.instructions + BIAS) << COUNT_SHIFT(RF_WIRE_FETCH);
		IRExpr *over = binop(b, Ity_I1, Iop_CmpLE64U, constant(limit), load(b, &count));

		CALL(b, window_over, mkIRExprVec_0(), over);
	}
}

static IRSB *instrument(VgCallbackClosure *closure, IRSB *in, const VexGuestLayout *layout,
                        const VexGuestExtents *vge, const VexArchInfo *host, IRType guest_word,
                        IRType host_word)
{
	struct block b = { .page = NOWHERE };
	Int i = 0;

	(void)closure, (void)layout, (void)vge, (void)host;
	tl_assert(guest_word == Ity_I64 && host_word == Ity_I64);
	b.out = deepCopyIRSBExceptStmts(in);
	for (; i < in->stmts_used && in->stmts[i]->tag != Ist_IMark; i++)
		addStmtToIRSB(b.out, in->stmts[i]);
	begin(&b);
	for (; i < in->stmts_used; i++) {
		IRStmt *st = in->stmts[i];

		if (!st || st->tag == Ist_NoOp)
			continue;
		if (st->tag == Ist_IMark)
			fetch(&b, st->Ist.IMark.addr, st->Ist.IMark.len ? st->Ist.IMark.len : 1);
		else if (st->tag == Ist_Exit)
			leave(&b, st->Ist.Exit.guard);
		else if (st->tag != Ist_WrTmp || st->Ist.WrTmp.data->tag != Iex_Load ||
		         !store_follows(in, i))
			statement(&b, in->tyenv, st);
		accesses(&b);
		addStmtToIRSB(b.out, st);
	}
	leave(&b, NULL);
	return b.out;
}

/* ---- what the core tells ---- */

/* What follows is of this thread. */
static void be(ThreadId tid)
{
	if (tid == current)
		return;
	settle();
	rf_writer_control(&w, RF_WIRE_SWITCH, 16);
	rf_writer_varint(&w, tid);
	current = tid;
}

static void start_client_code(ThreadId tid, ULong blocks)
{
	(void)blocks;
	be(tid);
}

static void thread_exit(ThreadId tid)
{
	be(tid);
	settle();
	rf_writer_control(&w, RF_WIRE_THREAD_EXIT, 16);
	rf_writer_varint(&w, tid);
}

/* Mappings that stand when the program starts. */
static void startup(Addr addr, SizeT len, Bool r, Bool wr, Bool x, ULong handle)
{
	NSegment const *s = VG_(am_find_nsegment)(addr);
	NSegment const *below = VG_(am_find_nsegment)(addr - 1);
	NSegment const *above = VG_(am_find_nsegment)(addr + len);
	Addr vdso = (Addr)&VG_(trampoline_stuff_start);
	const HChar *path = "", *name = "";
	ULong off = 0;

	(void)handle;
	if (!s)
		return;
	if (vdso >= addr && vdso < addr + len) {
		/* the core comes back to it */
		if (have_vdso)
			return;
		have_vdso = True;
		name = "[vdso]";
	} else if (s->kind == SkFileC) {
		path = VG_(am_get_filename)(s);
		off = s->offset + (addr - s->start);
		if (!path)
			path = "[unknown file]";
	} else if (s->kind == SkAnonC && above && above->kind == SkResvn && above->smode == SmLower) {
		name = "[heap]";
		x = False; /* Valgrind gives it what a kernel does not */
	} else if (s->kind == SkAnonC && below && below->kind == SkResvn && below->smode == SmUpper) {
		name = "[stack]";
		stack_low = addr;
		stack_floor = below->start;
	}
	map(addr, len, (r ? 1 : 0) | (wr ? 2 : 0) | (x ? 4 : 0), off, path, name);
}

static void kernel_range(UInt type, ThreadId tid, Addr addr, SizeT len)
{
	if (!len || !started)
		return;
	be(tid);
	settle();
	stack_touched(addr);
	rf_writer_range(&w, type, addr, len);
}

static void pre_mem_read(CorePart part, ThreadId tid, const HChar *s, Addr addr, SizeT len)
{
	(void)s;
	if (part == Vg_CoreSysCall)
		kernel_range(RF_WIRE_LOAD | RF_WIRE_KERNEL, tid, addr, len);
}

static void pre_mem_read_asciiz(CorePart part, ThreadId tid, const HChar *s, Addr addr)
{
	(void)s;
	if (part == Vg_CoreSysCall && VG_(am_is_valid_for_client)(addr, 1, VKI_PROT_READ))
		kernel_range(RF_WIRE_LOAD | RF_WIRE_KERNEL, tid, addr,
		             VG_(strlen)((const HChar *)addr) + 1);
}

static void post_mem_write(CorePart part, ThreadId tid, Addr addr, SizeT len)
{
	if (part == Vg_CoreSysCall)
		kernel_range(RF_WIRE_STORE | RF_WIRE_KERNEL, tid, addr, len);
	else if (part == Vg_CoreSignal)
		kernel_range(RF_WIRE_STORE, tid, addr, len);
}

static void pre_syscall(ThreadId tid, UInt nr, UWord *args, UInt n)
{
	(void)args, (void)n;
	/* The image may go, and this program with it; or wait for another process. */
	be(tid);
	settle();
	if (forks || nr == __NR_execve || nr == __NR_execveat)
		rf_writer_flush(&w);
}

static void post_syscall(ThreadId tid, UInt nr, UWord *args, UInt n, SysRes result)
{
	const struct rf_wire_call *c = rf_wire_call(RF_WIRE_X86_64, nr);
	const HChar *path[RF_WIRE_PATHS];
	UInt paths = 0, nargs = c && c->nargs < n ? c->nargs : n;
	struct vg_stat st;

	if (!c || sr_isError(result))
		return;
	be(tid);
	for (UInt i = 0; i < nargs && paths < RF_WIRE_PATHS; i++)
		if (c->paths & 1u << i)
			path[paths++] = (const HChar *)args[i];
	rf_writer_control(&w, RF_WIRE_CALL, (5 + RF_WIRE_ARGS) * 10 + paths * (RF_WIRE_STRING + 2));
	rf_writer_varint(&w, nr);
	rf_writer_varint(&w, sr_Res(result));
	rf_writer_varint(&w, nargs);
	for (UInt i = 0; i < nargs; i++)
		rf_writer_varint(&w, args[i]);
	rf_writer_varint(&w, c->opens && !VG_(fstat)((Int)sr_Res(result), &st) ? (ULong)st.size : 0);
	rf_writer_varint(&w, paths);
	for (UInt i = 0; i < paths; i++)
		rf_writer_string(&w, path[i]);
	if (c->remaps && window.pages)
		forget_pages();
}

/* ---- processes ---- */

static void before_fork(ThreadId tid)
{
	be(tid);
	settle();
	forks++;
	rf_writer_control(&w, RF_WIRE_FORK, 16);
	rf_writer_varint(&w, forks);
	rf_writer_flush(&w);
	/* what is shared with the child is copied when it is written: tell of it again */
	forget_pages();
}

static void in_child(ThreadId tid)
{
	rf_u32 parent = w.pid;

	current = tid;
	rf_writer_start(&w, (rf_u32)VG_(getpid)());
	count = BIAS * (ONE(0) + ONE(1) + ONE(2));
	forget_pages();
	rf_writer_control(&w, RF_WIRE_FORKED, 32);
	rf_writer_varint(&w, parent);
	rf_writer_varint(&w, forks);
	rf_writer_control(&w, RF_WIRE_SWITCH, 16);
	rf_writer_varint(&w, tid);
}

static void fini(Int code)
{
	(void)code;
	settle();
	rf_writer_control(&w, RF_WIRE_END, 1);
	rf_writer_flush(&w);
}

/* ---- options ---- */

static Bool option(const HChar *arg)
{
	if VG_STR_CLO (arg, "--out", clo_out) {
	} else if VG_BINT_CLO (arg, "--window-pages", clo_window_pages, 0, RF_WINDOW_SLOTS) {
	} else if VG_BINT_CLO (arg, "--window-instructions", clo_window_instructions, 1,
	                       INSTRUCTIONS_MAX) {
	} else {
		return False;
	}
	return True;
}

static void usage(void)
{
	VG_(printf)("    --out=FILE                write there (a file or a pipe)\n"
	            "    --window-pages=N          leave out accesses to the N pages of the type\n"
	            "                              told of last; 0: tell all [0]\n"
	            "    --window-instructions=N   but for no longer [100000]\n");
}

static void debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static void after_options(void)
{
	if (!clo_out) {
		VG_(umsg)("expected --out=FILE; `refault record' runs this tool\n");
		VG_(exit)(2);
	}
	window.pages = (ULong)clo_window_pages;
	window.instructions = (ULong)clo_window_instructions;
	count = BIAS * (ONE(0) + ONE(1) + ONE(2));
	window.epoch = 1;
	base[0] = base[1] = base[2] = NOWHERE;
	open_stream();
	rf_writer_start(&w, (rf_u32)VG_(getpid)());
	current = 1;
	hello();
	started = True;
}

static void before_options(void)
{
	clo_window_instructions = 100000;
	VG_(details_name)("refault");
	VG_(details_version)(NULL);
	VG_(details_description)("a recorder of page accesses");
	VG_(details_copyright_author)("GNU GPL, version 2 or later.");
	VG_(details_bug_reports_to)("the maintainers of refault");
	VG_(details_avg_translation_sizeB)(400);
	VG_(basic_tool_funcs)(after_options, instrument, fini);
	VG_(needs_command_line_options)(option, usage, debug_usage);
	VG_(needs_syscall_wrapper)(pre_syscall, post_syscall);
	VG_(track_new_mem_startup)(startup);
	VG_(track_pre_mem_read)(pre_mem_read);
	VG_(track_pre_mem_read_asciiz)(pre_mem_read_asciiz);
	VG_(track_post_mem_write)(post_mem_write);
	VG_(track_start_client_code)(start_client_code);
	VG_(track_pre_thread_ll_exit)(thread_exit);
	VG_(atfork)(before_fork, NULL, in_child);
}

VG_DETERMINE_INTERFACE_VERSION(before_options)
