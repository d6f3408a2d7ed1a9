/* SPDX-License-Identifier: MIT
 * CSV and JSON of curves.
 */
#include "sim/curve/report.h"

#include "base/version.h"
#include "sim/report/members.h"
#include "sim/report/report.h"

#define U64 G_GUINT64_FORMAT

const char *const rf_curve_algorithm_names[RF_CURVE_NALGORITHMS] = { "lru", "opt" };

/* Billionths of the accesses that fault, without a rounding that depends on the host. */
static uint64_t ratio(uint64_t faults, uint64_t accesses)
{
	return accesses ? (uint64_t)(((unsigned __int128)faults * 1000000000 + accesses / 2) / accesses)
	                : 0;
}

/* ---- CSV ---- */

static void csv_row(GString *out, const struct rf_curve_report *r, const char *algorithm,
                    const struct rf_curve_group *g, const struct rf_curve_point *p)
{
	uint64_t accesses = rf_curve_scale(g->accesses, r->rate), part = ratio(p->faults, accesses);

	g_string_append_printf(out, "%s,%d,", rf_version, RF_CURVE_SCHEMA);
	rf_csv_field(out, r->path);
	g_string_append_printf(out, ",%016" G_GINT64_MODIFIER "x,%u,%s,%u,", r->totals->digest,
	                       1u << r->page_shift, algorithm, r->rate);
	rf_csv_field(out, g->name);
	g_string_append_printf(out, ",%" U64 ",%" U64 ",%" U64 ",%" U64 ",%" U64 ".%09" U64 ",%" U64,
	                       accesses, p->frames, p->frames << r->page_shift, p->faults,
	                       part / 1000000000, part % 1000000000, p->error);
	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++)
		g_string_append_printf(out, ",%" U64, p->of[k]);
	g_string_append_c(out, '\n');
}

void rf_curve_report_csv(GString *out, const struct rf_curve_report *r, gboolean heading)
{
	if (heading) {
		g_string_append(out, "version,schema,trace,digest,page_bytes,algorithm,rate_ppm,group,"
		                     "accesses,frames,size_bytes,faults,miss_ratio,error_faults");
		for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++)
			g_string_append_printf(out, ",faults_%s", rf_curve_class_names[k]);
		g_string_append_c(out, '\n');
	}
	for (unsigned a = 0; a < RF_CURVE_NALGORITHMS; a++) {
		for (guint i = 0; r->curve[a] && i < rf_curve_ngroups(r->curve[a]); i++) {
			const struct rf_curve_group *g = rf_curve_group(r->curve[a], i);
			g_autoptr(GArray) points = rf_curve_points(r, g, 0);

			for (guint k = 0; k < points->len; k++)
				csv_row(out, r, rf_curve_algorithm_names[a], g,
				        &g_array_index(points, struct rf_curve_point, k));
		}
	}
}

/* ---- JSON ---- */

/* A column of all points: the member of struct rf_curve_point at an offset. */
static void column(JsonBuilder *b, const char *name, const GArray *points, size_t offset)
{
	rf_json_array(b, name);
	for (guint i = 0; i < points->len; i++) {
		const char *p = (const char *)&g_array_index(points, struct rf_curve_point, i);

		json_builder_add_int_value(b, (gint64) * (const uint64_t *)(const void *)(p + offset));
	}
	json_builder_end_array(b);
}

static void curve(JsonBuilder *b, const struct rf_curve_report *r, const char *algorithm,
                  const struct rf_curve_group *g)
{
	g_autoptr(GArray) points = rf_curve_points(r, g, 0);

	json_builder_begin_object(b);
	rf_json_text(b, "algorithm", algorithm);
	rf_json_text(b, "group", g->name);
	rf_json_number(b, "accesses", rf_curve_scale(g->accesses, r->rate));
	rf_json_number(b, "pages", rf_curve_scale(g->pages, r->rate));
	column(b, "frames", points, offsetof(struct rf_curve_point, frames));
	column(b, "faults", points, offsetof(struct rf_curve_point, faults));
	column(b, "error_faults", points, offsetof(struct rf_curve_point, error));
	for (unsigned k = 0; k < RF_CURVE_NCLASSES; k++) {
		g_autofree char *name = g_strconcat("faults_", rf_curve_class_names[k], NULL);

		column(b, name, points,
		       offsetof(struct rf_curve_point, of) + k * sizeof(uint64_t));
	}
	json_builder_end_object(b);
}

void rf_curve_report_json(GString *out, const struct rf_curve_report *r)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", r->totals->digest);

	json_builder_begin_object(b);
	rf_json_text(b, "program", "refault curve");
	rf_json_text(b, "version", rf_version);
	rf_json_number(b, "schema", RF_CURVE_SCHEMA);
	rf_json_text(b, "trace", r->path);
	rf_json_text(b, "format", r->format);
	rf_json_text(b, "digest", digest);
	rf_json_number(b, "lost", r->totals->lost);
	rf_json_flag(b, "forced", r->forced);
	rf_json_number(b, "page_bytes", UINT64_C(1) << r->page_shift);
	rf_json_number(b, "rate_ppm", r->rate);
	rf_json_array(b, "curves");
	for (unsigned a = 0; a < RF_CURVE_NALGORITHMS; a++) {
		for (guint i = 0; r->curve[a] && i < rf_curve_ngroups(r->curve[a]); i++)
			curve(b, r, rf_curve_algorithm_names[a], rf_curve_group(r->curve[a], i));
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	rf_json_append(out, b);
}
