package adaptation

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/recognition"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// Least is the number of terminal pages with objects from which an application is measured.
const Least = 5

// Score compares the objects that were extracted from changed pages with the truth: those of the unchanged pages.
type Score struct {
	Pages     int           `json:"pages"`
	Truth     int           `json:"objects"`     // of the pages as they were
	Extracted int           `json:"lifted"`      // objects of the changed pages
	Right     int           `json:"right"`       // of them those with the text of one that was there
	Near      int           `json:"near"`        // … and those whose text is nearly that of one, by nearText
	Parts     int           `json:"properties"`  // authors, dates and titles of the pages as they were
	PartsOK   int           `json:"right_parts"` // … that were extracted with their object
	Time      time.Duration `json:"ns"`          // of the helper, all pages
}

func (s *Score) add(o Score) {
	s.Pages += o.Pages
	s.Truth += o.Truth
	s.Extracted += o.Extracted
	s.Right += o.Right
	s.Near += o.Near
	s.Parts += o.Parts
	s.PartsOK += o.PartsOK
	s.Time += o.Time
}

// Row is an application under a strength of change.
type Row struct {
	Application string `json:"application"`
	Strength    string `json:"strength"`
	Without     Score  `json:"without"` // the shipped base alone
	Recrawl     Score  `json:"recrawl"` // the pages were crawled before they changed
	// Beside are pages that were never seen before the change, on sites where every other page was crawled before it. New
	// are pages of sites that were seen before the change, but none of these pages. Sites with fewer than LeastOfSite
	// pages do not count, because a rule is accepted only after several pages.
	Beside Score `json:"beside"`
	New    Score `json:"new"`
	// Sites has the same of each host: a few hosts have most of the pages.
	Sites map[string]*Ways `json:"sites,omitempty"`
}

// Ways are the scores of one host, as those of a Row.
type Ways struct {
	Without Score `json:"without"`
	Recrawl Score `json:"recrawl"`
	Beside  Score `json:"beside"`
	New     Score `json:"new"`
}

// site is the entry of a host.
func (r *Row) site(host string) *Ways {
	if r.Sites == nil {
		r.Sites = map[string]*Ways{}
	}
	if r.Sites[host] == nil {
		r.Sites[host] = &Ways{}
	}
	return r.Sites[host]
}

// LeastOfSite is how many pages a site must have for what is learned without old content to be measured.
const LeastOfSite = 6

// sample is an unchanged page.
type sample struct {
	url    string
	body   []byte
	truth  []thing
	prints []byte
}

func (s *sample) host() string {
	u, err := url.Parse(s.url)
	if err != nil {
		return s.url
	}
	return u.Host
}

// Options are what is measured.
type Options struct {
	Base   *kb.Base
	Limits aah.Limits
	Seed   uint64
	Fold   Fold // of the sites
	// LeastOfSite is how many pages a site must have for what is learned without old content to be measured; 0: LeastOfSite.
	LeastOfSite int
	// Made is how many pages are made of one of each site; these are measured in the place of the saved ones, as new pages alone: few
	// sites have pages enough. 0: the saved pages are.
	Made int
	// Strengths are the names of the strengths of change; none: all.
	Strengths []string
}

// Measure changes the pages of each application with enough of them, and extracts their objects again.
func Measure(dir string, list []recognition.Labelled, o Options) ([]Row, error) {
	if o.LeastOfSite == 0 {
		o.LeastOfSite = LeastOfSite
	}
	samples := map[string][]sample{}
	var order []string
	for _, l := range list {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
		if err != nil {
			return nil, err
		}
		if l.URL == "" || !o.Fold.Has((&sample{url: l.URL}).host()) {
			continue
		}
		// the mutator writes UTF-8
		body = page.Parse(page.Input{URL: l.URL, MIME: "text/html", Body: body}, page.DefaultLimits()).Source
		d := apply(aah.New(o.Base, aah.DefaultLimits()), l.URL, body, nil)
		if d.Application != l.Application() || !d.Terminal || d.Prints == nil || len(things(d.Objects)) == 0 {
			continue
		}
		if samples[d.Application] == nil {
			order = append(order, d.Application)
		}
		samples[d.Application] = append(samples[d.Application], sample{l.URL, body, things(d.Objects), d.Prints})
	}
	if o.Made > 0 {
		for app, of := range samples {
			made, err := o.make(app, of)
			if err != nil {
				return nil, err
			}
			samples[app] = made
		}
	}
	var rows []Row
	for _, strength := range Strengths {
		if len(o.Strengths) > 0 && !slices.Contains(o.Strengths, strength.Name) {
			continue
		}
		for _, app := range order {
			if len(samples[app]) < Least {
				continue
			}
			row, err := o.measure(app, samples[app], strength)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// make makes pages of the first page of each site.
func (o *Options) make(app string, samples []sample) (made []sample, err error) {
	seen := map[string]bool{}
	for _, s := range samples {
		if seen[s.host()] {
			continue
		}
		seen[s.host()] = true
		level := apply(aah.New(o.Base, aah.DefaultLimits()), s.url, s.body, nil).Level
		for n := range o.Made {
			body, err := vary(s.body, o.Seed^adapt.Hash(s.host()), uint64(n))
			if err != nil {
				return nil, err
			}
			address := withNumber(s.url, n)
			d := apply(aah.New(o.Base, aah.DefaultLimits()), address, body, nil)
			if list := things(d.Objects); d.Application == app && d.Level == level && len(list) > 0 {
				made = append(made, sample{address, body, list, d.Prints})
			}
		}
	}
	return made, nil
}

// withNumber is the address of one of the pages that are made of a page. Rules about addresses say the same of it.
func withNumber(address string, n int) string {
	if n == 0 {
		return address
	}
	sign := "?"
	if strings.Contains(address, "?") {
		sign = "&"
	}
	return address + sign + "made=" + strconv.Itoa(n)
}

func apply(h *aah.Helper, url string, body, before []byte) crawl.Findings {
	d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: body}, page.DefaultLimits())
	return h.Apply(d, aah.Input{Before: before})
}

func (o *Options) measure(app string, samples []sample, strength Strength) (Row, error) {
	row := Row{Application: app, Strength: strength.Name}
	fresh := func(learns bool) (*aah.Helper, error) {
		h := aah.New(o.Base, o.Limits)
		if !learns {
			return h, nil
		}
		var err error
		h.Adaptations, err = adapt.OpenStore("")
		return h, err
	}
	without, err := fresh(false)
	if err != nil {
		return row, err
	}
	recrawl, err := fresh(true)
	if err != nil {
		return row, err
	}
	never, err := fresh(false)
	if err != nil {
		return row, err
	}
	beside, err := fresh(false)
	if err != nil {
		return row, err
	}
	pages, met := map[string]int{}, map[string]int{}
	for _, s := range samples { // as they were: hosts are remembered
		if pages[s.host()]++; o.Made > 0 && pages[s.host()] > 1 {
			continue
		}
		for _, h := range []*aah.Helper{without, recrawl, beside, never} {
			apply(h, s.url, s.body, nil)
		}
	}
	for _, h := range []*aah.Helper{beside, never} {
		if h.Adaptations, err = adapt.OpenStore(""); err != nil {
			return row, err
		}
	}
	for _, s := range samples {
		host := s.host()
		m := Mutator{Seed: o.Seed ^ adapt.Hash(host), Strength: strength}
		body, err := m.Mutate(s.body)
		if err != nil {
			return row, err
		}
		site := row.site(host)
		count := func(total, ofSite *Score, got Score) {
			total.add(got)
			ofSite.add(got)
		}
		count(&row.Without, &site.Without, one(without, s, body, nil))
		if o.Made == 0 {
			count(&row.Recrawl, &site.Recrawl, one(recrawl, s, body, s.prints))
		}
		if pages[host] < o.LeastOfSite {
			continue
		}
		count(&row.New, &site.New, one(never, s, body, nil))
		if o.Made > 0 {
			continue
		}
		if met[host]++; met[host]%2 == 1 {
			one(beside, s, body, s.prints)
		} else {
			count(&row.Beside, &site.Beside, one(beside, s, body, nil))
		}
	}
	return row, nil
}

func one(h *aah.Helper, s sample, body, before []byte) Score {
	d := page.Parse(page.Input{URL: s.url, MIME: "text/html; charset=utf-8", Body: body}, page.DefaultLimits())
	start := time.Now()
	found := h.Apply(d, aah.Input{Before: before})
	took := time.Since(start)
	score := compare(s.truth, things(found.Objects))
	score.Time = took
	return score
}
