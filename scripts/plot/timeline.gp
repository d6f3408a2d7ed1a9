# SPDX-License-Identifier: MIT
# Resident memory above, events below, over the same time.
# data: columns time, one a layer of memory[], one a line of names[].  limit: of memory, 0: not known.
# y: the axis of memory; z: of events.  marks: how many of marktime[] and markname[] there are.

layers = |memory|
# What lies below a layer's upper edge, and whether a layer has anything at all.
upto(k) = sum [j = 2:k + 1] column(j)
array has[layers]
do for [k = 1:layers] {
	stats data using k + 1 nooutput
	has[k] = STATS_max > 0
}
set xrange [0:xhigh]
set yrange [0:*]
set key outside right top Left reverse samplen 1.6 spacing 1.15
set style fill solid 1 noborder

set cbrange [0:1]
unset colorbox

# Names stand below the upper half, those that do not run into each other.
namewidth = xhigh * (text ? 0.012 : 0.011)
array named[marks > 0 ? marks : 1]
behind = -1.0
do for [k = 1:marks] {
	named[k] = marktime[k] >= behind
	if (named[k]) { behind = marktime[k] + namewidth * (strlen(markname[k]) + 2) }
	set arrow 200 + k from first marktime[k], graph 0 to first marktime[k], graph (text ? 0.9 : 1) nohead \
		linetype 1 linewidth 0.9 dashtype 3 linecolor rgb '#606060' front
}

set multiplot
set lmargin text ? 9 : 10
set rmargin text ? 16 : 17
# Above.
if (text) {
	set origin 0, 0.5
	set size 1, 0.5
	set tmargin 3
	set bmargin marks > 0 ? 2 : 1
	set label 102 at screen 0, graph 1 offset 1, 1
} else {
	set tmargin at screen 0.86
	set bmargin at screen 0.52
}
unset xlabel
set xtics format ''
do for [k = 1:marks] {
	if (named[k]) {
		set label 300 + k markname[k] at first marktime[k], graph 0 offset (text ? 0 : 0.2), (text ? -1 : -0.8) \
			left textcolor rgb '#404040'
	}
}
if (text) {
	plot for [k = 1:layers] data using 1:(upto(k)):(has[k] ? memory[k][1:1] : '') with labels notitle, \
		for [k = 1:layers] NaN with points pointtype 0 \
			title has[k] ? memory[k][1:1].' '.memory[k] : '', \
		data using 1:(limit):(limit > 0 ? '-' : '') with labels notitle, \
		NaN with points pointtype 0 title limit > 0 ? '- limit' : ''
} else {
	plot for [k = layers:1:-1] data using 1:(upto(k)) with filledcurves y1=0 \
			linecolor palette frac 0.15 + 0.3 * (k - 1) title has[k] ? memory[k] : '', \
		limit > 0 ? limit : NaN with lines linetype 1 dashtype 2 linewidth 1.5 \
			title limit > 0 ? 'limit' : ''
}
# Below.
do for [k = 1:marks] { unset label 300 + k }
if (text) {
	set origin 0, 0
	unset label 101
	set label 102 zlabel
	set tmargin 1
	set bmargin 3
} else {
	unset label 101
	set label 102 zlabel at graph 0, graph 1
	set tmargin at screen 0.41
	set bmargin at screen 0.11
}
set xlabel xlabel
set xtics format '%g'
plot for [i = 1:n] data using 1:layers + 1 + i with histeps linetype i linewidth 1.6 title names[i]
unset multiplot
