/* SPDX-License-Identifier: MIT */
#include "sim/closed/fiber.h"

#include <stdint.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define ASAN 1
#else
#define ASAN 0
#endif

/* Only what is touched takes memory. */
#define STACK (1u << 20)

struct rf_fiber {
	ucontext_t context;
	void (*fn)(void *arg);
	void *arg;
	char *map; /* a guard page and the stack; NULL for the root */
	size_t size;
	const void *bottom; /* what the address sanitizer wants to know of a stack */
	size_t bottom_size;
	void *fake;
	struct rf_fiber *from; /* who switched to it last */
};

static void leave(struct rf_fiber *from, struct rf_fiber *to)
{
	to->from = from;
#if ASAN
	__sanitizer_start_switch_fiber(&from->fake, to->bottom, to->bottom_size);
#endif
}

static void arrive(struct rf_fiber *f)
{
#if ASAN
	__sanitizer_finish_switch_fiber(f->fake, &f->from->bottom, &f->from->bottom_size);
#endif
	(void)f;
}

/* makecontext() passes ints: two make a pointer. */
static void begin(unsigned high, unsigned low)
{
	struct rf_fiber *f = (struct rf_fiber *)(uintptr_t)((uint64_t)high << 32 | low);

	arrive(f);
	f->fn(f->arg);
	g_assert_not_reached();
}

struct rf_fiber *rf_fiber_root(void)
{
	return g_new0(struct rf_fiber, 1);
}

struct rf_fiber *rf_fiber_new(void (*fn)(void *arg), void *arg)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct rf_fiber *f;
	uint64_t p;
	char *map;

	map = mmap(NULL, STACK + page, PROT_READ | PROT_WRITE,
	           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (map == MAP_FAILED)
		return NULL;
	mprotect(map, page, PROT_NONE);
	f = g_new0(struct rf_fiber, 1);
	f->fn = fn;
	f->arg = arg;
	f->map = map;
	f->size = STACK + page;
	f->bottom = map + page;
	f->bottom_size = STACK;
	getcontext(&f->context);
	f->context.uc_stack.ss_sp = map + page;
	f->context.uc_stack.ss_size = STACK;
	f->context.uc_link = NULL;
	p = (uintptr_t)f;
	makecontext(&f->context, (void (*)(void))begin, 2, (unsigned)(p >> 32), (unsigned)p);
	return f;
}

void rf_fiber_free(struct rf_fiber *f)
{
	if (!f)
		return;
	if (f->map)
		munmap(f->map, f->size);
	g_free(f);
}

void rf_fiber_switch(struct rf_fiber *from, struct rf_fiber *to)
{
	leave(from, to);
	swapcontext(&from->context, &to->context);
	arrive(from);
}
