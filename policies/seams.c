/* SPDX-License-Identifier: MIT
 * The registry of the four seams: one line a member.
 */
#include "policies/seams.h"

extern const struct rf_protect_ops rf_protect_exec, rf_protect_none, rf_protect_skipexec,
	rf_protect_min_filelist, rf_protect_le9, rf_protect_min_ttl;
extern const struct rf_account_ops rf_account_embedded, rf_account_off, rf_account_pointer, rf_account_radix,
	rf_account_hash, rf_account_node_array, rf_account_section_array;
extern const struct rf_volatile_ops rf_volatile_dontneed, rf_volatile_vma, rf_volatile_mm_tree,
	rf_volatile_madv_free, rf_volatile_ashmem;
extern const struct rf_fill_ops rf_fill_zero, rf_fill_zero_always, rf_fill_memset, rf_fill_refpage,
	rf_fill_fill_on_fault;

const struct rf_protect_ops *const rf_protects[] = {
	&rf_protect_exec,
	&rf_protect_none,
	&rf_protect_skipexec,
	&rf_protect_min_filelist,
	&rf_protect_le9,
	&rf_protect_min_ttl,
	NULL,
};
const struct rf_account_ops *const rf_accounts[] = {
	&rf_account_embedded,
	&rf_account_off,
	&rf_account_pointer,
	&rf_account_radix,
	&rf_account_hash,
	&rf_account_node_array,
	&rf_account_section_array,
	NULL,
};
const struct rf_volatile_ops *const rf_volatiles[] = {
	&rf_volatile_dontneed,
	&rf_volatile_vma,
	&rf_volatile_mm_tree,
	&rf_volatile_madv_free,
	&rf_volatile_ashmem,
	NULL,
};
const struct rf_fill_ops *const rf_fills[] = {
	&rf_fill_zero,
	&rf_fill_zero_always,
	&rf_fill_memset,
	&rf_fill_refpage,
	&rf_fill_fill_on_fault,
	NULL,
};
