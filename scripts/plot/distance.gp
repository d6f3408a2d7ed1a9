# SPDX-License-Identifier: MIT
# How often which distance was taken for which other one, both axes logarithmic; on the diagonal they are
# the same.  data: columns exact from, to, estimate from, to, refaults, a character.  memory: page frames,
# 0: not known.  z: the axis of refaults.

set xrange [xlow:xhigh]
set yrange [ylow:yhigh]
set key off
set label 102 ylabel.(memory > 0 ? sprintf(' (memory: %g pages)', memory) : '').(text ? '; / is the same' : '')
if (!text) {
	set key outside right bottom Left reverse samplen 1.6 spacing 1.15
	set key at screen 0.985, graph 0.12 right
	set rmargin at screen 0.80
	set palette negative
	set logscale cb
	# From below the least on: few are not as light as none.
	set cbrange [zlow * 0.6:zhigh]
	set cblabel zlabel.', dark: many' offset 2.5, 0 textcolor rgb '#404040'
	set cbtics scale 0.4
	if (zticks) {
		set cbtics ()
		do for [i = 1:zticks] { set cbtics add (ztext[i] ztick[i]) }
	}
	set colorbox user origin graph 1.04, graph 0.3 size graph 0.03, graph 0.7
	set style fill solid 1 noborder
	set grid xtics ytics linetype 1 linecolor rgb '#d4d4d4' linewidth 0.6 dashtype solid
	plot data using (sqrt($1 * $2)):(sqrt($3 * $4)):1:2:3:4:5 with boxxyerror fillcolor palette notitle, \
		x with lines linetype 1 linewidth 1.6 title 'the same', \
		'+' using (memory > 0 ? memory : NaN):(exp(log(ylow) + ($1 - xlow) / (xhigh - xlow) * log(yhigh / ylow))) \
			with lines linetype 1 dashtype 2 linewidth 1.4 title memory > 0 ? 'memory' : '', \
		(memory > 0 ? memory : NaN) with lines linetype 1 dashtype 2 linewidth 1.4 notitle
} else {
	set samples 25
	plot '+' using 1:1:('/') with labels, \
		data using (sqrt($1 * $2)):(sqrt($3 * $4)):6 with labels
}
