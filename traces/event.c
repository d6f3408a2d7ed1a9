/* SPDX-License-Identifier: MIT
 * Names of event kinds and of advice, and what every event must obey.
 */
#include "traces/event.h"

#include <string.h>

#include "base/error.h"

#define U64 G_GUINT64_FORMAT
#define X64 G_GINT64_MODIFIER "x"

static const char *const kind_names[RF_NEVENTS] = {
	"file", "cgroup", "task", "exec", "exit", "mmap", "munmap", "mremap", "mprotect", "madvise",
	"mlock", "munlock", "vrange", "refpage", "read", "write", "fsync", "hugetlb", "memory", "think",
	"at", "mark", "lost",
};

static const char *const advice_names[RF_NADVICE] = {
	"normal", "random", "sequential", "willneed", "dontneed", "free", "cold", "pageout", "hugepage",
	"nohugepage",
};

const char *rf_event_kind_name(enum rf_event_kind kind)
{
	return (unsigned)kind < RF_NEVENTS ? kind_names[kind] : "?";
}

const char *rf_advice_name(enum rf_advice advice)
{
	return (unsigned)advice < RF_NADVICE ? advice_names[advice] : "?";
}

unsigned rf_event_fields(enum rf_event_kind kind)
{
#define F(name) RF_FIELD_##name
	static const unsigned range = F(TID) | F(ADDR) | F(LEN);

	switch (kind) {
	case RF_EV_FILE:
		return F(ID) | F(NAME) | F(LEN);
	case RF_EV_CGROUP:
		return F(NAME) | F(TEXT);
	case RF_EV_TASK:
		return F(TID) | F(PARENT) | F(HAS_PARENT) | F(NAME) | F(THREAD) | F(SPACE);
	case RF_EV_EXEC:
		return F(TID) | F(SPACE);
	case RF_EV_EXIT:
		return F(TID);
	case RF_EV_MMAP:
		return range | F(PROT) | F(MKIND) | F(ID) | F(OFF) | F(SHARED) | F(LOCKED) | F(NAME);
	case RF_EV_MUNMAP:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
		return range;
	case RF_EV_MREMAP:
		return range | F(ADDR2) | F(LEN2);
	case RF_EV_MPROTECT:
		return range | F(PROT);
	case RF_EV_MADVISE:
		return range | F(ADVICE);
	case RF_EV_VRANGE:
		return range | F(FLAG);
	case RF_EV_REFPAGE:
		return F(ID) | F(LEN);
	case RF_EV_READ:
	case RF_EV_WRITE:
		return F(TID) | F(ID) | F(OFF) | F(LEN);
	case RF_EV_FSYNC:
		return F(TID) | F(ID);
	case RF_EV_HUGETLB:
	case RF_EV_AT:
	case RF_EV_LOST:
		return F(LEN);
	case RF_EV_MEMORY:
		return F(FLAG) | F(LEN);
	case RF_EV_THINK:
		return F(TID) | F(LEN);
	case RF_EV_MARK:
		return F(NAME);
	case RF_NEVENTS:
		break;
	}
#undef F
	return 0;
}

struct rf_event rf_event_clean(const struct rf_event *ev)
{
	struct rf_event e = { .kind = ev->kind };
	unsigned fields = rf_event_fields(ev->kind);

#define KEEP(field, member) (e.member = fields & RF_FIELD_##field ? ev->member : 0)
	KEEP(TID, tid);
	KEEP(ID, id);
	KEEP(SPACE, space);
	KEEP(ADDR, addr);
	KEEP(LEN, len);
	KEEP(ADDR2, addr2);
	KEEP(LEN2, len2);
	KEEP(OFF, off);
	KEEP(PROT, prot);
	KEEP(MKIND, mkind);
	KEEP(ADVICE, advice);
#undef KEEP
	e.flag = fields & RF_FIELD_FLAG && ev->flag;
	e.shared = fields & RF_FIELD_SHARED && ev->shared;
	e.locked = fields & RF_FIELD_LOCKED && ev->locked;
	e.thread = fields & RF_FIELD_THREAD && ev->thread;
	e.has_parent = fields & RF_FIELD_HAS_PARENT && ev->has_parent;
	e.parent = e.has_parent ? ev->parent : 0;
	e.name = fields & RF_FIELD_NAME ? ev->name : NULL;
	/* A cgroup without settings has an empty text, never none. */
	if (fields & RF_FIELD_TEXT)
		e.text = ev->text != NULL ? ev->text : "";
	if (e.kind == RF_EV_MMAP && e.mkind == RF_MAP_ANON)
		e.id = 0;
	return e;
}

gboolean rf_range_fail(uint64_t addr, uint64_t len, const char *what, GError **error)
{
	if (len == 0)
		rf_set_data(error, "%s has length 0; expected at least 1", what);
	else
		rf_set_data(error, "%s of %" U64 " bytes at 0x%" X64 " ends beyond 0x%" X64, what, len,
		            addr, RF_ADDR_END);
	return FALSE;
}

static gboolean file_range(uint64_t off, uint64_t len, const char *what, GError **error)
{
	if (off <= RF_FILE_END && len <= RF_FILE_END - off)
		return TRUE;
	rf_set_data(error, "%s of %" U64 " bytes at file offset %" U64 " ends beyond 2^63-1", what, len,
	            off);
	return FALSE;
}

static gboolean named(const struct rf_event *ev, GError **error)
{
	if (ev->name != NULL && ev->name[0] != 0)
		return TRUE;
	rf_set_data(error, "%s without a name", rf_event_kind_name(ev->kind));
	return FALSE;
}

static gboolean at_least_1(const struct rf_event *ev, GError **error)
{
	if (ev->len > 0)
		return TRUE;
	rf_set_data(error, "%s of 0; expected at least 1", rf_event_kind_name(ev->kind));
	return FALSE;
}

static gboolean prot_ok(const struct rf_event *ev, GError **error)
{
	if (ev->prot <= (RF_PROT_R | RF_PROT_W | RF_PROT_X))
		return TRUE;
	rf_set_data(error, "unknown protection bits 0x%x", ev->prot);
	return FALSE;
}

gboolean rf_event_check(const struct rf_event *ev, GError **error)
{
	const char *what = rf_event_kind_name(ev->kind);

	if ((ev->name != NULL && strlen(ev->name) > RF_NAME_MAX) ||
	    (ev->text != NULL && strlen(ev->text) > RF_NAME_MAX)) {
		rf_set_data(error, "%s with a name longer than %u bytes", what, RF_NAME_MAX);
		return FALSE;
	}
	switch (ev->kind) {
	case RF_EV_FILE:
		return named(ev, error) && file_range(0, ev->len, "a file", error);
	case RF_EV_CGROUP:
	case RF_EV_MARK:
		return named(ev, error);
	case RF_EV_TASK:
		if (ev->thread && !ev->has_parent) {
			rf_set_data(error, "a thread needs parent=");
			return FALSE;
		}
		return ev->name == NULL || named(ev, error);
	case RF_EV_EXEC:
	case RF_EV_EXIT:
	case RF_EV_FSYNC:
	case RF_EV_THINK:
	case RF_EV_AT:
		return TRUE;
	case RF_EV_MMAP:
		if (ev->mkind > RF_MAP_REFPAGE) {
			rf_set_data(error, "unknown kind of mapping %u", ev->mkind);
			return FALSE;
		}
		return rf_range_check(ev->addr, ev->len, what, error) && prot_ok(ev, error) &&
		       file_range(ev->off, ev->len, what, error);
	case RF_EV_MREMAP:
		return rf_range_check(ev->addr, ev->len, what, error) &&
		       rf_range_check(ev->addr2, ev->len2, what, error);
	case RF_EV_MPROTECT:
		return rf_range_check(ev->addr, ev->len, what, error) && prot_ok(ev, error);
	case RF_EV_MADVISE:
		if (ev->advice >= RF_NADVICE) {
			rf_set_data(error, "unknown advice %u", ev->advice);
			return FALSE;
		}
		return rf_range_check(ev->addr, ev->len, what, error);
	case RF_EV_MUNMAP:
	case RF_EV_MLOCK:
	case RF_EV_MUNLOCK:
	case RF_EV_VRANGE:
		return rf_range_check(ev->addr, ev->len, what, error);
	case RF_EV_REFPAGE:
	case RF_EV_HUGETLB:
	case RF_EV_MEMORY:
	case RF_EV_LOST:
		return at_least_1(ev, error);
	case RF_EV_READ:
	case RF_EV_WRITE:
		if (!at_least_1(ev, error))
			return FALSE;
		if (ev->len > RF_RW_MAX) {
			rf_set_data(error, "%s of %" U64 " bytes; one call moves at most %" U64, what,
			            ev->len, RF_RW_MAX);
			return FALSE;
		}
		return file_range(ev->off, ev->len, what, error);
	case RF_NEVENTS:
		break;
	}
	rf_set_data(error, "unknown kind of event %d", (int)ev->kind);
	return FALSE;
}
