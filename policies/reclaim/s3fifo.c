/* SPDX-License-Identifier: MIT
 * s3fifo: a small fifo that most pages leave unnoticed, a main fifo for those used more than once
 * or known as ghosts.  Yang, Zhang, Qiu, Yue, Rashmi, "FIFO queues are all you need for cache
 * eviction", SOSP 2023; S, M, G by the paper's names.
 */
#include "policies/reclaim/capacity.h"
#include "policies/reclaim/ghost.h"
#include "policies/reclaim/stuck.h"
#include "policies/registry.h"

enum { NOWHERE, S, M, G };
#define MAX_COUNT 3 /* two bits a page */

struct s3_options {
	int64_t small, ghost, threshold;
};

static const struct rf_option options[] = {
	{ .name = "small", .type = RF_OPT_INT, .offset = offsetof(struct s3_options, small),
	  .unit = "%", .def = "10", .min = 0, .max = 100, .help = "share of memory for the small fifo" },
	{ .name = "ghost", .type = RF_OPT_INT, .offset = offsetof(struct s3_options, ghost),
	  .unit = "%", .def = "90", .min = 0, .max = 1000,
	  .help = "ghosts remembered, as a share of memory" },
	{ .name = "threshold", .type = RF_OPT_INT, .offset = offsetof(struct s3_options, threshold),
	  .unit = "accesses", .def = "2", .min = 1, .max = MAX_COUNT,
	  .help = "hits in the small fifo that earn a place in the main one" },
	RF_OPTION_END
};

struct s3_lruvec {
	struct rf_list s, m, g; /* head: the youngest */
	uint32_t capacity;
	uint32_t failed; /* stuck.h */
};

static struct s3_lruvec *s3(struct rf_lruvec *lv)
{
	return lv->priv;
}

static struct rf_tag *tags(struct rf_policy *pol)
{
	return (struct rf_tag *)pol->page_priv;
}

static struct rf_list *list_of(struct s3_lruvec *v, unsigned where)
{
	return where == S ? &v->s : where == M ? &v->m : &v->g;
}

static void put(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned where,
                unsigned count)
{
	struct rf_tag *tag = &tags(pol)[page];

	tag->where = where;
	tag->count = count;
	tag->owner = lv->id;
	rf_list_push_head(pol->link, list_of(s3(lv), where), page);
}

static void take(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	rf_list_remove(pol->link, list_of(s3(lv), tag->where), page);
	tag->where = NOWHERE;
}

static void s3_exit(struct rf_policy *pol)
{
	rf_lruvecs_clear(pol->priv);
}

static void s3_lruvec_init(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_init(&s3(lv)->s);
	rf_list_init(&s3(lv)->m);
	rf_list_init(&s3(lv)->g);
	rf_capacity_init(&s3(lv)->capacity, pol);
	rf_lruvecs_add(pol->priv, lv);
}

static void s3_lruvec_exit(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_ghosts_drop(pol->link, tags(pol), &s3(lv)->g);
	((struct rf_lruvecs *)pol->priv)->lv[lv->id] = NULL;
}

static void s3_forget(struct rf_policy *pol, rf_page page)
{
	struct rf_tag *tag = &tags(pol)[page];

	if (tag->where)
		take(pol, ((struct rf_lruvecs *)pol->priv)->lv[tag->owner], page);
}

/* Ghosts are trimmed here and not in remove(): the page that comes in leaves G first. */
static void s3_add(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned how,
                   uint64_t shadow)
{
	const struct s3_options *o = pol->opt;
	struct s3_lruvec *v = s3(lv);
	struct rf_tag *tag = &tags(pol)[page];
	gboolean known = tag->where == G && tag->owner == lv->id;
	uint32_t ghosts;

	(void)how, (void)shadow;
	v->failed = 0;
	s3_forget(pol, page);
	put(pol, lv, page, known ? M : S, 0);
	rf_capacity_grown(&v->capacity, v->s.n + v->m.n);
	ghosts = rf_capacity_share(v->capacity, o->ghost);
	while (v->g.n > ghosts)
		take(pol, lv, v->g.tail);
}

static void s3_access(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page, unsigned type,
                      uint32_t count)
{
	struct rf_tag *tag = &tags(pol)[page];

	(void)lv, (void)type;
	tag->count = MIN(tag->count + MIN(count, MAX_COUNT), MAX_COUNT);
}

static void s3_touch(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page)
{
	s3_access(pol, lv, page, 0, 1);
}

static uint64_t s3_remove(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                          enum rf_why why)
{
	unsigned where = tags(pol)[page].where;

	s3(lv)->failed = 0;
	if (where)
		take(pol, lv, page);
	if (why == RF_WHY_EVICTED && where == S)
		put(pol, lv, page, G, 0);
	return 1;
}

static rf_page s3_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	const struct s3_options *o = pol->opt;
	struct s3_lruvec *v = s3(lv);
	gboolean small;
	rf_page page;

	(void)sc;
	rf_capacity_full(&v->capacity, v->s.n + v->m.n);
	small = v->s.n >= rf_capacity_share(v->capacity, o->small) || !v->m.n;
	if (rf_stuck(v->failed, small ? v->s.n : v->m.n, small ? v->m.n : v->s.n))
		small = !small;
	if (small) {
		while ((page = v->s.tail) != RF_NO_PAGE) {
			if (tags(pol)[page].count < o->threshold)
				return page;
			take(pol, lv, page);
			put(pol, lv, page, M, 0);
		}
	}
	while ((page = v->m.tail) != RF_NO_PAGE) {
		unsigned count = tags(pol)[page].count;

		if (!count)
			break;
		take(pol, lv, page);
		put(pol, lv, page, M, count - 1);
	}
	return page;
}

static void s3_kept(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page,
                    enum rf_verdict verdict)
{
	struct rf_tag tag = tags(pol)[page];

	take(pol, lv, page);
	put(pol, lv, page, verdict == RF_ACTIVATE ? M : tag.where, tag.count);
	rf_stuck_kept(&s3(lv)->failed, s3(lv)->s.n + s3(lv)->m.n);
}

static void s3_check(struct rf_policy *pol, struct rf_lruvec *lv)
{
	rf_list_check(pol, &s3(lv)->s, "S", TRUE);
	rf_list_check(pol, &s3(lv)->m, "M", TRUE);
	rf_list_check(pol, &s3(lv)->g, "G", FALSE);
}

const struct rf_reclaim_ops rf_reclaim_s3fifo = {
	.abi = RF_POLICY_ABI,
	.size = sizeof(struct rf_reclaim_ops),
	.name = "s3fifo",
	.summary = "small fifo, main fifo, ghost fifo",
	.flags = RF_POLICY_ACCESS,
	.options = options,
	.options_size = sizeof(struct s3_options),
	.policy_size = sizeof(struct rf_lruvecs),
	.lruvec_size = sizeof(struct s3_lruvec),
	.page_size = sizeof(struct rf_tag),
	.exit = s3_exit,
	.lruvec_init = s3_lruvec_init,
	.lruvec_exit = s3_lruvec_exit,
	.add = s3_add,
	.access = s3_access,
	.touch = s3_touch,
	.remove = s3_remove,
	.forget = s3_forget,
	.propose = s3_propose,
	.kept = s3_kept,
	.check = s3_check,
};
