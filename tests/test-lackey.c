/* SPDX-License-Identifier: MIT
 * The lackey importer: access lines against a naive parser, system calls against cases worked out
 * by hand, and what streams do in practice.
 */
#include <check.h>
#include <glib/gstdio.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/rng.h"
#include "tests/items.h"

static const struct rf_source_options plain = { .format = "lackey" };

static void read_text(struct items *it, const char *text)
{
	items_read(it, text, strlen(text), &plain);
}

/* All that comes out of text. */
static void expect(const char *text, const char *items)
{
	struct items it;

	read_text(&it, text);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(it.text->str, items);
	items_clear(&it);
}

static void expect_error(const char *data, size_t len, const char *part)
{
	struct items it;

	items_read(&it, data, len, &plain);
	ck_assert(it.error != NULL);
	ck_assert_msg(it.error->domain == RF_DATA_ERROR, "%s", it.error->message);
	ck_assert_msg(strstr(it.error->message, part) != NULL, "%s\nis without: %s",
	              it.error->message, part);
	items_clear(&it);
}

START_TEST(types)
{
	expect("I  04000000,3\n L 1fff000550,8\n S 1fff000708,8\n M 04033e06,1\n",
	       "task 1\nX 1 4000\nR 1 1fff000\nW 1 1fff000\nW 1 4033\n");
	/* runs of one page and type */
	expect("I  04000000,3\nI  04000003,3\n L 05000000,4\n L 05000ffc,4\nI  04000006,3\n",
	       "task 1\nX 1 4000 x2\nR 1 5000 x2\nX 1 4000\n");
	/* short addresses and capitals, as people write by hand */
	expect(" L 10,1\n S ABCDEF0123,4\n", "task 1\nR 1 0\nW 1 abcdef0\n");
}
END_TEST

START_TEST(straddling)
{
	expect("I  04000ffe,3\n L 04000fff,1\n S 04000ff9,8\n",
	       "task 1\nX 1 4000\n+X 1 4001\nR 1 4000\nW 1 4000\n+W 1 4001\n");
}
END_TEST

START_TEST(line_ends)
{
	const char *want = "task 1\nX 1 4000\nR 1 5000\n";

	expect("I  04000000,3\r\n L 05000000,4\r\n", want);
	expect("I  04000000,3\n L 05000000,4", want);
	expect("I  04000000,3\r\n L 05000000,4\r", want);
	expect("\xef\xbb\xbfI  04000000,3\n L 05000000,4\n", want);
	expect("\n\nI  04000000,3\n\r\n\n L 05000000,4\n\n", want);
}
END_TEST

START_TEST(top_addresses)
{
	expect(" L ffffffffff600000,8\n S 8000000000000ffc,8\nI  ffffffffffff0000,1\n L "
	       "fffffffffffeffff,1\n",
	       "task 1\nR 1 ffffffffff600\nW 1 8000000000000\n+W 1 8000000000001\nR 1 "
	       "fffffffffffef\n");
	expect_error("I  04000000,1\n L 1ffffffffffff0000,8\n", 35,
	             "mem:2: column 4: an address of more than 64 bits");
}
END_TEST

START_TEST(malformed)
{
	struct items it;
	struct rf_source_options strict = { .format = "lackey", .strict = TRUE };
	const char *text = "I  04000000,3\n L 05000000,0\n L 05000000\n L 05000000,4x\n L ,4\n"
			   " L 05000000,99999\n L ffffffffffffffff,8\n X 05000000,4\n";

	read_text(&it, text);
	ck_assert(it.error == NULL);
	ck_assert_str_eq(it.text->str, "task 1\nX 1 4000\n");
	/* those that can't have been anything else, and the rest */
	ck_assert_str_eq(it.skipped->str, "5 malformed access line; 2 line of other text; ");
	items_clear(&it);

	items_read(&it, text, strlen(text), &strict);
	ck_assert(it.error != NULL);
	ck_assert_msg(strstr(it.error->message, "mem:2: ' L 05000000,0' is no access") != NULL,
	              "%s", it.error->message);
	items_clear(&it);
}
END_TEST

START_TEST(nothing)
{
	char *nul = g_strdup("I  04000000,3\nab?cd\n");
	char *line = g_strnfill(70000, 'x');
	char *text = g_strconcat("I  04000000,3\n", line, "\n", NULL);

	expect_error("hello\nworld\n", 12, "no access in 2 lines");
	expect_error("==1== Lackey\n", 13, "no access in 1 lines");
	nul[16] = 0;
	expect_error(nul, 20, "mem:2: column 3: a NUL byte");
	expect_error(text, strlen(text), "mem:2: the line is longer than 65536 bytes");
	/* without an end, too */
	expect_error(text, strlen(text) - 1, "mem:2: the line is longer than 65536 bytes");
	g_free(nul);
	g_free(line);
	g_free(text);
}
END_TEST

/* A stream that ends in the middle is found out wherever that shows. */
START_TEST(cut)
{
	const char *first = "I  04000000,3\n", *last = " L 1fff000550,16\n";
	size_t n = strlen(last);
	char *text = g_strconcat(first, last, NULL);

	for (size_t k = 0; k <= n; k++) {
		size_t len = strlen(first) + k;
		gboolean whole = k >= n - 2; /* from the first digit of the size on */
		struct items it;

		items_read(&it, text, len, &plain);
		if (k == 0 || whole) {
			ck_assert_msg(it.error == NULL, "cut after %zu: %s", k,
			              it.error ? it.error->message : "");
			ck_assert_str_eq(it.text->str, k == 0 ? "task 1\nX 1 4000\n"
			                                      : "task 1\nX 1 4000\nR 1 1fff000\n");
		} else {
			ck_assert_msg(it.error != NULL, "cut after %zu", k);
			ck_assert(strstr(it.error->message,
			                 "mem:2: the input ends inside an access") != NULL);
		}
		items_clear(&it);
	}
	g_free(text);
}
END_TEST

/* Noise of all sorts between accesses, across the edges of buffers, against sscanf. */
START_TEST(random_stream)
{
	static const char *const noise[] = {
		"==77== Command: ./x\n",
		"--77-- transtab: allocate sector 0\n",
		"\n",
		"hello, world\n",
		"--77:1:mallocfr newSuperblock at 0x10036FD000 (pszB 65504) owner VALGRIND/ttaux\n",
		"SB 04000000\n",
		"I am no access,8\n",
		"==77==   SBs entered:   21,642\n",
		"SYSCALL[77,1](39) sys_getpid ()[sync] --> Success(0x4d) \n",
	};
	uint64_t seed = 20240229;
	struct rf_rng rng = { seed };
	GString *text = g_string_new(NULL), *want = g_string_new("task 1\n");
	struct items it;
	uint64_t sum[RF_NACCESS] = { 0 }, last_vpn = 0;
	unsigned last_type = RF_NACCESS, last_count = 0; /* a run that may grow */
	gsize last_len = 0;
	char **lines;

	while (text->len < 600000) {
		uint32_t r = rf_rng_below(&rng, 100);

		if (r < 8) {
			g_string_append(text, noise[rf_rng_below(&rng, G_N_ELEMENTS(noise))]);
		} else if (r < 9) { /* an unfinished line of the program's own before the record */
			g_string_append(text, "what? ");
		}
		if (r >= 8) {
			uint64_t addr = rf_rng_next(&rng) >> rf_rng_below(&rng, 64);
			char form[16];

			g_snprintf(form, sizeof(form), "%%s%%0%u%s,%%u%%s", rf_rng_below(&rng, 9),
			           rf_rng_below(&rng, 2) ? PRIx64 : PRIX64);
			addr = MIN(addr, UINT64_MAX - 0x20000);
			g_string_append_printf(text, form,
			                       ((const char *[]){ "I  ", " L ", " S ",
			                                          " M " })[rf_rng_below(&rng, 4)],
			                       addr, 1 + rf_rng_below(&rng, 32),
			                       rf_rng_below(&rng, 9) ? "\n" : "\r\n");
		}
	}
	lines = g_strsplit(text->str, "\n", -1);
	for (unsigned i = 0; lines[i]; i++) {
		uint64_t addr, vpn;
		unsigned size, type, page;
		char letter[2], end = 0,
				*at = strncmp(lines[i], "what? ", 6) ? lines[i] : lines[i] + 6;

		if (at[0] == 'I' ? strncmp(at, "I  ", 3)
		                 : at[0] != ' ' || !at[1] || !strchr("LSM", at[1]))
			continue;
		if (sscanf(at, "%1s %" SCNx64 ",%u%c", letter, &addr, &size, &end) < 3 ||
		    (end && end != '\r'))
			continue;
		type = letter[0] == 'I' ? RF_EXEC : letter[0] == 'L' ? RF_READ : RF_WRITE;
		sum[type]++;
		vpn = addr >> 12;
		if (type == last_type && vpn == last_vpn && (addr + size - 1) >> 12 == vpn) {
			g_string_truncate(want, last_len);
			g_string_append_printf(want, "%c 1 %" PRIx64 " x%u\n", "RWX"[type], vpn,
			                       ++last_count);
			continue;
		}
		last_len = want->len;
		for (page = 0; vpn + page <= (addr + size - 1) >> 12; page++)
			g_string_append_printf(want, "%s%c 1 %" PRIx64 "\n", page ? "+" : "",
			                       "RWX"[type], vpn + page);
		last_type = page == 1 ? type : RF_NACCESS;
		last_vpn = vpn;
		last_count = 1;
	}
	g_strfreev(lines);
	items_read(&it, text->str, text->len, &plain);
	ck_assert_msg(it.error == NULL, "seed %" PRIu64 ": %s", seed,
	              it.error ? it.error->message : "");
	for (unsigned i = 0; i < RF_NACCESS; i++)
		ck_assert_msg(it.totals.accesses[i] == sum[i], "seed %" PRIu64 ": %u", seed, i);
	ck_assert_msg(!strcmp(it.text->str, want->str), "seed %" PRIu64, seed);
	items_clear(&it);
	g_string_free(text, TRUE);
	g_string_free(want, TRUE);
}
END_TEST

/* ---- the dump and system calls ---- */

#define DUMP                                                                                       \
	"--9:1: aspacem <<< SHOW_SEGMENTS: Memory layout at client startup (9 segments)\n"         \
	"--9:1: aspacem 2 segment names in 2 slots\n"                                              \
	"--9:1: aspacem (0,4,9) /usr/libexec/tool\n"                                               \
	"--9:1: aspacem (1,49,7) /usr/bin/a b\n"                                                   \
	"--9:1: aspacem   0: RSVN 0000000000-0000107fff 1081344 ----- SmFixed\n"                   \
	"--9:1: aspacem   1: file 0000108000-0000108fff    4096 r---- d=0xfe00 i=1095 o=0       "  \
	"(1,49)\n"                                                                                 \
	"--9:1: aspacem   2: file 0000109000-000010afff    8192 r-xT- d=0xfe00 i=1095 o=4096    "  \
	"(1,49)\n"                                                                                 \
	"--9:1: aspacem   3: anon 0004035000-0004035fff    4096 rwx--\n"                           \
	"--9:1: aspacem   4: RSVN 0004036000-0004834fff 8384512 ----- SmLower\n"                   \
	"--9:1: aspacem   5:      0004835000-0057ffffff   1335m\n"                                 \
	"--9:1: aspacem   6: FILE 0058000000-0058000fff    4096 r---- d=0xfe00 i=335458  o=0     " \
	"  (0,4)\n"                                                                                \
	"--9:1: aspacem   7: RSVN 1ffe801000-1ffeffefff 8380416 ----- SmUpper\n"                   \
	"--9:1: aspacem   8: anon 1ffefff000-1fff000fff    8192 rw---\n"                           \
	"--9:1: aspacem >>>\n"

#define DUMP_EVENTS                                                                                \
	"file 1 /usr/bin/a b 12288\n"                                                              \
	"mmap 1 108000 4096 r-- file:1 off=0\n"                                                    \
	"mmap 1 109000 8192 r-x file:1 off=4096\n"                                                 \
	"mmap 1 4035000 4096 rw- anon [heap]\n"                                                    \
	"mmap 1 1ffefff000 8192 rw- anon [stack]\n"

#define CALL(nr, call) "SYSCALL[9,1](" #nr ") " call "\n"

/* Events that come out of text, beside "task 1"; text needs no access of its own. */
static void expect_events(const char *text, const char *events)
{
	char *all = g_strconcat(text, "I  00109000,1\n", NULL),
	     *want = g_strconcat("task 1\n", events, NULL);
	struct items it;

	read_text(&it, all);
	ck_assert_msg(it.error == NULL, "%s", it.error ? it.error->message : "");
	ck_assert_str_eq(it.events->str, want);
	items_clear(&it);
	g_free(all);
	g_free(want);
}

START_TEST(dump)
{
	expect_events(DUMP, DUMP_EVENTS);
	/* the one at the end changes nothing */
	expect_events(
		DUMP
		"--9:1: aspacem <<< SHOW_SEGMENTS: Memory layout at client shutdown (1 segments)\n"
		"--9:1: aspacem   1: anon 0000208000-0000208fff    4096 r----\n"
		"--9:1: aspacem >>>\n",
		DUMP_EVENTS);
	/* a second one at startup is an execve */
	expect_events(
		DUMP
		"--9:1: aspacem <<< SHOW_SEGMENTS: Memory layout at client startup (1 segments)\n"
		"--9:1: aspacem   1: anon 0000208000-0000208fff    4096 r----\n"
		"--9:1: aspacem >>>\n",
		DUMP_EVENTS "exec 1\nmmap 1 208000 4096 r-- anon\n");
	/* its end is lost */
	expect_events(
		"--9:1: aspacem <<< SHOW_SEGMENTS: Memory layout at client startup (1 segments)\n"
		"--9:1: aspacem   1: anon 0000208000-0000208fff    4096 r----\n" CALL(
			39, "sys_getpid ()[sync] --> Success(0x9) "),
		"mmap 1 208000 4096 r-- anon\n");
}
END_TEST

START_TEST(stack)
{
	expect_events(DUMP "--9:1: signals extending a stack base 0x1ffefff000 down by 4096 new "
	                   "base 0x1ffeffe000 to cover 0x1ffeffe000\n",
	              DUMP_EVENTS "mmap 1 1ffeffe000 4096 rw- anon [stack]\n");
}
END_TEST

START_TEST(memory_calls)
{
	expect_events(
		CALL(9,
	             "sys_mmap ( 0x0, 8192, 3, 34, 4294967295, 0 ) --> [pre-success] "
	             "Success(0x4835000) ") CALL(9,
	                                         "sys_mmap ( 0x0, 100, 3, 33, 4294967295, 0 ) --> "
	                                         "[pre-success] "
	                                         "Success(0x4900000) ") CALL(9,
	                                                                     "sys_mmap ( "
	                                                                     "0x4836000, 1, 1, 50, "
	                                                                     "4294967295, 0 "
	                                                                     ") --> [pre-success] "
	                                                                     "Success(0x4836000) ")
			CALL(9,
	                     "sys_mmap ( 0x0, 4096, 3, 34, 4294967295, 0 ) --> [pre-fail] "
	                     "Failure(0xc) ") CALL(10,
	                                           "sys_mprotect ( 0x4835000, 8192, 5 )[sync] --> "
	                                           "Success(0x0) ") CALL(28, "sys_madvise ( "
	                                                                     "0x4835000, 4096, 4 ) "
	                                                                     "--> [async] ... ")
				CALL(28, "... [async] --> Success(0x0) ") CALL(
					28,
					"sys_madvise ( 0x4835000, 4096, 8 )[sync] --> "
					"Success(0x0) ") CALL(149, "sys_mlock ( 0x4835000, 4096 "
	                                                           ")[sync] --> Success(0x0) ")
					CALL(150, "sys_munlock ( 0x4835000, 4096 )[sync] "
	                                          "--> Success(0x0) ")
						CALL(25, "sys_mremap ( 0x4835000, 8192, 16384, 0x1 "
	                                                 ") --> [pre-success] Success(0x5000000) ")
							CALL(11, "sys_munmap ( 0x5000000, 16384 "
	                                                         ")[sync] --> Success(0x0) "),
		"mmap 1 4835000 8192 rw- anon\n"
		"mmap 1 4900000 4096 rw- shmem:1 off=0 shared\n"
		"munmap 1 4836000 4096\n"
		"mmap 1 4836000 4096 r-- anon\n"
		"mprotect 1 4835000 8192 r-x\n"
		"madvise 1 4835000 4096 dontneed\n"
		"madvise 1 4835000 4096 free\n"
		"mlock 1 4835000 4096\n"
		"munlock 1 4835000 4096\n"
		"mremap 1 4835000 8192 5000000 16384\n"
		"munmap 1 5000000 16384\n");
}
END_TEST

START_TEST(break_calls)
{
	expect_events(
		DUMP CALL(12, "sys_brk ( 0x0 ) --> [pre-success] Success(0x4035000) ") CALL(
			12, "sys_brk ( 0x4056000 ) --> [pre-success] Success(0x4056000) ")
			CALL(12, "sys_brk ( 0x4055001 ) --> [pre-success] Success(0x4055001) ")
				CALL(12,
	                             "sys_brk ( 0x4054001 ) --> [pre-success] Success(0x4054001) ")
					CALL(12, "sys_brk ( 0x4055002 ) --> [pre-success] "
	                                         "Success(0x4055002) "),
		DUMP_EVENTS "mmap 1 4036000 131072 rw- anon [heap]\n"
			    "munmap 1 4055000 4096\n"
			    "mmap 1 4055000 4096 rw- anon [heap]\n");
	/* without a dump the first answer says where it begins */
	expect_events(CALL(12, "sys_brk ( 0x0 ) --> [pre-success] Success(0x4035000) ") CALL(
			      12, "sys_brk ( 0x4036000 ) --> [pre-success] Success(0x4036000) "),
	              "mmap 1 4035000 4096 rw- anon [heap]\n");
}
END_TEST

START_TEST(locked_and_populated)
{
	expect(CALL(151, "sys_mlockall ( 2 )[sync] --> Success(0x0) ")
	               CALL(9, "sys_mmap ( 0x0, 8192, 3, 32802, 4294967295, 0 ) --> [pre-success] "
	                       "Success(0x4835000) ") "I  04000000,1\n",
	       "task 1\nmmap 1 4835000 8192 rw- anon locked\nW 1 4835\n+W 1 4836\nX 1 4000\n");
}
END_TEST

/* Bad numbers in calls make no event and no harm. */
START_TEST(impossible_calls)
{
	struct items it;

	read_text(
		&it,
		CALL(9, "sys_mmap ( 0x0, 18446744073709551615, 3, 34, 4294967295, 0 )[sync] --> "
	                "Success(0x1000) ") CALL(9, "sys_mmap ( 0x0, 0, 3, 34, 4294967295, 0 "
	                                            ")[sync] --> Success(0x1000) ")
			CALL(9,
	                     "sys_mmap ( 0x0, 4096, 3, 34, 4294967295, 0 )[sync] --> "
	                     "Success(0x1001) ") CALL(9, "sys_mmap ( 0x0, 9999999999999999999999, "
	                                                 "3, 34, 4294967295, 0 "
	                                                 ")[sync] --> Success(0x1000) ")
				CALL(11, "sys_munmap ( 0xfffffffffffff000, 8192 )[sync] --> "
	                                 "Success(0x0) ") CALL(25, "sys_mremap ( 0x1000, 0, 0, 0x1 "
	                                                           ")[sync] --> Success(0x0) ")
					CALL(0, "sys_read ( 0, 0x1000, 9223372036854775808 )[sync] "
	                                        "--> Success(0x8000000000000000) ")
						CALL(0, "sys_read ( 0, 0x1000, 5 )[sync] --> "
	                                                "Success(0x6) ")
							CALL(28,
	                                                     "sys_madvise ( 0x1000, 4096, 4 "
	                                                     ")[sync] "
	                                                     "--> Success(0x0) ") "I  "
	                                                                          "00109000,1\n");
	ck_assert(it.error == NULL);
	ck_assert_str_eq(it.text->str, "task 1\nX 1 109\n");
	ck_assert_str_eq(it.skipped->str,
	                 "3 impossible mmap; 1 system call cut short; 1 impossible munmap; 1 "
	                 "impossible mremap; "
	                 "2 more bytes moved than asked for; 1 madvise of an unknown mapping; ");
	items_clear(&it);
}
END_TEST

#define OPEN(fd, path, flags)                                                                      \
	CALL(257, "sys_openat ( 4294967196, 0x40290b1(" path "), " #flags " ) --> [async] ... ")   \
	CALL(257, "... [async] --> Success(0x" #fd ") ")

START_TEST(files)
{
	expect(OPEN(3, "/etc/a (b), c",
	            524288) CALL(0, "sys_read ( 3, 0x31000ff0, 100 ) --> "
	                            "[async] ... ") CALL(0, "... [async] --> Success(0x20) ")
	               CALL(0, "sys_read ( 3, 0x31000000, 100 "
	                       ")[sync] --> Success(0x10) ") CALL(8, "sys_lseek ( 3, -8, 2 )[sync] "
	                                                             "--> Success(0x1000) ")
	                       CALL(32, "sys_dup ( 3 )[sync] --> Success(0x4) ") CALL(
				       3, "sys_close ( 3 )[sync] --> Success(0x0) ")
	                               CALL(1, "sys_write ( 4, 0x31000000, 7 )[sync] --> "
	                                       "Success(0x7) ") CALL(0, "sys_read ( 3, 0x31000000, "
	                                                                "9 )[sync] --> "
	                                                                "Success(0x9) ")
	                                       CALL(17,
	                                            "sys_pread64 ( 4, 0x31002000, "
	                                            "16, 24 )[sync] --> "
	                                            "Success(0x10) ") CALL(18,
	                                                                   "sys_pwrite64 ( 4, "
	                                                                   "0x31002000, 16, 65536 "
	                                                                   ")[sync] --> "
	                                                                   "Success(0x10) ")
	                                               CALL(75,
	                                                    "sys_fdatasync ( 4 )[sync] --> "
	                                                    "Success(0x0) ") CALL(0,
	                                                                          "sys_read ( 4, "
	                                                                          "0x31000000, 9 "
	                                                                          ")[sync] --> "
	                                                                          "Failure(0x5) ")
	                                                       CALL(0,
	                                                            "sys_read ( 4, 0x31000000, 9 "
	                                                            ")[sync] "
	                                                            "--> Success(0x0) ") "I  "
	                                                                                 "00109000,"
	                                                                                 "1\n",
	       "task 1\n"
	       "file 1 /etc/a (b), c 32\nread 1 file:1 0 32\nW 1 31000\n+W 1 31001\n"
	       "read 1 file:1 32 16\nW 1 31000\n"
	       "R 1 31000\nwrite 1 file:1 4096 7\n"
	       "W 1 31000\n" /* from a descriptor whose opening was not seen */
	       "read 1 file:1 24 16\nW 1 31002\n"
	       "R 1 31002\nwrite 1 file:1 65536 16\n"
	       "fsync 1 file:1\n"
	       "X 1 109\n");
}
END_TEST

START_TEST(kernel_accesses)
{
	const char *text = OPEN(3, "/a", 0) CALL(
		0, "sys_read ( 3, 0x31000000, 8192 )[sync] --> Success(0x2000) ") "I  00109000,1\n";
	struct rf_source_options no = { .format = "lackey", .no_kernel_accesses = TRUE };
	struct items it;

	/* one access over two pages */
	items_read(&it, text, strlen(text), &plain);
	ck_assert_uint_eq(it.totals.accesses[RF_WRITE], 1);
	ck_assert_str_eq(rf_header_get(&it.header, "kernel-accesses"), "yes");
	items_clear(&it);
	items_read(&it, text, strlen(text), &no);
	ck_assert_str_eq(it.text->str, "task 1\nfile 1 /a 8192\nread 1 file:1 0 8192\nX 1 109\n");
	ck_assert_str_eq(rf_header_get(&it.header, "kernel-accesses"), "no");
	items_clear(&it);
}
END_TEST

/* A path names another file once it was unlinked, renamed over or truncated. */
START_TEST(file_identity)
{
#define WRITE(fd) CALL(1, "sys_write ( " #fd ", 0x5000, 4 )[sync] --> Success(0x4) ")
#define CLOSE(fd) CALL(3, "sys_close ( " #fd " )[sync] --> Success(0x0) ")
	struct rf_source_options no = { .format = "lackey", .no_kernel_accesses = TRUE };
	const char *text = "--9:1:    main Getting the working directory at startup\n--9:1:    "
			   "main ... /tmp/w\n" OPEN(3, "x", 66) WRITE(3) CLOSE(3)
				   OPEN(3, "/tmp/w/x", 1) WRITE(3) CLOSE(3) /* the same file */
		CALL(87, "sys_unlink ( 0x4036949(x) )[sync] --> Success(0x0) ") OPEN(3, "x", 66)
			WRITE(3) CLOSE(3)                     /* a second */
		OPEN(3, "x", 577) WRITE(3) CLOSE(3)           /* O_TRUNC: a third */
		OPEN(3, "x", 1025) WRITE(3) WRITE(3) CLOSE(3) /* O_APPEND */
		CALL(82, "sys_rename ( 0x1(x), 0x2(y) )[sync] --> Success(0x0) ") OPEN(3, "y", 1)
			WRITE(3) CLOSE(3) OPEN(3, "x", 66) WRITE(3) CLOSE(3) /* a fourth */
		OPEN(3, "/dev/null", 1) WRITE(3) CLOSE(3) "I  00109000,1\n";
	struct items it;

	items_read(&it, text, strlen(text), &no);
	ck_assert(it.error == NULL);
	ck_assert_str_eq(it.events->str,
	                 "task 1\nfile 1 /tmp/w/x 4\nwrite 1 file:1 0 4\nwrite 1 file:1 0 4\n"
	                 "file 2 /tmp/w/x 4\nwrite 1 file:2 0 4\n"
	                 "file 3 /tmp/w/x 4\nwrite 1 file:3 0 4\n"
	                 "write 1 file:3 4 4\nwrite 1 file:3 8 4\n"
	                 "write 1 file:3 0 4\n"
	                 "file 4 /tmp/w/x 4\nwrite 1 file:4 0 4\n");
	items_clear(&it);
}
END_TEST

START_TEST(mapped_files)
{
	expect_events(
		OPEN(3, "/lib/c", 0) CALL(9, "sys_mmap ( 0x0, 20480, 1, 2050, 3, 0 ) --> "
	                                     "[pre-success] Success(0x4837000) ")
			CALL(9, "sys_mmap ( 0x4838000, 4096, 5, 2066, 3, 4096 ) --> [pre-success] "
	                        "Success(0x4838000) ") CLOSE(3) OPEN(3, "/dev/zero", 2)
				CALL(9, "sys_mmap ( 0x0, 4096, 3, 2, 3, 0 ) --> [pre-success] "
	                                "Success(0x5000000) ") OPEN(4, "/dev/shm/x", 2)
					CALL(9, "sys_mmap ( 0x0, 4096, 3, 1, 4, 4096 ) --> "
	                                        "[pre-success] Success(0x5001000) ")
						CALL(9, "sys_mmap ( 0x0, 4096, 1, 2, 0, 0 ) --> "
	                                                "[pre-success] Success(0x5002000) "),
		"file 1 /lib/c 20480\n"
		"mmap 1 4837000 20480 r-- file:1 off=0\n"
		"munmap 1 4838000 4096\n"
		"mmap 1 4838000 4096 r-x file:1 off=4096\n"
		"mmap 1 5000000 4096 rw- anon\n"
		"mmap 1 5001000 4096 rw- shmem:2 off=4096 shared\n"
		"file 3 [fd 0] 4096\n"
		"mmap 1 5002000 4096 r-- file:3 off=0\n");
}
END_TEST

/* Records cut by other messages, and records that follow each other without a line end. */
START_TEST(cut_and_joined_records)
{
	expect_events("SYSCALL[9,1](9) sys_mmap ( 0x0, 4096, 3, 34, 4294967295, 0 )--9:1:hashtabl "
	              "resizing table\n"
	              "--9:1:mallocfr newSuperblock at 0x100370D000 (pszB   65504)  owner "
	              "VALGRIND/ttaux\n"
	              " --> [pre-success] Success(0x4a17000) \n",
	              "mmap 1 4a17000 4096 rw- anon\n");
	expect_events(
		"SYSCALL[9,1](334) unimplemented (by the kernel) syscall: 334! (ni_syscall)\n"
		" --> [pre-fail] Failure(0x26) \n"
		"SYSCALL[9,1](158) arch_prctl ( 4098, 4a2a740 ) --> [pre-success] Success(0x0) \n",
		"");
	expect_events("oopsSYSCALL[9,1](11) sys_munmap ( 0x4000, 4096 )[sync] --> Success(0x0) "
	              "--9--   x: "
	              "SYSCALL[9,1](11) sys_munmap ( 0x5000, 4096 )[sync] --> Success(0x0) \n",
	              "munmap 1 4000 4096\nmunmap 1 5000 4096\n");
	expect_events("SYSCALL[9,1](11) sys_munmap ( 0x4000, 40SYSCALL[9,1](11) sys_munmap ( "
	              "0x5000, 4096 )[sync] "
	              "--> Success(0x0) \n",
	              "munmap 1 5000 4096\n");
	expect_events("SYSCALL[9,1](11) sys_munmap ( 0x4000, 4096 )[sync] --> Succ\n"
	              "SYSCALL[9,\nSYSCALL[\nSYSCALL[9,1](11) \n",
	              "");
	/* an access after an unfinished message */
	expect("SYSCALL[9,1](1) sys_write ( 1, 0x5000, 4 )hello L 00109000,4\n[sync] --> "
	       "Success(0x4) \n"
	       "warning: I  00209000,1\n",
	       "task 1\nR 1 109\nX 1 209\n");
}
END_TEST

START_TEST(threads)
{
	expect("I  00109000,1\n"
	       "--9--   SCHED[2]:  acquired lock (thread_wrapper(starting new thread))\nI  "
	       "0010a000,1\n"
	       "SYSCALL[9,2](11) sys_munmap ( 0x4000, 4096 )[sync] --> Success(0x0) \n"
	       "--9--   SCHED[2]: releasing lock\n--9--   SCHED[1]:  acquired lock (x)\nI  "
	       "0010b000,1\n"
	       "SYSCALL[9,1](231) exit_group( 0 ) --> [pre-success] Success(0x0) \n",
	       "task 1\nX 1 109\ntask 2 parent=1 thread\nX 2 10a\nmunmap 2 4000 4096\nX 1 "
	       "10b\nexit 2\nexit 1\n");
}
END_TEST

/* Threads may outlive the first one, and be heard of after the end. */
START_TEST(dying_threads)
{
	expect("I  00109000,1\n"
	       "--9--   SCHED[2]:  acquired lock (x)\nI  0010a000,1\n"
	       "SYSCALL[9,1](60) sys_exit ( 0 )[sync] --> Success(0x0) \n"
	       "--9--   SCHED[3]:  acquired lock (x)\nI  0010b000,1\n"
	       "SYSCALL[9,3](231) exit_group( 0 ) --> [pre-success] Success(0x0) \n"
	       "--9--   SCHED[2]:  acquired lock (x)\n--9--   SCHED[4]:  acquired lock (x)\n"
	       "SYSCALL[9,2](3) sys_close ( 3 )[sync] --> Success(0x0) \n",
	       "task 1\nX 1 109\ntask 2 parent=1 thread\nX 2 10a\nexit 1\n"
	       "task 3 parent=2 thread\nX 3 10b\nexit 3\nexit 2\n");
}
END_TEST

START_TEST(two_processes)
{
	const char *text = "I  00109000,1\nSYSCALL[9,1](57) sys_fork ()[sync] --> Success(0xa) \n"
			   "SYSCALL[10,1](39) sys_getpid ()[sync] --> Success(0xa) \n";

	expect_error(text, strlen(text), "mem:3: system calls of two processes, 9 and 10");
}
END_TEST

START_TEST(header)
{
	struct items it;

	read_text(&it, "==9== Lackey, an example Valgrind tool\n==9== Using Valgrind-3.19.0 and "
	               "LibVEX; rerun\n"
	               "==9== Command: /usr/bin/perl words.pl\nI  00109000,1\n");
	ck_assert_str_eq(rf_header_get(&it.header, "recorder"), "valgrind-3.19.0");
	ck_assert_str_eq(rf_header_get(&it.header, "command"), "/usr/bin/perl words.pl");
	ck_assert_str_eq(rf_header_get(&it.header, "program"), "perl");
	ck_assert_str_eq(rf_header_get(&it.header, "clock"), "instructions");
	ck_assert(g_str_has_prefix(rf_header_get(&it.header, "cannot-know"),
	                           "mappings; system calls; "));
	items_clear(&it);
	read_text(&it, " L 00109000,1\n");
	ck_assert_str_eq(rf_header_get(&it.header, "clock"), "accesses");
	items_clear(&it);
}
END_TEST

static struct items with_maps(const char *maps, const char *text)
{
	char *path = NULL;
	int fd = g_file_open_tmp("rf-maps-XXXXXX", &path, NULL);
	struct rf_source_options opt = { .format = "lackey" };
	struct items it;

	ck_assert_int_ge(fd, 0);
	g_close(fd, NULL);
	ck_assert(g_file_set_contents(path, maps, -1, NULL));
	opt.maps = path;
	items_read(&it, text, strlen(text), &opt);
	remove(path);
	g_free(path);
	return it;
}

START_TEST(companion)
{
	struct items it = with_maps(DUMP, "I  00109000,1\n");

	ck_assert_str_eq(it.events->str, "task 1\n" DUMP_EVENTS);
	items_clear(&it);
	/* the stream has the dump as well */
	it = with_maps(DUMP, DUMP "I  00109000,1\n");
	ck_assert_str_eq(it.events->str, "task 1\n" DUMP_EVENTS);
	items_clear(&it);
	it = with_maps(
		"00108000-00109000 r-xp 00001000 fe:00 1095                       /usr/bin/a\n"
		"04035000-04036000 rw-p 00000000 00:00 0                          [heap]\n"
		"05035000-05036000 ---p 00000000 00:00 0 \n",
		"I  00109000,1\n");
	ck_assert_str_eq(it.events->str,
	                 "task 1\nfile 1 /usr/bin/a 8192\nmmap 1 108000 4096 r-x file:1 off=4096\n"
	                 "mmap 1 4035000 4096 rw- anon [heap]\nmmap 1 5035000 4096 --- anon\n");
	items_clear(&it);
	it = with_maps("nothing of the kind\n", "I  00109000,1\n");
	ck_assert(it.error && strstr(it.error->message, "no mapping in it"));
	items_clear(&it);
}
END_TEST

/* Top bytes are tags on arm64, and there alone. */
START_TEST(tagged_addresses)
{
	expect("--9:1:launcher selected platform 'arm64-linux'\n L b400007fb0001000,8\n L "
	       "ffffffc000001000,8\n",
	       "task 1\nR 1 7fb0001\nR 1 ffffffc000001\n");
	expect("--9:1:launcher selected platform 'amd64-linux'\n L b400007fb0001000,8\n",
	       "task 1\nR 1 b400007fb0001\n");
}
END_TEST

START_TEST(sniffing)
{
	static const struct rf_source_options sniff;
	static const char *const texts[] = {
		"==9== Lackey, an example Valgrind tool\nI  00109000,1\n",
		"--9:1:launcher tool 'lackey' requested\nI  00109000,1\n",
		"I  00109000,1\n",
		" L 10,1\n S 18,1\nI  00109000,1",
		"I  00109000,1\r\n L 00209000,1\r\n",
	};
	struct items it;

	for (unsigned i = 0; i < G_N_ELEMENTS(texts); i++) {
		items_read(&it, texts[i], strlen(texts[i]), &sniff);
		ck_assert_msg(it.error == NULL, "%u: %s", i, it.error ? it.error->message : "");
		items_clear(&it);
	}
	items_read(&it, "hello\nworld\n", 12, &sniff);
	ck_assert(it.error && strstr(it.error->message, "no known format"));
	items_clear(&it);
}
END_TEST

/* Whatever is done to a stream, it gives a trace or an error. */
START_TEST(mutations)
{
	static const char base[] = DUMP OPEN(3, "/lib/c", 0) CALL(
		9, "sys_mmap ( 0x0, 20480, 1, 2050, 3, 0 ) --> [pre-success] Success(0x4837000) ")
		CALL(0, "sys_read ( 3, 0x4837ff0, 8192 )[sync] --> Success(0x2000) ")
			CALL(12, "sys_brk ( 0x0 ) --> [pre-success] Success(0x4035000) ") CALL(
				12, "sys_brk ( 0x4056000 ) --> [pre-success] Success(0x4056000) ")
				CALL(25,
	                             "sys_mremap ( 0x4837000, 8192, 16384, 0x1 ) --> [pre-success] "
	                             "Success(0x5000000) ") "I  00109000,1\n L 1fff000550,8\n S "
							    "1fff000ffc,8\n M 04035e06,1\n"
							    "--9:1: signals extending a stack base "
							    "0x1ffefff000 down by 4096 new base "
							    "0x1ffeffe000 to\n"
							    "--9--   SCHED[2]:  acquired lock "
							    "(x)\nI  00109003,4\n" CALL(
								    10, "sys_mprotect ( 0x4035000, "
									"8192, 1 )[sync] --> "
									"Success(0x0) ")
								    CALL(231, "exit_group( 0 ) --> "
	                                                                      "[pre-success] "
	                                                                      "Success(0x0) ");
	static const char *const pieces[] = {
		"SYSCALL[9,1](9) ",
		" --> ",
		"Success(0x",
		"(",
		")",
		",",
		"\n",
		"0x",
		"18446744073709551615",
		"ffffffffffffffff",
		"9223372036854775808",
		"4294967295",
		" L ",
		"I  ",
		"--9:1: aspacem ",
		"\r",
		"(1,49,7) ",
		"SmLower",
		"-",
		"[",
		"]",
		"sys_",
		"65536",
		"70000",
		"1000000000000",
	};
	uint64_t seed = 31337;
	struct rf_rng rng = { seed };
	unsigned good = 0;

	for (unsigned round = 0; round < 600; round++) {
		GString *s = g_string_new(base);
		struct items it;

		for (unsigned n = 1 + rf_rng_below(&rng, 6); n > 0 && s->len > 0; n--) {
			gsize at = rf_rng_below(&rng, (uint32_t)s->len);
			gsize len = rf_rng_below(&rng, 40);

			len = MIN(len, s->len - at);
			switch (rf_rng_below(&rng, 4)) {
			case 0:
				s->str[at] = (char)rf_rng_next(&rng);
				break;
			case 1:
				g_string_erase(s, (gssize)at, (gssize)len);
				break;
			case 2:
				g_string_insert(s, (gssize)at,
				                pieces[rf_rng_below(&rng, G_N_ELEMENTS(pieces))]);
				break;
			default: {
				char *copy = g_strndup(s->str + at, len);

				g_string_insert(s, (gssize)rf_rng_below(&rng, (uint32_t)s->len),
				                copy);
				g_free(copy);
			}
			}
		}
		items_read(&it, s->str, s->len, &plain);
		if (it.error)
			ck_assert_msg(it.error->domain == RF_DATA_ERROR,
			              "seed %" PRIu64 " round %u: %s", seed, round,
			              it.error->message);
		else
			good++;
		items_clear(&it);
		g_string_free(s, TRUE);
	}
	/* most damage is noise that is skipped */
	ck_assert_uint_gt(good, 200);
}
END_TEST

Suite *suite_lackey(void);
Suite *suite_lackey(void)
{
	Suite *s = suite_create("lackey");
	TCase *lines = tcase_create("lines"), *calls = tcase_create("calls");

	tcase_add_test(lines, types);
	tcase_add_test(lines, straddling);
	tcase_add_test(lines, line_ends);
	tcase_add_test(lines, top_addresses);
	tcase_add_test(lines, malformed);
	tcase_add_test(lines, nothing);
	tcase_add_test(lines, cut);
	tcase_add_test(lines, random_stream);
	tcase_add_test(lines, header);
	tcase_add_test(lines, tagged_addresses);
	tcase_add_test(lines, sniffing);
	suite_add_tcase(s, lines);
	tcase_add_test(calls, dump);
	tcase_add_test(calls, stack);
	tcase_add_test(calls, memory_calls);
	tcase_add_test(calls, break_calls);
	tcase_add_test(calls, locked_and_populated);
	tcase_add_test(calls, impossible_calls);
	tcase_add_test(calls, files);
	tcase_add_test(calls, kernel_accesses);
	tcase_add_test(calls, file_identity);
	tcase_add_test(calls, mapped_files);
	tcase_add_test(calls, cut_and_joined_records);
	tcase_add_test(calls, threads);
	tcase_add_test(calls, dying_threads);
	tcase_add_test(calls, two_processes);
	tcase_add_test(calls, companion);
	tcase_add_test(calls, mutations);
	suite_add_tcase(s, calls);
	return s;
}
