# SPDX-License-Identifier: MIT
# The picture of an experiment.  `refault reproduce --plot DIR' writes this behind name, base, title,
# xlabel, ylabel, logx, logy and blocks (of data: one a curve; 0: a bar for each posted figure).
set terminal pngcairo size 900,560 font "sans,11" noenhanced
set output base . ".png"
data = base . ".dat"
set title name . ": " . title
set border 3
set grid ytics linecolor rgb "#c0c0c0" linewidth 0.6 dashtype solid
set xtics nomirror
set ytics nomirror
if (blocks > 0) {
	set xlabel xlabel
	set ylabel ylabel
	if (logx) { set logscale x }
	if (logy) { set logscale y } else { set yrange [0:*] }
	set key outside right top samplen 2
	plot for [i = 0:blocks-1] data index i using 1:2 with linespoints linewidth 1.6 pointtype i+4 \
		title columnheader(1)
} else {
	set ylabel "model / posted"
	set yrange [0:*]
	set style fill solid 0.6 noborder
	set boxwidth 0.7
	set xtics rotate by -35 left font ",8"
	unset key
	plot data using 0:2:xtic(1) with boxes linecolor rgb "#3b6ea5", 1 with lines linecolor rgb "#b03030"
}
