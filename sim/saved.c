/* SPDX-License-Identifier: MIT
 * The inverse of report/json.c.
 */
#include "sim/saved.h"

#include <errno.h>
#include <json-glib/json-glib.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "sim/report/report.h"

/* Results nest five deep; the parser recurses, and must not do so as deep as a file likes. */
#define MOST_DEPTH 64
/* A document is held in memory whole. */
#define MOST_BYTES (G_GUINT64_CONSTANT(1) << 32)

/* ---- members, and where they stand for messages ---- */

/* An object within a document: links to the outside. */
struct at {
	const struct at *outer;
	const char *name; /* of the member, or NULL for an element of an array: then nth */
	guint nth;        /* from 0 */
	JsonObject *object;
};

static void append_where(GString *out, const struct at *at)
{
	if (at->outer)
		append_where(out, at->outer);
	if (!at->outer)
		g_string_append(out, at->name);
	else if (at->name)
		g_string_append_printf(out, "%s.", at->name);
	else
		g_string_append_printf(out, "%u.", at->nth);
}

/* Always FALSE. */
static gboolean expected(const struct at *at, const char *member, const char *what, GError **error)
{
	g_autoptr(GString) where = g_string_new(NULL);

	append_where(where, at);
	rf_set_data(error, "%s%s: expected %s", where->str, member, what);
	return FALSE;
}

static gboolean to_number(JsonNode *node, uint64_t *out)
{
	gint64 n;

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64)
		return FALSE;
	n = json_node_get_int(node);
	if (n < 0)
		return FALSE;
	*out = (uint64_t)n;
	return TRUE;
}

static gboolean number(const struct at *at, const char *member, uint64_t *out, GError **error)
{
	if (to_number(json_object_get_member(at->object, member), out))
		return TRUE;
	return expected(at, member, "a whole number from 0 to 2^63-1", error);
}

/* null gives NULL where that is allowed. */
static gboolean text(const struct at *at, const char *member, gboolean or_null, char **out,
                     GError **error)
{
	JsonNode *node = json_object_get_member(at->object, member);

	if (node && JSON_NODE_HOLDS_NULL(node) && or_null) {
		*out = NULL;
		return TRUE;
	}
	if (!node || !JSON_NODE_HOLDS_VALUE(node) ||
	    json_node_get_value_type(node) != G_TYPE_STRING)
		return expected(at, member, or_null ? "a string or null" : "a string", error);
	*out = json_node_dup_string(node);
	return TRUE;
}

static gboolean boolean(const struct at *at, const char *member, gboolean *out, GError **error)
{
	JsonNode *node = json_object_get_member(at->object, member);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) ||
	    json_node_get_value_type(node) != G_TYPE_BOOLEAN)
		return expected(at, member, "true or false", error);
	*out = json_node_get_boolean(node);
	return TRUE;
}

static gboolean object(const struct at *at, const char *member, struct at *in, GError **error)
{
	JsonNode *node = json_object_get_member(at->object, member);

	if (!node || !JSON_NODE_HOLDS_OBJECT(node))
		return expected(at, member, "an object", error);
	*in = (struct at){ at, member, 0, json_node_get_object(node) };
	return TRUE;
}

static gboolean array(const struct at *at, const char *member, JsonArray **out, GError **error)
{
	JsonNode *node = json_object_get_member(at->object, member);

	if (!node || !JSON_NODE_HOLDS_ARRAY(node))
		return expected(at, member, "an array", error);
	*out = json_node_get_array(node);
	return TRUE;
}

/* Call read for each element, all of them objects, of a member. */
static gboolean each(const struct at *at, const char *member,
                     gboolean (*read)(const struct at *, struct rf_saved *, GError **),
                     struct rf_saved *s, GError **error)
{
	const struct at list = { at, member, 0, NULL };
	JsonArray *a;

	if (!array(at, member, &a, error))
		return FALSE;
	for (guint i = 0; i < json_array_get_length(a); i++) {
		JsonNode *node = json_array_get_element(a, i);
		g_autofree char *nth = g_strdup_printf("%u", i);
		struct at in = { &list, NULL, i, NULL };

		if (!JSON_NODE_HOLDS_OBJECT(node))
			return expected(&list, nth, "an object", error);
		in.object = json_node_get_object(node);
		if (!read(&in, s, error))
			return FALSE;
	}
	return TRUE;
}

/* ---- parts of a result ---- */

static gboolean pairs(const struct at *at, const char *member, GArray *out, GError **error)
{
	struct at in;
	JsonObjectIter iter;
	const char *name;

	if (!object(at, member, &in, error))
		return FALSE;
	json_object_iter_init_ordered(&iter, in.object);
	while (json_object_iter_next_ordered(&iter, &name, NULL)) {
		struct rf_saved_pair pair = { NULL, NULL };

		if (!text(&in, name, TRUE, &pair.value, error))
			return FALSE;
		pair.name = g_strdup(name);
		g_array_append_val(out, pair);
	}
	return TRUE;
}

static gboolean trace(const struct at *at, struct rf_saved *s, GError **error)
{
	static const char *const sizes[] = { "4K", "16K", "64K" };
	struct rf_totals *t = &s->result.totals;
	struct at in, of;
	char *end;

	if (!object(at, "trace", &in, error) || !text(&in, "path", FALSE, &s->trace, error) ||
	    !text(&in, "format", FALSE, &s->format, error) ||
	    !text(&in, "maps", TRUE, &s->maps, error) ||
	    !text(&in, "digest", FALSE, &s->digest, error) ||
	    !number(&in, "lost", &t->lost, error) || !number(&in, "events", &t->events, error) ||
	    !number(&in, "runs", &t->runs, error))
		return FALSE;
	t->digest = g_ascii_strtoull(s->digest, &end, 16);
	if (strlen(s->digest) != 16 || strspn(s->digest, "0123456789abcdef") != 16)
		return expected(&in, "digest", "16 hexadecimal digits", error);
	if (!object(&in, "accesses", &of, error) ||
	    !number(&of, "read", &t->accesses[RF_READ], error) ||
	    !number(&of, "write", &t->accesses[RF_WRITE], error) ||
	    !number(&of, "exec", &t->accesses[RF_EXEC], error))
		return FALSE;
	if (!object(&in, "footprint_pages", &of, error))
		return FALSE;
	for (size_t i = 0; i < G_N_ELEMENTS(sizes); i++) {
		if (!number(&of, sizes[i], &t->footprint[i], error))
			return FALSE;
	}
	return pairs(&in, "header", s->header, error);
}

static gboolean resolved(const struct at *at, struct rf_saved *s, GError **error)
{
	struct at in;

	if (!object(at, "resolved", &in, error) ||
	    !number(&in, "page_bytes", &s->page_bytes, error) ||
	    !number(&in, "limit_bytes", &s->limit_bytes, error) ||
	    !number(&in, "ram_bytes", &s->ram_bytes, error) ||
	    !number(&in, "swap_bytes", &s->swap_bytes, error) ||
	    !number(&in, "frames_n", &s->frames_n, error))
		return FALSE;
	if (s->page_bytes == 0)
		return expected(&in, "page_bytes", "the size of a page", error);
	return TRUE;
}

/* Those metrics that are there; an older version has fewer.  present and gauge may be NULL. */
static gboolean metrics(const struct at *in, uint64_t *counter, uint64_t *gauge, gboolean *present,
                        GError **error)
{
	for (unsigned i = 0; i < rf_nmetrics; i++) {
		const struct rf_metric *m = &rf_metrics[i];
		uint64_t *to = m->kind == RF_METRIC_COUNTER ? counter : gauge;

		if (!to || !json_object_has_member(in->object, m->name))
			continue;
		if (!number(in, m->name, &to[m->index], error))
			return FALSE;
		if (present)
			present[i] = TRUE;
	}
	return TRUE;
}

static gboolean task(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_task_result t = { 0 };
	uint64_t tid;
	gboolean ok = number(in, "tid", &tid, error) && number(in, "rss", &t.rss, error) &&
	              number(in, "rss_mean", &t.rss_mean, error) &&
	              number(in, "rss_max", &t.rss_max, error) &&
	              number(in, "swap", &t.swap, error) &&
	              number(in, "pgfault", &t.pgfault, error) &&
	              number(in, "pgmajfault", &t.pgmajfault, error) &&
	              number(in, "accesses", &t.accesses, error) &&
	              number(in, "cpu_ns", &t.cpu, error) && number(in, "spin_ns", &t.spin, error) &&
	              number(in, "queue_ns", &t.queue, error) &&
	              number(in, "device_ns", &t.device, error) &&
	              number(in, "lock_ns", &t.lock, error) &&
	              number(in, "throttle_ns", &t.throttle, error) &&
	              boolean(in, "exited", &t.exited, error) &&
	              boolean(in, "oom_killed", &t.oom_killed, error);

	if (ok && tid > UINT32_MAX)
		ok = expected(in, "tid", "a number below 2^32", error);
	if (!ok || !text(in, "name", TRUE, &t.name, error))
		return FALSE;
	t.tid = (uint32_t)tid;
	g_array_append_val(s->result.tasks, t);
	return TRUE;
}

static gboolean cgroup(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_cgroup_result g = { 0 };
	gboolean ok = number(in, "usage", &g.usage, error) &&
	              number(in, "usage_max", &g.usage_max, error) &&
	              number(in, "anon", &g.anon, error) && number(in, "file", &g.file, error) &&
	              number(in, "file_mapped", &g.file_mapped, error) &&
	              number(in, "swap", &g.swap, error) &&
	              number(in, "kernel", &g.kernel, error) &&
	              number(in, "inactive_anon", &g.lru[0], error) &&
	              number(in, "active_anon", &g.lru[1], error) &&
	              number(in, "inactive_file", &g.lru[2], error) &&
	              number(in, "active_file", &g.lru[3], error) &&
	              metrics(in, g.counter, NULL, NULL, error);

	if (!ok || !text(in, "path", FALSE, &g.path, error))
		return FALSE;
	g_array_append_val(s->result.cgroups, g);
	return TRUE;
}

static gboolean processor(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_cpu_result c = { 0 };

	if (!number(in, "busy_ns", &c.busy, error) || !number(in, "idle_ns", &c.idle, error))
		return FALSE;
	g_array_append_val(s->result.cpus, c);
	return TRUE;
}

static gboolean lock(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_lock_result l = { 0 };
	g_autofree char *name = NULL;

	if (!number(in, "taken", &l.taken, error) ||
	    !number(in, "contended", &l.contended, error) ||
	    !number(in, "waited_ns", &l.waited, error) ||
	    !number(in, "waited_max_ns", &l.waited_max, error) ||
	    !number(in, "held_ns", &l.held, error) || !text(in, "name", FALSE, &name, error))
		return FALSE;
	l.name = g_intern_string(name);
	g_array_append_val(s->result.locks, l);
	return TRUE;
}

static gboolean oom(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_oom o = { 0 };
	uint64_t tid;

	if (!number(in, "time_ns", &o.now, error) || !number(in, "tid", &tid, error))
		return FALSE;
	if (tid > UINT32_MAX)
		return expected(in, "tid", "a number below 2^32", error);
	o.tid = (uint32_t)tid;
	if (!text(in, "cgroup", TRUE, &o.cgroup, error) ||
	    !text(in, "reason", TRUE, &o.reason, error)) {
		g_free(o.cgroup);
		return FALSE;
	}
	g_array_append_val(s->result.oom, o);
	return TRUE;
}

static gboolean mark(const struct at *in, struct rf_saved *s, GError **error)
{
	struct rf_sample m = { 0 };
	struct at of;

	if (!number(in, "time_ns", &m.now, error) || !object(in, "metrics", &of, error) ||
	    !metrics(&of, m.counter, m.gauge, NULL, error) ||
	    !text(in, "name", TRUE, &m.mark, error))
		return FALSE;
	g_array_append_val(s->result.marks, m);
	return TRUE;
}

/* A column of a timeline: as long as its times. */
static gboolean column(const struct at *in, const char *name, guint n, JsonArray **out,
                       GError **error)
{
	g_autofree char *what = g_strdup_printf("an array of %u numbers, one a sample", n);

	if (!array(in, name, out, error))
		return FALSE;
	if (json_array_get_length(*out) != n)
		return expected(in, name, what, error);
	for (guint i = 0; i < n; i++) {
		uint64_t ignored;

		if (!to_number(json_array_get_element(*out, i), &ignored))
			return expected(in, name, what, error);
	}
	return TRUE;
}

static gboolean timeline(const struct at *at, struct rf_saved *s, GError **error)
{
	struct rf_sample *sample;
	JsonArray *a;
	struct at in;
	guint n;

	if (!json_object_has_member(at->object, "timeline"))
		return TRUE;
	if (!object(at, "timeline", &in, error) || !array(&in, "time_ns", &a, error))
		return FALSE;
	n = json_array_get_length(a);
	if (!column(&in, "time_ns", n, &a, error))
		return FALSE;
	g_array_set_size(s->result.timeline, n);
	sample = (struct rf_sample *)(void *)s->result.timeline->data;
	for (guint i = 0; i < n; i++)
		to_number(json_array_get_element(a, i), &sample[i].now);
	for (unsigned k = 0; k < rf_nmetrics; k++) {
		const struct rf_metric *m = &rf_metrics[k];

		if (!json_object_has_member(in.object, m->name))
			continue;
		if (!column(&in, m->name, n, &a, error))
			return FALSE;
		for (guint i = 0; i < n; i++)
			to_number(json_array_get_element(a, i),
			          m->kind == RF_METRIC_COUNTER ? &sample[i].counter[m->index]
			                                       : &sample[i].gauge[m->index]);
	}
	return TRUE;
}

/* ---- a result ---- */

static void clear_pair(void *p)
{
	struct rf_saved_pair *pair = p;

	g_free(pair->name);
	g_free(pair->value);
}

static GArray *new_pairs(void)
{
	GArray *a = g_array_new(FALSE, FALSE, sizeof(struct rf_saved_pair));

	g_array_set_clear_func(a, clear_pair);
	return a;
}

void rf_saved_free(struct rf_saved *s)
{
	if (!s)
		return;
	g_free(s->file);
	g_free(s->version);
	g_free(s->trace);
	g_free(s->format);
	g_free(s->maps);
	g_free(s->digest);
	g_array_unref(s->header);
	g_array_unref(s->config);
	g_array_unref(s->profile);
	rf_result_clear(&s->result);
	g_free(s);
}

static void free_saved(void *p)
{
	rf_saved_free(p);
}

static gboolean whole(const struct at *at, struct rf_saved *s, GError **error)
{
	g_autofree char *program = NULL;
	struct at in;

	if (!json_object_has_member(at->object, "program"))
		return expected(at, "program", "a result of `refault run --output-format=json'",
		                error);
	if (!text(at, "program", FALSE, &program, error))
		return FALSE;
	if (strcmp(program, "refault") != 0)
		return expected(at, "program", "\"refault\"", error);
	if (!text(at, "version", FALSE, &s->version, error) ||
	    !number(at, "schema", &s->schema, error))
		return FALSE;
	if (s->schema != RF_REPORT_SCHEMA) {
		g_autofree char *what = g_strdup_printf(
			"%d, found %" G_GUINT64_FORMAT " (written by refault %s)", RF_REPORT_SCHEMA,
			s->schema, s->version);

		return expected(at, "schema", what, error);
	}
	return trace(at, s, error) && number(at, "seed", &s->seed, error) &&
	       pairs(at, "config", s->config, error) &&
	       (!json_object_has_member(at->object, "profile") ||
	        pairs(at, "profile", s->profile, error)) &&
	       resolved(at, s, error) && object(at, "metrics", &in, error) &&
	       metrics(&in, s->result.counter, s->result.gauge, s->present, error) &&
	       each(at, "cgroups", cgroup, s, error) && each(at, "tasks", task, s, error) &&
	       each(at, "processors", processor, s, error) && each(at, "locks", lock, s, error) &&
	       each(at, "oom", oom, s, error) && each(at, "marks", mark, s, error) &&
	       timeline(at, s, error);
}

static struct rf_saved *one(const char *name, guint nth, JsonNode *node, GError **error)
{
	struct rf_saved *s = g_new0(struct rf_saved, 1);
	g_autofree char *where = NULL;
	g_autofree char *prefix = NULL;
	struct at at = { 0 };

	s->file = g_strdup(name);
	s->nth = nth;
	s->header = new_pairs();
	s->config = new_pairs();
	s->profile = new_pairs();
	rf_result_init(&s->result);
	where = rf_saved_where(s);
	prefix = g_strdup_printf("%s: ", where);
	if (!JSON_NODE_HOLDS_OBJECT(node)) {
		rf_set_data(error, "%sexpected an object, a result of `refault run'", prefix);
		rf_saved_free(s);
		return NULL;
	}
	at.name = prefix;
	at.object = json_node_get_object(node);
	if (!whole(&at, s, error)) {
		rf_saved_free(s);
		return NULL;
	}
	return s;
}

/* ---- a document ---- */

static gboolean check_depth(const char *name, const char *text, gsize len, GError **error)
{
	guint depth = 0;
	gboolean string = FALSE;

	for (gsize i = 0; i < len; i++) {
		char c = text[i];

		if (c == '\0') {
			rf_set_data(error, "%s: offset %" G_GSIZE_FORMAT ": NUL byte; expected a JSON document",
			            name, i);
			return FALSE;
		}
		if (string) {
			if (c == '\\')
				i++;
			else if (c == '"')
				string = FALSE;
			continue;
		}
		if (c == '"')
			string = TRUE;
		else if (c == '[' || c == '{')
			depth++;
		else if ((c == ']' || c == '}') && depth)
			depth--;
		if (depth > MOST_DEPTH) {
			rf_set_data(error,
			            "%s: offset %" G_GSIZE_FORMAT ": nested more than %d deep; expected results "
			            "of `refault run --output-format=json'", name, i, MOST_DEPTH);
			return FALSE;
		}
	}
	return TRUE;
}

/* The position is known only while the parser is at it. */
static void note_position(JsonParser *parser, void *error, void *data)
{
	guint *position = data;

	(void)error;
	position[0] = json_parser_get_current_line(parser);
	position[1] = json_parser_get_current_pos(parser);
}

static JsonNode *document(const char *name, const char *text, gsize len, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new();
	g_autoptr(GError) why = NULL;
	guint position[2] = { 1, 0 };
	JsonNode *root;

	if (len > G_MAXSSIZE || !check_depth(name, text, len, error))
		return NULL;
	g_signal_connect(parser, "error", G_CALLBACK(note_position), position);
	if (!json_parser_load_from_data(parser, text, (gssize)len, &why)) {
		rf_set_data(error,
		            "%s: line %u, column %u: not JSON; expected results of `refault run "
		            "--output-format=json'", name, position[0], position[1]);
		return NULL;
	}
	root = json_parser_steal_root(parser);
	if (!root)
		rf_set_data(error, "%s: empty; expected results of `refault run --output-format=json'",
		            name);
	return root;
}

GPtrArray *rf_saved_parse(const char *name, const char *text, gsize len, GError **error)
{
	g_autoptr(GPtrArray) all = g_ptr_array_new_with_free_func(free_saved);
	g_autoptr(JsonNode) root = document(name, text, len, error);
	gboolean several;
	JsonArray *list;
	guint n;

	if (!root)
		return NULL;
	several = JSON_NODE_HOLDS_ARRAY(root);
	list = several ? json_node_get_array(root) : NULL;
	n = several ? json_array_get_length(list) : 1;
	if (n == 0) {
		rf_set_data(error, "%s: an empty array; expected results of `refault run'", name);
		return NULL;
	}
	for (guint i = 0; i < n; i++) {
		struct rf_saved *s = one(name, several ? i + 1 : 0,
		                         several ? json_array_get_element(list, i) : root, error);

		if (!s)
			return NULL;
		g_ptr_array_add(all, s);
	}
	return g_steal_pointer(&all);
}

static GString *read_all(FILE *f, const char *name, GError **error)
{
	GString *all = g_string_new(NULL);
	char buf[65536];
	size_t n;

	while ((n = fread(buf, 1, sizeof(buf), f)) > 0) {
		if (all->len + n > MOST_BYTES) {
			rf_set_data(error, "%s: over 4 GiB; expected results of `refault run'", name);
			g_string_free(all, TRUE);
			return NULL;
		}
		g_string_append_len(all, buf, (gssize)n);
	}
	if (ferror(f)) {
		rf_set_env(error, "%s: reading failed: %s", name, g_strerror(errno));
		g_string_free(all, TRUE);
		return NULL;
	}
	return all;
}

GPtrArray *rf_saved_load(const char *path, GError **error)
{
	gboolean standard = strcmp(path, "-") == 0;
	FILE *f = standard ? stdin : fopen(path, "rb");
	GString *content;
	GPtrArray *all;

	if (!f) {
		rf_set_env(error, "%s: %s", path, g_strerror(errno));
		return NULL;
	}
	content = read_all(f, path, error);
	if (!standard)
		fclose(f);
	if (!content)
		return NULL;
	all = rf_saved_parse(path, content->str, content->len, error);
	g_string_free(content, TRUE);
	return all;
}

/* ---- questions ---- */

gboolean rf_saved_value(const struct rf_saved *s, const struct rf_metric *m, uint64_t *value)
{
	*value = rf_result_value(&s->result, m);
	return s->present[m - rf_metrics];
}

const char *rf_saved_config(const struct rf_saved *s, const char *name)
{
	for (guint i = 0; i < s->config->len; i++) {
		const struct rf_saved_pair *p = &g_array_index(s->config, struct rf_saved_pair, i);

		if (strcmp(p->name, name) == 0)
			return p->value;
	}
	return NULL;
}

char *rf_saved_where(const struct rf_saved *s)
{
	return s->nth ? g_strdup_printf("%s: result %u", s->file, s->nth) : g_strdup(s->file);
}
