package desk

import (
	"context"
	"errors"
	"hash/fnv"
	"math"
	"time"

	"github.com/muninn-archive/muninn/internal/selection"
	"github.com/muninn-archive/muninn/internal/selection/candidates"
	"github.com/muninn-archive/muninn/internal/selection/proposal"
)

// pass is what an archive had of the candidates of a selection.
type pass struct {
	state  *selection.State // as of which it was read
	when   time.Time        // when it ended
	took   time.Duration
	tally  *tally
	all    []selection.Facts // the captures; nil if they are more than maxRecounted
	pool   *proposal.Pool
	seen   int // of how many open candidates the pool has one
	unread int
}

// tally counts captures by what becomes of them, and by groups.
type tally struct {
	captures map[selection.Verdict]map[selection.By]int
	groups   map[selection.Group]*size
	crowded  bool // more groups than are counted
}

func newTally() *tally {
	return &tally{captures: map[selection.Verdict]map[selection.By]int{}, groups: map[selection.Group]*size{}}
}

// recount is the tally as of another state with the same rules; that of the pass if there are too many captures. version is of which it is.
func (p *pass) recount(state *selection.State) (t *tally, version uint64) {
	if p.all == nil || !p.state.SameRules(state) {
		return p.tally, p.state.Version
	}
	t = newTally()
	for i := range p.all {
		t.count(&p.all[i], state.Of(&p.all[i]))
	}
	return t, state.Version
}

// size is that of a group, in captures.
type size struct{ captures, open int32 }

// read reads the candidates of a selection that visitors may see. complain is called with what cannot be read.
func (d *Desk) read(ctx context.Context, at At, state *selection.State) (*pass, error) {
	begun, store := d.Now(), d.Archives[at.Archive-1]
	crawls, err := candidates.Of(ctx, store, state.About)
	if err != nil {
		return nil, err
	}
	p := &pass{state: state, tally: newTally()}
	b := newSampler(state)
	captures := 0
	var shown func(crawl, url string, date time.Time) bool
	if d.Shown != nil {
		shown = d.Shown()
	}
	from := candidates.Archive{Store: store, Crawls: crawls, Complain: func(err error) {
		if p.unread++; d.Log != nil && p.unread <= maxComplaints {
			d.Log.Warn("selection", "name", at.Name, "error", err)
		}
	}}
	err = from.Each(ctx, func(f selection.Facts) error {
		if shown != nil {
			if !shown(f.Crawl, f.URL, f.Date) {
				return nil
			}
			if f.Revisit { // its text is that of another capture, which may be closed
				f = f.Bare()
				f.Title, f.Print = "", 0
			}
		}
		state.Judge(&f)
		r := state.Of(&f)
		p.tally.count(&f, r)
		if captures++; captures <= maxRecounted {
			p.all = append(p.all, f.Bare())
		} else {
			p.all = nil
		}
		return b.add(f, r.Verdict == selection.Ask)
	})
	if err != nil {
		return nil, err
	}
	p.pool, p.seen, p.when = b.Pool(), b.seen(), d.Now()
	p.took = p.when.Sub(begun)
	return p, nil
}

// maxComplaints is the number of captures of a pass that cannot be read and that the log of the server names.
const maxComplaints = 20

// count counts a capture, also for each group that it belongs to by its names.
func (p *tally) count(f *selection.Facts, r selection.Ruling) {
	if p.captures[r.Verdict] == nil {
		p.captures[r.Verdict] = map[selection.By]int{}
	}
	p.captures[r.Verdict][r.By]++
	for _, g := range f.Groups() {
		if g.Kind() == selection.KindNear {
			continue
		}
		n := p.groups[g]
		if n == nil {
			if len(p.groups) >= maxGroups {
				p.crowded = true
				continue
			}
			n = &size{}
			p.groups[g] = n
		}
		n.captures++
		if r.Verdict == selection.Ask {
			n.open++
		}
	}
}

// sampler makes a pool of what is learned from and of what is open. If that is too much, it has those URLs whose hash is small.
type sampler struct {
	*proposal.Builder
	teaches func(*selection.Facts) bool
	most    uint32 // the largest hash of an open candidate
}

func newSampler(s *selection.State) *sampler {
	b := proposal.NewBuilder(proposal.DefaultSettings())
	b.Most = maxPool
	return &sampler{b, proposal.Learnable(s), math.MaxUint32}
}

func (s *sampler) wants(f *selection.Facts) bool { return s.teaches(f) || place(f.URL) <= s.most }

// add takes a candidate in, if it is wanted.
func (s *sampler) add(f selection.Facts, open bool) error {
	for {
		if teaches := s.teaches(&f); !teaches && (!open || place(f.URL) > s.most) {
			return nil
		}
		err := s.Add(f)
		if !errors.Is(err, proposal.ErrFull) {
			return err
		}
		if s.most == 0 {
			return nil // more than the model can learn from
		}
		s.most /= 2
		s.Retain(s.wants)
	}
}

// seen is about how many open candidates there are for one of the pool.
func (s *sampler) seen() int { return int(math.MaxUint32 / max(1, uint64(s.most))) }

// place is a number of a URL that has nothing to do with what it is.
func place(url string) uint32 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(url))
	sum := h.Sum64()
	sum ^= sum >> 33
	sum *= 0xff51afd7ed558ccd
	return uint32(sum >> 32)
}
