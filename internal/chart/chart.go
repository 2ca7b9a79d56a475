// Package chart draws curves and bars as SVG that stands in a page. The page's reader sets the text, so that a program that
// draws carries no fonts.
package chart

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Curve is a line through points, from left to right.
type Curve struct {
	Name   string
	X, Y   []float64
	Strong bool // drawn thicker than the others
}

// Axes are what stands beside a chart.
type Axes struct {
	Title, X, Y string
	LegendLeft  bool
	Max         float64 // of the Y axis, if no value is larger; 0: that of the values
}

// Lines draws curves. A value that is not finite is an error that names the curve.
func Lines(a Axes, curves []Curve) (template.HTML, error) {
	d := newDrawing(a)
	var xs, ys []float64
	for _, c := range curves {
		n := min(len(c.X), len(c.Y))
		if !finite(c.X[:n]) || !finite(c.Y[:n]) {
			return "", fmt.Errorf("draw %s of %s: a value is not finite", c.Name, a.Title)
		}
		xs, ys = append(xs, c.X[:n]...), append(ys, c.Y[:n]...)
	}
	x, y := axis(xs, left, right), axis(append(ys, 0, a.Max), bottom, top)
	d.XTicks, d.YTicks = x.ticks(), y.ticks()
	for i, c := range curves {
		n := min(len(c.X), len(c.Y))
		if n == 0 {
			continue
		}
		l := line{Name: c.Name, Colour: colours[i%len(colours)], Dashes: dashes[i/len(colours)%len(dashes)], Width: 1.2, Row: legendTop - float64(len(d.Lines))*legendRow}
		if c.Strong {
			l.Width = 2.5
		}
		points := make([]string, n)
		for k := range n {
			points[k] = round(x.at(c.X[k])) + " " + round(y.at(c.Y[k]))
		}
		l.Path = "M" + strings.Join(points, "L")
		d.Lines = append(d.Lines, l)
	}
	return d.svg()
}

// Bars draws a bar for each value, with its name below. A value that is not finite is an error.
func Bars(a Axes, names []string, values []float64) (template.HTML, error) {
	if !finite(values) {
		return "", fmt.Errorf("draw %s: a value is not finite", a.Title)
	}
	d := newDrawing(a)
	y := axis(append(slices.Clone(values), 0, a.Max), bottom, top)
	slot := (right - left) / float64(max(len(values), len(names), 1))
	middle := func(i int) float64 { return left + slot*(float64(i)+0.5) }
	d.YTicks = y.ticks()
	for i, v := range values {
		d.Bars = append(d.Bars, fmt.Sprintf("M%s %sV%sH%sV%sZ", round(middle(i)-0.4*slot), round(y.at(0)), round(y.at(v)), round(middle(i)+0.4*slot), round(y.at(0))))
	}
	widest := 1
	for _, name := range names {
		widest = max(widest, len(name))
	}
	each := max(1, int(math.Ceil(float64(widest)*letterWidth/slot))) // so that names do not overlap
	for i := 0; i < len(names); i += each {
		d.XTicks = append(d.XTicks, tick{At: middle(i), Text: names[i]})
	}
	return d.svg()
}

func finite(values []float64) bool {
	return !slices.ContainsFunc(values, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}

// round writes a coordinate.
func round(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// scale maps values to coordinates.
type scale struct{ min, max, from, to float64 }

// axis is the scale from the smallest to the largest value; it is never empty.
func axis(values []float64, from, to float64) scale {
	s := scale{from: from, to: to, max: 1}
	if len(values) > 0 {
		s.min, s.max = slices.Min(values), slices.Max(values)
	}
	if s.min == s.max {
		room := cmp.Or(math.Abs(s.min)/2, 0.5)
		s.min, s.max = s.min-room, s.max+room
	}
	return s
}

func (s scale) at(v float64) float64 {
	share := (v/2 - s.min/2) / (s.max/2 - s.min/2) // the difference of two large values is no number, that of their halves is
	return s.from + share*(s.to-s.from)
}

// wanted is about how many ticks an axis has.
const wanted = 5

// step is the distance of ticks: 1, 2 or 5 times a power of ten (P. Heckbert, Nice Numbers for Graph Labels, Graphics Gems, 1990).
func (s scale) step() float64 {
	rough := (s.max/wanted - s.min/wanted)
	power := math.Pow(10, math.Floor(math.Log10(rough)))
	for _, nice := range []float64{1, 2, 5} {
		if rough <= nice*power {
			return nice * power
		}
	}
	return 10 * power
}

func (s scale) ticks() (list []tick) {
	step := s.step()
	first := math.Ceil(s.min / step)
	for i := range 2 * wanted {
		if v := (first + float64(i)) * step; v <= s.max {
			list = append(list, tick{At: s.at(v), Text: label(v+0, step)}) // +0: no negative zero
		}
	}
	return list
}

// label writes the value of a tick with as many decimals as the step needs.
func label(v, step float64) string {
	if step >= 1e6 || step < 1e-4 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	return strconv.FormatFloat(v, 'f', max(0, -int(math.Floor(math.Log10(step)))), 64)
}
