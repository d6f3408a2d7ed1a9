/* SPDX-License-Identifier: MIT
 * The option table of a run, and what its texts come to in numbers.
 */
#include "sim/config.h"

#include <string.h>

#include "base/error.h"
#include "base/units.h"
#include "policies/policy.h"

#define OFF(member) offsetof(struct rf_config, member)

/* ORDER of the groups is that of help, JSON and CSV: seams, machine, memory, knobs, simulation. */
/* clang-format off */
const struct rf_option rf_config_options[] = {
	{ "reclaim", RF_OPT_STRING, OFF(reclaim), NULL, "twolist", 0, 0, "NAME[,OPTION=VALUE...]",
	  "which page leaves; `refault policies' lists the names", NULL },
	{ "protect", RF_OPT_STRING, OFF(protect), NULL, "exec", 0, 0, "NAME[,OPTION=VALUE...]",
	  "what reclaim must spare", NULL },
	{ "account", RF_OPT_STRING, OFF(account), NULL, "embedded", 0, 0, "NAME[,OPTION=VALUE...]",
	  "how a page finds its cgroup, and what that costs", NULL },
	{ "volatile", RF_OPT_STRING, OFF(volatile_),
	  NULL, "dontneed", 0, 0, "NAME[,OPTION=VALUE...]",
	  "how purgeable ranges are tracked and purged", NULL },
	{ "fill", RF_OPT_STRING, OFF(fill), NULL, "zero", 0, 0, "NAME[,OPTION=VALUE...]",
	  "what the first touch of allocator memory costs and maps", NULL },
	{ "plugin", RF_OPT_STRING, OFF(plugin), NULL, "", 0, 0, "FILE",
	  "load policies from this shared object", NULL },

	{ "kernel", RF_OPT_STRING, OFF(kernel), NULL, "6.18", 0, 0, "RELEASE",
	  "kernel release whose rules apply, 2.6.30 to 6.18", NULL },
	{ "arch", RF_OPT_ENUM, OFF(arch), NULL, "x86-64", 0, 0, "x86-64,arm64",
	  "page tables and the handling of the accessed bit", NULL },
	{ "page-size", RF_OPT_ENUM, OFF(page_size), NULL, "4K", 0, 0, "4K,16K,64K",
	  "page size of the machine, whatever the trace was recorded with", NULL },
	{ "machine", RF_OPT_STRING, OFF(machine), NULL, "x86-64-nvme", 0, 0, "NAME|FILE",
	  "machine profile: a shipped one by name, or an INI file", NULL },
	{ "cpus", RF_OPT_INT, OFF(cpus), NULL, "1", 1, 4096, NULL, "processors", NULL },
	{ "tlb", RF_OPT_STRING, OFF(tlb), "entries", "ideal", 0, 0, "ideal|N",
	  "entries of a TLB that keeps accessed bits stale, or ideal", NULL },
	{ "cgroup", RF_OPT_ENUM, OFF(cgroup), NULL, "v2", 0, 0, "v1,v2",
	  "version of the cgroup interface, where reclaim depends on it", NULL },

	{ "frames", RF_OPT_STRING, OFF(frames), "pages", "", 0, 0, "N|N%",
	  "ideal memory of N page frames, or N% of the footprint, nothing else charged", NULL },
	{ "limit", RF_OPT_STRING, OFF(limit), NULL, "", 0, 0, "SIZE|Npages|N%",
	  "memory.max of the workload; N% is of the footprint", NULL },
	{ "memory.high", RF_OPT_SIZE, OFF(memory_high), NULL, "0", 0, 0, NULL,
	  "the workload is throttled above this; 0: not set", NULL },
	{ "memory.low", RF_OPT_SIZE, OFF(memory_low), NULL, "0", 0, 0, NULL,
	  "the workload is spared below this while others can give; 0: not set", NULL },
	{ "memory.min", RF_OPT_SIZE, OFF(memory_min), NULL, "0", 0, 0, NULL,
	  "the workload is spared below this; 0: not set", NULL },
	{ "ram", RF_OPT_STRING, OFF(ram), NULL, "", 0, 0, "SIZE|Npages|N%",
	  "memory of the machine; N% is of the footprint (default: the profile's)", NULL },
	{ "swap", RF_OPT_STRING, OFF(swap), NULL, "none", 0, 0, "none|DEVICE[:SIZE]",
	  "device is zram, nvme, ssd or hdd; without SIZE it is as large as the memory", NULL },

	{ "swappiness", RF_OPT_INT, OFF(swappiness), NULL, "60", 0, 200, NULL,
	  "cost of file reclaim against swap: 0 avoids swap, 100 is even", NULL },
	{ "read_ahead_kb", RF_OPT_INT, OFF(read_ahead_kb), "KiB", "128", 0, 1 << 20, NULL,
	  "read-ahead window of files", NULL },
	{ "large-folios", RF_OPT_ENUM, OFF(large_folios), NULL, "auto", 0, 0, "auto,no,yes",
	  "read-ahead makes large page-cache folios; auto: since 6.16, as on ext4", "6.16" },
	{ "page-cluster", RF_OPT_INT, OFF(page_cluster), NULL, "3", 0, 10, NULL,
	  "pages read from swap at once, as a power of two", NULL },
	{ "fault_around_bytes", RF_OPT_SIZE, OFF(fault_around_bytes), NULL, "64K", 0, 0, NULL,
	  "cached file pages within this range are mapped on one fault", "3.15" },
	{ "min_free_kbytes", RF_OPT_INT, OFF(min_free_kbytes),
	  "KiB", "0", 0, INT64_C(1) << 40, NULL,
	  "the min watermark; 0: by the kernel's formula", NULL },
	{ "watermark_scale_factor", RF_OPT_INT, OFF(watermark_scale_factor),
	  "1/10000", "10", 1, 3000,
	  NULL, "distance between watermarks, as a share of memory", "4.6" },
	{ "congestion_wait", RF_OPT_BOOL, OFF(congestion_wait), NULL, "no", 0, 0, NULL,
	  "the machine's reclaim naps for 100 ms after rounds below priority 10, as up to 2.6.36", NULL },
	{ "dirty_background_ratio", RF_OPT_INT, OFF(dirty_background_ratio),
	  "%", "10", 0, 100, NULL,
	  "share of dirty memory at which writeback begins", NULL },
	{ "dirty_ratio", RF_OPT_INT, OFF(dirty_ratio), "%", "20", 0, 100, NULL,
	  "share of dirty memory at which writers are throttled", NULL },
	{ "dirty_expire_centisecs", RF_OPT_INT, OFF(dirty_expire_centisecs), "10 ms", "3000", 0,
	  INT32_MAX, NULL, "age at which dirty pages are written", NULL },
	{ "dirty_writeback_centisecs", RF_OPT_INT, OFF(dirty_writeback_centisecs),
	  "10 ms", "500", 0,
	  INT32_MAX, NULL, "period of the flusher; 0: it never wakes by itself", NULL },
	{ "stats-flush-period", RF_OPT_TIME, OFF(stats_flush_period), NULL, "2s", 0, 0, NULL,
	  "age at most of the cgroup statistics that reclaim reads (kernel: 2s); 0: fresh", "6.12" },
	{ "stats-flush-phase", RF_OPT_TIME, OFF(stats_flush_phase), NULL, "0", 0, 0, NULL,
	  "time of the first flush of the statistics", "6.12" },
	{ "stats-poll", RF_OPT_INT, OFF(stats_poll), "accesses", "0", 0, INT64_MAX, NULL,
	  "somebody reads memory.stat every N accesses, which flushes; 0: nobody", NULL },

	{ "charge-batch", RF_OPT_INT, OFF(charge_batch), "pages", "0", 0, 64, NULL,
	  "charged to a cgroup at once; 0: 64 since 6.1, 32 since 2.6.33, before that 1", NULL },
	{ "uncharge-batch", RF_OPT_INT, OFF(uncharge_batch), "pages", "0", 0, 512, NULL,
	  "uncharged at once; 0: 15 since 2.6.33, before that 1", NULL },

	{ "replay", RF_OPT_ENUM, OFF(replay), NULL, "ordered", 0, 0, "ordered,closed",
	  "keep the trace's order, or let each task run as far as it can", NULL },
	{ "seed", RF_OPT_INT, OFF(seed), NULL, "1", 0, INT64_MAX, NULL,
	  "of everything random", NULL },
	{ "strict", RF_OPT_BOOL, OFF(strict), NULL, "no", 0, 0, NULL,
	  "an access that no mapping covers is an error", NULL },
	{ "timeline", RF_OPT_TIME, OFF(timeline), NULL, "0", 0, 0, NULL,
	  "sample all metrics at this interval of simulated time, doubled whenever there are 16,384 "
	  "samples; 0: never", NULL },
	{ "exact-time", RF_OPT_BOOL, OFF(exact_time), NULL, "no", 0, 0, NULL,
	  "advance time at every access instead of once a run of accesses", NULL },
	{ "force", RF_OPT_BOOL, OFF(force), NULL, "no", 0, 0, NULL,
	  "replay a trace that was recorded with a window under a policy that needs every access",
	  NULL },
	RF_OPTION_END
};
/* clang-format on */

/* ORDER enum rf_device_kind. */
const char *const rf_device_names[RF_NDEVICES] = { "none", "zram", "nvme", "ssd", "hdd" };

static const unsigned page_shifts[] = { 12, 14, 16 };

void rf_config_init(struct rf_config *c)
{
	memset(c, 0, sizeof(*c));
	rf_options_init(rf_config_options, c);
	c->profile_set = g_ptr_array_new_with_free_func(g_free);
}

void rf_config_clear(struct rf_config *c)
{
	rf_options_clear(rf_config_options, c);
	rf_profile_clear(&c->profile);
	g_clear_pointer(&c->profile_set, g_ptr_array_unref);
}

gboolean rf_config_set(struct rf_config *c, const char *name, const char *value, GError **error)
{
	g_autofree char *where = g_strdup_printf("--%s", name);

	return rf_options_set(rf_config_options, c, where, name, value, error);
}

/* A name of either table that is near, or NULL. */
static const char *nearest_name(const char *name)
{
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	for (const struct rf_option *o = rf_config_options; o->name; o++)
		g_ptr_array_add(names, (char *)o->name);
	for (const struct rf_option *o = rf_profile_options; o->name; o++)
		g_ptr_array_add(names, (char *)o->name);
	g_ptr_array_add(names, NULL);
	return rf_nearest(name, (const char *const *)names->pdata);
}

gboolean rf_config_set_any(struct rf_config *c, const char *assignment, GError **error)
{
	const char *eq = strchr(assignment, '=');
	g_autofree char *name = NULL;

	if (!eq || eq == assignment) {
		rf_set_usage(error, "--set %s: expected KEY=VALUE", assignment);
		return FALSE;
	}
	name = g_strndup(assignment, eq - assignment);
	if (rf_options_find(rf_config_options, name))
		return rf_options_set(rf_config_options, c, "--set", name, eq + 1, error);
	if (rf_options_find(rf_profile_options, name)) {
		/* Checked now, so that the message comes early; kept until the profile is loaded.
		 */
		struct rf_profile scratch;
		gboolean ok;

		rf_options_init(rf_profile_options, &scratch);
		ok = rf_profile_set(&scratch, "--set", name, eq + 1, error);
		rf_options_clear(rf_profile_options, &scratch);
		if (ok)
			g_ptr_array_add(c->profile_set, g_strdup(assignment));
		return ok;
	}

	const char *near = nearest_name(name);

	if (near)
		rf_set_usage(error, "--set %s: no such key; did you mean %s?", name, near);
	else
		rf_set_usage(error, "--set %s: no such key; see `refault help run'", name);
	return FALSE;
}

/* ---- amounts: a size, a number of pages, or a share of the footprint ---- */

struct amount {
	gboolean percent;
	uint64_t n; /* bytes, or millionths of the footprint */
};

/* "12.5%": at most 4 decimals, at most 1000000 %. */
static gboolean parse_percent(const char *text, uint64_t *millionths)
{
	uint64_t v = 0;
	int decimals = -1;
	const char *p = text;

	if (!g_ascii_isdigit(*p))
		return FALSE;
	for (; *p != '%'; p++) {
		if (*p == '.' && decimals < 0) {
			decimals = 0;
			continue;
		}
		if (!g_ascii_isdigit(*p) || decimals == 4 || v > 1000000000)
			return FALSE;
		v = v * 10 + (*p - '0');
		if (decimals >= 0)
			decimals++;
	}
	if (p[1] || decimals == 0)
		return FALSE;
	for (decimals = MAX(decimals, 0); decimals < 4; decimals++)
		v *= 10;
	*millionths = v;
	return v <= UINT64_C(10000000000);
}

/* count: a plain number counts pages, and there is no other unit. */
static gboolean parse_amount(const char *option, const char *text, gboolean count,
                             unsigned page_shift, struct amount *a, GError **error)
{
	size_t len = strlen(text);
	g_autofree char *number = NULL;

	a->percent = FALSE;
	if (strchr(text, '%')) {
		a->percent = TRUE;
		if (parse_percent(text, &a->n) && a->n)
			return TRUE;
		rf_set_usage(error, "--%s %s: expected a percentage such as 25%% or 12.5%%", option,
		             text);
		return FALSE;
	}
	if (count || g_str_has_suffix(text, "pages")) {
		number = g_strndup(text, count ? len : len - strlen("pages"));
		if (rf_parse_u64(number, &a->n, NULL) && a->n && a->n <= UINT64_MAX >> page_shift) {
			a->n <<= page_shift;
			return TRUE;
		}
		if (count)
			rf_set_usage(error,
			             "--%s %s: expected a number of page frames, at least 1, "
			             "or a percentage such as 25%%",
			             option, text);
		else
			rf_set_usage(error, "--%s %s: expected a number of pages, at least 1",
			             option, text);
		return FALSE;
	}
	if (rf_parse_size(text, &a->n, NULL))
		return TRUE;
	rf_set_usage(error,
	             "--%s %s: expected a size such as 64M, a number of pages such as 4096pages, "
	             "or a percentage such as 25%%",
	             option, text);
	return FALSE;
}

/* Page indices have 32 bits, and one is taken. */
static uint64_t most_pages(void)
{
	return UINT32_MAX - 1;
}

/* Whole pages of text, in bytes.  0 for NULL. */
static gboolean resolve_amount(const char *option, const char *text, gboolean count,
                               const struct rf_config *c, const struct rf_totals *totals,
                               uint64_t *bytes, GError **error)
{
	struct amount a;
	uint64_t pages;

	*bytes = 0;
	if (!text)
		return TRUE;
	if (!parse_amount(option, text, count, c->page_shift, &a, error))
		return FALSE;
	if (a.percent) {
		uint64_t footprint = totals ? totals->footprint[c->page_size] : 0;

		if (!footprint) {
			rf_set_usage(error,
			             "--%s %s: the trace's footprint at this page size is %s",
			             option, text, totals ? "empty" : "not known");
			return FALSE;
		}
		pages = (uint64_t)((unsigned __int128)footprint * a.n / 1000000);
	} else {
		pages = a.n >> c->page_shift;
	}
	if (pages == 0) {
		rf_set_usage(error,
		             "--%s %s: less than one page of %u bytes: no fault could be served",
		             option, text, 1u << c->page_shift);
		return FALSE;
	}
	if (pages > most_pages()) {
		rf_set_usage(error,
		             "--%s %s: more than the %" G_GUINT64_FORMAT " pages of %u bytes that "
		             "can be modelled",
		             option, text, most_pages(), 1u << c->page_shift);
		return FALSE;
	}
	*bytes = pages << c->page_shift;
	return TRUE;
}

/* ---- texts with a grammar of their own ---- */

static gboolean resolve_kernel(struct rf_config *c, GError **error)
{
	/* Last minor release of each major one. */
	static const struct {
		unsigned major, last;
	} series[] = {
		{ 3, 19 },
		{ 4, 20 },
		{ 5, 19 },
		{ 6, 18 },
	};
	unsigned v[3] = { 0, 0, 0 }, n = 0;
	const char *p = c->kernel ? c->kernel : "";
	gboolean ok = FALSE;

	for (;;) {
		if (!g_ascii_isdigit(*p) || n == 3)
			goto out;
		while (g_ascii_isdigit(*p) && v[n] < 1000)
			v[n] = v[n] * 10 + (*p++ - '0');
		n++;
		if (!*p)
			break;
		if (*p++ != '.')
			goto out;
	}
	if (n < 2 || v[2] > 255)
		goto out;
	if (v[0] == 2)
		ok = v[1] == 6 && v[2] >= 30 && v[2] <= 39;
	for (size_t i = 0; i < G_N_ELEMENTS(series); i++) {
		if (v[0] == series[i].major)
			ok = v[1] <= series[i].last;
	}
out:
	if (!ok) {
		rf_set_usage(error, "--kernel %s: expected a release from 2.6.30 to 6.18",
		             c->kernel ? c->kernel : "");
		return FALSE;
	}
	c->kernel_release = RF_KERNEL(v[0], v[1], v[2]);
	return TRUE;
}

static gboolean resolve_swap(struct rf_config *c, const struct rf_totals *totals, GError **error)
{
	const char *text = c->swap ? c->swap : "none";
	const char *colon = strchr(text, ':');
	g_autofree char *device = colon ? g_strndup(text, colon - text) : g_strdup(text);

	c->swap_device = -1;
	for (int i = 0; i < RF_NDEVICES; i++) {
		if (strcmp(device, rf_device_names[i]) == 0)
			c->swap_device = i;
	}
	if (c->swap_device < 0) {
		const char *const names[] = { "none", "zram", "nvme", "ssd", "hdd", NULL };
		const char *near = rf_nearest(device, names);

		rf_set_usage(
			error,
			"--swap %s: expected none, zram, nvme, ssd or hdd, with an optional :SIZE"
			"%s%s%s",
			text, near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
		return FALSE;
	}
	c->swap_bytes = 0;
	if (c->swap_device == RF_DEV_NONE) {
		if (!colon)
			return TRUE;
		rf_set_usage(error, "--swap %s: no swap has no size", text);
		return FALSE;
	}
	if (colon)
		return resolve_amount("swap", colon + 1, FALSE, c, totals, &c->swap_bytes, error);
	c->swap_bytes = c->ram_bytes;
	return TRUE;
}

static gboolean resolve_tlb(struct rf_config *c, GError **error)
{
	uint64_t n;

	c->tlb_entries = 0;
	if (!c->tlb || strcmp(c->tlb, "ideal") == 0)
		return TRUE;
	if (!rf_parse_u64(c->tlb, &n, NULL) || n == 0 || n > 1 << 20) {
		rf_set_usage(error,
		             "--tlb %s: expected ideal, or a number of entries from 1 to 1048576",
		             c->tlb);
		return FALSE;
	}
	c->tlb_entries = (uint32_t)n;
	return TRUE;
}

static gboolean resolve_profile(struct rf_config *c, GError **error)
{
	struct rf_profile p;

	if (!rf_profile_load(&p, c->machine ? c->machine : "", error))
		return FALSE;
	for (guint i = 0; i < c->profile_set->len; i++) {
		const char *assignment = c->profile_set->pdata[i];
		const char *eq = strchr(assignment, '=');
		g_autofree char *name = g_strndup(assignment, eq - assignment);

		if (!rf_profile_set(&p, "--set", name, eq + 1, error)) {
			rf_profile_clear(&p);
			return FALSE;
		}
	}
	rf_profile_clear(&c->profile);
	c->profile = p;
	return TRUE;
}

/* --frames has no machine around it: what belongs to one is refused, not ignored. */
static gboolean check_frames(const struct rf_config *c, GError **error)
{
	static const char *const foreign[] = {
		"limit", "memory.high", "memory.low", "memory.min", "ram",  "swap",
		"timeline", "protect", "account", "volatile", "fill",
	};

	for (size_t i = 0; i < G_N_ELEMENTS(foreign); i++) {
		const struct rf_option *o = rf_options_find(rf_config_options, foreign[i]);
		g_autofree char *value = rf_options_value(o, c);
		struct rf_config d;
		g_autofree char *def = NULL;

		rf_config_init(&d);
		def = rf_options_value(o, &d);
		rf_config_clear(&d);
		if (g_strcmp0(value, def) != 0) {
			rf_set_usage(
				error,
				"--frames %s: an ideal memory has no --%s; give one of the two",
				c->frames, o->name);
			return FALSE;
		}
	}
	if (c->replay == RF_REPLAY_CLOSED) {
		rf_set_usage(error,
		             "--frames %s: an ideal memory has no time, so --replay closed means "
		             "nothing; expected --replay ordered",
		             c->frames);
		return FALSE;
	}
	return TRUE;
}

gboolean rf_config_needs_totals(const struct rf_config *c)
{
	return (c->limit && strchr(c->limit, '%')) || (c->ram && strchr(c->ram, '%')) ||
	       (c->frames && strchr(c->frames, '%')) || (c->swap && strchr(c->swap, '%'));
}

gboolean rf_config_resolve(struct rf_config *c, const struct rf_totals *totals, GError **error)
{
	uint64_t frames_bytes;

	c->page_shift = page_shifts[c->page_size];
	if (!resolve_kernel(c, error) || !resolve_tlb(c, error) || !resolve_profile(c, error))
		return FALSE;
	c->dirty_expire = (uint64_t)c->dirty_expire_centisecs * 10000000;
	c->dirty_writeback = (uint64_t)c->dirty_writeback_centisecs * 10000000;
	if (c->dirty_background_ratio > c->dirty_ratio) {
		rf_set_usage(error,
		             "dirty_background_ratio %" G_GINT64_FORMAT ": expected at most "
		             "dirty_ratio, %" G_GINT64_FORMAT,
		             c->dirty_background_ratio, c->dirty_ratio);
		return FALSE;
	}
	if (c->timeline && c->timeline < 1000) {
		rf_set_usage(error, "--timeline: expected an interval of at least 1us, or 0");
		return FALSE;
	}
	c->limit_bytes = c->ram_bytes = c->frames_n = c->swap_bytes = 0;
	c->swap_device = RF_DEV_NONE;
	if (c->frames) {
		if (!check_frames(c, error) ||
		    !resolve_amount("frames", c->frames, TRUE, c, totals, &frames_bytes, error))
			return FALSE;
		c->frames_n = frames_bytes >> c->page_shift;
		return TRUE;
	}
	if (!resolve_amount("limit", c->limit, FALSE, c, totals, &c->limit_bytes, error) ||
	    !resolve_amount("ram", c->ram, FALSE, c, totals, &c->ram_bytes, error))
		return FALSE;
	if (!c->ram_bytes) {
		c->ram_bytes = c->profile.ram >> c->page_shift << c->page_shift;
		if (c->ram_bytes >> c->page_shift > most_pages()) {
			rf_set_usage(error,
			             "machine profile %s: ram is more than the %" G_GUINT64_FORMAT
			             " pages of %u bytes that can be modelled",
			             c->machine, most_pages(), 1u << c->page_shift);
			return FALSE;
		}
	}
	return resolve_swap(c, totals, error);
}
