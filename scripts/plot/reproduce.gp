# SPDX-License-Identifier: MIT
# An experiment beside what was posted.
# lines: data has a block a line, columns x, y; across: label of x; logx, logy; negative: some y is below 0.
# Otherwise: line and model / posted, a bar a row.  n, names[]: the lines, or the rows; headings[]: "", or of
# the rows below, where no bar is.

if (lines) {
	set key outside right top Left reverse samplen 3 spacing 1.15
	set xlabel across
	if (logx) { set logscale x 2; set offsets graph 0.05, graph 0.05, 0, 0 } else { set xrange [0:*] }
	if (logy) { set logscale y } else { if (!negative) { set yrange [0:*] } }
	if (negative) { set xzeroaxis linetype 1 linecolor rgb '#808080' linewidth 1 dashtype solid }
	plot for [i = 1:n] data index i-1 using 1:2 with linespoints linetype i title names[i]
} else {
	set xlabel 'model / posted'
	set xrange [0:*]
	set yrange [n + 0.6:0.4]
	set ytics scale 0 ()
	do for [i = 1:n] {
		set ytics add (names[i] i)
		set label 200 + i headings[i] at graph 0, first i offset 0.6, 0 textcolor rgb '#404040' front
	}
	unset grid
	set grid xtics linetype 1 linecolor rgb '#d4d4d4' linewidth 0.6 dashtype solid
	set style fill solid 1 noborder
	set arrow from 1, graph 0 to 1, graph 1 nohead linecolor rgb colour[3] linewidth 1.4 dashtype solid front
	unset key
	set label 101 at screen 0, graph 1 offset 2, 2.6 # the rows' names are long
	plot data using ($2 / 2):1:($2 / 2):(0.32) with boxxyerror linecolor rgb colour[6]
}
