# SPDX-License-Identifier: MIT
# For scripts/check and scripts/demo: what a new Debian or Ubuntu machine lacks.

# need PACKAGE COMMAND: PACKAGE is wanted unless COMMAND succeeds.
wanted=
need()
{
	need_package=$1
	shift
	"$@" >/dev/null 2>&1 || wanted="$wanted $need_package"
}
have() { command -v "$1"; }

need_build()
{
	need git have git
	need gcc have gcc
	need libc6-dev test -e /usr/include/stdlib.h
	need make have make
	need autoconf have autoconf
	need automake have automake
	# The file that autoconf needs is in the package itself.
	need pkg-config have pkg-config
	need libglib2.0-dev pkg-config --atleast-version=2.66 gmodule-2.0 gio-2.0
	need libjson-glib-dev pkg-config --exists json-glib-1.0
	need libzstd-dev pkg-config --exists libzstd
	need check pkg-config --exists check
}

install_wanted()
{
	[ -n "$wanted" ] || return 0
	echo "installing:$wanted"
	if ! command -v apt-get >/dev/null; then
		echo "apt-get is not here: install these by hand:$wanted" >&2
		return 1
	fi
	root=
	if [ "$(id -u)" -ne 0 ]; then
		root=sudo
		command -v sudo >/dev/null || { echo "become root, or install these:$wanted" >&2; return 1; }
	fi
	# Lists that are there already may do.
	# shellcheck disable=SC2086
	$root env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends $wanted >/dev/null 2>&1 ||
		{ $root apt-get update -qq &&
		  $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $wanted; }
}

jobs=$(nproc 2>/dev/null || echo 2)
