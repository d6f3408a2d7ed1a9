/* SPDX-License-Identifier: MIT
 * Block traces of SYSTOR '17.  The response time may be missing.
 */
#include "traces/import/formats.h"
#include "traces/import/requests.h"

static const struct rf_request_format format = {
	.lines = { RF_REQUEST_LINES, .sure = 70,
	           .example = "1455610221.880412,0.000915,W,3,8314355712,4096" },
	.separator = ',',
	.device = "lun ",
	.column = {
		{ RF_COL_TIME, 0, "seconds" },
		{ RF_COL_IGNORED, 0, "a response time" },
		{ RF_COL_OP, 0, "R or W" },
		{ RF_COL_DEVICE, 0, "a unit's number" },
		{ RF_COL_OFFSET, 1, "an offset in bytes" },
		{ RF_COL_SIZE, 1, "a number of bytes" },
	},
};

const struct rf_importer rf_systor_importer = {
	.name = "systor",
	.summary = "block traces of SYSTOR '17: time,response,type,lun,offset,size",
	.cannot = "hits of the host's page cache; who asked; sizes of devices",
	.lines = &format.lines,
};
