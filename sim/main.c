/* SPDX-License-Identifier: MIT */
#include "sim/cmd/command.h"

int main(int argc, char **argv)
{
	return rf_main(argc, argv);
}
