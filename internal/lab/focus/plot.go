package focus

import (
	"html/template"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/chart"
)

// plot draws a curve for each order: recall, or the harvest so far, over the pages that were fetched.
func (r *Result) plot(topic string, harvest bool) (template.HTML, error) {
	axes := chart.Axes{Title: topic, X: "pages", Y: "recall", LegendLeft: true}
	if harvest {
		axes.Y, axes.LegendLeft = "harvest so far", false
	}
	var curves []chart.Curve
	for _, order := range r.Orders {
		row := r.row(order, topic)
		c := chart.Curve{Name: order, Strong: order == Ours}
		if !harvest {
			c.X, c.Y = []float64{0}, []float64{0}
		}
		for k, recall := range row.Curve {
			x, y := row.Fetched*float64(k+1)/Points, recall
			if harvest {
				y = recall * row.Relevant / x
			}
			c.X, c.Y = append(c.X, x), append(c.Y, y)
		}
		curves = append(curves, c)
	}
	return chart.Lines(axes, curves)
}

var report = template.Must(template.New("report").Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Orders of crawling on {{.Corpus}}</title>
<style>body{font-family:sans-serif;max-width:80em;margin:2em auto;padding:0 1em}pre{overflow-x:auto;font-size:.8em}section{display:flex;flex-wrap:wrap;gap:1em}</style></head>
<body><h1>Orders of crawling on {{.Corpus}}</h1>
<pre>{{.Tables}}</pre>
{{range .Topics}}<h2>{{.Name}}</h2><section>{{.Recall}}{{.Harvest}}</section>
{{end}}</body></html>
`))

// HTML writes tables and curves as a page without external resources.
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
		page.Topics = append(page.Topics, topic{name, recall, harvest})
	}
	return report.Execute(out, page)
}
