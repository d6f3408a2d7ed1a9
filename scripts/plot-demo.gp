# SPDX-License-Identifier: MIT
# gnuplot -c plot-demo.gp DATA OUTPUT TITLE: faults against memory, a curve a policy.
# DATA: one block a policy (two empty lines between), its name on the first line, then rows of
#	limit in MiB, major faults
# OUTPUT: a name in .png, .pdf or .svg, or "-" for text on standard output.
data = ARG1
output = ARG2
text = output eq "-"
kind = output[strlen(output)-3:*]

stats data using ($2 > 0 ? $2 : NaN) nooutput
blocks = STATS_blocks
low = STATS_min * 0.8
high = STATS_max * 1.25
names = ""
do for [i = 0:blocks-1] {
	stats data index i using (name = strcol(1), 0) every ::0::0 nooutput
	names = names . " " . name
}

# Okabe and Ito's colours, which the colour-blind tell apart; dashes and symbols tell the curves
# apart in grey.
array colour[8] = [ "#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#F0E442" ]
array symbol[8] = [ 4, 7, 8, 13, 2, 6, 9, 5 ]
do for [i = 1:8] {
	set linetype i linecolor rgb colour[i] linewidth 2 dashtype i pointtype symbol[i] pointsize 1.4
}

if (text) {
	set terminal dumb noenhanced size 79, 26
	set output
} else {
	if (kind eq ".pdf") {
		set terminal pdfcairo noenhanced font "Helvetica,11" size 12cm, 8.5cm
	} else {
		if (kind eq ".svg") {
			set terminal svg noenhanced font "Helvetica,14" size 720, 510
		} else {
			set terminal pngcairo noenhanced font "Helvetica,20" size 1440, 1020 linewidth 1.6
		}
	}
	set output output
	set border 3
	set grid ytics linecolor rgb "#b8b8b8" linewidth 0.6 dashtype solid
}

set title ARG3
set xlabel "memory limit (MiB)"
set ylabel "major faults"
set xtics nomirror
set key top right samplen 3.5 spacing 1.2
set offsets graph 0.03, graph 0.03, 0, 0
set logscale y
set yrange [low:high]
set ytics nomirror ()
do for [k = 0:12] {
	do for [m in "1 2 5"] {
		tick = int(m) * 10.0**k
		if (tick >= low && tick <= high) {
			set ytics add (gprintf("%.0s%c", tick) tick)
		}
	}
}
if (text) {
	# Letters: lines of characters hide each other.
	plot for [i = 0:blocks-1] data index i using 1:2:(substr("ABCDEFGH", i+1, i+1)) with labels \
		title substr("ABCDEFGH", i+1, i+1) . " " . word(names, i+1)
} else {
	plot for [i = 0:blocks-1] data index i using 1:2 with linespoints linetype i+1 title columnheader(1)
}
