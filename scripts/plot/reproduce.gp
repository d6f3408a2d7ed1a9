# SPDX-License-Identifier: MIT
# An experiment beside what was posted.
# lines: data has a block a line, columns x, y; across: label of x; logx, logy; negative: some y is below 0.
# Otherwise: line, model / posted, and 1 where that is calibrated, a bar a row, cut at far right.  n, names[]:
# the lines, or the rows; posts: something is posted; headings[]: "", or of the rows below, where no bar is;
# model[], posted[]: figures.

if (lines) {
	set key outside right top Left reverse samplen 3 spacing 1.15
	set xlabel across
	if (logx) { set logscale x 2; set offsets graph 0.05, graph 0.05, 0, 0 } else { set xrange [0:*] }
	if (logy) { set logscale y } else { if (!negative) { set yrange [0:*] } }
	if (negative) { set xzeroaxis linetype 1 linecolor rgb '#808080' linewidth 1 dashtype solid }
	plot for [i = 1:n] data index i-1 using 1:2 with linespoints linetype i title names[i]
} else {
	set xlabel (posts ? 'model / posted (pale: calibrated)' : "share of the table's largest")
	set xrange [0:far]
	set yrange [n + 0.6:-0.4]
	set label 102 'model' at graph 1, first 0 right offset 13, 0 textcolor rgb '#404040'
	if (posts) { set label 103 'posted' at graph 1, first 0 right offset 25, 0 textcolor rgb '#404040' }
	set rmargin posts ? 27 : 15
	set ytics scale 0 ()
	do for [i = 1:n] {
		set ytics add (names[i] i)
		set label 1000 + i headings[i] at graph 0, first i offset 0.6, 0 textcolor rgb '#404040' front
		set label 2000 + i model[i] at graph 1, first i right offset 13, 0
		set label 3000 + i posted[i] at graph 1, first i right offset 25, 0
	}
	unset grid
	set grid xtics linetype 1 linecolor rgb '#d4d4d4' linewidth 0.6 dashtype solid
	set style fill solid 1 noborder
	if (posts) {
		set arrow from 1, graph 0 to 1, graph 1 nohead linecolor rgb colour[3] linewidth 1.4 dashtype solid front
	}
	unset key
	set label 101 at screen 0, graph 1 offset 2, 2.6 # the rows' names are long
	bar(x) = x < 0 ? 0 : x > far ? far : x
	pale(c) = c > 0 ? 0xb8dcf2 : 0x56b4e9
	plot data using (bar($2) / 2):1:(bar($2) / 2):(0.32):(pale($3)) with boxxyerror linecolor rgb variable
}
