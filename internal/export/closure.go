package export

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Why says why a record is exported.
type Why string

// The reasons for which records are exported. A capture that has several has the first of them.
const (
	WhyKept      Why = "kept"
	WhyRequisite Why = "requisite" // it is embedded in what is exported, or was loaded by it in a browser
	WhyRedirect  Why = "redirect"  // of a capture that is exported, or to it
	WhyRobots    Why = "robots.txt"
	WhyOriginal  Why = "original" // a revisit that is exported refers to it
	WhyDNS       Why = "dns"
	WhyInfo      Why = "warcinfo" // of a segment that records are copied from
	WhyOther     Why = "other"    // no index lists it; exported with everything else
)

// Missing is what should be exported, and cannot.
type Missing struct {
	URL    string    `json:"url"`
	Date   time.Time `json:"date,omitzero"` // of a revisit that is left out
	Why    Why       `json:"why"`           // why it should be exported
	For    string    `json:"for,omitempty"` // the capture that needs it, the first of several
	Reason string    `json:"reason"`        // why it cannot
}

// maxSteps is how far a closure reaches from a kept capture: redirects, and requisites of requisites.
const maxSteps = 20

// picked is a group that is exported.
type picked struct {
	source  int32
	capture int32
	runs    runs
	why     Why
	key     string    // of the order: SURT
	date    time.Time // of the order
}

// closure collects what is exported.
type closure struct {
	index    *Index
	store    archive.Store
	all      bool // everything is exported
	picked   map[place]*picked
	state    map[int32]*state // of captures
	next     map[int32]bool   // captures whose turn it is in the next step
	missing  map[lacking]Missing
	original map[int32]int32  // of revisits that are picked
	damaged  map[int32]string // sources that cannot be read, and why
	infos    map[int32]run    // of sources
	needsDNS map[string][]time.Time
	hasDNS   map[string]bool
	reached  func(string)
}

// place is where a group begins.
type place struct {
	source int32
	offset int64
}

// state is what is known of a capture that is exported.
type state struct {
	why     Why
	forURL  string
	steps   int
	done    bool    // its group is picked
	expands bool    // what it needs is to be exported
	spread  bool    // … and was looked up
	as      []int32 // revisits that need what it does, each at its own time
}

func newClosure(index *Index, store archive.Store, all bool) *closure {
	return &closure{
		index: index, store: store, all: all, picked: map[place]*picked{}, state: map[int32]*state{}, next: map[int32]bool{}, missing: map[lacking]Missing{}, original: map[int32]int32{},
		damaged: map[int32]string{}, infos: map[int32]run{}, needsDNS: map[string][]time.Time{}, hasDNS: map[string]bool{}, reached: func(string) {},
	}
}

// want adds a capture. steps counts from a kept one.
func (c *closure) want(i int32, why Why, forURL string, steps int) {
	expands := why == WhyKept || why == WhyRequisite || why == WhyRedirect || why == WhyRobots
	s := c.state[i]
	if s == nil {
		s = &state{why: why, forURL: forURL, steps: steps}
		c.state[i] = s
	}
	if s.expands = s.expands || expands; !s.done || s.expands && !s.spread {
		c.next[i] = true
	}
}

// lacks reports what cannot be exported. Of one URL and reason there is one line, whichever needs it.
func (c *closure) lacks(m Missing) {
	key := lacking{m.URL, m.Date, m.Why}
	if _, known := c.missing[key]; !known {
		c.missing[key] = m
	}
}

// lacking is what makes a line of the report another one.
type lacking struct {
	url  string
	date time.Time
	why  Why
}

// run follows what captures need, until nothing new is found.
func (c *closure) run(ctx context.Context) error {
	for len(c.next) > 0 {
		now := c.next
		c.next = map[int32]bool{}
		bySource := map[int32][]int32{}
		for i := range now {
			source := c.index.Captures[i].Source
			bySource[source] = append(bySource[source], i)
		}
		for _, source := range slices.Sorted(maps.Keys(bySource)) {
			captures := bySource[source]
			slices.Sort(captures)
			if err := c.take(ctx, source, captures); err != nil {
				return err
			}
		}
	}
	if err := c.findDNS(ctx); err != nil {
		return err
	}
	c.dropDangling()
	return nil
}

// takeAll picks everything.
func (c *closure) takeAll(ctx context.Context) error {
	for i := range c.index.Captures { // before any is wanted as an original
		c.want(int32(i), WhyKept, "", 0)
	}
	for source := range c.index.Sources {
		s, err := c.read(ctx, int32(source))
		if err != nil {
			return err
		}
		if s == nil {
			c.lacks(Missing{URL: c.index.Sources[source].WARC.Key, Why: WhyKept, Reason: c.damaged[int32(source)]})
			continue
		}
		for _, g := range s.groups {
			switch {
			case g.capture != none:
				c.takeOne(s, g.capture, c.state[g.capture])
			case g.kind == "revisit":
				c.lacks(Missing{URL: g.url, Date: g.rec.date, Why: WhyKept, Reason: "it is a revisit that its index does not list"})
			case g.dnsHost() != "":
				c.pick(s, int32(source), g, WhyDNS)
			case g.kind != "warcinfo":
				c.pick(s, int32(source), g, WhyOther)
			}
		}
	}
	clear(c.next)
	c.dropDangling()
	return nil
}

// dropDangling leaves out the revisits whose originals turned out to be in a damaged segment.
func (c *closure) dropDangling() {
	for _, i := range slices.Sorted(maps.Keys(c.original)) {
		original := &c.index.Captures[c.original[i]]
		if c.picked[place{original.Source, original.Offset}] != nil {
			continue
		}
		revisit := &c.index.Captures[i]
		delete(c.picked, place{revisit.Source, revisit.Offset})
		c.lacks(Missing{URL: revisit.URL, Date: revisit.Date, Why: c.state[i].why, For: c.state[i].forURL, Reason: "its original, " + original.URL + " at " + original.Date.Format(time.RFC3339) + ", cannot be read"})
	}
}

// read reads the structure of a source; nil if it is damaged, which is reported.
func (c *closure) read(ctx context.Context, source int32) (*structure, error) {
	if c.damaged[source] != "" {
		return nil, nil
	}
	c.reached(c.index.Sources[source].Segment())
	s, err := c.index.readStructure(ctx, c.store, source)
	if err != nil && ctx.Err() == nil && archive.Damaged(err) {
		c.damaged[source] = err.Error()
		return nil, nil
	}
	return s, err
}

// take picks captures of one source, and says what they need.
func (c *closure) take(ctx context.Context, source int32, captures []int32) error {
	s, err := c.read(ctx, source)
	if err != nil {
		return err
	}
	for _, i := range captures {
		of := c.state[i]
		if s == nil {
			c.lacks(Missing{URL: c.index.Captures[i].URL, Date: c.index.Captures[i].Date, Why: of.why, For: of.forURL, Reason: c.damaged[source]})
			continue
		}
		c.takeOne(s, i, of)
	}
	return nil
}

func (c *closure) takeOne(s *structure, i int32, of *state) {
	g, capture := s.of[i], &c.index.Captures[i]
	if !of.done {
		of.done = true
		if capture.Revisit && !c.takeOriginal(i, g, of) {
			of.spread = true
			return
		}
		c.pick(s, capture.Source, g, of.why)
		if host := hostOf(capture.URL); host != "" && !c.all {
			c.takeDNS(s, capture, host)
		}
	}
	if of.expands && !of.spread && !c.all {
		of.spread = true
		c.expand(capture, g, of)
		if original, known := c.original[i]; known && capture.Status == 0 { // a 304 has no body to find links in
			c.state[original].as = append(c.state[original].as, i)
			c.next[original] = true
		}
	}
	for _, revisit := range of.as {
		c.expandNeeds(&c.index.Captures[revisit], g.meta, c.state[revisit])
	}
	of.as = nil
}

// takeOriginal wants what a revisit refers to; false if there is no such capture: then the revisit is not exported.
func (c *closure) takeOriginal(i int32, g *group, of *state) bool {
	capture := &c.index.Captures[i]
	original := c.index.originalOf(capture, g.rec.refersTo, g.rec.refersDate)
	reason := "it is a revisit of " + g.rec.refersTo + " at " + g.rec.refersDate.UTC().Format(time.RFC3339) + ", which the crawls do not have"
	if original != none {
		c.original[i] = original
		c.want(original, WhyOriginal, capture.URL, of.steps)
		return true
	}
	c.lacks(Missing{URL: capture.URL, Date: capture.Date, Why: of.why, For: of.forURL, Reason: reason})
	return false
}

// pick adds a group to what is exported, and the warcinfo record of its file.
func (c *closure) pick(s *structure, source int32, g *group, why Why) {
	at := place{source, g.runs[0][0]}
	if c.picked[at] != nil {
		return
	}
	p := &picked{source: source, capture: g.capture, runs: g.runs, why: why}
	if g.capture != none {
		p.key, p.date = c.index.Captures[g.capture].key, c.index.Captures[g.capture].Date
	} else {
		p.key, p.date = keyOf(g.url), g.rec.date
	}
	c.picked[at] = p
	if _, known := c.infos[source]; known {
		return
	}
	c.infos[source] = nil
	for _, first := range s.groups {
		if first.kind == "warcinfo" {
			c.infos[source] = first.runs[0]
			return
		}
	}
}
