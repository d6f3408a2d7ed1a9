/* SPDX-License-Identifier: MIT */
#include "sim/report/report.h"

#include <string.h>

#include "base/error.h"

/* ORDER enum rf_output. */
static const char *const names[] = { "normal", "json", "csv", "vmstat", NULL };

G_STATIC_ASSERT(G_N_ELEMENTS(names) == RF_NOUTPUTS + 1);

gboolean rf_output_parse(const char *list, unsigned *set, GError **error)
{
	g_auto(GStrv) words = g_strsplit(list, ",", -1);

	*set = 0;
	for (char **w = words; *w; w++) {
		unsigned i = 0;

		while (names[i] && strcmp(names[i], *w) != 0)
			i++;
		if (names[i]) {
			*set |= 1u << i;
			continue;
		}

		const char *near = rf_nearest(*w, names);

		if (near)
			rf_set_usage(error,
			             "--output-format %s: no format \"%s\"; did you mean \"%s\"?",
			             list, *w, near);
		else
			rf_set_usage(
				error,
				"--output-format %s: no format \"%s\"; expected some of normal, "
				"json, csv, vmstat",
				list, *w);
		return FALSE;
	}
	if (*set)
		return TRUE;
	rf_set_usage(error, "--output-format: expected some of normal, json, csv, vmstat");
	return FALSE;
}

/* Several runs are one JSON document as well. */
static void append_json(GString *out, const struct rf_report *r, gboolean first, gboolean last)
{
	gboolean alone = first && last;

	if (!alone)
		g_string_append(out, first ? "[\n" : ",\n");
	rf_report_json(out, r);
	if (!alone && last)
		g_string_append(out, "\n]");
	if (last)
		g_string_append_c(out, '\n');
}

void rf_report_append(GString *out, enum rf_output format, const struct rf_report *r,
                      gboolean first, gboolean last)
{
	switch (format) {
	case RF_OUT_NORMAL:
		if (!first)
			g_string_append_c(out, '\n');
		rf_report_normal(out, r);
		break;
	case RF_OUT_JSON:
		append_json(out, r, first, last);
		break;
	case RF_OUT_CSV:
		rf_report_csv(out, r, first);
		break;
	case RF_OUT_VMSTAT:
		if (!first)
			g_string_append_c(out, '\n');
		rf_report_vmstat(out, r);
		break;
	case RF_NOUTPUTS:
		g_assert_not_reached();
	}
}
