/* SPDX-License-Identifier: MIT
 * Policies as the sim sees them: finding one, an instance of one, its lruvecs.
 */
#ifndef RF_SIM_POLICY_H
#define RF_SIM_POLICY_H

#include "policies/policy.h"

/* Split "2q,in=25" into name and option list (empty string when there is none).  Caller frees both. */
void rf_spec_split(const char *spec, char **name, char **options);

/* A reclaim policy by name, built in (policies/registry.h) or loaded; RF_USAGE_ERROR with the nearest
 * name when there is none. */
const struct rf_reclaim_ops *rf_reclaim_find(const char *name, GError **error);
/* The i-th reclaim policy: the built-in ones, then the loaded ones; NULL after the last. */
const struct rf_reclaim_ops *rf_reclaim_nth(unsigned i);

/* Load a plug-in; its policies are found by name from then on.  Refused, with found and wanted
 * numbers, when interface version or struct size differ, or a mandatory hook is missing. */
gboolean rf_plugin_load(const char *path, GError **error);
/* The same checks for ops that are in memory already; who names them in messages. */
gboolean rf_reclaim_register(const struct rf_reclaim_ops *ops, const char *who, GError **error);

/* An instance for spec ("name,opt=value").  host must outlive it; machine is for host's functions. */
struct rf_policy *rf_policy_new(const char *spec, const struct rf_host *host, void *machine,
                                GError **error);
void rf_policy_free(struct rf_policy *pol);
/* Make room for page indices below npages (links RF_NO_PAGE, private bytes 0). */
void rf_policy_grow(struct rf_policy *pol, uint32_t npages);
/* Tell the policy, before room is made, that page is wanted and not resident.  Only a few textbook
 * algorithms (arc) choose their victim by that; they manage without. */
void rf_policy_miss(struct rf_policy *pol, struct rf_lruvec *lv, rf_page page);
gboolean rf_policy_wants_miss(const struct rf_policy *pol);

struct rf_lruvec *rf_lruvec_new(struct rf_policy *pol, uint32_t id, struct rf_lruvec *parent);
void rf_lruvec_free(struct rf_policy *pol, struct rf_lruvec *lv); /* after its children */
/* Next in a pre-order walk of root's subtree; start with root itself; NULL at the end. */
struct rf_lruvec *rf_lruvec_next(const struct rf_lruvec *root, struct rf_lruvec *lv);

#endif
