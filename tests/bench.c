/* SPDX-License-Identifier: MIT
 * How fast a replay is, measured against a yardstick of its own: a minimal LRU over an in-memory array
 * of dense page ids, which decodes nothing and counts nothing but misses.  Not part of the tests: times
 * are never asserted, they are printed.
 *
 * bench REFAULT DIR [ROUNDS]   make the trace in DIR, run everything in turn, print medians
 * bench yardstick IDS FRAMES   what the others are compared to; prints misses and the loop's time
 * bench decode TRACE           reads a trace and drops it
 */
#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "traces/trace.h"

#define ACCESSES 20000000
#define PAGES 262144
#define FRAMES 26214
#define NONE UINT32_MAX

static G_GNUC_NORETURN G_GNUC_PRINTF(1, 2) void die(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	fputs("bench: ", stderr);
	vfprintf(stderr, format, ap);
	fputc('\n', stderr);
	exit(EXIT_FAILURE);
}

/* ---- the yardstick ---- */

struct node {
	uint32_t prev, next;
};

static uint64_t minimal_lru(const uint32_t *id, size_t n, uint32_t npages, uint32_t frames)
{
	struct node *node = g_new(struct node, npages);
	uint8_t *resident = g_new0(uint8_t, npages);
	uint32_t head = NONE, tail = NONE, used = 0;
	uint64_t misses = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t page = id[i];

		if (page == head)
			continue;
		if (resident[page]) {
			uint32_t prev = node[page].prev, next = node[page].next;

			node[prev].next = next;
			if (next != NONE)
				node[next].prev = prev;
			else
				tail = prev;
		} else {
			misses++;
			if (used == frames) {
				resident[tail] = 0;
				tail = node[tail].prev;
				node[tail].next = NONE;
			} else {
				used++;
			}
			resident[page] = 1;
		}
		node[page].prev = NONE;
		node[page].next = head;
		if (head != NONE)
			node[head].prev = page;
		else
			tail = page;
		head = page;
	}
	g_free(node);
	g_free(resident);
	return misses;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void yardstick(const char *path, const char *frames)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	uint32_t *id, npages = 0;
	size_t got = 0, n;
	uint64_t misses;
	double began;

	if (fd < 0 || fstat(fd, &st))
		die("%s: %s", path, strerror(errno));
	n = (size_t)st.st_size / sizeof(*id);
	id = g_new(uint32_t, n);
	while (got < n * sizeof(*id)) {
		ssize_t more = read(fd, (char *)id + got, n * sizeof(*id) - got);

		if (more <= 0)
			die("%s: %s", path, more ? strerror(errno) : "shorter than it was");
		got += (size_t)more;
	}
	close(fd);
	began = cpu_seconds();
	for (size_t i = 0; i < n; i++)
		npages = MAX(npages, id[i] + 1);
	misses = minimal_lru(id, n, npages, (uint32_t)strtoul(frames, NULL, 10));
	printf("%" G_GUINT64_FORMAT " %.6f\n", misses, cpu_seconds() - began);
	g_free(id);
}

static void decode(const char *path)
{
	GError *error = NULL;
	struct rf_source *s = rf_source_open(path, NULL, &error);
	struct rf_item item = { .kind = RF_ITEM_EVENT };

	while (s && item.kind != RF_ITEM_END)
		if (!rf_source_next(s, &item, &error))
			break;
	if (error)
		die("%s", error->message);
	rf_source_close(s);
}

/* ---- the trace ---- */

static void must(gboolean ok, GError *error)
{
	if (!ok)
		die("%s", error ? error->message : "failed");
}

/* The container, and the same accesses as bare ids. */
static void make_trace(const char *rft, const char *ids, uint64_t *npages)
{
	char *text = g_strdup_printf("!refault-synth 1 zipf,accesses=%d,pages=%d\n", ACCESSES, PAGES);
	char *spec = g_strconcat(rft, ".synth", NULL);
	FILE *f = fopen(ids, "wb");
	GError *error = NULL;
	struct rf_source *s;
	struct rf_sink *sink;
	struct rf_item item;

	if (!f)
		die("%s: %s", ids, strerror(errno));
	must(g_file_set_contents(spec, text, -1, &error), error);
	s = rf_source_open(spec, NULL, &error);
	must(s != NULL, error);
	sink = rf_sink_rft(rft, rf_source_header(s), 0, &error);
	must(sink != NULL, error);
	do {
		must(rf_source_next(s, &item, &error), error);
		must(rf_sink_put(sink, &item, &error), error);
		if (item.kind != RF_ITEM_RUNS)
			continue;
		for (uint32_t i = 0; i < item.runs.n; i++)
			for (uint32_t k = 0; k < item.runs.count[i]; k++)
				fwrite(&item.runs.page[i], sizeof(uint32_t), 1, f);
	} while (item.kind != RF_ITEM_END);
	*npages = rf_source_totals(s)->pages;
	must(rf_sink_commit(sink, &error), error);
	rf_source_close(s);
	if (fclose(f))
		die("%s: %s", ids, strerror(errno));
	unlink(spec);
	g_free(spec);
	g_free(text);
}

/* ---- runs of whole processes ---- */

struct subject {
	const char *name;
	double target; /* at most this ratio; 0: none */
	const char *argv[12];
	double cpu[64], ratio[64];
	uint64_t peak; /* largest resident set, bytes */
	double loop[64];
};

static void run(struct subject *s, unsigned round)
{
	struct rusage before, after;
	int out[2], status;
	char answer[200] = "";
	const char *blank;
	size_t got = 0;
	pid_t pid;

	if (pipe(out))
		die("pipe: %s", strerror(errno));
	getrusage(RUSAGE_CHILDREN, &before);
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (!pid) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		execv(s->argv[0], (char *const *)s->argv);
		_exit(127);
	}
	close(out[1]);
	for (;;) {
		char more[4096];
		ssize_t n = read(out[0], more, sizeof(more));

		if (n <= 0)
			break;
		if (got + (size_t)n < sizeof(answer)) {
			memcpy(answer + got, more, (size_t)n);
			got += (size_t)n;
		}
	}
	close(out[0]);
	if (wait4(pid, &status, 0, &after) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		die("%s failed", s->name);
	s->cpu[round] = (double)after.ru_utime.tv_sec + (double)after.ru_utime.tv_usec * 1e-6 +
	                (double)after.ru_stime.tv_sec + (double)after.ru_stime.tv_usec * 1e-6;
	s->peak = MAX(s->peak, (uint64_t)after.ru_maxrss * 1024);
	blank = strchr(answer, ' ');
	s->loop[round] = blank ? g_ascii_strtod(blank, NULL) : 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double median(const double *v, unsigned n)
{
	double sorted[64];

	memcpy(sorted, v, n * sizeof(*v));
	qsort(sorted, n, sizeof(*sorted), compare);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

#define REPLAY(refault, rft, policy) \
	{ refault, "run", rft, "--frames", G_STRINGIFY(FRAMES), "--reclaim", policy, "-q", NULL }

/* The modelled machine, half of the pages in memory. */
#define MODEL(refault, rft, replay) \
	{ refault, "run", rft, "--limit", "50%", "--swap", "zram", "--replay", replay, "-q", NULL }

#define CLOSED_MOST 1.5

/* What a scheduler for one task costs, in the same rounds. */
static void print_closed(const struct subject *ordered, const struct subject *closed, unsigned rounds)
{
	double ratio[64], m;

	for (unsigned round = 0; round < rounds; round++)
		ratio[round] = closed->cpu[round] / ordered->cpu[round];
	m = median(ratio, rounds);
	printf("\nclosed replay of one task over ordered: %.2f (at most %.1f)%s\n", m, CLOSED_MOST,
	       m > CLOSED_MOST ? " !" : "");
}

static void bench(const char *self, const char *refault, const char *dir, unsigned rounds)
{
	char *rft = g_build_filename(dir, "bench.rft", NULL), *ids = g_build_filename(dir, "bench.ids", NULL);
	struct subject subject[] = {
		{ "yardstick", 0, { self, "yardstick", ids, G_STRINGIFY(FRAMES), NULL }, { 0 }, { 0 }, 0, { 0 } },
		{ "decode", 0.4, { self, "decode", rft, NULL }, { 0 }, { 0 }, 0, { 0 } },
		{ "lru", 1.3, REPLAY(refault, rft, "lru"), { 0 }, { 0 }, 0, { 0 } },
		{ "clock", 0.9, REPLAY(refault, rft, "clock"), { 0 }, { 0 }, 0, { 0 } },
		{ "sieve", 0.9, REPLAY(refault, rft, "sieve"), { 0 }, { 0 }, 0, { 0 } },
		{ "twolist", 0.9, REPLAY(refault, rft, "twolist"), { 0 }, { 0 }, 0, { 0 } },
		{ "fifo", 0, REPLAY(refault, rft, "fifo"), { 0 }, { 0 }, 0, { 0 } },
		{ "random", 0, REPLAY(refault, rft, "random"), { 0 }, { 0 }, 0, { 0 } },
		{ "2q", 0, REPLAY(refault, rft, "2q"), { 0 }, { 0 }, 0, { 0 } },
		{ "arc", 0, REPLAY(refault, rft, "arc"), { 0 }, { 0 }, 0, { 0 } },
		{ "lirs", 0, REPLAY(refault, rft, "lirs"), { 0 }, { 0 }, 0, { 0 } },
		{ "s3fifo", 0, REPLAY(refault, rft, "s3fifo"), { 0 }, { 0 }, 0, { 0 } },
		{ "belady", 0, REPLAY(refault, rft, "belady"), { 0 }, { 0 }, 0, { 0 } },
		{ "ordered", 0, MODEL(refault, rft, "ordered"), { 0 }, { 0 }, 0, { 0 } },
		{ "closed", 0, MODEL(refault, rft, "closed"), { 0 }, { 0 }, 0, { 0 } },
	};
	const struct subject *last = &subject[G_N_ELEMENTS(subject) - 1];
	uint64_t npages;
	struct stat st;

	make_trace(rft, ids, &npages);
	if (stat(rft, &st))
		die("%s: %s", rft, strerror(errno));
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < G_N_ELEMENTS(subject); i++) {
			run(&subject[i], round);
			subject[i].ratio[round] = subject[i].cpu[round] / subject[0].cpu[round];
		}
	printf("zipf(1.0), %d accesses, %" G_GUINT64_FORMAT " pages, %d frames; medians of %u runs in turn\n",
	       ACCESSES, npages, FRAMES, rounds);
	printf("file: %.2f bytes an access (at most 2.4)\n", (double)st.st_size / ACCESSES);
	printf("yardstick's loop alone: %.3f s, the rest of its time is for its array of ids\n\n",
	       median(subject[0].loop, rounds));
	printf("%-10s %8s %8s %8s %9s %9s  %s\n", "", "CPU s", "ns/acc.", "ratio", "at most", "MiB",
	       "B/page beyond 32 MiB (at most 64)");
	for (unsigned i = 0; i < G_N_ELEMENTS(subject); i++) {
		struct subject *s = &subject[i];
		double cpu = median(s->cpu, rounds), ratio = median(s->ratio, rounds);
		double beyond = ((double)s->peak - 32 * 1048576.0) / (double)npages;
		char target[16] = "";

		if (s->target)
			g_snprintf(target, sizeof(target), "%.1f%s", s->target, ratio > s->target ? " !" : "  ");
		printf("%-10s %8.3f %8.1f %8.2f %9s %9.1f", s->name, cpu, cpu * 1e9 / ACCESSES, ratio, target,
		       (double)s->peak / 1048576);
		if (i)
			printf("  %.1f", MAX(beyond, 0));
		putchar('\n');
	}
	print_closed(last - 1, last, rounds);
	unlink(rft);
	unlink(ids);
	g_free(rft);
	g_free(ids);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "yardstick")) {
		yardstick(argv[2], argv[3]);
	} else if (argc == 3 && !strcmp(argv[1], "decode")) {
		decode(argv[2]);
	} else if (argc == 3 || argc == 4) {
		unsigned rounds = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 7;

		bench("/proc/self/exe", argv[1], argv[2], CLAMP(rounds, 1, 64));
	} else {
		die("usage: bench REFAULT DIR [ROUNDS]");
	}
	return EXIT_SUCCESS;
}
