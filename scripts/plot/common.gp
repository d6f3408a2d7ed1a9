# SPDX-License-Identifier: MIT
# What all templates have in common; it stands before each of them in the script that refault writes.
# Set before this: output ('' is standard output), data, device ('text', 'png', 'svg' or 'pdf'), title,
# and what the kind of plot gives (see the template).

set encoding utf8
set minussign
text = device eq 'text'

# Okabe and Ito's colours, which the colour-blind tell apart; dashes and symbols tell lines apart in grey.
array colour[8] = ['#000000', '#0072B2', '#D55E00', '#009E73', '#CC79A7', '#56B4E9', '#E69F00', '#B8A800']
array symbol[8] = [7, 5, 9, 13, 11, 4, 6, 8]
array dash[5] = [1, 2, 4, 3, 5]
# Dark to light evenly, also in grey and to the colour-blind (viridis).
set palette defined (0 '#440154', 1 '#472c7a', 2 '#3b518b', 3 '#2c718e', 4 '#21908d', \
	5 '#27ad81', 6 '#5cc863', 7 '#aadc32', 8 '#fde725')
letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'

if (!exists('width')) width = 12
if (!exists('height')) height = 7.6
if (text) {
	set terminal dumb noenhanced mono size 79, 24
} else {
	if (device eq 'png') {
		bold = 'Sans:Bold,10.5'
		set terminal pngcairo noenhanced font 'Sans,10' fontscale 1.9 linewidth 1.9 dashlength 0.6 \
			size width * 120, height * 120
	}
	if (device eq 'svg') {
		bold = 'sans-serif,16' # it has no bold face
		set terminal svg noenhanced font 'sans-serif,14' size width * 70, height * 70 dynamic
	}
	if (device eq 'pdf') {
		bold = 'Sans:Bold,10.5'
		set terminal pdfcairo noenhanced font 'Sans,10' fontscale 0.75 linewidth 0.75 \
			size width * 0.53, height * 0.53
	}
	set border 3 linecolor rgb '#404040' linewidth 0.8
	set grid ytics linetype 1 linecolor rgb '#d4d4d4' linewidth 0.6 dashtype solid
	set tics textcolor rgb '#303030'
}
do for [i = 1:26] {
	set linetype i linecolor rgb colour[(i - 1) % 8 + 1] linewidth 2.2 \
		dashtype dash[(i - 1) % 5 + 1] pointtype symbol[(i - 1) % 8 + 1] \
		pointsize device eq 'png' ? 1.4 : device eq 'svg' ? 0.85 : 0.6
}
if (output eq '') { set output } else { set output output }

# The title stands over the left end of the plot, the vertical axis's label below it: both read from left
# to right.
if (text) {
	set label 101 title at screen 0, screen 1 offset 1, -1 left
	set label 102 (exists('ylabel') ? ylabel.(exists('note') ? note : '') : '') at screen 0, graph 1 offset 1, 1 left
	set tmargin 3
} else {
	set label 101 title at graph 0, graph 1 offset 0, 2.6 left font bold
	set label 102 (exists('ylabel') ? ylabel.(exists('note') ? note : '') : '') at graph 0, graph 1 offset 0, 1.1 left \
		textcolor rgb '#404040'
	set tmargin title eq '' ? 2.4 : 4.6
}
set tics nomirror scale (text ? 1 : 0.6)

# Axes as refault chose them: NAMElow and NAMEhigh in the unit of the label; ticks where they are to be
# in particular places; what is zero on a logarithmic axis stands at NAMEzero.
if (exists('xlow')) {
	set xlabel xlabel
	if (xlog) { set logscale x; set xrange [xlow:xhigh] }
	if (xticks) {
		set xtics ()
		do for [i = 1:xticks] { set xtics add (xtext[i] xtick[i]) }
	}
}
if (exists('ylow')) {
	if (ylog) { set logscale y }
	if (yticks) {
		set ytics ()
		do for [i = 1:yticks] { set ytics add (ytext[i] ytick[i]) }
	}
	if (ylog) { set yrange [ylow:yhigh] } else { if (ylow >= 0) { set yrange [0:*] } }
}
at(y) = ylog && y <= 0 ? yzero : y
