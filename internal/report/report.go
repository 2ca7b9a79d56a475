// Package report shows a crawl in tables and plots: relevance over time (as Batsakis et al. 2009, Figure 8), by host, by
// application, errors, sizes, the most relevant pages. It is made of the indexes of the archive.
package report

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"net/url"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Limits of a report.
const (
	maxRows  = 30  // of the tables of hosts and applications
	maxTop   = 50  // most relevant pages
	binsOf   = 200 // points of the curves
	lastOnes = 0.1 // of the scored pages: what "lately" means
)

// Collector takes in what a crawl archived, in any order.
type Collector struct {
	threshold    float64
	pages        []page
	hosts        map[string]*Row
	applications map[string]*Row
	statuses     map[int]int
	sizes        [40]int // by the binary logarithm
	top          []Top
	bytes        int64
	revisits     int
}

type page struct {
	at    int64 // Unix seconds
	score float32
}

// Row sums up the pages of a host or an application.
type Row struct {
	Name     string
	Pages    int
	Scored   int
	Relevant int
	Errors   int // responses of 4xx and 5xx
	Bytes    int64
	sum      float64
}

// Harvest is the share of the scored pages that are relevant.
func (r Row) Harvest() float64 { return share(r.Relevant, r.Scored) }

// Mean is the mean document score.
func (r Row) Mean() float64 {
	if r.Scored == 0 {
		return 0
	}
	return r.sum / float64(r.Scored)
}

func share(part, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(part) / float64(of)
}

// Top is one of the most relevant pages.
type Top struct {
	URL   string
	Score float64
}

// NewCollector makes one; pages from the threshold on are relevant.
func NewCollector(threshold float64) *Collector {
	return &Collector{threshold: threshold, hosts: map[string]*Row{}, applications: map[string]*Row{}, statuses: map[int]int{}}
}

// Add takes in a line of an index.
func (c *Collector) Add(i archive.Indexed) {
	host := i.URL
	if u, err := url.Parse(i.URL); err == nil {
		if host = u.Host; u.Path == "/robots.txt" {
			return
		}
	}
	if i.Revisit {
		c.revisits++
	}
	c.statuses[i.Status]++
	c.bytes += i.Length
	c.sizes[min(bits.Len64(uint64(max(i.Length, 1)))-1, len(c.sizes)-1)]++
	if isPage(&i) {
		c.pages = append(c.pages, page{i.Date.Unix(), float32(i.Score)})
	}
	c.row(c.hosts, host, &i)
	if i.Score >= 0 {
		c.row(c.applications, cmp.Or(i.Application, "none recognised"), &i)
		c.best(i.URL, i.Score)
	}
}

// isPage reports whether a response counts as a page, as it does in a budget.
func isPage(i *archive.Indexed) bool { return i.Status >= 200 && i.Status < 300 || i.Revisit }

func (c *Collector) row(rows map[string]*Row, name string, i *archive.Indexed) {
	r := rows[name]
	if r == nil {
		r = &Row{Name: name}
		rows[name] = r
	}
	r.Bytes += i.Length
	if i.Status >= 400 {
		r.Errors++
	}
	if !isPage(i) {
		return
	}
	r.Pages++
	if i.Score >= 0 {
		r.Scored++
		r.sum += i.Score
		if i.Score >= c.threshold {
			r.Relevant++
		}
	}
}

func (c *Collector) best(url string, score float64) {
	if was := slices.IndexFunc(c.top, func(t Top) bool { return t.URL == url }); was >= 0 { // a page of an earlier run
		if c.top[was].Score >= score {
			return
		}
		c.top = slices.Delete(c.top, was, was+1)
	}
	at, _ := slices.BinarySearchFunc(c.top, Top{url, score}, func(a, b Top) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.URL, b.URL))
	})
	if at < maxTop {
		c.top = slices.Insert(c.top, at, Top{url, score})
		c.top = c.top[:min(len(c.top), maxTop)]
	}
}

// rows are the largest ones.
func rowsOf(m map[string]*Row) []Row {
	list := make([]Row, 0, len(m))
	for _, r := range m {
		list = append(list, *r)
	}
	slices.SortFunc(list, func(a, b Row) int {
		return cmp.Or(cmp.Compare(b.Relevant, a.Relevant), cmp.Compare(b.Pages, a.Pages), cmp.Compare(a.Name, b.Name))
	})
	return list[:min(len(list), maxRows)]
}

// curves are the harvest ratio so far, that of the last scored pages, and their mean score, over the pages in the order of their
// dates; and the relevant pages over time. The first three begin where the first page was scored: images and style sheets say
// nothing of relevance.
type curves struct {
	from, harvest, lately, mean []float64
	pages, hours, relevant      []float64
}

func (c *Collector) curves() curves {
	slices.SortStableFunc(c.pages, func(a, b page) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.score, b.score)) })
	var out curves
	scored := make([]int, 0, len(c.pages))  // of the pages up to each
	relevant, sum := []int{0}, []float64{0} // of the scored pages up to each
	for _, p := range c.pages {
		if s := len(sum) - 1; p.score >= 0 {
			r := relevant[s]
			if float64(p.score) >= c.threshold-1e-6 {
				r++
			}
			relevant, sum = append(relevant, r), append(sum, sum[s]+float64(p.score))
		}
		scored = append(scored, len(sum)-1)
	}
	n := len(c.pages)
	window := max(int(lastOnes*float64(len(sum)-1)), 1)
	for bin := range min(binsOf, n) {
		at := (bin+1)*n/min(binsOf, n) - 1
		to := scored[at]
		if from := max(to-window, 0); to > 0 {
			out.from = append(out.from, float64(at+1))
			out.harvest = append(out.harvest, share(relevant[to], to))
			out.lately = append(out.lately, share(relevant[to]-relevant[from], to-from))
			out.mean = append(out.mean, (sum[to]-sum[from])/float64(to-from))
		}
		out.pages = append(out.pages, float64(at+1))
		out.hours = append(out.hours, time.Duration((c.pages[at].at-c.pages[0].at)*int64(time.Second)).Hours())
		out.relevant = append(out.relevant, float64(relevant[to]))
	}
	return out
}

// statusRows are the statuses of responses, the commonest first.
func (c *Collector) statusRows() [][2]string {
	keys := slices.SortedFunc(maps.Keys(c.statuses), func(a, b int) int {
		return cmp.Or(cmp.Compare(c.statuses[b], c.statuses[a]), cmp.Compare(a, b))
	})
	var list [][2]string
	for _, k := range keys {
		name := fmt.Sprint(k)
		if k == 0 {
			name = "not modified"
		}
		list = append(list, [2]string{name, fmt.Sprint(c.statuses[k])})
	}
	return list
}
