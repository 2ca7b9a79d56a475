package desk

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// Work is what was worked out of a selection. It is never changed.
type Work struct {
	Counted  uint64    // the version as of which the captures were counted
	When     time.Time // when they were
	Captures map[selection.Verdict]map[selection.By]int
	Unread   int  // captures whose records cannot be read
	Crowded  bool // there are more groups than were counted
	Sample   int  // of how many open pages the model sees one: 1 of all
	Learned  uint64
	Model    bool // there are decisions enough for proposals
	Quality  proposal.Quality
	Open     int // open pages that the model sees

	took    time.Duration // to learn
	ended   time.Time
	tally   *tally
	pool    *proposal.Pool
	decided proposal.Decided
	model   *proposal.Model
	members map[selection.Group][]int32 // open candidates of the pool
	kinds   map[string][]Group          // those with two open captures at least, the largest first
}

// Group is a group as far as visitors may see it.
type Group struct {
	Group     selection.Group
	Captures  int     // of near-duplicates: open pages
	Open      int     // captures that nothing has decided
	Pages     int     // open pages that the model has seen
	Keep      int     // of them, those that it proposes to keep
	Certainty float64 // of these proposals, on average, in [0.5,1]; 0: there is none
}

// learn works out what a pass and the decisions since amount to.
func (d *Desk) learn(p *pass, state *selection.State) *Work {
	begun := d.Now()
	t, counted := p.recount(state)
	w := &Work{
		Counted: counted, When: p.when, Captures: t.captures, Unread: p.unread, Crowded: t.crowded, Sample: p.seen, Learned: state.Version,
		tally: t, pool: p.pool, members: map[selection.Group][]int32{}, kinds: map[string][]Group{},
	}
	w.decided = w.pool.Decided(state)
	w.model = w.pool.Learn(w.decided.Labels)
	w.Model, w.Quality = w.model != nil, w.pool.Measure(w.decided.Labels, w.decided.Single)
	var open []int32
	for i := range w.pool.Facts {
		if w.decided.Closed[i] {
			continue
		}
		open = append(open, int32(i))
		for _, g := range w.pool.Facts[i].Groups() {
			if g.Kind() != selection.KindNear {
				w.members[g] = append(w.members[g], int32(i))
			}
		}
	}
	w.Open = len(open)
	w.alike(open)
	w.sort()
	w.ended = d.Now()
	w.took = w.ended.Sub(begun)
	return w
}

// sort lists the groups of each kind.
func (w *Work) sort() {
	for g := range w.tally.groups {
		if of := w.group(g); of.Open > 1 && (len(w.members[g]) > 0 || w.Sample > 1) {
			w.kinds[g.Kind()] = append(w.kinds[g.Kind()], of)
		}
	}
	for g := range w.members {
		if g.Kind() == selection.KindNear {
			w.kinds[g.Kind()] = append(w.kinds[g.Kind()], w.group(g))
		}
	}
	for _, list := range w.kinds {
		slices.SortFunc(list, func(a, b Group) int {
			return cmp.Or(cmp.Compare(b.Open, a.Open), strings.Compare(string(a.Group), string(b.Group)))
		})
	}
}

func (w *Work) group(g selection.Group) Group {
	members := w.members[g]
	of := Group{Group: g, Captures: len(members), Open: len(members), Pages: len(members)}
	if n := w.tally.groups[g]; n != nil {
		of.Captures, of.Open = int(n.captures), int(n.open)
	}
	if w.model == nil || len(members) == 0 {
		return of
	}
	for _, i := range members {
		keep := w.model.Keep[i]
		if keep >= 0.5 {
			of.Keep++
		}
		of.Certainty += max(keep, 1-keep)
	}
	of.Certainty = round(of.Certainty / float64(len(members)))
	return of
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// Groups are the groups of a kind with two open captures at least, the largest first.
func (w *Work) Groups(kind string) []Group { return w.kinds[kind] }

// Group is a group; false if visitors can see no capture of it.
func (w *Work) Group(g selection.Group) (Group, bool) {
	if g.Kind() == selection.KindNear && w.members[g] == nil {
		print, _ := g.Print()
		n := Group{Group: g, Open: w.pool.CountAlike(print, w.decided.Closed), Captures: w.pool.CountAlike(print, make([]bool, w.pool.Len()))}
		n.Pages = n.Open
		return n, n.Captures > 0
	}
	of := w.group(g)
	return of, of.Captures > 0
}

// Facts is what is known of a URL; nil if the model has not seen it.
func (w *Work) Facts(url string) *selection.Facts {
	if i, known := w.pool.Index(url); known {
		return &w.pool.Facts[i]
	}
	return nil
}

// Pages are the URLs of the open candidates of a group that the model has seen, as of a state, at most so many.
func (w *Work) Pages(g selection.Group, state *selection.State, most int) (list []*selection.Facts) {
	for i := range w.pool.Facts {
		f := &w.pool.Facts[i]
		if f.In(g) && state.Of(f).Verdict == selection.Ask {
			if list = append(list, f); len(list) == most {
				break
			}
		}
	}
	return list
}

// Question is a page to decide on.
type Question struct {
	Facts  *selection.Facts
	Keep   *float64 // probability that it is to be kept, by what was decided so far; nil: not known
	Groups []Group  // with two open captures at least
}

// Questions are the pages of a group, or of all, whose decision teaches most: those that are least certain. Those that were decided since
// the model has learned are left out.
func (w *Work) Questions(g selection.Group, state *selection.State, n int) (list []Question) {
	of := w.decided
	of.Closed = slices.Clone(of.Closed)
	for i := range of.Closed {
		f := &w.pool.Facts[i]
		of.Closed[i] = of.Closed[i] || g != "" && !f.In(g) || state.Of(f).Verdict != selection.Ask
	}
	for _, i := range w.pool.Next(of, w.model, n) {
		list = append(list, w.question(i))
	}
	return list
}

func (w *Work) question(i int) Question {
	f := &w.pool.Facts[i]
	q := Question{Facts: f}
	if w.model != nil {
		keep := round(w.model.Keep[i])
		q.Keep = &keep
	}
	for _, g := range f.Groups() {
		if of, _ := w.Group(g); of.Open > 1 {
			q.Groups = append(q.Groups, of)
		}
	}
	return q
}
