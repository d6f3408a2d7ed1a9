/* SPDX-License-Identifier: MIT
 * The header of a trace: keys and values in the order given.
 */
#include <string.h>

#include "traces/trace.h"

const char *rf_header_get(const struct rf_header *h, const char *key)
{
	for (guint i = 0; h->keys != NULL && i < h->keys->len; i++)
		if (strcmp(h->keys->pdata[i], key) == 0)
			return h->values->pdata[i];
	return NULL;
}

void rf_header_set(struct rf_header *h, const char *key, const char *value)
{
	if (h->keys == NULL) {
		h->keys = g_ptr_array_new_with_free_func(g_free);
		h->values = g_ptr_array_new_with_free_func(g_free);
	}
	for (guint i = 0; i < h->keys->len; i++)
		if (strcmp(h->keys->pdata[i], key) == 0) {
			g_free(h->values->pdata[i]);
			h->values->pdata[i] = g_strdup(value);
			return;
		}
	g_ptr_array_add(h->keys, g_strdup(key));
	g_ptr_array_add(h->values, g_strdup(value));
}

void rf_header_copy(struct rf_header *to, const struct rf_header *from)
{
	to->granule_shift = from->granule_shift;
	to->keys = to->values = NULL;
	for (guint i = 0; from->keys != NULL && i < from->keys->len; i++)
		rf_header_set(to, from->keys->pdata[i], from->values->pdata[i]);
}

void rf_header_clear(struct rf_header *h)
{
	g_clear_pointer(&h->keys, g_ptr_array_unref);
	g_clear_pointer(&h->values, g_ptr_array_unref);
}
