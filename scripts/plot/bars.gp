# SPDX-License-Identifier: MIT
# Bars in groups, with whiskers.
# data: a block a colour; columns group, mean, low and high of the spread (NaN: none), runs.
# n, names[]: the colours.  groups: how many.  note: what the spread is, after the label; or ''.

set key outside right top Left reverse samplen 1.4 spacing 1.2
set xrange [-0.6:groups - 0.4]
set boxwidth 0.8 / n
set xtics scale 0
base = ylog ? ylow : 0
place(i) = (i - (n + 1) / 2.0) * 0.8 / n
if (groups > 6 || groups * strlen(xtext[1]) > 60) { set xtics rotate by -30 left }

if (text) {
	set xtics norotate
	# A bar is a column of its letter.  (Labels at undefined places make gnuplot 5.4 crash: empty ones.)
	rows = 18
	level(k) = ylog ? base * (yhigh / base) ** (1.0 * k / rows) : k * yhigh / rows
	plot for [i = 1:n] for [k = 0:rows] data index i-1 using ($1 + place(i)):(level(k)): \
			(at($2) >= level(k - 0.5) ? letters[i:i] : '') with labels notitle, \
		for [i = 1:n] NaN with points pointtype 0 title letters[i:i].' '.names[i]
} else {
	set style fill solid 1 border rgb '#202020'
	shade(i) = n == 1 ? 0.35 : 0.05 + 0.9 * (i - 1) / (n - 1)
	set cbrange [0:1]
	unset colorbox
	plot for [i = 1:n] data index i-1 using ($1 + place(i)):(at($2)) with boxes \
			linecolor palette frac shade(i) dashtype solid linewidth 0.6 title names[i], \
		for [i = 1:n] data index i-1 \
			using ($5 > 1 ? $1 + place(i) : NaN):(at($3)):(0):(at($4) - at($3)) \
			with vectors heads size graph 0.006,90 nofilled linecolor rgb '#202020' \
			linewidth 1.2 notitle
}
