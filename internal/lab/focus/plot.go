package focus

import (
	"bytes"
	"fmt"
	"html/template"
	"io"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/plotutil"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a plot, and how much thicker the line of our order is.
const (
	plotWidth  = 15 * vg.Centimeter
	plotHeight = 10 * vg.Centimeter
	thick      = 2.5
)

// plot draws a curve for each order: recall, or the harvest so far, over the pages that were fetched.
func (r *Result) plot(topic string, harvest bool) (svg string, err error) {
	p := plot.New()
	p.X.Label.Text, p.Y.Label.Text, p.Y.Min = "pages", "recall", 0
	if harvest {
		p.Y.Label.Text = "harvest so far"
	}
	p.Title.Text = topic
	p.Legend.Top, p.Legend.Left = true, !harvest
	p.Add(plotter.NewGrid())
	for i, order := range r.Orders {
		row := r.row(order, topic)
		points := plotter.XYs{{}}
		if harvest {
			points = nil
		}
		for k, recall := range row.Curve {
			x, y := row.Fetched*float64(k+1)/Points, recall
			if harvest {
				y = recall * row.Relevant / x
			}
			points = append(points, plotter.XY{X: x, Y: y})
		}
		line, err := plotter.NewLine(points)
		if err != nil {
			return "", fmt.Errorf("draw %s on %s: %w", order, topic, err)
		}
		line.Color, line.Dashes = plotutil.Color(i), plotutil.Dashes(i/len(plotutil.DefaultColors))
		if order == Ours {
			line.Width = vg.Points(thick)
		}
		p.Add(line)
		p.Legend.Add(order, line)
	}
	p.Legend.TextStyle.Font.Size = vg.Points(7)
	canvas := vgsvg.New(plotWidth, plotHeight)
	p.Draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return "", err
	}
	_, text, _ := strings.Cut(out.String(), "<svg")
	return "<svg" + text, nil
}

var report = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Orders of crawling on {{.Corpus}}</title>
<style>body{font-family:sans-serif;max-width:80em;margin:2em auto;padding:0 1em}pre{overflow-x:auto;font-size:.8em}section{display:flex;flex-wrap:wrap;gap:1em}</style></head>
<body><h1>Orders of crawling on {{.Corpus}}</h1>
<pre>{{.Tables}}</pre>
{{range .Topics}}<h2>{{.Name}}</h2><section>{{.Recall}}{{.Harvest}}</section>
{{end}}</body></html>
`))

// HTML writes tables and curves as a page that needs nothing else.
func (r Result) HTML(out io.Writer) error {
	type topic struct {
		Name            string
		Recall, Harvest template.HTML
	}
	var tables strings.Builder
	if err := r.Print(&tables); err != nil {
		return err
	}
	page := struct {
		Corpus, Tables string
		Topics         []topic
	}{Corpus: r.Corpus, Tables: tables.String()}
	for _, name := range r.Topics {
		recall, err := r.plot(name, false)
		if err != nil {
			return err
		}
		harvest, err := r.plot(name, true)
		if err != nil {
			return err
		}
		// the plots are our own; labels in them are escaped by the plotter
		page.Topics = append(page.Topics, topic{name, template.HTML(recall), template.HTML(harvest)})
	}
	return report.Execute(out, page)
}
