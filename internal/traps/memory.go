package traps

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// What a Memory holds at most.
const (
	maxPrints   = 128
	maxPatterns = 128
	maxClosed   = 64
)

// The rules of evidence. A broad pattern needs more than a narrow one: much is lost if it is closed for nothing.
const (
	// narrowPages is of how many of its last pages the rule for pages and folders speaks, and narrowUseless how many of them must be useless.
	narrowPages, narrowUseless = 20, 18
	// broadPages and broadUseless are the same of sections, hosts and pay-level domains.
	broadPages, broadUseless = 30, 27
	// narrowKinds and broadKinds are how many pages' patterns the useless pages of a folder, or of what is broader, must have.
	narrowKinds, broadKinds = 3, 3
	// bred is which part of the last pages must have led to new URLs: what leads nowhere ends by itself.
	bred = 3
	// suspectPages is after how many pages a pattern is suspicious of which half of the last are useless.
	suspectPages = 5
	// thinWords is how many words a page outside its links has at most that brings nothing but links to invented URLs.
	thinWords = 60
	// bareWords is how many words a page outside its links has at most that is a list of links and nothing else.
	bareWords = 10
	// sameList is in how many of 64 bits differ at most what two pages list, so that they list the same.
	sameList = 12
	// explodes is how many new URLs a page must lead to that is useless by its links.
	explodes = 3
	// badPages is after how many pages it is known whether links to a pattern speak for a page, and goodPart which part of its pages is to be useful
	// for that.
	badPages, goodPart = 3, 5
	// ledPart is which part of the pages of a pattern leads to new URLs, unless it is a dead end.
	ledPart = 10
)

// Suspicion is what the priority of a suspicious URL is multiplied with.
const Suspicion = 0.25

// Closed is a pattern that is closed.
type Closed struct {
	Pattern  string `cbor:"1,keyasint"`
	Evidence string `cbor:"2,keyasint"`
	Skipped  int64  `cbor:"3,keyasint,omitempty"` // URLs that were not fetched
	All      bool   `cbor:"4,keyasint,omitempty"` // even what is narrower and was good
}

// Memory is what a crawl remembers of a pay-level domain. The zero Memory remembers nothing.
type Memory struct {
	Prints   []seen    `cbor:"1,keyasint,omitempty"`
	Next     int       `cbor:"2,keyasint,omitempty"` // of Prints: the oldest, once there are maxPrints
	Patterns []pattern `cbor:"3,keyasint,omitempty"`
	Clock    uint32    `cbor:"4,keyasint,omitempty"` // counts pages
	Closed   []Closed  `cbor:"5,keyasint,omitempty"`
	Run      uint32    `cbor:"6,keyasint,omitempty"` // of the crawl, that the prints and histories are of
	Lists    []uint64  `cbor:"7,keyasint,omitempty"` // of the pages of Prints; missing: of a memory of an earlier version
	Hosts    []probed  `cbor:"8,keyasint,omitempty"` // that were asked for a URL that cannot exist
	Growths  []growth  `cbor:"9,keyasint,omitempty"`
	Read     []byte    `cbor:"10,keyasint,omitempty"` // of sketches, two bytes each: see fresh

	// Probing says that doubtful hosts are probed.
	Probing bool `cbor:"-"`

	index  map[uint64]int // of Patterns, by key
	wanted []Probe        // see Probes
}

// seen is a print that a page had first.
type seen struct {
	_          struct{} `cbor:",toarray"`
	All, Own   uint64
	Requisites uint64
}

// pattern is what the pages of a pattern were like. The lowest bit of its histories is of the last page.
type pattern struct {
	_       struct{} `cbor:",toarray"`
	Key     uint64
	Used    uint32 // the clock of its last page
	Pages   uint32
	Repeats uint32 // that read like an earlier page
	Useful  uint32
	Led     uint32 // that led to new URLs
	Kinds   uint32 // patterns of its useless pages
	Useless uint32 // a history, of those that count
	Bred    uint32 // a history: led to new URLs
	Counted uint32 // how long the histories are
}

// Decode reads a memory. What cannot be read is learned again.
func Decode(raw []byte) *Memory {
	m := &Memory{}
	if IsQuiet(raw) {
		raw = raw[1:]
	}
	if err := codec.Unmarshal(raw, m); err != nil {
		return &Memory{}
	}
	return m
}

// Encode writes a memory.
func (m *Memory) Encode() ([]byte, error) {
	raw, err := codec.Marshal(m)
	if err == nil && m.Quiet() {
		raw = append([]byte{quiet}, raw...)
	}
	return raw, err
}

// quiet is the first byte of a memory that is Quiet; a map of CBOR never begins with it.
const quiet = 1

// IsQuiet reports whether an encoded memory is Quiet. A claim asks of each of its queues: to decode all costs it more than all else that it does for traps.
func IsQuiet(raw []byte) bool { return len(raw) > 0 && raw[0] == quiet }

// Enter begins a run of the crawl, unless it has begun: the pages of the former one are fetched again, and read like themselves.
func (m *Memory) Enter(run uint32) {
	if m.Run == run {
		return
	}
	m.Run, m.Prints, m.Lists, m.Next, m.Growths, m.Read = run, nil, nil, 0, nil, nil
	for i := range m.Hosts {
		m.Hosts[i].Followed = false
	}
	for i := range m.Patterns {
		at := &m.Patterns[i]
		at.Repeats, at.Kinds, at.Useless, at.Bred, at.Counted = 0, 0, 0, 0, 0
	}
}

// Page is a page that was fetched.
type Page struct {
	URL   string
	Shape Shape
	Print *crawl.Print
	// New are the URLs of the pay-level domain that it led to, and that were not known before; embeds are left out.
	New []string
	// Links are how many URLs it led to, known ones and those of other pay-level domains among them.
	Links int
	// Elsewhere says that it led to new URLs of other pay-level domains.
	Elsewhere bool
	// Via returns the page on which it was found; nil if that is not known.
	Via func() string

	known []string // URLs of the pay-level domain that it leads to; some of them if there are many
	lists counts   // the known URLs of other kinds that it leads to
}

// Lists notes a URL, with a hash of it, that the page links to and that was known before. What a list names distinguishes it from others: many say nothing else of it.
// Links to pages of the same kind do not, for those of a calendar differ on each of its pages.
func (p *Page) Lists(from, to string, key uint64) {
	if len(p.known) < manyKnown {
		p.known = append(p.known, to)
	}
	if p.Print == nil || p.Print.OwnWords > thinWords {
		return
	}
	if here, there := section(from), section(to); here.host == there.host && !sameButNumbers(here.first, there.first) {
		p.lists.word(mix(key))
	}
}

// place is the host of a URL and the first segment of its path.
type place struct{ host, first string }

func section(url string) (at place) {
	_, rest, _ := strings.Cut(url, "://")
	at.host, rest, _ = strings.Cut(rest, "/")
	if end := strings.IndexAny(rest, "/?"); end >= 0 {
		rest = rest[:end]
	}
	at.first = rest
	return at
}

// sameButNumbers reports whether two texts differ in digits alone.
func sameButNumbers(a, b string) bool {
	i, j := 0, 0
	for {
		for i < len(a) && digit(a[i]) {
			i++
		}
		for j < len(b) && digit(b[j]) {
			j++
		}
		if i == len(a) || j == len(b) {
			return i == len(a) && j == len(b)
		}
		if a[i] != b[j] {
			return false
		}
		i, j = i+1, j+1
	}
}

// Learn takes in the pages of a batch, in their order, and returns the patterns that they close.
func (m *Memory) Learn(pages []Page) (closed []Closed) {
	for i := range pages {
		if p := &pages[i]; p.Print != nil {
			closed = append(closed, m.page(p)...)
		}
	}
	return closed
}

// finding is what a page has come to.
type finding int

const (
	useful finding = iota
	undecided
	repetitive // useless, if others of the same page's pattern are: it may be one of many lists
	useless
)

func (m *Memory) page(p *Page) (closed []Closed) {
	m.Clock++
	expanding := m.grow(p, m.fresh(p))
	was := m.read(p)
	repeats, is := was.all, m.judge(p, was)
	led := len(p.New) > 0 && (is == useful || slices.ContainsFunc(p.New, func(url string) bool { return !m.deadEnd(url) }))
	fresh := false // the first useless page of its pattern
	for level := range levels {
		name := p.Shape.patterns[level]
		if name == "" {
			continue
		}
		at := m.pattern(name)
		if level == levelPage {
			fresh = is != useful && at.Pages == at.Useful
		}
		at.Used = m.Clock
		at.Pages++
		if repeats {
			at.Repeats++
		}
		if is == useful {
			at.Useful++
		}
		if len(p.New) > 0 {
			at.Led++
		}
		if fresh {
			at.Kinds++
		}
		counts := is == useless || is == repetitive && level == levelPage || repeats && level >= levelFolder
		if is == useful || counts {
			at.Useless <<= 1
			at.Bred <<= 1
			at.Counted = min(at.Counted+1, 32)
			if counts {
				at.Useless |= 1
			}
			if led {
				at.Bred |= 1
			}
		}
	}
	m.follow(p)
	m.probe(p)
	if expanding != nil {
		return m.close(*expanding)
	}
	for level := m.closedLevel(&p.Shape) + 1; level < levels && is != useful; level++ {
		name := p.Shape.patterns[level]
		if name == "" {
			continue
		}
		if evidence := m.pattern(name).proof(level); evidence != "" {
			return m.close(Closed{Pattern: name, Evidence: evidence})
		}
	}
	return nil
}

func (m *Memory) close(c Closed) []Closed {
	m.Closed = append(m.Closed, c)
	m.Closed = m.Closed[max(len(m.Closed)-maxClosed, 0):]
	return []Closed{c}
}

// proof returns why a pattern is to be closed; empty if it is not.
func (at *pattern) proof(level int) string {
	pages, least, kinds := narrowPages, narrowUseless, narrowKinds
	switch {
	case level == levelPage:
		kinds = 1
	case level > levelFolder:
		pages, least, kinds = broadPages, broadUseless, broadKinds
	}
	last := uint32(1)<<pages - 1
	n, new := bits.OnesCount32(at.Useless&last), bits.OnesCount32(at.Bred&last)
	if int(at.Counted) < pages || n < least || new*bred < pages || int(at.Kinds) < kinds {
		return ""
	}
	if level > levelPage && at.good() && n < pages {
		return "" // too much of it was good
	}
	return fmt.Sprintf("%d of its last %d pages bring nothing new, and %d of them led to more such URLs; %d of all its %d pages read like an earlier one", n, pages, new, at.Repeats, at.Pages)
}

// judge says what a page is good for.
func (m *Memory) judge(p *Page, was read) finding {
	many := was.requisites && len(p.New) >= explodes
	maze := many && m.Clock > 1 && p.Print.OwnWords <= bareWords && p.Links == len(p.New) // no link leads back
	thin := many && (p.Shape.Repeats || p.Print.OwnWords <= thinWords && (p.Shape.Invented || p.Shape.Dated))
	if !was.all && !maze && !thin && !(many && was.own) {
		return useful
	}
	credit, own := p.Elsewhere, 0
	for _, url := range p.New {
		l, ok := shapeOf(url)
		if !ok {
			continue
		}
		same := l.patterns[levelPage] == p.Shape.patterns[levelPage]
		if same || l.patterns[levelFolder] != "" && l.patterns[levelFolder] == p.Shape.patterns[levelFolder] {
			own++
		}
		credit = credit || !same && !l.Invented && !m.bad(&l)
	}
	switch {
	case !was.all && !maze && own*5 < len(p.New)*4 && !(thin && own > 0):
		return useful
	case credit:
		return undecided
	case was.all, maze, thin:
		return useless
	}
	return repetitive
}

// bad reports whether a link to a URL speaks for no page, by what is known of its kind. What is not known may be good.
func (m *Memory) bad(s *Shape) bool {
	at := m.known(s)
	return at != nil && !at.good()
}

// known returns what is known of a URL: its pattern, or a broader one if that has many kinds of pages; nil if that is not enough to judge it.
func (m *Memory) known(s *Shape) *pattern {
	for level := range levels {
		at, known := m.find(s.patterns[level])
		switch {
		case !known || at.Pages < badPages:
		case level == levelPage, level == levelFolder && at.Kinds >= narrowKinds, at.Kinds >= broadKinds:
			return at
		}
	}
	return nil
}

// good reports whether a good part of the pages was useful.
func (at *pattern) good() bool { return at.Useful*goodPart > at.Pages }

// deadEnd reports whether URLs of a kind are known to lead to no others.
func (m *Memory) deadEnd(url string) bool {
	s, _ := shapeOf(url)
	at, known := m.find(s.patterns[levelPage])
	return known && at.Pages >= badPages && at.Led*ledPart <= at.Pages
}

// read is what of a page was read before.
type read struct{ all, own, requisites bool }

// read returns what of a page was read before, and notes its print if not all was. A page with images of its own repeats none.
func (m *Memory) read(page *Page) read {
	p, lists := page.Print, page.lists.bits()
	was := read{own: p.OwnWords == 0, requisites: p.Requisites == 0}
	for i := range m.Prints {
		s := &m.Prints[i]
		if s.Requisites != p.Requisites {
			continue
		}
		was.requisites = true
		was.own = was.own || alike(s.Own, p.Own)
		if p.Words > 0 && alike(s.All, p.All) && bits.OnesCount64(m.list(i)^lists) <= sameList {
			return read{true, true, true}
		}
	}
	now := seen{All: p.All, Own: p.Own, Requisites: p.Requisites}
	if len(m.Prints) < maxPrints {
		m.Lists = append(m.Lists, make([]uint64, len(m.Prints)-len(m.Lists))...)
		m.Prints, m.Lists = append(m.Prints, now), append(m.Lists, lists)
	} else {
		m.Lists = append(m.Lists, make([]uint64, len(m.Prints)-len(m.Lists))...)
		m.Prints[m.Next], m.Lists[m.Next] = now, lists
		m.Next = (m.Next + 1) % maxPrints
	}
	return was
}

// list is what a page of Prints lists.
func (m *Memory) list(i int) uint64 {
	if i < len(m.Lists) {
		return m.Lists[i]
	}
	return 0
}

// closedLevel is the level of the broadest closed pattern of a URL; −1 if there is none.
func (m *Memory) closedLevel(s *Shape) int {
	broadest := -1
	for i := range m.Closed {
		broadest = max(broadest, slices.Index(s.patterns[:], m.Closed[i].Pattern))
	}
	return broadest
}

// Closes reports whether a URL is of a closed pattern.
func (m *Memory) Closes(s Shape) bool { return m.ClosedBy(s) != nil }

// Skip counts a URL that is not fetched because its pattern is closed, and returns that pattern; nil if it is of none.
func (m *Memory) Skip(s Shape) *Closed {
	c := m.ClosedBy(s)
	if c != nil {
		c.Skipped++
	}
	return c
}

// ClosedBy returns the closed pattern of a URL; nil if it is of none.
func (m *Memory) ClosedBy(s Shape) *Closed {
	for i := range m.Closed {
		level := slices.Index(s.patterns[:], m.Closed[i].Pattern)
		if level < 0 {
			continue
		}
		good := false // something narrower of it was good
		for narrower := range level {
			if m.Closed[i].All {
				break
			}
			at, known := m.find(s.patterns[narrower])
			good = good || known && at.Useful*2 > at.Pages
		}
		if !good {
			return &m.Closed[i]
		}
	}
	return nil
}

// Suspicious reports whether a URL may be of a trap.
func (m *Memory) Suspicious(s Shape) bool {
	if s.Odd {
		return true
	}
	at := m.known(&s)
	return at != nil && at.suspicious() || m.expands(&s)
}

func (at *pattern) suspicious() bool {
	return at.Pages >= suspectPages && (2*at.Repeats >= at.Pages || at.Counted >= suspectPages && 2*bits.OnesCount32(at.Useless) >= int(at.Counted))
}

// Quiet reports whether nothing is suspicious or closed, whatever the URL.
func (m *Memory) Quiet() bool {
	return len(m.Closed) == 0 && !slices.ContainsFunc(m.Patterns, func(at pattern) bool { return at.suspicious() }) &&
		!slices.ContainsFunc(m.Growths, func(g growth) bool { return g.Points >= min(suspectPoints, suspectOnward) })
}

// Open opens all patterns again, and forgets their evidence.
func (m *Memory) Open() {
	*m = Memory{Hosts: m.Hosts, Prints: m.Prints, Lists: m.Lists, Next: m.Next, Clock: m.Clock, Run: m.Run, Read: m.Read}
}

// OpenPatterns opens patterns again. Their evidence stays, for the pages of a pattern that is kept open are not learned from.
func (m *Memory) OpenPatterns(list []string) {
	m.Closed = slices.DeleteFunc(m.Closed, func(c Closed) bool { return slices.Contains(list, c.Pattern) })
}

func (m *Memory) find(name string) (at *pattern, known bool) {
	if m.index == nil {
		m.index = make(map[uint64]int, len(m.Patterns))
		for i := range m.Patterns {
			m.index[m.Patterns[i].Key] = i
		}
	}
	i, known := m.index[hash(name)]
	if name == "" || !known {
		return nil, false
	}
	return &m.Patterns[i], true
}

// pattern returns what is known of a pattern, in the place of the one that was used least lately if there are many.
func (m *Memory) pattern(name string) *pattern {
	if at, known := m.find(name); known {
		return at
	}
	key := hash(name)
	if len(m.Patterns) < maxPatterns {
		m.Patterns = append(m.Patterns, pattern{Key: key})
		m.index[key] = len(m.Patterns) - 1
		return &m.Patterns[len(m.Patterns)-1]
	}
	oldest := slices.MinFunc(m.Patterns, func(a, b pattern) int { return cmp.Compare(a.Used, b.Used) })
	i := m.index[oldest.Key]
	delete(m.index, oldest.Key)
	m.Patterns[i] = pattern{Key: key}
	m.index[key] = i
	return &m.Patterns[i]
}
