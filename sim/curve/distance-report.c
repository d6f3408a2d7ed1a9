/* SPDX-License-Identifier: MIT
 * CSV and JSON of the refault distance against the exact one.
 */
#include "base/version.h"
#include "sim/curve/distance.h"
#include "sim/report/members.h"
#include "sim/report/report.h"

#define U64 G_GUINT64_FORMAT
#define SCHEMA 1

static const char *const types[2] = { "anon", "file" };

void rf_distance_csv(GString *out, const struct rf_distance_report *r, gboolean heading)
{
	if (heading)
		g_string_append(out, "version,schema,trace,digest,page_bytes,frames,type,exact_pages,"
		                     "estimate_pages,refaults\n");
	for (unsigned file = 0; file < 2; file++) {
		const struct rf_distances *d = rf_distance_of(r->distance, (gboolean)file);

		for (unsigned x = 0; x < RF_DISTANCE_BUCKETS; x++) {
			for (unsigned y = 0; y < RF_DISTANCE_BUCKETS; y++) {
				if (!d->n[x][y])
					continue;
				g_string_append_printf(out, "%s,%d,", rf_version, SCHEMA);
				rf_csv_field(out, r->path);
				g_string_append_printf(out, ",%016" G_GINT64_MODIFIER "x,%u,%" U64 ",%s,%" U64
				                            ",%" U64 ",%" U64 "\n",
				                       r->totals->digest, 1u << r->page_shift,
				                       rf_distance_frames(r->distance), types[file],
				                       rf_distance_least(x), rf_distance_least(y), d->n[x][y]);
			}
		}
	}
}

enum what { EXACT, ESTIMATE, REFAULTS };

/* A column of all pairs of distances that occur. */
static void column(JsonBuilder *b, const char *name, const struct rf_distances *d, enum what what)
{
	rf_json_array(b, name);
	for (unsigned x = 0; x < RF_DISTANCE_BUCKETS; x++) {
		for (unsigned y = 0; y < RF_DISTANCE_BUCKETS; y++) {
			const uint64_t value[] = { rf_distance_least(x), rf_distance_least(y), d->n[x][y] };

			if (d->n[x][y])
				json_builder_add_int_value(b, (gint64)value[what]);
		}
	}
	json_builder_end_array(b);
}

void rf_distance_json(GString *out, const struct rf_distance_report *r)
{
	g_autoptr(JsonBuilder) b = json_builder_new();
	g_autofree char *digest = g_strdup_printf("%016" G_GINT64_MODIFIER "x", r->totals->digest);

	json_builder_begin_object(b);
	rf_json_text(b, "program", "refault curve");
	rf_json_text(b, "version", rf_version);
	rf_json_number(b, "schema", SCHEMA);
	rf_json_text(b, "trace", r->path);
	rf_json_text(b, "digest", digest);
	rf_json_number(b, "lost", r->totals->lost);
	rf_json_flag(b, "forced", r->forced);
	rf_json_number(b, "page_bytes", UINT64_C(1) << r->page_shift);
	rf_json_number(b, "frames", rf_distance_frames(r->distance));
	rf_json_array(b, "distances");
	for (unsigned file = 0; file < 2; file++) {
		const struct rf_distances *d = rf_distance_of(r->distance, (gboolean)file);

		rf_json_object(b, NULL);
		rf_json_text(b, "type", types[file]);
		rf_json_number(b, "fit_active", d->verdict[1][1]);
		rf_json_number(b, "fit_inactive", d->verdict[1][0]);
		rf_json_number(b, "far_active", d->verdict[0][1]);
		rf_json_number(b, "far_inactive", d->verdict[0][0]);
		column(b, "exact_pages", d, EXACT);
		column(b, "estimate_pages", d, ESTIMATE);
		column(b, "refaults", d, REFAULTS);
		json_builder_end_object(b);
	}
	json_builder_end_array(b);
	json_builder_end_object(b);
	rf_json_append(out, b);
}
