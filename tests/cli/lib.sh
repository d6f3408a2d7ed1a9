# SPDX-License-Identifier: MIT
# For tests of the command line.  A test is an executable tests/cli/NAME.test that begins with
#	. "$RF_CLI/lib.sh"
# and runs in an empty directory of its own.  It says what it checks with the functions below; each
# of them counts.  A test that returns without having checked anything fails.
#
#	title TEXT               name what follows, for messages
#	run ARG…                 run refault; leaves out (standard output), err, and $status
#	expect_ok ARG…           run, and it must succeed with nothing on standard error
#	expect_fail CODE ARG…    run, and it must exit with CODE, one line "refault: …" on standard
#	                         error; a data or environment error must leave no file behind
#	err_has TEXT…            standard error of the last run holds each TEXT
#	out_has TEXT…            standard output of the last run holds each TEXT
#	out_lacks TEXT…          … holds none
#	narrow                   no line of standard output is over 79 columns
#	same FILE FILE           the files are equal
#	check TEXT COMMAND…      any command that must succeed
#	golden NAME              standard input equals tests/cli/golden/NAME, or with RF_BLESS=1 it
#	                         becomes it.  The version of the program reads VERSION in it
#	                         and the directory of the sources SRCDIR.
#	skip WHY                 end the test here: something it needs is not there
#
# $REFAULT is the program, $RF_SRC the top of the sources, $RF_SAMPLES the shipped traces.

RF_TITLE=
RF_SAMPLES=$RF_SRC/traces/samples

title() { RF_TITLE="$*: "; }

# Counted in a file, not in variables: a function at the end of a pipe has a shell of its own.
pass() { echo passed >>"$RF_COUNTS"; }

fail()
{
	echo failed >>"$RF_COUNTS"
	echo "FAIL $RF_TEST: $RF_TITLE$*"
}

show()
{
	for show_file in out err; do
		if [ -s $show_file ]; then
			echo "  | $show_file:"
			head -n 20 $show_file | cut -c 1-200 | sed 's/^/  | /'
		fi
	done
}

# A crash, a sanitizer's report or a hang is never what a test expects.
run()
{
	rm -f out err
	timeout "${RF_CLI_TIMEOUT:-120}" "$REFAULT" "$@" >out 2>err </dev/null
	status=$?
	RF_COMMAND="refault $*"
	# The sanitizer is told of every switch of stacks, and still warns once.
	sed -i "/WARNING: ASan doesn't fully support makecontext/d" err
	if [ $status -ge 124 ] && [ $status -ne 130 ] || grep -q 'Sanitizer\|runtime error:\|-CRITICAL \*\*\|-WARNING \*\*' err; then
		fail "$RF_COMMAND: crashed or hung (status $status)"
		show
		status=crashed
		return 1
	fi
	return 0
}

expect_ok()
{
	run "$@" || return 1
	if [ "$status" -eq 0 ] && [ ! -s err ]; then
		pass
	else
		fail "$RF_COMMAND: status $status, expected 0 and nothing on standard error"
		show
		return 1
	fi
}

expect_fail()
{
	expect_code=$1
	shift
	expect_before=$(ls -A)
	run "$@" || return 1
	if [ "$status" -ne "$expect_code" ]; then
		fail "$RF_COMMAND: status $status, expected $expect_code"
		show
	elif [ "$(grep -c '^refault: ' err)" -ne 1 ]; then
		fail "$RF_COMMAND: expected one line \"refault: …\" on standard error"
		show
	elif [ "$expect_code" -ge 2 ] && [ "$(wc -l <err)" -gt 2 ]; then
		fail "$RF_COMMAND: more than two lines on standard error"
		show
	elif [ "$(printf '%s\n' "$expect_before" | grep -vx 'out\|err')" != "$(ls -A | grep -vx 'out\|err')" ]; then
		fail "$RF_COMMAND: left a file behind: $(ls -A | tr '\n' ' ')"
	else
		pass
		return 0
	fi
	return 1
}

# has FILE WHETHER TEXT…
has()
{
	has_file=$1
	has_wanted=$2
	shift 2
	for has_text in "$@"; do
		if grep -qF -e "$has_text" "$has_file"; then has_found=yes; else has_found=no; fi
		if [ $has_found = "$has_wanted" ]; then
			pass
		else
			fail "$RF_COMMAND: \"$has_text\" in its $has_file: $has_found, expected $has_wanted"
			show
		fi
	done
}

err_has() { has err yes "$@"; }
out_has() { has out yes "$@"; }
out_lacks() { has out no "$@"; }

narrow()
{
	if narrow_line=$(LC_ALL=C.UTF-8 awk 'length($0) > 79 { print; found = 1; exit } END { exit !found }' out); then
		fail "$RF_COMMAND: over 79 columns: $narrow_line"
	else
		pass
	fi
}

same()
{
	if cmp -s "$1" "$2"; then
		pass
	else
		fail "$1 and $2 differ"
		diff -u "$1" "$2" | head -n 30 | cut -c 1-200 | sed 's/^/  | /'
	fi
}

check()
{
	check_text=$1
	shift
	if "$@" >check.out 2>&1; then
		pass
	else
		fail "$check_text: $*"
		head -n 20 check.out | cut -c 1-200 | sed 's/^/  | /'
	fi
	rm -f check.out
}

golden()
{
	golden_file=$RF_CLI/golden/$1
	sed -e "s|$RF_VERSION|VERSION|g" -e "s|$RF_SRC|SRCDIR|g" >golden.got
	if [ -n "$RF_BLESS" ]; then
		mkdir -p "$(dirname "$golden_file")"
		cmp -s golden.got "$golden_file" || { cp golden.got "$golden_file" && echo "blessed golden/$1"; }
		pass
	elif [ ! -e "$golden_file" ]; then
		fail "golden/$1 does not exist; RF_BLESS=1 tests/run-cli $RF_TEST writes it"
	elif cmp -s golden.got "$golden_file"; then
		pass
	else
		fail "golden/$1 differs; if the new output is right: RF_BLESS=1 tests/run-cli $RF_TEST"
		diff -u "$golden_file" golden.got | head -n 40 | cut -c 1-200 | sed 's/^/  | /'
	fi
	rm -f golden.got
}

skip()
{
	echo skipped >>"$RF_COUNTS"
	echo "SKIP $RF_TEST: $RF_TITLE$*"
	exit 0
}

# However the test ends, the runner learns its counts.
report()
{
	report_status=$?
	if [ $report_status -ne 0 ]; then
		fail "the test itself stopped with status $report_status"
	elif [ ! -s "$RF_COUNTS" ]; then
		fail "nothing was checked"
	fi
	echo ended >>"$RF_COUNTS"
}
trap report EXIT
