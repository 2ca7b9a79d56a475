package report

import (
	"fmt"
	"html/template"
	"io"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/chart"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Crawl is what is known of a crawl beside its archive.
type Crawl struct {
	Definition crawl.Definition
	Status     frontier.Status
	TopicModel *topic.Model // nil: nothing
	Made       time.Time
}

// view is what the template gets.
type view struct {
	Crawl
	Threshold                      float64
	Pages, Revisits                int
	Bytes                          int64
	Hosts, Applications            []Row
	HostCount                      int
	Statuses                       [][2]string
	Top                            []Top
	Harvest, Relevant, Mean, Sizes template.HTML
}

// HTML writes the report as a page that needs nothing else.
func (c *Collector) HTML(out io.Writer, about Crawl) error {
	k := c.curves()
	v := view{
		Crawl: about, Threshold: c.threshold, Pages: len(c.pages), Revisits: c.revisits, Bytes: c.bytes, Hosts: rowsOf(c.hosts),
		Applications: rowsOf(c.applications), HostCount: len(c.hosts), Statuses: c.statusRows(), Top: c.top,
	}
	var err error
	draw := func(svg template.HTML, e error) template.HTML {
		if err == nil {
			err = e
		}
		return svg
	}
	v.Harvest = draw(chart.Lines(chart.Axes{Title: "harvest ratio", X: "pages", Y: "share of scored pages that are relevant", Max: 1}, []chart.Curve{
		{Name: "so far", X: k.from, Y: k.harvest, Strong: true}, {Name: "of the last tenth", X: k.from, Y: k.lately},
	}))
	v.Mean = draw(chart.Lines(chart.Axes{Title: "relevance", X: "pages", Y: "mean document score of the last tenth"}, []chart.Curve{
		{Name: "mean", X: k.from, Y: k.mean, Strong: true},
	}))
	v.Relevant = draw(chart.Lines(chart.Axes{Title: "relevant pages", X: "hours", Y: "pages", LegendLeft: true}, []chart.Curve{
		{Name: "relevant", X: k.hours, Y: k.relevant, Strong: true}, {Name: "all", X: k.hours, Y: k.pages},
	}))
	names, values := sizeBars(c.sizes[:])
	v.Sizes = draw(chart.Bars(chart.Axes{Title: "sizes in the archive", X: "bytes, compressed", Y: "responses"}, names, values))
	if err != nil {
		return err
	}
	return reportPage.Execute(out, v)
}

// sizeBars are the powers of two between the smallest and the largest response.
func sizeBars(sizes []int) (names []string, values []float64) {
	first, last := -1, -1
	for i, n := range sizes {
		if n > 0 {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return nil, nil
	}
	for i := first; i <= last; i++ {
		names, values = append(names, bytesOf(int64(1)<<i)), append(values, float64(sizes[i]))
	}
	return names, values
}

func bytesOf(n int64) string {
	for _, unit := range []string{"", "K", "M", "G"} {
		if n < 1024 {
			return fmt.Sprintf("%d%s", n, unit)
		}
		n /= 1024
	}
	return fmt.Sprintf("%dT", n)
}

var reportPage = template.Must(template.New("report").Funcs(template.FuncMap{
	"share": func(x float64) string { return fmt.Sprintf("%.3f", x) },
	"mega":  func(n int64) string { return fmt.Sprintf("%.1f", float64(n)/1e6) },
	"date":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Crawl {{.Definition.Name}}</title>
<style>body{font-family:sans-serif;max-width:80em;margin:2em auto;padding:0 1em}section{display:flex;flex-wrap:wrap;gap:1em}
table{border-collapse:collapse;margin:1em 0}td,th{padding:.2em .8em;text-align:right;border-bottom:1px solid #ddd}td:first-child,th:first-child{text-align:left;overflow-wrap:anywhere}</style></head>
<body><h1>Crawl {{.Definition.Name}}</h1>
<p>{{.Definition.Description}}</p>
<p>Run {{.Status.Run}}, started {{date .Status.Started}}; this report was made {{date .Made}}.</p>
<table><tr><th>pages archived in all runs<th>of them revisits<th>MB in the archive<th>hosts</tr>
<tr><td>{{.Pages}}<td>{{.Revisits}}<td>{{mega .Bytes}}<td>{{.HostCount}}</tr></table>
{{with .Status.Totals}}<table><tr><th>pages of this run<th>scored<th>relevant<th>harvest ratio<th>errors<th>refused by robots.txt<th>retries<th>links<th>URLs met<th>requisites<th>of them archived<th>left out by their budget<th>share, at least</tr>
<tr><td>{{.Pages}}<td>{{.Scored}}<td>{{.Relevant}}<td>{{share .HarvestRatio}}<td>{{.Errors}}<td>{{.Robots}}<td>{{.Retries}}<td>{{.Links}}<td>{{.Known}}<td>{{.AllRequisites}}<td>{{.AllArchived}}<td>{{.RequisitesCut}}<td>{{share .RequisiteShare}}</tr></table>
<table><tr><th>new pages of this run<th>changed<th>unchanged<th>gone<th>forbidden<th>not asked, by recrawl</tr>
<tr><td>{{.New}}<td>{{.Changed}}<td>{{.Unchanged}}<td>{{.Gone}}<td>{{.Forbidden}}<td>{{.NotDue}}</tr></table>{{end}}
{{if .Definition.Spread}}<p>The numbers of this run are those of the worker that has made the report; muninn status has the sum of all workers.</p>{{end}}
<p>A page is relevant from a document score of {{.Threshold}} on. Order: {{.Definition.Order.Strategy}}.</p>
<h2>Relevance over time</h2><section>{{.Harvest}}{{.Mean}}{{.Relevant}}</section>
{{with .TopicModel}}<h2>Learned from the reference crawl</h2><p>{{range .TopWords 100}}{{.}} {{end}}</p>{{end}}
<h2>Hosts</h2><table><tr><th>host<th>pages<th>scored<th>relevant<th>harvest ratio<th>mean score<th>errors<th>MB</tr>
{{range .Hosts}}<tr><td>{{.Name}}<td>{{.Pages}}<td>{{.Scored}}<td>{{.Relevant}}<td>{{share .Harvest}}<td>{{share .Mean}}<td>{{.Errors}}<td>{{mega .Bytes}}</tr>
{{end}}</table>
<h2>Applications</h2><table><tr><th>application<th>pages<th>relevant<th>harvest ratio<th>mean score</tr>
{{range .Applications}}<tr><td>{{.Name}}<td>{{.Pages}}<td>{{.Relevant}}<td>{{share .Harvest}}<td>{{share .Mean}}</tr>
{{end}}</table>
<h2>Sizes</h2><section>{{.Sizes}}</section>
<h2>Responses and errors</h2><table><tr><th>status<th>responses</tr>{{range .Statuses}}<tr><td>{{index . 0}}<td>{{index . 1}}</tr>{{end}}</table>
{{with .Status.Ends}}<p>URLs that ended without a page, the last of each kind:</p><table><tr><th>URL<th>kind<th>reason</tr>
{{range .}}<tr><td>{{.URL}}<td>{{.Kind}}<td>{{.Reason}}</tr>{{end}}</table>{{end}}
<h2>Most relevant pages</h2><table><tr><th>URL<th>score</tr>
{{range .Top}}<tr><td><a href="{{.URL}}">{{.URL}}</a><td>{{share .Score}}</tr>
{{end}}</table></body></html>
`))
