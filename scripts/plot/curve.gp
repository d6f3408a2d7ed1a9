# SPDX-License-Identifier: MIT
# Steps over the size of memory.
# data: a block a curve; columns size, value from there to the next row's size.  n, names[]: the curves.

set key outside right top Left reverse samplen 2.6 spacing 1.15
if (!xlog) { set xrange [0:*] }

if (text) {
	plot for [i = 1:n] data index i-1 using 1:(at($2)):(letters[i:i]) with labels \
		title letters[i:i].' '.names[i]
} else {
	plot for [i = 1:n] data index i-1 using 1:(at($2)) with steps linetype i title names[i]
}
