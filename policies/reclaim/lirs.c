/* SPDX-License-Identifier: MIT
 * lirs: pages whose last two uses lie close together (LIR) keep most of memory; the others (HIR)
 * pass through a short queue.  Jiang, Zhang, "LIRS: an efficient low inter-reference recency set
 * replacement policy", SIGMETRICS 2002; S and Q by the paper's names.  The paper lets S grow
 * without bound; here the pages in S that are not in memory are limited, the one evicted first
 * goes first.
 */
#include "policies/reclaim/capacity.h"
#include "policies/reclaim/ghost.h"
#include "policies/reclaim/stuck.h"
#include "policies/registry.h"

enum { NOWHERE, LIR, HIR, GHOST };

struct lirs_options {
	int64_t hir, ghost;
};

static const struct rf_option options[] = {
	{ .name = "hir", .type = RF_OPT_INT, .offset = offsetof(struct lirs_options, hir), .unit = "%",
	  .def = "1", .min = 0, .max = 100, .help = "share of memory for pages with long recency" },
	{ .name = "ghost", .type = RF_OPT_INT, .offset = offsetof(struct lirs_options, ghost),
	  .unit = "%", .def = "200", .min = 0, .max = 1000,
	  .help = "pages not in memory that S may hold, as a share of memory" },
	RF_OPTION_END
};

/* A page may be on two lists: S through here, and through the policy's links on Q (HIR) or
 * among the ghosts (GHOST). */
struct lirs_page {
	struct rf_link s;
	uint32_t where : 4, in_s : 1, owner : 24;
};

struct lirs_lruvec {
	struct rf_list s;          /* head: used last; linked through lirs_page, see s_links() */
	struct rf_list q, ghosts;  /* head: the youngest */
	uint32_t lirs, capacity;
	uint32_t failed;           /* stuck.h */
};

static struct lirs_lruvec *lirs(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct lirs_page *of_page(struct rf_policy *pol, rf_page page)
{
	return &((struct lirs_page *)pol->page_priv)[page];
}

static void s_take(struct rf_policy *pol, struct lirs_lruvec *v, rf_page page)
{
	struct lirs_page *p = of_page(pol, page);

	if (p->s.prev != RF_NO_PAGE)
		of_page(pol, p->s.prev)->s.next = p->s.next;
	else
		v->s.head = p->s.next;
	if (p->s.next != RF_NO_PAGE)
		of_page(pol, p->s.next)->s.prev = p->s.prev;
	else
		v->s.tail = p->s.prev;
	v->s.n--;
	p->in_s = FALSE;
}

static void s_push(struct rf_policy *pol, struct lirs_lruvec *v, rf_page page)
{
	struct lirs_page *p = of_page(pol, page);

	if (p->in_s)
		s_take(pol, v, page);
	p->s.prev = RF_NO_PAGE;
	p->s.next = v->s.head;
	if (v->s.head != RF_NO_PAGE)
		of_page(pol, v->s.head)->s.prev = page;
	else
		v->s.tail = page;
	v->s.head = page;
	v->s.n++;
	p->in_s = TRUE;
}

static void set(struct rf_policy *pol, struct lirs_lruvec *v, rf_page page, unsigned where)
{
	struct lirs_page *p = of_page(pol, page);

	if (p->where == LIR)
		v->lirs--;
	else if (p->where)
		rf_list_remove(pol->link, p->where == HIR ? &v->q : &v->ghosts, page);
	p->where = where;
	if (where == LIR)
		v->lirs++;
	else if (where)
		rf_list_push_head(pol->link, where == HIR ? &v->q : &v->ghosts, page);
}

static void forget_page(struct rf_policy *pol, struct lirs_lruvec *v, rf_page page)
{
	if (of_page(pol, page)->in_s)
		s_take(pol, v, page);
	set(pol, v, page, NOWHERE);
}

/* The bottom of S is a LIR page, or S is empty. */
static void prune(struct rf_policy *pol, struct lirs_lruvec *v)
{
	rf_page page;

	while ((page = v->s.tail) != RF_NO_PAGE && of_page(pol, page)->where != LIR) {
		if (of_page(pol, page)->where == GHOST)
			forget_page(pol, v, page);
		else
			s_take(pol, v, page);
	}
}

/* LIR pages beyond their share become HIR, from the bottom of S. */
static void settle(struct rf_policy *pol, struct lirs_lruvec *v)
{
	const struct lirs_options *o = pol->opt;
	uint32_t share = v->capacity - MIN(v->capacity, rf_capacity_share(v->capacity, o->hir));

	prune(pol, v);
	while (v->lirs > share) {
		rf_page page = v->s.tail;

		s_take(pol, v, page);
		set(pol, v, page, HIR);
		prune(pol, v);
	}
}

static gboolean lir_room(struct rf_policy *pol, struct lirs_lruvec *v)
{
	const struct lirs_options *o = pol->opt;

	return v->lirs + rf_capacity_share(v->capacity, o->hir) < v->capacity;
}

static void lirs_exit(struct rf_policy *pol)
{
	rf_lruvecs_clear(pol->priv);
}

static void lirs_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_init(&lirs(lv)->s);
	rf_list_init(&lirs(lv)->q);
	rf_list_init(&lirs(lv)->ghosts);
	rf_capacity_init(&lirs(lv)->capacity, pol);
	rf_lruvecs_add(pol->priv, lv);
}

static void lirs_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	while (lirs(lv)->ghosts.n)
		forget_page(pol, lirs(lv), lirs(lv)->ghosts.tail);
	((struct rf_lruvecs *)pol->priv)->lv[lv->id] = NULL;
}

static void lirs_forget(struct rf_policy *pol, rf_page page)
{
	struct lirs_page *p = of_page(pol, page);

	if (p->where)
		forget_page(pol, lirs(((struct rf_lruvecs *)pol->priv)->lv[p->owner]), page);
}

/* Ghosts are trimmed here and not in remove(): the page that comes in leaves them first. */
static void lirs_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                     uint64_t shadow)
{
	const struct lirs_options *o = pol->opt;
	struct lirs_lruvec *v = lirs(lv);
	struct lirs_page *p = of_page(pol, page);
	gboolean known = p->where == GHOST && p->owner == lv->id;

	(void)how, (void)shadow;
	v->failed = 0;
	if (!known)
		lirs_forget(pol, page);
	p->owner = lv->id;
	set(pol, v, page, known || lir_room(pol, v) ? LIR : HIR);
	s_push(pol, v, page);
	rf_capacity_grown(&v->capacity, v->lirs + v->q.n);
	settle(pol, v);
	while (v->ghosts.n > rf_capacity_share(v->capacity, o->ghost))
		forget_page(pol, v, v->ghosts.tail);
}

static void lirs_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                        uint32_t count)
{
	struct lirs_lruvec *v = lirs(lv);
	struct lirs_page *p = of_page(pol, page);

	(void)type;
	if (p->where == LIR) {
		s_push(pol, v, page);
		prune(pol, v);
		return;
	}
	for (; p->where == HIR && count; count--) {
		gboolean recent = p->in_s;

		s_push(pol, v, page);
		set(pol, v, page, recent ? LIR : HIR);
		settle(pol, v);
	}
}

static void lirs_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	lirs_access(pol, lv, page, 0, 1);
}

static uint64_t lirs_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                            enum rf_why why)
{
	struct lirs_lruvec *v = lirs(lv);
	struct lirs_page *p = of_page(pol, page);

	if (why == RF_WHY_EVICTED && p->where == HIR && p->in_s)
		set(pol, v, page, GHOST);
	else
		forget_page(pol, v, page);
	v->failed = 0;
	prune(pol, v);
	return 1;
}

static rf_page lirs_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	struct lirs_lruvec *v = lirs(lv);

	(void)sc;
	rf_capacity_full(&v->capacity, v->lirs + v->q.n);
	settle(pol, v);
	/* Q is short: when none of it can leave, somebody else must. */
	return rf_stuck(v->failed, v->q.n, v->lirs) ? v->s.tail : v->q.tail;
}

static void lirs_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                      enum rf_verdict verdict)
{
	struct lirs_lruvec *v = lirs(lv);

	if (of_page(pol, page)->where == LIR || verdict == RF_ACTIVATE)
		s_push(pol, v, page);
	if (of_page(pol, page)->where == HIR)
		rf_list_to_head(pol->link, &v->q, page);
	rf_stuck_kept(&v->failed, v->q.n + v->lirs);
	prune(pol, v);
}

static void lirs_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	struct lirs_lruvec *v = lirs(lv);
	uint32_t n = 0, nlir = 0;

	rf_list_check(pol, &v->q, "Q", TRUE);
	rf_list_check(pol, &v->ghosts, "ghosts", FALSE);
	for (rf_page page = v->s.head; page != RF_NO_PAGE && n <= v->s.n;
	     page = of_page(pol, page)->s.next) {
		struct lirs_page *p = of_page(pol, page);

		if (!p->in_s || !p->where)
			g_error("lirs: page %u is in S and does not know", page);
		nlir += p->where == LIR;
		n++;
	}
	if (n != v->s.n || nlir != v->lirs)
		g_error("lirs: S says %u pages, %u LIR, and has %u, %u", v->s.n, v->lirs, n, nlir);
	if (n && of_page(pol, v->s.tail)->where != LIR)
		g_error("lirs: the bottom of S is no LIR page");
}

const struct rf_reclaim_ops rf_reclaim_lirs = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "lirs",
	.summary = "low inter-reference recency: what is used at short intervals stays",
	.flags = RF_POLICY_ACCESS,
	.options = options,
	.options_size = sizeof(struct lirs_options),
	.policy_size = sizeof(struct rf_lruvecs),
	.lruvec_size = sizeof(struct lirs_lruvec),
	.page_size = sizeof(struct lirs_page),
	.exit = lirs_exit,
	.lruvec_init = lirs_lruvec_init,
	.lruvec_exit = lirs_lruvec_exit,
	.add = lirs_add,
	.access = lirs_access,
	.touch = lirs_touch,
	.remove = lirs_remove,
	.forget = lirs_forget,
	.propose = lirs_propose,
	.kept = lirs_kept,
	.check = lirs_check,
};
