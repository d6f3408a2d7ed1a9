/* SPDX-License-Identifier: MIT
 * Reclaim policies in the hands of a host that does what the modelled machine may do: several memory
 * cgroups, reclaim in batches, pages that can't leave, mlock, pages freed in memory and out of it,
 * cgroups that go away with their ghosts.  Every list is verified after every step.
 */
#include <check.h>
#include <string.h>

#include "base/rng.h"
#include "policies/reclaim/queue.h"
#include "sim/policy.h"
#include "sim/reclaim.h"

Suite *suite_policies_host(void);

enum { PAGES = 120, VECTORS = 4, STEPS = 4000 };

static const char *const names[] = {
	"fifo", "lru", "clock", "random", "2q", "arc", "lirs", "s3fifo", "sieve", "belady",
	"lirs,hir=50", "s3fifo,small=60,ghost=200", "2q,in=60,out=200",
};

struct fake {
	struct rf_host host;
	struct rf_policy *pol;
	struct rf_lruvec *lv[VECTORS]; /* 0 is the root of 1 and 2, 3 is a child of 1 */
	uint16_t fact[PAGES];
	gboolean accessed[PAGES], evicted[PAGES], pinned[PAGES];
	struct rf_lruvec *owner[PAGES];
	uint64_t shadow[PAGES], next_use[PAGES];
	struct rf_rng rng;
	uint64_t seed;
	gboolean all_may_go, may_lie;
	const char *name;
	unsigned asked, freed, fallbacks;
};

static uint64_t first_seed(void)
{
	const char *s = g_getenv("RF_TEST_SEED");

	return s ? g_ascii_strtoull(s, NULL, 0) : 1968;
}

static struct fake *fake_of(struct rf_policy *pol)
{
	return pol->machine;
}

static struct rf_lruvec *lruvec_of(struct rf_policy *pol, rf_page page)
{
	return fake_of(pol)->owner[page];
}

static unsigned young(struct rf_policy *pol, rf_page page, struct rf_lruvec *target, unsigned *vm)
{
	struct fake *f = fake_of(pol);
	unsigned was = f->accessed[page];

	(void)target;
	f->accessed[page] = FALSE;
	if (vm)
		*vm = 0;
	return was;
}

static gboolean below(const struct rf_lruvec *lv, const struct rf_lruvec *root)
{
	while (lv && lv != root)
		lv = lv->parent;
	return lv != NULL;
}

static enum rf_verdict evict(struct rf_policy *pol, rf_page page, struct rf_scan *sc,
                             gboolean clean_only)
{
	struct fake *f = fake_of(pol);
	unsigned dice = f->all_may_go ? 0 : rf_rng_below(&f->rng, 10);

	(void)clean_only;
	f->asked++;
	if (page >= PAGES && f->may_lie)
		return RF_REFUSED;
	if (page >= PAGES || !(f->fact[page] & RF_PAGE_RESIDENT) || (f->fact[page] & RF_PAGE_MLOCKED) ||
	    !below(f->owner[page], sc->target))
		ck_abort_msg("%s, seed %" G_GUINT64_FORMAT ": proposed page %u", f->name, f->seed, page);
	if (f->pinned[page])
		return page % 3 ? RF_KEEP : RF_ACTIVATE;
	if (dice >= 8)
		return dice == 8 ? RF_KEEP : RF_ACTIVATE;
	f->shadow[page] = pol->ops->remove(pol, f->owner[page], page, RF_WHY_EVICTED);
	if (!f->shadow[page])
		ck_abort_msg("%s: shadow 0", f->name);
	f->fact[page] = 0;
	f->evicted[page] = TRUE;
	f->accessed[page] = FALSE;
	f->freed++;
	return RF_FREED;
}

static void count(struct rf_policy *pol, struct rf_lruvec *lv, enum rf_counter c, int64_t n)
{
	(void)lv;
	if (c == RF_C_rf_policy_fallback)
		fake_of(pol)->fallbacks += (unsigned)n;
}

static void batch_done(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc, uint64_t taken)
{
	(void)lv, (void)sc;
	if (taken == 0 || taken > fake_of(pol)->asked)
		ck_abort_msg("a batch of %u of %u pages", (unsigned)taken, fake_of(pol)->asked);
}

static void lazyfree(struct rf_policy *pol, rf_page page)
{
	(void)pol, (void)page;
}

static uint64_t next_use(struct rf_policy *pol, rf_page page)
{
	return fake_of(pol)->next_use[page];
}

/* ---- what happens ---- */

static void bring_in(struct fake *f, rf_page page)
{
	struct rf_lruvec *lv = f->lv[rf_rng_below(&f->rng, VECTORS)];

	if (rf_rng_below(&f->rng, 2))
		rf_policy_miss(f->pol, lv, page);
	f->next_use[page] = rf_rng_next(&f->rng);
	f->owner[page] = lv;
	f->fact[page] = RF_PAGE_RESIDENT;
	f->pol->ops->add(f->pol, lv, page, RF_HOW_FAULT, f->evicted[page] ? f->shadow[page] : 0);
	f->evicted[page] = FALSE;
}

static void use(struct fake *f, rf_page page)
{
	const struct rf_reclaim_ops *ops = f->pol->ops;

	f->next_use[page] = rf_rng_next(&f->rng);
	f->accessed[page] = TRUE;
	if (ops->touch && !rf_rng_below(&f->rng, 4))
		ops->touch(f->pol, f->owner[page], page);
	else if (ops->flags & RF_POLICY_ACCESS)
		ops->access(f->pol, f->owner[page], page, 0, 1 + rf_rng_below(&f->rng, 3));
}

static void drop(struct fake *f, rf_page page)
{
	const struct rf_reclaim_ops *ops = f->pol->ops;

	if (f->fact[page] & RF_PAGE_RESIDENT)
		ops->remove(f->pol, f->owner[page], page, RF_WHY_FREED);
	else if (f->evicted[page] && ops->forget)
		ops->forget(f->pol, page);
	f->fact[page] = 0;
	f->evicted[page] = f->accessed[page] = FALSE;
}

static void lock(struct fake *f, rf_page page)
{
	if (f->fact[page] & RF_PAGE_MLOCKED) {
		f->fact[page] = RF_PAGE_RESIDENT;
		f->pol->ops->add(f->pol, f->owner[page], page, 0, 0);
	} else {
		f->fact[page] |= RF_PAGE_MLOCKED;
		f->pol->ops->remove(f->pol, f->owner[page], page, RF_WHY_UNEVICTABLE);
	}
}

static void advise(struct fake *f, rf_page page)
{
	static const enum rf_move how[] = { RF_MOVE_DEACTIVATE, RF_MOVE_LAZYFREE, RF_MOVE_ROTATE };

	if (f->pol->ops->move && !(f->fact[page] & RF_PAGE_MLOCKED))
		f->pol->ops->move(f->pol, f->owner[page], page, how[rf_rng_below(&f->rng, 3)]);
}

static void reclaim(struct fake *f, struct rf_lruvec *target, uint64_t goal)
{
	struct rf_scan sc = { .target = target, .goal = goal, .swappiness = 60, .may_swap = TRUE };
	unsigned before = f->freed;
	uint64_t got = rf_reclaim(f->pol, &sc);

	if (got != f->freed - before)
		ck_abort_msg("%s: says %u pages, freed %u", f->name, (unsigned)got, f->freed - before);
}

/* A leaf of the tree goes, with the pages that it still has in memory, and comes again. */
static void replace_leaf(struct fake *f)
{
	unsigned i = 2 + rf_rng_below(&f->rng, 2);
	struct rf_lruvec *parent = f->lv[i]->parent;

	for (rf_page page = 0; page < PAGES; page++)
		if (f->owner[page] == f->lv[i] && (f->fact[page] & RF_PAGE_RESIDENT))
			drop(f, page);
	rf_lruvec_free(f->pol, f->lv[i]);
	/* Pages that were evicted from it do not know it any more; the policy must not, either. */
	for (rf_page page = 0; page < PAGES; page++)
		if (f->owner[page] == f->lv[i])
			f->owner[page] = NULL;
	f->lv[i] = rf_lruvec_new(f->pol, i, parent);
}

static void verify(struct fake *f)
{
	for (unsigned i = 0; i < VECTORS; i++)
		f->pol->ops->check(f->pol, f->lv[i]);
}

static void step(struct fake *f)
{
	rf_page page = rf_rng_below(&f->rng, PAGES);
	gboolean resident = f->fact[page] & RF_PAGE_RESIDENT;
	unsigned dice = rf_rng_below(&f->rng, 100);

	if (dice < 2)
		replace_leaf(f);
	else if (dice < 14)
		reclaim(f, f->lv[rf_rng_below(&f->rng, VECTORS)],
		        1 + rf_rng_below(&f->rng, rf_rng_below(&f->rng, 8) ? 4 : 40));
	else if (dice < 17)
		drop(f, page);
	else if (!resident)
		bring_in(f, page);
	else if (dice < 20)
		lock(f, page);
	else if (dice < 23)
		advise(f, page);
	else
		use(f, page);
	verify(f);
}

/* A host with all that policy.h promises, and nothing more. */
static void begin(struct fake *f, const char *name, int seed)
{
	GError *error = NULL;

	f->name = name;
	f->seed = first_seed() + (uint64_t)seed;
	f->rng.s = f->seed;
	f->host = (struct rf_host){
		.abi = RF_POLICY_ABI, .size = sizeof(struct rf_host), .fact = f->fact, .npages = PAGES,
		.page_shift = 12, .ncpus = 1, .total_frames = 100000, .seed = 5, .lruvec_of = lruvec_of,
		.young = young, .evict = evict, .count = count, .batch_done = batch_done,
		.lazyfree = lazyfree, .next_use = next_use,
	};
	f->pol = rf_policy_new(f->name, &f->host, f, &error);
	ck_assert_msg(f->pol != NULL, "%s", error ? error->message : "");
}

START_TEST(any_host)
{
	struct fake *f = g_new0(struct fake, 1);
	unsigned left = 0;

	begin(f, names[_i % G_N_ELEMENTS(names)], _i);
	f->lv[0] = f->host.root = rf_lruvec_new(f->pol, 0, NULL);
	f->lv[1] = rf_lruvec_new(f->pol, 1, f->lv[0]);
	f->lv[2] = rf_lruvec_new(f->pol, 2, f->lv[0]);
	f->lv[3] = rf_lruvec_new(f->pol, 3, f->lv[1]);
	for (unsigned i = 0; i < STEPS; i++)
		step(f);
	ck_assert_uint_gt(f->freed, STEPS / 20);
	ck_assert_uint_gt(f->asked, f->freed);

	/* When everything may go, everything does. */
	f->all_may_go = TRUE;
	reclaim(f, f->lv[0], PAGES);
	verify(f);
	for (rf_page page = 0; page < PAGES; page++)
		left += (f->fact[page] & (RF_PAGE_RESIDENT | RF_PAGE_MLOCKED)) == RF_PAGE_RESIDENT;
	ck_assert_msg(left == 0, "%s, seed %" G_GUINT64_FORMAT ": %u pages stay", f->name, f->seed, left);
	for (unsigned i = VECTORS; i; i--)
		rf_lruvec_free(f->pol, f->lv[i - 1]);
	rf_policy_free(f->pol);
	g_free(f);
}
END_TEST

static void take_some(struct rf_queue *q, const struct rf_policy *pol, uint16_t *fact, GQueue *model,
                      unsigned n)
{
	rf_page taken[8];
	unsigned got = rf_queue_take(q, pol, n, taken);

	ck_assert_uint_eq(got, MIN(n, g_queue_get_length(model)));
	for (unsigned i = 0; i < got; i++) {
		ck_assert_ptr_eq(g_queue_pop_head(model), GUINT_TO_POINTER(taken[i]));
		pol->link[taken[i]].prev = RF_NO_PAGE;
		fact[taken[i]] = 0;
	}
}

/* Reclaim until nothing leaves: pages in memory that nothing held there. */
static unsigned left_behind(struct fake *f)
{
	unsigned freed, left = 0;

	do {
		freed = f->freed;
		reclaim(f, f->lv[0], 8);
		if (f->pol->ops->check)
			f->pol->ops->check(f->pol, f->lv[0]);
	} while (f->freed != freed);
	for (rf_page page = 0; page < PAGES; page++)
		left += (f->fact[page] & RF_PAGE_RESIDENT) && !f->pinned[page];
	return left;
}

/* Whichever pages can't leave, those that can do, and the policy names them itself: lirs asked the few
 * pages of Q for ever, and arc one side of its border, until a task was killed. */
static rf_page silent_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
	return RF_NO_PAGE;
}

static rf_page lying_propose(struct rf_policy *pol, struct rf_lruvec *lv, struct rf_scan *sc)
{
	(void)pol, (void)lv, (void)sc;
	return PAGES + 5;
}

static void pin_some(const char *name, int i, unsigned *fallbacks)
{
	struct fake *f = g_new0(struct fake, 1);

	begin(f, name, i);
	f->all_may_go = f->may_lie = TRUE;
	f->lv[0] = f->host.root = rf_lruvec_new(f->pol, 0, NULL);
	for (unsigned id = 1; id < VECTORS; id++)
		f->lv[id] = rf_lruvec_new(f->pol, id, f->lv[id == 3]);
	for (rf_page page = 0; page < PAGES; page++)
		bring_in(f, page);
	for (unsigned n = 0; n < 3 * PAGES; n++)
		use(f, rf_rng_below(&f->rng, PAGES));
	/* The youngest, the oldest, or any. */
	for (rf_page page = 0; page < PAGES; page++)
		f->pinned[page] = i % 3 == 0 ? page < PAGES / 2 : i % 3 == 1 ? page >= PAGES / 2 :
		                  rf_rng_below(&f->rng, 4) != 0;
	ck_assert_msg(left_behind(f) == 0, "%s, seed %" G_GUINT64_FORMAT, f->name, f->seed);
	ck_assert_msg(f->freed > PAGES / 8, "%s: freed %u", f->name, f->freed);
	*fallbacks = f->fallbacks;
	for (unsigned id = VECTORS; id; id--)
		rf_lruvec_free(f->pol, f->lv[id - 1]);
	rf_policy_free(f->pol);
	g_free(f);
}

START_TEST(pinned)
{
	const char *name = names[_i / 3];
	unsigned fallbacks;

	pin_some(name, _i, &fallbacks);
	ck_assert_msg(fallbacks == 0, "%s, %d: %u fallback victims", name, _i, fallbacks);
}
END_TEST

/* A policy that names nothing, or what is not there, is served by the host, counted. */
START_TEST(silent)
{
	static struct rf_reclaim_ops ops;
	unsigned fallbacks;

	ops = *rf_reclaim_find("lru", NULL);
	ops.name = "silent";
	ops.propose = _i < 3 ? silent_propose : lying_propose;
	ck_assert(rf_reclaim_register(&ops, "test", NULL));
	pin_some("silent", _i, &fallbacks);
	ck_assert_uint_gt(fallbacks, PAGES / 8);
}
END_TEST

/* The array fifo against a GQueue. */
START_TEST(queue)
{
	static uint16_t fact[PAGES];
	static struct rf_link link[PAGES];
	struct rf_host host = { .fact = fact, .npages = PAGES };
	struct rf_reclaim_ops ops = { .name = "queue" };
	struct rf_policy pol = { .ops = &ops, .host = &host, .link = link };
	struct rf_rng rng = { first_seed() };
	GQueue *model = g_queue_new();
	struct rf_queue q;

	memset(link, 0xff, sizeof(link));
	rf_queue_init(&q);
	for (unsigned i = 0; i < 20000; i++) {
		rf_page page = rf_rng_below(&rng, PAGES), oldest;
		gpointer p = GUINT_TO_POINTER(page);

		if (rf_queued(link, page)) {
			if (g_queue_peek_head(model) == p) {
				rf_queue_turn(&q, link, page);
				g_queue_push_tail(model, g_queue_pop_head(model));
			} else if (i % 16 == 0) {
				take_some(&q, &pol, fact, model, 1 + rf_rng_below(&rng, 5));
			} else {
				rf_queue_remove(&q, link, page);
				g_queue_remove(model, p);
				fact[page] = 0;
			}
		} else {
			fact[page] = RF_PAGE_RESIDENT;
			if (i % 8) {
				rf_queue_push(&q, link, page);
				g_queue_push_tail(model, p);
			} else {
				rf_queue_push_oldest(&q, link, page);
				g_queue_push_head(model, p);
			}
		}
		rf_queue_check(&pol, &q);
		oldest = rf_queue_oldest(&q, &pol);
		if (q.n != g_queue_get_length(model) ||
		    (q.n && GUINT_TO_POINTER(oldest) != g_queue_peek_head(model)) ||
		    (!q.n && oldest != RF_NO_PAGE))
			ck_abort_msg("seed %" G_GUINT64_FORMAT ": step %u", first_seed(), i);
	}
	/* Holes are closed before the array grows. */
	ck_assert_uint_le(q.mask, 255);
	rf_queue_clear(&q);
	g_queue_free(model);
}
END_TEST

/* A walk goes depth first, in order of creation, and ends where it began. */
START_TEST(tree)
{
	struct rf_host host = { .npages = 0 };
	struct rf_policy *pol = rf_policy_new("lru", &host, NULL, NULL);
	struct rf_lruvec *lv[6], *at;
	static const uint32_t whole[] = { 0, 1, 3, 4, 2, 5 }, part[] = { 1, 3, 4 };
	unsigned n = 0;

	lv[0] = rf_lruvec_new(pol, 0, NULL);
	lv[1] = rf_lruvec_new(pol, 1, lv[0]);
	lv[2] = rf_lruvec_new(pol, 2, lv[0]);
	lv[3] = rf_lruvec_new(pol, 3, lv[1]);
	lv[4] = rf_lruvec_new(pol, 4, lv[1]);
	lv[5] = rf_lruvec_new(pol, 5, lv[2]);
	for (at = lv[0]; at; at = rf_lruvec_next(lv[0], at))
		ck_assert_uint_eq(at->id, whole[n++]);
	ck_assert_uint_eq(n, 6);
	n = 0;
	for (at = lv[1]; at; at = rf_lruvec_next(lv[1], at))
		ck_assert_uint_eq(at->id, part[n++]);
	ck_assert_uint_eq(n, 3);
	ck_assert_ptr_null(rf_lruvec_next(lv[5], lv[5]));
	rf_lruvec_free(pol, lv[3]);
	ck_assert_ptr_eq(lv[1]->child, lv[4]);
	for (int i = 5; i >= 0; i--)
		if (i != 3)
			rf_lruvec_free(pol, lv[i]);
	rf_policy_free(pol);
}
END_TEST

Suite *suite_policies_host(void)
{
	Suite *s = suite_create("policies_host");
	TCase *t = tcase_create("host");

	tcase_add_loop_test(t, any_host, 0, 2 * G_N_ELEMENTS(names));
	tcase_add_loop_test(t, pinned, 0, 3 * G_N_ELEMENTS(names));
	tcase_add_loop_test(t, silent, 0, 6);
	tcase_add_test(t, queue);
	tcase_add_test(t, tree);
	suite_add_tcase(s, t);
	return s;
}
