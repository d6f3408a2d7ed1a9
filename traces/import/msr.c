/* SPDX-License-Identifier: MIT
 * Block traces of MSR Cambridge.  A host's disks are devices of their own; time counts 100 ns.
 */
#include "traces/import/formats.h"
#include "traces/import/requests.h"

static const struct rf_request_format format = {
	.lines = { RF_REQUEST_LINES, .sure = 80,
	           .example = "128166461008134517,demo,1,Write,1949696,12288,4402" },
	.separator = ',',
	.device = "",
	.column = {
		{ RF_COL_TIME, 100, "a time in units of 100 ns" },
		{ RF_COL_DEVICE, 0, "a host's name" },
		{ RF_COL_DEVICE, 0, "a disk's number" },
		{ RF_COL_OP, 0, "Read or Write" },
		{ RF_COL_OFFSET, 1, "an offset in bytes" },
		{ RF_COL_SIZE, 1, "a number of bytes" },
		{ RF_COL_IGNORED, 0, "a latency" },
	},
};

const struct rf_importer rf_msr_importer = {
	.name = "msr",
	.summary = "block traces of MSR Cambridge: time,host,disk,type,offset,size,latency",
	.cannot = "hits of the host's page cache; who asked; sizes of devices",
	.lines = &format.lines,
};
