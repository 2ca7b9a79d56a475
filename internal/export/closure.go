package export

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
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

// How far a closure reaches.
const (
	maxSteps    = 20 // from a kept capture: redirects, and requisites of requisites
	dnsSegments = 8  // in which the DNS answer of a host is looked for, beside those of its captures
)

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

// takeDNS picks the DNS answer of a host that lies with its captures; that of a host without one is looked for at the end.
func (c *closure) takeDNS(s *structure, capture *Capture, host string) {
	if g := nearestDNS(s, host, capture.Date); g != nil {
		c.pick(s, capture.Source, g, WhyDNS)
		c.hasDNS[host] = true
		return
	}
	c.needsDNS[host] = append(c.needsDNS[host], capture.Date)
}

func nearestDNS(s *structure, host string, at time.Time) (best *group) {
	for _, g := range s.groups {
		if g.dnsHost() == host && (best == nil || g.rec.date.Sub(at).Abs() < best.rec.date.Sub(at).Abs()) {
			best = g
		}
	}
	return best
}

// findDNS looks for the DNS answers of hosts that have none beside their captures: a worker that knows an address does not ask again.
func (c *closure) findDNS(ctx context.Context) error {
	for _, host := range slices.Sorted(maps.Keys(c.needsDNS)) {
		if c.hasDNS[host] {
			continue
		}
		at := c.needsDNS[host][0]
		found, err := c.findDNSOf(ctx, host, at)
		if err != nil {
			return err
		}
		if !found {
			c.lacks(Missing{URL: "dns:" + host, Why: WhyDNS, Reason: "the segments with captures of the host have no DNS answer of it"})
		}
	}
	return nil
}

func (c *closure) findDNSOf(ctx context.Context, host string, at time.Time) (found bool, err error) {
	nearest := map[int32]time.Duration{} // of its captures, by source
	c.index.ofHost(host, func(capture *Capture) {
		away := capture.Date.Sub(at).Abs()
		if d, known := nearest[capture.Source]; !known || away < d {
			nearest[capture.Source] = away
		}
	})
	sources := slices.SortedFunc(maps.Keys(nearest), func(a, b int32) int {
		return cmp.Or(cmp.Compare(nearest[a], nearest[b]), cmp.Compare(a, b))
	})
	for _, source := range sources[:min(len(sources), dnsSegments)] {
		s, err := c.read(ctx, source)
		if err != nil {
			return false, err
		}
		if s == nil {
			continue
		}
		if g := nearestDNS(s, host, at); g != nil {
			c.pick(s, source, g, WhyDNS)
			return true, nil
		}
	}
	return false, nil
}

// expand wants what a capture needs.
func (c *closure) expand(capture *Capture, g *group, of *state) {
	if u, err := urls.Trusted(capture.URL); err == nil && !capture.Robots() {
		robots := u.Origin() + "/robots.txt"
		c.wantURL(robots, capture, WhyRobots, of, func(x *Capture) bool { return x.URL == robots })
	}
	if g.meta == nil {
		return
	}
	if strings.HasSuffix(g.meta.Path, crawl.HopRedirect.String()) && g.meta.Via != "" && of.why != WhyRobots {
		c.wantURL(g.meta.Via, capture, WhyRedirect, of, nil)
	}
	c.expandNeeds(capture, g.meta, of)
}

// expandNeeds wants what a capture needs by the links of a metadata record, its own or that of its original; meta may be nil.
func (c *closure) expandNeeds(capture *Capture, meta *metadata, of *state) {
	if meta == nil {
		return
	}
	for _, n := range meta.needs {
		switch {
		case n.url == capture.URL:
		case n.hop == 'R':
			c.wantURL(n.url, capture, WhyRedirect, of, nil)
		case of.why == WhyRobots:
		case n.hop == 'E':
			c.wantURL(n.url, capture, WhyRequisite, of, nil)
		case n.hop == 'X': // it is not known whether the page needs it
			if i := c.index.nearest(n.url, capture.Date, nil); i != none && of.steps < maxSteps {
				c.want(i, WhyRequisite, capture.URL, of.steps+1)
			}
		}
	}
}

// wantURL wants the capture of a URL that is nearest in time to the one that needs it.
func (c *closure) wantURL(url string, by *Capture, why Why, of *state, test func(*Capture) bool) {
	i := c.index.nearest(url, by.Date, test)
	switch {
	case i == none:
		c.lacks(Missing{URL: url, Why: why, For: by.URL, Reason: notCaptured})
	case of.steps >= maxSteps && c.state[i] == nil:
		c.lacks(Missing{URL: url, Why: why, For: by.URL, Reason: "it is more steps away from a kept capture than are followed"})
	default:
		c.want(i, why, by.URL, of.steps+1)
	}
}

const notCaptured = "the crawls have no capture of it"
