/* SPDX-License-Identifier: MIT
 * The form of the Storage Performance Council, in which UMass's traces came.
 */
#include "traces/import/formats.h"
#include "traces/import/requests.h"

static const struct rf_request_format format = {
	.lines = { RF_REQUEST_LINES, .sure = 50, .example = "0,774411,8192,R,13.402117" },
	.separator = ',',
	.device = "asu ",
	.column = {
		{ RF_COL_DEVICE, 0, "the number of a storage unit" },
		{ RF_COL_OFFSET, 512, "a block's number" },
		{ RF_COL_SIZE, 1, "a number of bytes" },
		{ RF_COL_OP, 0, "R or W" },
		{ RF_COL_TIME, 0, "seconds" },
	},
};

const struct rf_importer rf_spc_importer = {
	.name = "spc",
	.summary = "block traces of the Storage Performance Council's form (UMass): "
	           "asu,lba,bytes,op,seconds",
	.cannot = "hits of the host's page cache; who asked; sizes of devices",
	.lines = &format.lines,
};
