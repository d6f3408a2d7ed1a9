# SPDX-License-Identifier: MIT
# A cell for each pair of places on two axes, dark where the value is small.
# data: columns x, y, value, its text, runs.  z: the axis of values.

if (!exists('note')) { note = '' }
set xrange [-0.5:xhigh + 0.5]
set yrange [yhigh + 0.5:-0.5]
set tics scale 0
unset grid
if (!text) {
	unset label 102
	set label 102 zlabel.note at graph 0, graph 1 offset 0, 1.1 left textcolor rgb '#404040'
	unset border
	if (zlog) { set logscale cb }
	set cbrange [zlog ? zlow : 0:zhigh > (zlog ? zlow : 0) ? zhigh : 1]
	set cbtics scale 0.4
	if (zticks) {
		set cbtics ()
		do for [i = 1:zticks] { set cbtics add (ztext[i] ztick[i]) }
	}
	if (xhigh > 7) { set xtics rotate by -30 left }
	zat(z) = zlog && z <= 0 ? zzero : z
	share(z) = zlog ? log(zat(z) / zlow) / log(zhigh / zlow) : zhigh > 0 ? z / zhigh : 0
	set style fill solid 1 noborder
	plot data using 1:2:(0.49):(0.48):(zat($3)) with boxxyerror fillcolor palette notitle, \
		data using 1:2:(xhigh < 12 ? strcol(4) : ''):(share($3) < 0.6 ? 0xffffff : 0x000000) \
			with labels textcolor rgb variable notitle
} else {
	set label 102 zlabel.note
	set tmargin 3
	plot data using 1:2:4 with labels notitle
}
