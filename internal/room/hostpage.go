package room

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of the page of a host.
const (
	maxHost         = 50_000 // captures that are counted
	hostRows        = 40     // rows of each table
	outlinkSegments = 8      // segments whose outlinks are read: those with the host's last captures
)

type hostPage struct {
	Host         string      `json:"host"`
	Site         string      `json:"site"`
	Captures     int         `json:"captures"`
	Unchanged    int         `json:"unchanged"`
	More         bool        `json:"more,omitempty"` // there are more than are counted
	Applications []named     `json:"applications"`
	Statuses     []named     `json:"statuses"`
	Types        []named     `json:"types"`
	Crawls       []named     `json:"crawls"`
	Months       []hostMonth `json:"months"`
	Last         []hostRow   `json:"last"`
	Outlinks     []outlinkTo `json:"outlinks"`
	OutlinksOf   int         `json:"outlinks_of_segments"` // that were read
	Segments     int         `json:"segments"`
	Search       string      `json:"search"`
}

type named struct {
	Name string `json:"name"`
	N    int    `json:"n"`
}

// hostMonth says how relevant the pages of a month were.
type hostMonth struct {
	Month  string  `json:"month"`
	N      int     `json:"captures"`
	Scored int     `json:"scored"`
	Score  float64 `json:"mean_score"` // of those that have one; −1: none has
	Width  int     `json:"-"`
}

type hostRow struct {
	Link
	Address   string  `json:"address"`
	Title     string  `json:"title"`
	Status    int     `json:"status"`
	Unchanged bool    `json:"unchanged"`
	Score     float64 `json:"score"`
}

type outlinkTo struct {
	Host    string `json:"host"`
	N       int    `json:"n"`
	Address string `json:"address"`
}

func (r *Room) host(req *http.Request) (view, error) {
	host := strings.ToLower(strings.TrimSpace(req.URL.Query().Get("host")))
	u, err := urls.Parse("http://" + host + "/")
	if err != nil || host == "" || u.RequestURI() != "/" || strings.ContainsAny(host, "/?#@*") {
		return view{}, wrong("host is no name of a host: write www.example.org")
	}
	p := &hostPage{Host: u.Host(), Site: u.PLD(), Search: address("/search", "q", "host:"+u.Host())}
	applications, statuses, types, crawls, months := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}, map[string]*hostMonth{}
	var last []Entry // in the order of time
	err = r.Door.Captures(req.Context(), Lookup{Host: u.Host()}, func(e Entry) error {
		if p.Captures == maxHost {
			p.More = true
			return errEnough
		}
		p.Captures++
		crawls[e.Crawl]++
		if e.Revisit {
			p.Unchanged++
		} else {
			types[e.MIME]++
		}
		if e.Application != "" {
			applications[e.Application]++
		}
		statuses[statusText(e.Status)]++
		count(months, &e)
		if !e.Robots() {
			last = keepLast(last, e)
		}
		return nil
	})
	if err := unlessEnough(err); err != nil {
		return view{}, err
	}
	if p.Captures == 0 {
		return view{}, missing("there is no capture of %s here", oneLine(host, urlBytes))
	}
	p.Applications, p.Statuses, p.Types, p.Crawls = sortedCounts(applications), sortedCounts(statuses), sortedCounts(types), sortedCounts(crawls)
	p.Months = monthsOf(months)
	for _, e := range slices.Backward(last) {
		p.Last = append(p.Last, hostRow{e.link(), e.link().capture(), titled(e.Title, e.URL), e.Status, e.Revisit, e.Score})
	}
	if err := r.outlinks(req.Context(), p, last); err != nil {
		return view{}, err
	}
	return view{Name: "host", Title: p.Host, Data: p}, nil
}

func statusText(status int) string {
	if status == 0 {
		return "304"
	}
	return number(status)
}

// keepLast keeps the newest captures.
func keepLast(list []Entry, e Entry) []Entry {
	at, _ := slices.BinarySearchFunc(list, e, func(a, b Entry) int { return cmp.Or(a.Date.Compare(b.Date), cmp.Compare(a.URL, b.URL)) })
	if list = slices.Insert(list, at, e); len(list) > hostRows {
		list = list[1:]
	}
	return list
}

func count(months map[string]*hostMonth, e *Entry) {
	name := e.Date.UTC().Format("2006-01")
	m := months[name]
	if m == nil {
		m = &hostMonth{Month: name}
		months[name] = m
	}
	m.N++
	if e.Score >= 0 {
		m.Scored++
		m.Score += e.Score
	}
}

func monthsOf(months map[string]*hostMonth) (list []hostMonth) {
	for _, m := range months {
		if m.Scored > 0 {
			m.Score /= float64(m.Scored)
			m.Width = int(100 * m.Score)
		} else {
			m.Score = -1
		}
		list = append(list, *m)
	}
	slices.SortFunc(list, func(a, b hostMonth) int { return strings.Compare(a.Month, b.Month) })
	return list
}

func sortedCounts(m map[string]int) []named {
	list := []named{}
	for name, n := range m {
		list = append(list, named{name, n})
	}
	slices.SortFunc(list, func(a, b named) int { return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Name, b.Name)) })
	return list[:min(len(list), hostRows)]
}

// outlinks counts to which other hosts the pages of a host link, in the segments of its last captures.
func (r *Room) outlinks(ctx context.Context, p *hostPage, last []Entry) error {
	counts, seen := map[string]int{}, map[string]bool{}
	for _, e := range slices.Backward(last) {
		if seen[e.Crawl+"/"+e.Segment] {
			continue
		}
		seen[e.Crawl+"/"+e.Segment] = true
		if p.Segments++; p.Segments > outlinkSegments {
			continue
		}
		of, err := r.store(&e)
		if err != nil {
			return err
		}
		m, err := archive.ReadSegment(ctx, of.Store, of.Layout(), e.Segment)
		if errors.Is(err, archive.ErrNotFound) {
			continue
		}
		if err == nil {
			err = archive.ReadLinks(ctx, of.Store, m.Links.Key, func(l archive.Link) error {
				if urls.HostOf(l.Source) == p.Host {
					if to := urls.HostOf(l.URL); to != p.Host && to != "" {
						counts[to]++
					}
				}
				return nil
			})
		}
		if err != nil {
			return err
		}
		p.OutlinksOf++
	}
	for _, c := range sortedCounts(counts) {
		p.Outlinks = append(p.Outlinks, outlinkTo{c.Name, c.N, address("/host", "host", c.Name)})
	}
	return nil
}
