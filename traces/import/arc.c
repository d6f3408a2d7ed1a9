/* SPDX-License-Identifier: MIT
 * The .lis files of ARC's authors: ranges of blocks of 512 bytes.
 */
#include "traces/import/formats.h"
#include "traces/import/requests.h"

static const struct rf_request_format format = {
	.lines = { RF_REQUEST_LINES, .example = "8812376 16 0 41" },
	.separator = ' ',
	.device = "blocks",
	.column = {
		{ RF_COL_OFFSET, 512, "a block's number" },
		{ RF_COL_SIZE, 512, "a number of blocks" },
		{ RF_COL_IGNORED, 0, "a number" },
		{ RF_COL_IGNORED, 0, "a request's number" },
	},
};

const struct rf_importer rf_arc_importer = {
	.name = "arc",
	.summary = "ARC's .lis block traces: start, number of blocks of 512 bytes, ignored, request",
	.cannot = "reads from writes (all are taken as reads); time; hits of the host's page cache; who "
	          "asked; which device",
	.lines = &format.lines,
};
