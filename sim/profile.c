/* SPDX-License-Identifier: MIT
 * Machine profiles: INI files, the shipped ones compiled in.  A reader of our own rather than
 * GKeyFile, which merges duplicates silently and keeps no line numbers.
 */
#include "sim/config.h"

#include <gio/gio.h>
#include <string.h>

#include "base/error.h"
#include "base/file.h"
#include "sim/resources.h"

/* clang-format off */
#define OFF(member) offsetof(struct rf_profile, member)
#define NS(n, m, d, h) { n, RF_OPT_TIME, OFF(m), NULL, d, 0, 0, NULL, h, NULL }
#define MBPS(n, m, d, h) { n, RF_OPT_INT, OFF(m), "MB/s", d, 1, 10000000, NULL, h, NULL }
#define LOCK(n, kind, spins_, what) \
	NS(n "_hold", lock[kind].hold, "0", "of " what ": an exclusive section, beyond its work"), \
	NS(n "_spin_handoff", lock[kind].spin_handoff, "200ns", "hand it over to one who spins"), \
	NS(n "_sleep_handoff", lock[kind].sleep_handoff, "5us", "to one who sleeps, and is woken"), \
	NS(n "_line", lock[kind].line, "0", "take it, for each other processor that did since"), \
	{ n "_spins", RF_OPT_BOOL, OFF(lock[kind].spins), NULL, spins_, 0, 0, NULL, \
	  "do its waiters spin while the holder runs?", NULL }
#define SPINLOCK(n, kind, what) \
	NS(n "_hold", lock[kind].hold, "0", "have " what), \
	NS(n "_spin_handoff", lock[kind].spin_handoff, "200ns", "hand it over to one who waits, in closed replay"), \
	NS(n "_waiter", lock[kind].waiter, "0", "more, for each other who waits (tickets, before 4.2)"), \
	NS(n "_line", lock[kind].line, "0", "take it, for each other processor that did since")
#define DEPTH(n, m, d, h) { n, RF_OPT_INT, OFF(m), "requests", d, 1, 65536, NULL, h, NULL }

/* Defaults are those of x86-64-nvme; its file says where each comes from. */
const struct rf_option rf_profile_options[] = {
	{ "description", RF_OPT_STRING, OFF(description), NULL, "", 0, 0, NULL, "one line", NULL },
	{ "ram", RF_OPT_SIZE, OFF(ram), NULL, "16G", 1 << 20, 0, NULL,
	  "memory of the machine", NULL },
	NS("access", access, "1ns", "an access that hits"),
	NS("fault_anon", fault_anon, "700ns",
	   "first touch of a page of anonymous memory, zeroing included"),
	NS("fault_file", fault_file, "500ns", "fault on a file page that is in memory"),
	NS("fault_around_page", fault_around_page, "50ns",
	   "each neighbour mapped by the same fault"),
	NS("major_overhead", major_overhead, "1500ns",
	   "fault that waits for a device, beyond the wait"),
	NS("copy_page", copy_page, "400ns", "copy 4 KiB"),
	NS("zero_page", zero_page, "100ns",
	   "of fault_anon, zeroing 4 KiB"),
	NS("fill_page", fill_page, "100ns", "the kernel writes a byte all over 4 KiB"),
	NS("memset_page", memset_page, "150ns", "a program does"),
	NS("zap_page", zap_page, "0", "unmap and free a page of a range, beyond fault_anon"),
	NS("lazyfree_page", lazyfree_page, "50ns", "MADV_FREE, a page"),
	NS("mapping_op", mapping_op, "500ns", "split or merge a mapping"),
	NS("range_op", range_op, "200ns", "find, add or cut a purgeable range"),
	NS("sigbus", sigbus, "2us", "a signal and its handler"),
	NS("regen_page", regen_page, "0", "a program makes 4 KiB anew that it lost"),
	{ "llc", RF_OPT_SIZE, OFF(llc), NULL, "0", 0, 0, NULL,
	  "last-level cache that fresh pages are filled in; 0: figures are averages", NULL },
	NS("llc_miss", llc_miss, "0",
	   "more to fill 4 KiB of a frame that the cache does not hold"),
	NS("syscall", syscall, "200ns", "enter and leave the kernel"),
	NS("scan_unmapped", scan_unmapped, "100ns", "look at an unmapped page on a list"),
	NS("scan_mapped", scan_mapped, "400ns", "look at a mapped page on a list"),
	NS("reclaim_page", reclaim_page, "500ns", "free one clean page"),
	NS("kswapd_wake", kswapd_wake, "5us", "wake kswapd"),
	NS("zram_read", zram_read, "2200ns", "read and decompress 4 KiB from zram"),
	NS("zram_write", zram_write, "4400ns", "compress and store 4 KiB in zram"),
	NS("quantum", quantum, "3ms", "a task's turn while others wait for its processor"),
	NS("context_switch", context_switch, "1500ns", "from one task to another"),
	LOCK("mmap_lock", RF_LOCK_MMAP, "yes", "the lock of an address space"),
	LOCK("vrange_lock", RF_LOCK_VRANGE, "yes", "the lock of its purgeable ranges"),
	SPINLOCK("lru_lock", RF_LOCK_LRU,
	         "the lock of lists of pages, for each page put on or taken off; per cgroup since 5.11"),
	SPINLOCK("swap_lock", RF_LOCK_SWAP, "the lock of swap slots, for each taken or freed"),
	NS("counter_line", counter_line, "100ns",
	   "write a cgroup's counter, for each other processor that did since"),
	NS("cache_line", cache_line, "80ns",
	   "read a line of a page's own to account it, beyond the first of its descriptor"),
	NS("cache_line_shared", cache_line_shared, "4ns", "the same, a line of many pages"),
	NS("atomic", atomic, "6ns", "take and release a lock bit that nobody holds"),
	NS("slab_pair", slab_pair, "40ns", "allocate an object and free it"),
	NS("tlb_shootdown", tlb_shootdown, "0",
	   "unmap pages or free them lazily, for each other processor that runs the address space"),
	{ "mem_mbps", RF_OPT_INT, OFF(mem_mbps), "MB/s", "0", 0, 10000000, NULL,
	  "stores that memory takes from all processors together, beyond other costs; 0: no limit", NULL },
	{ "core_threads", RF_OPT_INT, OFF(core_threads), "processors", "1", 1, 1024, NULL,
	  "that share a core (hardware threads), in closed replay", NULL },
	{ "core_share", RF_OPT_INT, OFF(core_share), "%", "60", 1, 100, NULL,
	  "of a core's speed that a processor has while another one of its core is busy", NULL },
	{ "disk", RF_OPT_ENUM, OFF(disk), NULL, "nvme", 0, 0, "none,zram,nvme,ssd,hdd",
	  "device that files are on", NULL },
	NS("nvme_latency", nvme_latency, "80us", "4 KiB random read"),
	MBPS("nvme_mbps", nvme_mbps, "3000", "transfer rate"),
	DEPTH("nvme_depth", nvme_depth, "32", "requests served at once"),
	NS("ssd_latency", ssd_latency, "150us", "4 KiB random read"),
	MBPS("ssd_mbps", ssd_mbps, "500", "transfer rate"),
	DEPTH("ssd_depth", ssd_depth, "32", "requests served at once"),
	NS("hdd_latency", hdd_latency, "8ms", "seek and half a turn"),
	MBPS("hdd_mbps", hdd_mbps, "150", "transfer rate"),
	RF_OPTION_END
};
/* clang-format on */

#define PREFIX "/refault/profiles"
#define SUFFIX ".ini"
#define MOST_MIB 1
#define MAX_INHERIT 8
#define MAX_TIME UINT64_C(1000000000000) /* sums of costs must not come near 64 bits */

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char *const *rf_profile_names(void)
{
	static char **names;

	if (g_once_init_enter(&names)) {
		char **list = g_resource_enumerate_children(rf_get_resource(), PREFIX,
		                                            G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

		/* The build put them there. */
		g_assert(list);
		for (char **p = list; *p; p++) {
			g_assert(g_str_has_suffix(*p, SUFFIX));
			(*p)[strlen(*p) - strlen(SUFFIX)] = '\0';
		}
		qsort(list, g_strv_length(list), sizeof(*list), by_name);
		g_once_init_leave(&names, list);
	}
	return (const char *const *)names;
}

gboolean rf_profile_set(struct rf_profile *p, const char *where, const char *name,
                        const char *value, GError **error)
{
	const struct rf_option *o = rf_options_find(rf_profile_options, name);

	if (!rf_options_set(rf_profile_options, p, where, name, value, error))
		return FALSE;
	if (o->type != RF_OPT_TIME || *(uint64_t *)((char *)p + o->offset) <= MAX_TIME)
		return TRUE;
	rf_set_usage(error, "%s: %s=\"%s\": expected at most 1000s", where, name, value);
	return FALSE;
}

static gboolean load(struct rf_profile *p, const char *name, unsigned depth, GError **error);

/* One line, stripped.  set: the keys that this file has given so far. */
static gboolean take_line(struct rf_profile *p, char *line, const char *where, gboolean *in_group,
                          GHashTable *set, unsigned depth, GError **error)
{
	char *eq, *key, *value;

	if (*line == '\0' || *line == '#' || *line == ';')
		return TRUE;
	if (*line == '[') {
		if (strcmp(line, "[machine]") != 0) {
			rf_set_usage(error, "%s: group %s: expected [machine]", where, line);
			return FALSE;
		}
		if (*in_group) {
			rf_set_usage(error, "%s: a second group [machine]", where);
			return FALSE;
		}
		*in_group = TRUE;
		return TRUE;
	}
	eq = strchr(line, '=');
	if (!eq || !*in_group) {
		rf_set_usage(error,
		             eq ? "%s: expected [machine] before the first key"
		                : "%s: expected KEY=VALUE",
		             where);
		return FALSE;
	}
	*eq = '\0';
	key = g_strstrip(line);
	value = g_strstrip(eq + 1);
	if (!g_hash_table_add(set, g_strdup(key))) {
		rf_set_usage(error, "%s: %s is given twice", where, key);
		return FALSE;
	}
	if (strcmp(key, "inherit") != 0)
		return rf_profile_set(p, where, key, value, error);
	if (g_hash_table_size(set) > 1) {
		rf_set_usage(error, "%s: expected inherit before every other key", where);
		return FALSE;
	}
	if (!load(p, value, depth + 1, error)) {
		g_prefix_error(error, "%s: ", where);
		return FALSE;
	}
	return TRUE;
}

static gboolean take_text(struct rf_profile *p, const char *name, char *text, gsize len,
                          unsigned depth, GError **error)
{
	g_autoptr(GHashTable) set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	gboolean in_group = FALSE;
	unsigned number = 0;

	if (memchr(text, '\0', len) || !g_utf8_validate(text, len, NULL)) {
		rf_set_usage(error, "%s: expected an INI file, found bytes that are no text", name);
		return FALSE;
	}
	for (char *next, *line = text; line; line = next) {
		g_autofree char *where = g_strdup_printf("%s:%u", name, ++number);

		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (!take_line(p, g_strstrip(line), where, &in_group, set, depth, error))
			return FALSE;
	}
	if (!in_group) {
		rf_set_usage(error, "%s: expected a group [machine]", name);
		return FALSE;
	}
	return TRUE;
}

static gboolean load_shipped(struct rf_profile *p, const char *name, unsigned depth, GError **error)
{
	g_autofree char *path = g_strconcat(PREFIX "/", name, SUFFIX, NULL);
	g_autoptr(GBytes) bytes = NULL;
	const char *near;
	g_autofree char *text = NULL;
	gsize len;

	if (g_strv_contains(rf_profile_names(), name)) {
		bytes = g_resource_lookup_data(rf_get_resource(), path,
		                               G_RESOURCE_LOOKUP_FLAGS_NONE, error);
		if (!bytes)
			return FALSE;
		const char *data = g_bytes_get_data(bytes, &len);

		text = g_strndup(data, len);
		return take_text(p, name, text, len, depth, error);
	}
	near = rf_nearest(name, rf_profile_names());
	if (near) {
		rf_set_usage(error, "machine profile %s: no such profile; did you mean %s?", name,
		             near);
	} else {
		g_autofree char *all = g_strjoinv(", ", (char **)rf_profile_names());

		rf_set_usage(error,
		             "machine profile %s: expected one of %s, or the path of an INI file",
		             name, all);
	}
	return FALSE;
}

static gboolean load_file(struct rf_profile *p, const char *path, unsigned depth, GError **error)
{
	gsize len;
	g_autofree char *text = rf_load_text("machine profile", path, MOST_MIB, &len, error);

	return text && take_text(p, path, text, len, depth, error);
}

static gboolean load(struct rf_profile *p, const char *name, unsigned depth, GError **error)
{
	if (depth > MAX_INHERIT) {
		rf_set_usage(error, "profiles inherit more than %d deep", MAX_INHERIT);
		return FALSE;
	}
	if (strchr(name, '/') || strchr(name, '.'))
		return load_file(p, name, depth, error);
	return load_shipped(p, name, depth, error);
}

gboolean rf_profile_load(struct rf_profile *p, const char *name_or_path, GError **error)
{
	memset(p, 0, sizeof(*p));
	rf_options_init(rf_profile_options, p);
	if (load(p, name_or_path, 0, error))
		return TRUE;
	rf_profile_clear(p);
	return FALSE;
}

void rf_profile_clear(struct rf_profile *p)
{
	rf_options_clear(rf_profile_options, p);
}
