/* SPDX-License-Identifier: MIT
 * Swap for a run: the device that is active, or a zram device that is nobody's.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/error.h"
#include "base/rng.h"
#include "base/units.h"
#include "sim/verify/verify.h"

#define HEADER_BYTES 4096
#define UUID_AT 1036
#define LABEL_AT 1052
#define LEAST_SIZE ((uint64_t)8 << 30) /* nothing is taken until it is needed */

/* ---- a swap device's first page ---- */

static void make_header(uint8_t *page, uint64_t pages, const uint8_t uuid[16])
{
	const uint32_t version = 1, last = (uint32_t)MIN(pages - 1, UINT32_MAX);

	memset(page, 0, HEADER_BYTES);
	memcpy(page + 1024, &version, sizeof(version));
	memcpy(page + 1028, &last, sizeof(last));
	memcpy(page + UUID_AT, uuid, 16);
	memcpy(page + LABEL_AT, "refault-verify", sizeof("refault-verify"));
	memcpy(page + HEADER_BYTES - 10, "SWAPSPACE2", 10);
}

gboolean rf_vswap_is(const char *device, const char *uuid)
{
	uint8_t page[HEADER_BYTES];
	int fd = open(device, O_RDONLY | O_CLOEXEC);
	gboolean same = FALSE;

	if (fd < 0)
		return FALSE;
	if (pread(fd, page, sizeof(page), 0) == sizeof(page) && strlen(uuid) == 32) {
		same = TRUE;
		for (unsigned i = 0; i < 16; i++)
			same = same &&
			       page[UUID_AT + i] == (g_ascii_xdigit_value(uuid[2 * i]) << 4 |
			                             g_ascii_xdigit_value(uuid[2 * i + 1]));
	}
	close(fd);
	return same;
}

/* ---- what is active ---- */

unsigned rf_vswap_active(const char *swaps, char **device, uint64_t *bytes)
{
	g_auto(GStrv) lines = g_strsplit(swaps, "\n", -1);
	unsigned n = 0;

	*device = NULL;
	for (char **line = lines; *line; line++) {
		g_auto(GStrv) f = NULL;

		if (line == lines || !**line)
			continue; /* the heading */
		g_strdelimit(*line, "\t", ' ');
		f = g_strsplit(*line, " ", -1);
		if (n++)
			continue;
		*device = g_strcompress(f[0]);
		*bytes = 0;
		/* Name, type, size in KiB: the first number after the name. */
		for (guint i = 1; f[i]; i++) {
			if (rf_parse_u64(f[i], bytes, NULL)) {
				*bytes <<= 10;
				break;
			}
		}
	}
	return n;
}

static int kind_of(const char *device)
{
	g_autofree char *base = g_path_get_basename(device), *dir = NULL, *rotational = NULL;
	struct stat st;

	if (g_str_has_prefix(base, "zram"))
		return RF_DEV_ZRAM;
	if (g_str_has_prefix(base, "nvme"))
		return RF_DEV_NVME;
	if (stat(device, &st) == 0) {
		dev_t dev = S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;

		dir = g_strdup_printf("/sys/dev/block/%u:%u", major(dev), minor(dev));
		rotational = rf_vread(dir, "queue/rotational", NULL);
		if (!rotational)
			rotational = rf_vread(dir, "../queue/rotational", NULL);
	}
	return rotational && strcmp(rotational, "1") == 0 ? RF_DEV_HDD : RF_DEV_SSD;
}

/* ---- a zram device of our own ---- */

static gboolean is_free(const char *name)
{
	g_autofree char *dir = g_build_filename("/sys/block", name, NULL);
	g_autofree char *state = rf_vread(dir, "initstate", NULL);

	return state && strcmp(state, "0") == 0;
}

/* A free device, or a new one; NULL when there is neither. */
static char *find_zram(gboolean *added)
{
	const char *entry;
	char *name = NULL;
	GDir *d = g_dir_open("/sys/block", 0, NULL);
	g_autofree char *id = NULL;

	*added = FALSE;
	while (d && !name && (entry = g_dir_read_name(d))) {
		if (g_str_has_prefix(entry, "zram") && is_free(entry))
			name = g_strdup(entry);
	}
	if (d)
		g_dir_close(d);
	if (name)
		return name;
	id = rf_vread("/sys/class/zram-control", "hot_add", NULL);
	if (!id)
		return NULL;
	*added = TRUE;
	return g_strconcat("zram", id, NULL);
}

static gboolean swap_on(struct rf_vswap *s, struct rf_vundo *u, GError **error)
{
	g_autofree char *device = g_build_filename("/dev", s->name, NULL), *hex = NULL;
	struct rf_rng rng = { (uint64_t)g_get_real_time() ^ (uint64_t)getpid() << 40 };
	uint64_t uuid[2] = { rf_rng_next(&rng), rf_rng_next(&rng) };
	const uint8_t *byte = (const uint8_t *)uuid;
	uint8_t header[HEADER_BYTES];
	GString *text = g_string_new(NULL);
	gboolean ok;
	int fd;

	for (unsigned i = 0; i < sizeof(uuid); i++)
		g_string_append_printf(text, "%02x", byte[i]);
	hex = g_string_free(text, FALSE);
	make_header(header, s->size / HEADER_BYTES, byte);
	if (!rf_vundo_note_swap(u, device, hex, error))
		return FALSE;
	fd = open(device, O_RDWR | O_CLOEXEC | O_EXCL);
	ok = fd >= 0 && pwrite(fd, header, sizeof(header), 0) == sizeof(header) && fsync(fd) == 0;
	if (!ok)
		rf_set_env(error, "cannot write to %s: %s", device, g_strerror(errno));
	if (fd >= 0)
		close(fd);
	if (!ok)
		return FALSE;
	if (swapon(device, 0) == 0)
		return TRUE;
	rf_set_env(error, "cannot swap to %s: %s", device, g_strerror(errno));
	return FALSE;
}

static gboolean make_zram(struct rf_vswap *s, uint64_t size, const struct rf_vplan *plan,
                          struct rf_vundo *u, gboolean *found, GError **error)
{
	g_autofree char *dir = NULL, *text = NULL;
	gboolean added;

	s->name = find_zram(&added);
	*found = s->name != NULL;
	if (!s->name)
		return FALSE;
	/* Room enough that swap is never half full, unless the user says otherwise; and a size that
	 * nobody else chooses, so that a later run knows the device again. */
	s->size = size ? size & ~(uint64_t)(HEADER_BYTES - 1)
	               : MAX(LEAST_SIZE, 4 * plan->anon_pages * RF_VERIFY_PAGE) +
	                          (uint64_t)(getpid() & 0xffff) * HEADER_BYTES;
	s->device = RF_DEV_ZRAM;
	s->made = TRUE;
	if (!rf_vundo_note_zram(u, s->name, s->size, added, error))
		return FALSE;
	dir = g_build_filename("/sys/block", s->name, NULL);
	text = g_strdup_printf("%" G_GUINT64_FORMAT, s->size);
	return rf_vwrite(dir, "disksize", text, error) && swap_on(s, u, error);
}

gboolean rf_vswap_set_up(struct rf_vswap *s, const char *want, const struct rf_vplan *plan,
                         struct rf_vundo *u, GError **error)
{
	g_autofree char *swaps = rf_vread("/proc", "swaps", NULL), *device = NULL;
	uint64_t bytes = 0, size = 0;
	unsigned n = swaps ? rf_vswap_active(swaps, &device, &bytes) : 0;
	gboolean found;

	memset(s, 0, sizeof(*s));
	if (g_str_has_prefix(want, "zram:")) {
		if (!rf_parse_size(want + 5, &size, NULL) || size < 16 * HEADER_BYTES) {
			rf_set_usage(error,
			             "--swap %s: expected a size such as zram:512M, at least 64K",
			             want);
			return FALSE;
		}
	} else if (strcmp(want, "auto") != 0 && strcmp(want, "none") != 0 &&
	           strcmp(want, "zram") != 0) {
		rf_set_usage(error, "--swap %s: expected auto, none or zram[:SIZE]", want);
		return FALSE;
	}
	if (!swaps) {
		if (strcmp(want, "none") == 0)
			return TRUE;
		rf_set_env(error, "this kernel has no swap (no /proc/swaps); expected --swap none");
		return FALSE;
	}
	if (n && strcmp(want, "auto") != 0) {
		rf_set_env(error,
		           "--swap %s: swap is active already, on %s; expected --swap auto, which "
		           "uses it, or "
		           "swapoff before",
		           want, device);
		return FALSE;
	}
	if (n > 1) {
		rf_set_env(error,
		           "swap is active on %u devices, of which the model has one; expected one "
		           "or none",
		           n);
		return FALSE;
	}
	if (n) {
		s->name = g_path_get_basename(device);
		s->device = kind_of(device);
		s->size = bytes;
		return TRUE;
	}
	if (strcmp(want, "none") == 0)
		return TRUE;
	if (make_zram(s, size, plan, u, &found, error))
		return TRUE;
	if (found)
		return FALSE;
	if (strcmp(want, "auto") == 0 && !plan->anon_pages)
		return TRUE; /* nothing to swap */
	rf_set_env(error,
	           "swap is needed: the trace writes to %" G_GUINT64_FORMAT
	           " pages of anonymous memory, no swap "
	           "is active and no zram device is free (no /sys/block/zram* with initstate 0, no "
	           "/sys/class/zram-control/hot_add); expected swapon, or modprobe zram, or --swap "
	           "none",
	           plan->anon_pages);
	return FALSE;
}

void rf_vswap_clear(struct rf_vswap *s)
{
	g_clear_pointer(&s->name, g_free);
}
