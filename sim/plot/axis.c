/* SPDX-License-Identifier: MIT */
#include "sim/plot/axis.h"

#include <math.h>
#include <string.h>

#define SPAN 20 /* from here on, small values drown on a linear axis */

struct unit {
	const char *name;
	double size, from; /* from: the largest value that takes this unit */
};

static const struct unit counts[] = { { "", 1, 0 },
	                              { "thousands", 1e3, 1e5 },
	                              { "millions", 1e6, 1e7 },
	                              { "billions", 1e9, 1e10 },
	                              { 0 } };
static const struct unit sizes[] = { { "B", 1, 0 },
	                             { "KiB", 1024, 1024 },
	                             { "MiB", 0x1p20, 0x1p20 },
	                             { "GiB", 0x1p30, 0x1p31 },
	                             { "TiB", 0x1p40, 0x1p41 },
	                             { 0 } };
static const struct unit times[] = {
	{ "ns", 1, 0 }, { "us", 1e3, 1e3 }, { "ms", 1e6, 1e6 }, { "s", 1e9, 2e9 }, { 0 }
};
static const struct unit percents[] = { { "%", 1, 0 }, { 0 } };

/* ORDER enum rf_quantity; words have none. */
static const struct unit *const units[] = { counts, sizes, times, percents };

/* What people call some columns; others go by their own names. */
static const struct {
	const char *name, *label;
} labels[] = {
	{ "limit", "memory limit" },
	{ "limit_bytes", "memory limit" },
	{ "ram", "RAM" },
	{ "ram_bytes", "RAM" },
	{ "swap_bytes", "swap" },
	{ "frames", "page frames" },
	{ "frames_n", "page frames" },
	{ "page_bytes", "page size" },
	{ "page-size", "page size" },
	{ "reclaim", "policy" },
	{ "time_ns", "simulated time" },
	{ "size_bytes", "memory" },
	{ "exact_pages", "exact reuse distance, pages" },
	{ "estimate_pages", "the kernel's estimate, pages" },
	{ "miss_ratio", "miss ratio, faults an access" },
};

void rf_axis_init(struct rf_axis *a, const char *name, enum rf_quantity quantity)
{
	*a = (struct rf_axis){
		.name = name, .quantity = quantity, .min = INFINITY, .max = -INFINITY
	};
	a->unit = 1;
	a->unit_name = "";
	a->words = g_ptr_array_new_with_free_func(g_free);
}

void rf_axis_clear(struct rf_axis *a)
{
	g_clear_pointer(&a->words, g_ptr_array_unref);
}

void rf_axis_add(struct rf_axis *a, double value)
{
	a->min = MIN(a->min, value);
	a->max = MAX(a->max, value);
	if (value > 0 && (a->least == 0 || value < a->least))
		a->least = value;
}

double rf_axis_word(struct rf_axis *a, const char *word)
{
	guint i = 0;

	while (i < a->words->len && strcmp(a->words->pdata[i], word) != 0)
		i++;
	if (i == a->words->len)
		g_ptr_array_add(a->words, g_strdup(word));
	rf_axis_add(a, i);
	return i;
}

void rf_axis_choose(struct rf_axis *a, int log)
{
	const struct unit *u;

	if (a->quantity == RF_QUANTITY_WORD)
		return;
	u = units[a->quantity];
	a->log = log > 0 || (log < 0 && a->min >= 0 && a->least > 0 && a->max / a->least > SPAN);
	if (!(a->least > 0))
		a->log = FALSE;
	/* Ticks of a logarithmic axis of counts say k and M themselves, of a long one of sizes KiB.
	 */
	if (a->log && (a->quantity == RF_QUANTITY_COUNT ||
	               (a->quantity == RF_QUANTITY_SIZE && a->max / a->least > 256)))
		return;
	while (u[1].name && MAX(fabs(a->max), fabs(a->min)) >= u[1].from)
		u++;
	a->unit = u->size;
	a->unit_name = u->name;
}

char *rf_axis_label(const struct rf_axis *a)
{
	const char *label = a->name;

	for (size_t i = 0; i < G_N_ELEMENTS(labels); i++) {
		if (strcmp(a->name, labels[i].name) == 0)
			label = labels[i].label;
	}
	if (a->quantity == RF_QUANTITY_PERCENT && label != a->name)
		return g_strdup_printf("%s (%% of the footprint)", label);
	return *a->unit_name ? g_strdup_printf("%s (%s)", label, a->unit_name) : g_strdup(label);
}

double rf_axis_scaled(const struct rf_axis *a, double value)
{
	return value / a->unit;
}

char *rf_axis_short(const struct rf_axis *a, double value)
{
	static const char *const suffixes[] = { "", "k", "M", "G", "T" };
	double scaled = value / a->unit;
	unsigned k = 0;

	while (fabs(scaled) >= 99999.5 && k + 1 < G_N_ELEMENTS(suffixes)) {
		scaled /= 1000;
		k++;
	}
	if (k == 0 && scaled == floor(scaled))
		return g_strdup_printf("%.0f", scaled);
	return g_strdup_printf("%.*f%s",
	                       scaled >= 100  ? 0
	                       : scaled >= 10 ? 1
	                                      : 2,
	                       scaled, suffixes[k]);
}
