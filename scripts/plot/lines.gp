# SPDX-License-Identifier: MIT
# Lines over an axis.
# data: a block a line; columns x, y, low and high of the spread (NaN: none), runs.
# n, names[]: the lines.  note: what the spread is, after the label; or ''.

set key outside right top Left reverse samplen 3 spacing 1.15
margin = text ? 0.06 : 0.03
if (!xlog) { set offsets graph margin, graph margin, 0, 0 }

if (text) {
	# Letters: lines made of characters hide each other.  Those of one place stand side by side.
	aside(i) = int((i - 1) % 5) - (n < 5 ? n - 1 : 4) / 2
	plot for [i = 1:n] data index i-1 using 1:(at($2)):(letters[i:i]) with labels offset aside(i), 0 \
		title letters[i:i].' '.names[i]
} else {
	plot for [i = 1:n] data index i-1 using 1:(at($2)) with linespoints linetype i title names[i], \
		for [i = 1:n] data index i-1 using ($5 > 1 ? $1 : NaN):(at($3)):(0):(at($4)-at($3)) \
			with vectors heads size graph 0.006,90 nofilled linetype i dashtype solid notitle
}
