/* SPDX-License-Identifier: MIT */
#include "sim/progress.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PERIOD (G_USEC_PER_SEC / 5)
#define PATIENCE G_USEC_PER_SEC /* a short run shows nothing */
#define BAR 20

struct rf_progress {
	char *label;
	gint64 start, last;
	gboolean drawn;
	double from, to, times; /* of the part at hand */
	double skipped;         /* share of the whole that cost no time */
	double before, done;    /* accesses: of the parts before it, of all so far */
};

struct rf_progress *rf_progress_new(const char *label)
{
	struct rf_progress *p;

	if (!isatty(STDERR_FILENO))
		return NULL;
	p = g_new0(struct rf_progress, 1);
	p->label = g_strdup(label);
	p->start = p->last = g_get_monotonic_time();
	p->to = p->times = 1;
	return p;
}

void rf_progress_part(struct rf_progress *p, double from, double to, double times)
{
	if (!p)
		return;
	p->from = from;
	p->to = to;
	p->times = times;
	p->before = p->done;
}

void rf_progress_skip(struct rf_progress *p, double share, double accesses)
{
	if (!p)
		return;
	p->skipped += share;
	p->done += accesses;
}

void rf_progress_label(struct rf_progress *p, const char *label)
{
	if (!p)
		return;
	g_free(p->label);
	p->label = g_strdup(label);
}

static int columns(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col;
	return 80;
}

/* "3:07" or "1:02:09". */
static void append_clock(GString *s, double seconds)
{
	unsigned long t = (unsigned long)(seconds + 0.5);

	if (t >= 3600)
		g_string_append_printf(s, "%lu:%02lu:%02lu", t / 3600, t / 60 % 60, t % 60);
	else
		g_string_append_printf(s, "%lu:%02lu", t / 60, t % 60);
}

static void draw(struct rf_progress *p, double share, double done, gint64 now)
{
	double seconds = (double)(now - p->start) / G_USEC_PER_SEC;
	g_autoptr(GString) s = g_string_new(NULL);
	int width = columns() - 1;

	if (share >= 0) {
		int filled = (int)(CLAMP(share, 0, 1) * BAR);

		g_string_append_printf(s, "%3d%% [", (int)(CLAMP(share, 0, 1) * 100));
		for (int i = 0; i < BAR; i++)
			g_string_append_c(s, i < filled ? '#' : '.');
		g_string_append(s, "] ");
	}
	g_string_append_printf(s, "%.1f M accesses, %.1f M/s", done / 1e6, done / 1e6 / seconds);
	if (share - p->skipped > 0.01 && share <= 1) {
		g_string_append(s, ", ");
		append_clock(s, seconds * (1 - share) / (share - p->skipped));
		g_string_append(s, " left");
	}
	g_string_append_printf(s, "  %s", p->label);
	if (g_utf8_validate(s->str, s->len, NULL) && g_utf8_strlen(s->str, -1) > width)
		*g_utf8_offset_to_pointer(s->str, width) = '\0';
	fprintf(stderr, "\r\033[K%s", s->str);
	fflush(stderr);
	p->drawn = TRUE;
}

void rf_progress_update(struct rf_progress *p, double share, uint64_t done)
{
	gint64 now;

	if (!p)
		return;
	p->done = p->before + (double)done * p->times;
	now = g_get_monotonic_time();
	if (now - p->last < PERIOD || now - p->start < PATIENCE)
		return;
	p->last = now;
	draw(p, share < 0 ? share : p->from + (p->to - p->from) * CLAMP(share, 0, 1), p->done, now);
}

void rf_progress_wipe(struct rf_progress *p)
{
	if (!p || !p->drawn)
		return;
	fputs("\r\033[K", stderr);
	fflush(stderr);
	p->drawn = FALSE;
}

void rf_progress_end(struct rf_progress *p)
{
	if (!p)
		return;
	rf_progress_wipe(p);
	g_free(p->label);
	g_free(p);
}
