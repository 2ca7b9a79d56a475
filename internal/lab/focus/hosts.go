package focus

import (
	"fmt"
	"io"
	"text/tabwriter"

	"github.com/muninn-archive/muninn/internal/lab/replay"
	"github.com/muninn-archive/muninn/internal/urls"
)

// A host is poor if its harvest is below poorHarvest once knownPages of its pages are known.
const (
	poorHarvest = 0.05
	knownPages  = 10
)

// Hosts is what a crawl with politeness on a simulated clock has come to: means over the draws.
type Hosts struct {
	ByPages []float64 `json:"harvest_by_pages"` // after each tenth of the pages
	ByTime  []float64 `json:"found_by_time"`    // part of the relevant pages of the crawl that it had after each tenth of its time
	Poor    float64   `json:"poor"`             // part of the pages that went to hosts that were known to be poor
	Hours   float64   `json:"hours"`
}

// tenths are the points of Hosts.
const tenths = 10

// hosts adds a crawl.
func (r *Row) hosts(t *Task, run replay.Run) {
	if r.Hosts == nil {
		r.Hosts = &Hosts{ByPages: make([]float64, tenths), ByTime: make([]float64, tenths)}
	}
	type tally struct{ pages, relevant float64 }
	known, found, total, poor := map[string]*tally{}, 0.0, 0.0, 0.0
	for _, v := range run.Visited {
		if t.Relevant(v.Page) {
			total++
		}
	}
	for k, v := range run.Visited {
		host := urls.HostOf(t.corpus.Pages[v.Page].URL)
		of := known[host]
		if of == nil {
			of = &tally{}
			known[host] = of
		}
		if of.pages >= knownPages && of.relevant < poorHarvest*of.pages {
			poor++
		}
		if of.pages++; t.Relevant(v.Page) {
			of.relevant++
			found++
			for at := range tenths {
				if float64(v.After) <= float64(run.Lasted)*float64(at+1)/tenths {
					r.Hosts.ByTime[at] += 1 / total
				}
			}
		}
		for at := k * tenths / len(run.Visited); at < (k+1)*tenths/len(run.Visited); at++ {
			r.Hosts.ByPages[at] += found / float64(k+1)
		}
	}
	r.Hosts.Poor += poor / float64(max(len(run.Visited), 1))
	r.Hosts.Hours += run.Lasted.Hours()
}

func (h *Hosts) finish(draws float64) {
	h.Poor /= draws
	h.Hours /= draws
	for i := range tenths {
		h.ByPages[i] /= draws
		h.ByTime[i] /= draws
	}
}

// HostsTable writes harvest by pages and by time.
func (r *Result) HostsTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "topic\torder\thours\tpoor hosts\t")
	for i := range tenths {
		fmt.Fprintf(t, "%d %%\t", 100*(i+1)/tenths)
	}
	fmt.Fprintln(t)
	for _, row := range r.Rows {
		if row.Hosts == nil {
			continue
		}
		for name, list := range [2][]float64{row.Hosts.ByPages, row.Hosts.ByTime} {
			fmt.Fprintf(t, "%s\t%s, %s\t%.2f\t%.3f\t", row.Topic, row.Order, [2]string{"harvest by pages", "found by time"}[name], row.Hosts.Hours, row.Hosts.Poor)
			for _, x := range list {
				fmt.Fprintf(t, "%.3f\t", x)
			}
			fmt.Fprintln(t)
		}
	}
	return t.Flush()
}
