package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/topic"
)

// learns reports whether the order of a crawl learns.
func learns(d *crawl.Definition) bool {
	return d.Order.Strategy == crawl.StrategyFused && !d.Topic.Empty()
}

// newLearning makes what has learned nothing yet.
func (s *state) newLearning() *learner.Learner {
	o := order.DefaultSettings()
	o.Seed, o.Enough = s.Definition.Order.Seed, s.Definition.Topic.Threshold
	l := learner.New(o, s.TopicSince)
	l.Every = s.hosts.opts.Snapshot
	return l
}

// learnBy puts what the crawl learns by in force, after its plan has changed; Frontier.mu is held.
func (s *state) learnBy() {
	if s.learning == nil && learns(&s.Definition) || s.learning != nil && s.learning.TopicSince != s.TopicSince {
		s.learning = s.newLearning()
	}
}

// learner is what the crawl learns by, nil if its order does not learn. What was learned before the order was changed to one
// that does not is kept.
func (s *state) learner() *learner.Learner {
	if learns(&s.Definition) {
		return s.learning
	}
	return nil
}

// loadLearning brings up what was learned of a crawl.
func (s *state) loadLearning(txn store.Reader) error {
	if s.learnBy(); s.learning == nil && s.Updates > s.TopicSince {
		s.learning = s.newLearning()
	}
	if s.learning == nil {
		return nil
	}
	return s.learning.Load(txn, s.keys)
}

// learn makes an update durable; apply, which is called once it is, queues it. The caller of the mutation then calls train.
func (e *edit) learn(u *learner.Update) (apply func(), err error) {
	s := e.s
	if u.Empty() || s.learner() == nil {
		return func() {}, nil
	}
	e.rec.Updates++
	seq := e.rec.Updates
	if err := u.Log(e.Tx, s.keys, seq); err != nil {
		return nil, err
	}
	return func() {
		if s.learning.TopicSince <= seq { // else the topic was changed in the same transaction
			s.learning.Add(seq, *u)
		}
	}, nil
}

// train learns what the mutations that are on disk have queued. Frontier.mu is not held while it does: claims continue.
func (f *Frontier) train(s *state) {
	f.mu.Lock()
	l := s.learning
	f.mu.Unlock()
	if l == nil || !l.Behind() {
		return
	}
	if l.Train(); l.Due() {
		go f.saveSnapshot(s, l)
	}
	f.wake() // claims of the crawl have waited for it
}

// saveSnapshot keeps a snapshot of what was learned. Whatever goes wrong, the updates are still there.
func (f *Frontier) saveSnapshot(s *state, l *learner.Learner) {
	defer l.Saved()
	if seq, raw, err := l.Snapshot(); err == nil {
		_ = f.keepSnapshot(s, seq, raw, nil)
	}
}

// keepSnapshot writes the snapshot of the updates up to a number, in parts, and drops those updates; more, which may be nil, comes with it.
func (f *Frontier) keepSnapshot(s *state, seq uint64, raw []byte, more mutation) error {
	return f.keepParts(s.keys.All(store.Snapshots), seq, raw, func(tx *transaction) (apply func(), err error) {
		rec := f.draft(tx, s)
		rec.Updates = max(rec.Updates, seq)
		unsent, err := exchangeOf(tx.Reader, s)
		if err == nil {
			err = learner.DropLogged(tx.Tx, s.keys, unsent.keptFrom(seq)-1)
		}
		if err == nil && more != nil {
			apply, err = more(tx)
		}
		return apply, err
	})
}

// Snapshot returns what a crawl has learned, for Restore; nil if its order does not learn.
func (h Learning) Snapshot() (raw []byte, err error) {
	h.f.mu.Lock()
	var l *learner.Learner
	if s, err := h.f.get(h.crawl); err == nil {
		l = s.learner()
	}
	h.f.mu.Unlock()
	if l != nil {
		_, raw, err = l.Snapshot()
	}
	return raw, err
}

// Restore puts what another frontier had learned of a crawl in place of what this one has, which should be nothing. It does
// nothing if the crawl's order does not learn.
func (h Learning) Restore(raw []byte) error {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil || s.learner() == nil {
		h.f.mu.Unlock()
		return err
	}
	l, seq := s.learner(), s.Updates+1
	h.f.mu.Unlock()
	if err := order.NewFused(nil, order.DefaultSettings()).Restore(raw); err != nil {
		return err
	}
	err = h.f.keepSnapshot(s, seq, raw, func(*transaction) (func(), error) { return func() { l.AddSnapshot(seq, raw) }, nil })
	h.f.train(s)
	return err
}

// counts is what was kept with the link to a URL that counts now, and the priority that it gives: the other one's if the best
// counts and that is better.
func counts(o *order.Fused, r *record.Record, update string) (kept []byte, priority float64) {
	kept, priority = r.Features, o.Priority(r.Features)
	if update == crawl.UpdateMax && len(r.OtherFeatures) > 0 {
		if p := o.Priority(r.OtherFeatures); p > priority {
			return r.OtherFeatures, p
		}
	}
	return kept, priority
}

// Order returns the order of a crawl that learns; nil if it has another.
func (h Learning) Order() *order.Fused {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	if s, err := h.f.get(h.crawl); err == nil && s.learner() != nil {
		return s.learner().Order
	}
	return nil
}

// visits are what a batch teaches: its pages, with what those of their links promise that lead to URLs which no page has brought before. Of several pages of a batch
// the first has brought a URL. Else the hubs that everybody links to would promise most, again and again.
func (s *state) visits(c *Commit, pages []order.Visit, urls []string, of []*offered) *learner.Update {
	l := s.learner()
	if l == nil || len(pages) == 0 {
		return &learner.Update{}
	}
	promise, brought := map[string]float64{}, map[*offered]bool{}
	for i, o := range of {
		if d := &c.Discoveries[i]; len(d.LinkFeatures) > 0 && o != nil && o.fresh && !brought[o] {
			promise[d.Via] += l.Order.Expect(d.LinkFeatures)
			brought[o] = true
		}
	}
	for i := range pages {
		pages[i].Promise = promise[urls[i]]
	}
	return &learner.Update{Visits: pages}
}

// Teach puts the topic model of the reference crawl in force, unless it is nil, and shows pages of the topic to an order that
// learns, in place of those that it was shown before: views of them, as order.Views encodes them.
func (h Learning) Teach(model *topic.Model, examples [][]byte) error {
	if model != nil {
		raw, err := model.Encode()
		if err != nil {
			return err
		}
		if err := h.change(func(rec *crawlRecord) { rec.TopicModel, rec.planned = raw, true }); err != nil {
			return err
		}
	}
	var taught *state
	err := h.update(func(s *state, tx *transaction) (func(), error) {
		taught = s
		return h.f.edit(tx, s).learn(&learner.Update{Examples: examples})
	})
	if err == nil {
		h.f.train(taught)
	}
	return err
}

// saving reports whether a snapshot of what the crawl has learned is being written. Such a crawl does not fall asleep: brought up
// again meanwhile, it could write another snapshot with the same number between the parts of this one.
func (s *state) saving() bool { return s.learning != nil && s.learning.Saving() }
