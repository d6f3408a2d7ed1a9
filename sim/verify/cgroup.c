/* SPDX-License-Identifier: MIT
 * The memory cgroup of a run: found by /proc/mounts, v1 or v2, always a fresh one of our own.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "sim/verify/verify.h"

#define U64 G_GUINT64_FORMAT

/* ---- where ---- */

static gboolean has_word(const char *list, const char *separators, const char *word)
{
	g_auto(GStrv) words = g_strsplit_set(list, separators, -1);

	return g_strv_contains((const char *const *)words, word);
}

gboolean rf_vcgroup_find(const char *mounts, gboolean (*has_memory)(const char *mount),
                         struct rf_vcgroup_where *w, GError **error)
{
	g_auto(GStrv) lines = g_strsplit(mounts, "\n", -1);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) f = g_strsplit(*line, " ", 5); /* device mount type options rest */
		gboolean v1, v2;

		if (g_strv_length(f) < 4)
			continue;
		v1 = strcmp(f[2], "cgroup") == 0 && has_word(f[3], ",", "memory");
		v2 = strcmp(f[2], "cgroup2") == 0;
		if (!v1 && !v2)
			continue;
		g_free(w->mount);
		w->mount = g_strcompress(f[1]); /* octal escapes */
		w->version = v1 ? RF_CGROUP_V1 : RF_CGROUP_V2;
		if (v1 || has_memory(w->mount))
			return TRUE;
	}
	g_clear_pointer(&w->mount, g_free);
	rf_set_env(error, "no memory cgroups: /proc/mounts has neither a cgroup v1 mount with the "
	                  "memory controller "
	                  "nor a cgroup2 mount that has it; expected one of them");
	return FALSE;
}

/* ---- a fresh cgroup ---- */

/* v2: children have the controller only where the parent hands it down. */
static gboolean hands_down(const struct rf_vcgroup_where *w, GError **error)
{
	g_autofree char *control = rf_vread(w->mount, "cgroup.subtree_control", error);

	if (!control)
		return FALSE;
	if (has_word(control, " \n", "memory"))
		return TRUE;
	rf_set_env(error,
	           "%s/cgroup.subtree_control does not hand the memory controller down (it says "
	           "\"%s\"); "
	           "expected: echo +memory > %s/cgroup.subtree_control",
	           w->mount, control, w->mount);
	return FALSE;
}

static gboolean set_limits(const struct rf_vcgroup_where *w, const char *path, struct rf_vundo *u,
                           const struct rf_config *cfg, GError **error)
{
	g_autofree char *limit = g_strdup_printf("%" U64, cfg->limit_bytes);
	g_autofree char *swappiness = g_strdup_printf("%" PRId64, cfg->swappiness);
	const char *file = w->version == RF_CGROUP_V1 ? "memory.limit_in_bytes" : "memory.max";
	g_autofree char *got = NULL;
	uint64_t bytes;

	if (!rf_vwrite(path, file, limit, error))
		return FALSE;
	got = rf_vread(path, file, error);
	if (!got)
		return FALSE;
	if (!rf_parse_u64(got, &bytes, NULL) || bytes != cfg->limit_bytes) {
		rf_set_env(error, "%s/%s: wrote %s, the kernel made it %s", path, file, limit, got);
		return FALSE;
	}
	if (w->version == RF_CGROUP_V1)
		return rf_vwrite(path, "memory.swappiness", swappiness, error);
	return rf_vundo_setting(u, "/proc/sys/vm/swappiness", swappiness, error);
}

char *rf_vcgroup_make(const struct rf_vcgroup_where *w, struct rf_vundo *u,
                      const struct rf_config *cfg, unsigned nth, GError **error)
{
	g_autofree char *name = g_strdup_printf("%s%d-%u", RF_VERIFY_PREFIX, (int)getpid(), nth);
	g_autofree char *path = g_build_filename(w->mount, name, NULL);

	if (w->version == RF_CGROUP_V2 && !hands_down(w, error))
		return NULL;
	if (!rf_vundo_note_cgroup(u, path, error))
		return NULL;
	if (mkdir(path, 0755)) {
		rf_set_env(error, "cannot make the cgroup %s: %s", path, g_strerror(errno));
		return NULL;
	}
	if (!set_limits(w, path, u, cfg, error))
		return NULL;
	return g_steal_pointer(&path);
}

/* ---- what it counted ---- */

gboolean rf_vstat_get(const char *text, const char *name, uint64_t *value)
{
	size_t n = strlen(name);

	for (const char *line = text; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, n) == 0 && line[n] == ' ') {
			char *end;

			errno = 0;
			*value = g_ascii_strtoull(line + n + 1, &end, 10);
			return errno == 0 && end > line + n + 1 && (*end == '\n' || *end == 0);
		}
	}
	return FALSE;
}

uint64_t rf_vcgroup_oom_kills(const struct rf_vcgroup_where *w, const char *path)
{
	g_autofree char *text = rf_vread(
		path, w->version == RF_CGROUP_V1 ? "memory.oom_control" : "memory.events", NULL);
	uint64_t n;

	return text && rf_vstat_get(text, "oom_kill", &n) ? n : 0;
}

/* ---- pages of the process itself ---- */

#define SPARSE                                                                                     \
	((uint64_t)4 << 30) /* mappings larger than this are reservations, as of sanitizers */
#define PM_PRESENT ((uint64_t)1 << 63)
#define PM_PFN (((uint64_t)1 << 55) - 1)

struct counting {
	int pagemap, kpagecgroup;
	uint64_t inode, pages;
};

static void count_range(struct counting *c, uint64_t start, uint64_t end)
{
	uint64_t entry[512], owner;

	while (start < end) {
		size_t n = MIN((end - start) / RF_VERIFY_PAGE, G_N_ELEMENTS(entry));
		ssize_t got = pread(c->pagemap, entry, n * sizeof(*entry),
		                    (off_t)(start / RF_VERIFY_PAGE * sizeof(*entry)));

		if (got < (ssize_t)sizeof(*entry))
			return;
		n = (size_t)got / sizeof(*entry);
		for (size_t i = 0; i < n; i++) {
			if (!(entry[i] & PM_PRESENT) || !(entry[i] & PM_PFN))
				continue;
			if (pread(c->kpagecgroup, &owner, sizeof(owner),
			          (off_t)((entry[i] & PM_PFN) * sizeof(owner))) == sizeof(owner) &&
			    owner == c->inode)
				c->pages++;
		}
		start += n * RF_VERIFY_PAGE;
	}
}

gboolean rf_vcgroup_own_pages(const char *path, pid_t pid, const struct rf_vrange *except,
                              guint nexcept, uint64_t *pages)
{
	g_autofree char *proc = g_strdup_printf("/proc/%d", (int)pid);
	g_autofree char *maps = rf_vread(proc, "maps", NULL),
			*pagemap = g_build_filename(proc, "pagemap", NULL);
	g_auto(GStrv) lines = maps ? g_strsplit(maps, "\n", -1) : NULL;
	struct counting c = { .pagemap = open(pagemap, O_RDONLY | O_CLOEXEC),
		              .kpagecgroup = open("/proc/kpagecgroup", O_RDONLY | O_CLOEXEC) };
	struct stat st;
	gboolean ok = lines && c.pagemap >= 0 && c.kpagecgroup >= 0 && stat(path, &st) == 0;

	c.inode = ok ? st.st_ino : 0;
	for (char **line = lines; ok && *line; line++) {
		unsigned long long start, end;
		gboolean skip = FALSE;

		if (sscanf(*line, "%llx-%llx", &start, &end) != 2 || start >> 63)
			continue;
		skip = end - start > SPARSE;
		for (guint i = 0; i < nexcept; i++)
			skip |= start < except[i].end && except[i].start < end;
		if (!skip)
			count_range(&c, start, end);
	}
	if (c.pagemap >= 0)
		close(c.pagemap);
	if (c.kpagecgroup >= 0)
		close(c.kpagecgroup);
	*pages = c.pages;
	return ok;
}

/* Two loads from two fresh pages: is there one page behind them? */
gboolean rf_vkernel_has_zero_page(void)
{
	const size_t page = RF_VERIFY_PAGE;
	volatile char *p = mmap(NULL, 2 * page, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	uint64_t entry[2] = { 0 };
	gboolean has = TRUE;

	if (p != MAP_FAILED && fd >= 0) {
		(void)p[0];
		(void)p[page];
		if (pread(fd, entry, sizeof(entry),
		          (off_t)((uintptr_t)p / page * sizeof(*entry))) == sizeof(entry) &&
		    entry[0] & PM_PFN && entry[1] & PM_PFN)
			has = (entry[0] & PM_PFN) == (entry[1] & PM_PFN);
	}
	if (p != MAP_FAILED)
		munmap((void *)p, 2 * page);
	if (fd >= 0)
		close(fd);
	return has;
}
