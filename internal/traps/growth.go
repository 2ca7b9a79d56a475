package traps

import (
	"cmp"
	"fmt"
	"slices"
)

// The rules of growth. A page speaks for growth without end if it was found on a page of its own kind, leads to several new URLs of that kind and to none that is
// known, and its text was read before, in other choices. Finite sets do not grow so for long: their pages soon link to known ones.
const (
	// maxGrowths is of how many patterns the growth is remembered.
	maxGrowths = 16
	// maxRead is how many shingles of text are remembered, those that were read last.
	maxRead = 512
	// grows is how many new URLs of its own kind a page leads to at least that speaks for growth.
	grows = 2
	// stalePoints is what a page counts of whose text nothing is new, freshPoints what each eighth of it that is new takes off. A page of the pattern that does not
	// speak for growth takes off stalePoints.
	stalePoints, freshPoints = 6, 2
	// fewWords is how many words a page has outside its links at least that counts so much; of fewer words, a page counts half of it, and if any is new nothing.
	fewWords = 24
	// growthPoints is how many points close a page or a folder: 40 pages of which no text is new, 120 of which a quarter is, none of which more is.
	growthPoints = 240
	// suspectPoints is how many points make it suspicious.
	suspectPoints = 60
	// onwardPages is how many pages in a row of a host, or of a pay-level domain, must lead to new URLs alone to close it.
	onwardPages = 250
	// suspectOnward is how many make it suspicious, backPages how many of them a page takes off that leads to new URLs and to known ones.
	suspectOnward, backPages = 50, 25
	// manyKnown is how many known URLs of a page are looked at.
	manyKnown = 64
)

// growth is what the pages of a pattern say of its end.
type growth struct {
	_      struct{} `cbor:",toarray"`
	Key    uint64   // of the pattern
	Points int
	Pages  int // since there were no points
	New    int // URLs of its kind that these led to
	Fresh  int // eighths of their text that were new
}

// grow takes in what a page says of the growth of its patterns, of whose text so many eighths are new, and returns what is to be closed; nil if nothing is.
func (m *Memory) grow(p *Page, fresh int) *Closed {
	narrow := m.spawned(p, levelPage) > 0 // it speaks against its own pattern, and not against its folder
	for level := range levels {
		name := p.Shape.patterns[level]
		if name == "" || level == levelSection || narrow && level == levelFolder {
			continue
		}
		points, spawned, limit := 0, 0, growthPoints
		if level > levelFolder {
			limit = onwardPages
			switch {
			case len(p.New) < explodes: // it ends
				points = -limit
			case p.Links > len(p.New):
				points = -backPages
			default:
				points, spawned = 1, len(p.New)
			}
		} else if points, spawned = -stalePoints, m.spawned(p, level); spawned > 0 {
			points = p.stale(fresh)
		}
		at := slices.IndexFunc(m.Growths, func(g growth) bool { return g.Key == hash(name) })
		if at < 0 {
			if points <= 0 {
				continue
			}
			at = m.growth(hash(name))
		}
		g := &m.Growths[at]
		g.Points, g.Pages, g.New, g.Fresh = g.Points+points, g.Pages+1, g.New+spawned, g.Fresh+fresh
		switch {
		case g.Points <= 0:
			m.Growths = slices.Delete(m.Growths, at, at+1)
		case g.Points >= limit && m.closedLevel(&p.Shape) < level:
			c := Closed{Pattern: name, All: level > levelFolder, Evidence: g.evidence(level)}
			m.Growths = slices.Delete(m.Growths, at, at+1)
			return &c
		}
	}
	return nil
}

func (g *growth) evidence(level int) string {
	if level > levelFolder {
		return fmt.Sprintf("%d pages led to %d new URLs, and hardly any to one that was known", g.Pages, g.New)
	}
	return fmt.Sprintf("%d pages that led to each other led to %d more such URLs, and %d %% of their text was new", g.Pages, g.New, 100*g.Fresh/(eighths*g.Pages))
}

// growth makes room for the growth of a pattern, in the place of that with the fewest points if there are many.
func (m *Memory) growth(key uint64) (at int) {
	if len(m.Growths) < maxGrowths {
		m.Growths = append(m.Growths, growth{Key: key})
		return len(m.Growths) - 1
	}
	least := slices.MinFunc(m.Growths, func(a, b growth) int { return cmp.Compare(a.Points, b.Points) })
	at = slices.IndexFunc(m.Growths, func(g growth) bool { return g.Key == least.Key })
	m.Growths[at] = growth{Key: key}
	return at
}

// spawned is how many new URLs of its own kind a page leads to that speaks for growth; 0 if it does not.
func (m *Memory) spawned(p *Page, level int) (n int) {
	if len(p.New) < grows || p.Elsewhere || p.Print.Requisites != 0 && !m.embedded(p) {
		return 0
	}
	name := p.Shape.patterns[level]
	for _, url := range p.New {
		switch l, ok := shapeOf(url); {
		case !ok:
		case l.patterns[level] == name:
			n++
		case !l.Invented && !m.bad(&l):
			return 0
		}
	}
	if n < grows || n*5 < len(p.New)*4 || !p.foundOn(level) {
		return 0
	}
	for _, url := range p.known {
		if l, ok := shapeOf(url); ok && url != p.URL && l.patterns[level] == name {
			return 0
		}
	}
	return n
}

// stale is how many points a page counts of whose text so many eighths are new. A few words that were read before say little.
func (p *Page) stale(fresh int) int {
	switch {
	case p.Print.OwnWords >= fewWords:
		return stalePoints - freshPoints*fresh
	case fresh == 0:
		return stalePoints / 2
	}
	return -stalePoints
}

// foundOn reports whether a page was found on another one of the same pattern.
func (p *Page) foundOn(level int) bool {
	if p.Via == nil {
		return false
	}
	via, ok := shapeOf(p.Via())
	return ok && via.patterns[level] == p.Shape.patterns[level]
}

// embedded reports whether another page had the same requisites.
func (m *Memory) embedded(p *Page) bool {
	return slices.ContainsFunc(m.Prints, func(s seen) bool { return s.Requisites == p.Print.Requisites })
}

// eighths is what the new part of a text is counted in.
const eighths = 8

// fresh is how many eighths of the text of a page were not read before. It is kept in Read, what was read last at the end.
func (m *Memory) fresh(p *Page) int {
	sketch := p.Print.Sketch
	if len(sketch) < 2 {
		if p.Print.OwnWords == 0 {
			return 0
		}
		return eighths
	}
	new, of := 0, len(sketch)/2
	for i := range of {
		if at := index16(m.Read, sketch[2*i], sketch[2*i+1]); at >= 0 {
			m.Read = slices.Delete(m.Read, at, at+2)
		} else {
			new++
		}
	}
	m.Read = append(m.Read, sketch[:2*of]...)
	m.Read = m.Read[max(len(m.Read)-2*maxRead, 0):]
	return new * eighths / of
}

// index16 is where a pair of bytes stands among such pairs; −1 if it does not.
func index16(pairs []byte, a, b byte) int {
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i] == a && pairs[i+1] == b {
			return i
		}
	}
	return -1
}

// expands reports whether a pattern of a URL is suspected to grow without end.
func (m *Memory) expands(s *Shape) bool {
	for i := range m.Growths {
		g := &m.Growths[i]
		for level, name := range s.patterns {
			limit := suspectPoints
			if level > levelFolder {
				limit = suspectOnward
			}
			if g.Points >= limit && name != "" && g.Key == hash(name) {
				return true
			}
		}
	}
	return false
}
