/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "sim/reproduce/figures.h"

static int decimals_of(const char *posted)
{
	const char *dot = strchr(posted, '.');

	return dot ? (int)strlen(dot + 1) : 0;
}

/* With as many decimals as the posted figure, so that the two can be compared. */
static char *number_like(double v, const char *posted)
{
	g_autofree char *whole = NULL;
	char format[16], text[64], *fraction;
	gboolean negative;

	if (!isfinite(v))
		return g_strdup("-");
	g_snprintf(format, sizeof(format), "%%.%df", MIN(decimals_of(posted), 9));
	g_ascii_formatd(text, sizeof(text), format, v);
	if (fabs(v) >= 1e15)
		return g_strdup(text);
	negative = text[0] == '-';
	whole = rf_format_count(g_ascii_strtoull(text + negative, &fraction, 10));
	return g_strconcat(negative && strpbrk(text, "123456789") ? "-" : "", whole, fraction, NULL);
}

/* Of a value that stands alone: whole, or four digits. */
static char *number(double v)
{
	char text[64];

	if (v == floor(v) || fabs(v) >= 10000)
		return number_like(v, "");
	return isfinite(v) ? g_strdup(g_ascii_formatd(text, sizeof(text), "%.4g", v)) : g_strdup("-");
}

char *rf_exp_error_text(const struct rf_exp_row *row)
{
	char text[32];

	if (!row->posted || !isfinite(row->error))
		return g_strdup("");
	if (fabs(row->error) >= 1000)
		return g_strdup(row->error > 0 ? "> 1000 %" : "< -1000 %");
	g_ascii_formatd(text, sizeof(text), fabs(row->error) < 9.95 ? "%+.2f" : "%+.1f", row->error);
	return g_strconcat(text, " %", NULL);
}

char *rf_exp_rule_text(const struct rf_exp_row *row)
{
	char text[32];

	switch (row->rule) {
	case RF_EXP_WITHIN:
		return g_strconcat(g_ascii_formatd(text, sizeof(text), "%.3g", row->within), " %", NULL);
	case RF_EXP_EXACT:
		return g_strdup("exact");
	case RF_EXP_CAL:
		return g_strdup("cal");
	case RF_EXP_SHOWN:
		break;
	}
	return g_strdup("");
}

static char *value_text(const struct rf_exp_row *row, double v)
{
	return row->posted ? number_like(v, row->posted) : number(v);
}

char *rf_exp_value_text(const struct rf_exp_row *row)
{
	return value_text(row, row->value);
}

char *rf_exp_spread_text(const struct rf_exp_row *row)
{
	g_autofree char *low = value_text(row, row->low), *high = value_text(row, row->high);

	return g_strconcat(low, " to ", high, NULL);
}
