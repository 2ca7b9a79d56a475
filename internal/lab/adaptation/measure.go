package adaptation

import (
	"net/url"
	"os"
	"path/filepath"
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
	Parts     int           `json:"properties"`  // authors, dates and titles of the pages as they were
	PartsOK   int           `json:"right_parts"` // … that were extracted with their object
	Time      time.Duration `json:"ns"`          // of the helper, all pages
}

func (s *Score) add(o Score) {
	s.Pages += o.Pages
	s.Truth += o.Truth
	s.Extracted += o.Extracted
	s.Right += o.Right
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
}

// LeastOfSite is how many pages a site must have for what is learned without old content to be measured.
const LeastOfSite = 6

// thing is an object with a text, by hashes.
type thing struct {
	body  uint64
	parts map[string]uint64
}

func things(objects []crawl.Object) (list []thing) {
	for _, o := range objects {
		body := o.Properties.Get("body")
		if body == "" {
			continue
		}
		t := thing{body: adapt.Hash(body), parts: map[string]uint64{}}
		for _, name := range []string{"author", "published", "title"} {
			if v := o.Properties.Get(name); v != "" {
				t.parts[name] = adapt.Hash(v)
			}
		}
		list = append(list, t)
	}
	return list
}

// compare counts how much of the truth was extracted.
func compare(truth, extracted []thing) (s Score) {
	s.Pages, s.Truth, s.Extracted = 1, len(truth), len(extracted)
	left := map[uint64][]thing{}
	for _, t := range truth {
		left[t.body] = append(left[t.body], t)
		s.Parts += len(t.parts)
	}
	for _, l := range extracted {
		same := left[l.body]
		if len(same) == 0 {
			continue
		}
		s.Right++
		for name, hash := range same[0].parts {
			if l.parts[name] == hash {
				s.PartsOK++
			}
		}
		left[l.body] = same[1:]
	}
	return s
}

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

// Measure changes the pages of each application with enough of them, and extracts their objects again.
func Measure(dir string, list []recognition.Labelled, base *kb.Base, limits aah.Limits, seed uint64) ([]Row, error) {
	samples := map[string][]sample{}
	var order []string
	for _, l := range list {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
		if err != nil {
			return nil, err
		}
		if l.URL == "" {
			continue
		}
		// the mutator writes UTF-8
		body = page.Parse(page.Input{URL: l.URL, MIME: "text/html", Body: body}, page.DefaultLimits()).Source
		d := apply(aah.New(base, aah.DefaultLimits()), l.URL, body, nil)
		if d.Application != l.Application() || !d.Terminal || d.Prints == nil || len(things(d.Objects)) == 0 {
			continue
		}
		if samples[d.Application] == nil {
			order = append(order, d.Application)
		}
		samples[d.Application] = append(samples[d.Application], sample{l.URL, body, things(d.Objects), d.Prints})
	}
	var rows []Row
	for _, strength := range Strengths {
		for _, app := range order {
			if len(samples[app]) < Least {
				continue
			}
			row, err := measure(app, samples[app], base, limits, strength, seed)
			if err != nil {
				return nil, err
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

func apply(h *aah.Helper, url string, body, before []byte) crawl.Findings {
	d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: body}, page.DefaultLimits())
	return h.Apply(d, aah.Input{Before: before})
}

func measure(app string, samples []sample, base *kb.Base, limits aah.Limits, strength Strength, seed uint64) (Row, error) {
	row := Row{Application: app, Strength: strength.Name}
	fresh := func(learns bool) (*aah.Helper, error) {
		h := aah.New(base, limits)
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
		pages[s.host()]++
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
		m := Mutator{Seed: seed ^ adapt.Hash(host), Strength: strength}
		body, err := m.Mutate(s.body)
		if err != nil {
			return row, err
		}
		row.Without.add(one(without, s, body, nil))
		row.Recrawl.add(one(recrawl, s, body, s.prints))
		if pages[host] < LeastOfSite {
			continue
		}
		row.New.add(one(never, s, body, nil))
		if met[host]++; met[host]%2 == 1 {
			one(beside, s, body, s.prints)
		} else {
			row.Beside.add(one(beside, s, body, nil))
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
