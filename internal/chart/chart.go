// Package chart draws curves and bars as SVG that stands in a page.
package chart

import (
	"bytes"
	"fmt"
	"html/template"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
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
	Max         float64 // of the Y axis; 0: that of the values
}

// Size of a chart, and how much thicker a strong line is.
const (
	width  = 15 * vg.Centimeter
	height = 10 * vg.Centimeter
	strong = 2.5
)

// Lines draws curves.
func Lines(a Axes, curves []Curve) (template.HTML, error) {
	p := begin(a)
	p.Legend.Top, p.Legend.Left = true, a.LegendLeft
	p.Legend.TextStyle.Font.Size = vg.Points(7)
	p.Add(plotter.NewGrid())
	for i, c := range curves {
		points := make(plotter.XYs, min(len(c.X), len(c.Y)))
		for k := range points {
			points[k] = plotter.XY{X: c.X[k], Y: c.Y[k]}
		}
		if len(points) == 0 {
			continue
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return "", fmt.Errorf("draw %s of %s: %w", c.Name, a.Title, err)
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i/len(plotutil.DefaultColors))
		if c.Strong {
			line.Width = vg.Points(strong)
		}
		p.Add(line)
		p.Legend.Add(c.Name, line)
	}
	return svg(p)
}

// Bars draws a bar for each value, with its name below.
func Bars(a Axes, names []string, values []float64) (template.HTML, error) {
	p := begin(a)
	if len(values) > 0 {
		bars, err := plotter.NewBarChart(plotter.Values(values), width/vg.Length(2*len(values)+2))
		if err != nil {
			return "", fmt.Errorf("draw %s: %w", a.Title, err)
		}
		bars.Color, bars.LineStyle.Width = plotutil.Color(2), 0
		p.Add(bars)
		if len(names) > 0 {
			p.NominalX(names...)
		}
		p.X.Tick.Label.Font.Size = vg.Points(7)
	}
	return svg(p)
}

func begin(a Axes) *plot.Plot {
	p := plot.New()
	p.Title.Text, p.X.Label.Text, p.Y.Label.Text, p.Y.Min = a.Title, a.X, a.Y, 0
	if a.Max > 0 {
		p.Y.Max = a.Max
	}
	return p
}

// svg is the drawing without its XML declaration. Labels are escaped by the plotter.
func svg(p *plot.Plot) (template.HTML, error) {
	canvas := vgsvg.New(width, height)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(out.String(), "<svg")
	return template.HTML("<svg" + text), nil
}
