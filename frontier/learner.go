package frontier

import (
	"encoding/binary"
	"slices"

	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// learning is what an order learns of a crawl, as memory knows it. On disk it is a log of lessons, one a batch, and
// from time to time the sum of them all, which takes the place of those before.
type learning struct {
	order  *order.Fused
	from   uint64 // lessons up to it were of another topic
	seq    uint64 // of the last lesson
	since  int    // visits since the sum was kept
	saving bool
}

// lesson is what is learned of together.
type lesson struct {
	Examples [][]byte      `cbor:"1,keyasint,omitempty"` // pages of the topic, in place of those before
	Visits   []order.Visit `cbor:"2,keyasint,omitempty"`
}

// visitsPerSum are the visits after which the sum of what was learned is kept.
const visitsPerSum = 1000

func lessonKey(id uint16, seq uint64) []byte {
	return binary.BigEndian.AppendUint64(prefix(kindLesson, id), seq)
}

// learns tells whether the order of a crawl learns.
func learns(d *crawl.Definition) bool {
	return d.Order.Strategy == crawl.StrategyFused && !d.Topic.Empty()
}

// newLearning makes what has learned nothing yet.
func newLearning(rec *crawlRecord) *learning {
	s := order.DefaultSettings()
	s.Seed, s.Enough = rec.Definition.Order.Seed, rec.Definition.Topic.Threshold
	return &learning{order: order.NewFused(nil, s), from: rec.LessonsFrom, seq: rec.LessonsFrom}
}

// learnBy puts what the crawl learns by in force, after its plan has changed; Frontier.mu is held.
func (s *state) learnBy() {
	if s.learning == nil && learns(&s.Definition) || s.learning != nil && s.learning.from != s.LessonsFrom {
		s.learning = newLearning(&s.crawlRecord)
	}
	for _, q := range s.queues {
		q.costly = s.learner() != nil // adopt brings them into order
	}
}

// learner is what the crawl learns by, nil if its order does not learn. What was learned before the order was changed to one
// that does not is kept.
func (s *state) learner() *learning {
	if learns(&s.Definition) {
		return s.learning
	}
	return nil
}

// loadLearning brings up what was learned of a crawl.
func (s *state) loadLearning(txn *badger.Txn) error {
	if s.learnBy(); s.learning == nil && s.Lessons > s.LessonsFrom {
		s.learning = newLearning(&s.crawlRecord)
	}
	if s.learning == nil {
		return nil
	}
	l := s.learning
	sum, raw, err := readParts(txn, kindSum, s.id)
	if err != nil {
		return err
	}
	if sum.Seq > s.LessonsFrom && l.order.Restore(raw) == nil { // else it is learned anew from what comes
		l.seq = sum.Seq
	}
	return scan(txn, prefix(kindLesson, s.id), lessonKey(s.id, l.seq+1), true, func(key, value []byte) (bool, error) {
		var learned lesson
		if err := codec.Unmarshal(value, &learned); err == nil {
			l.take(&learned)
		}
		l.seq = binary.BigEndian.Uint64(key[3:])
		return true, nil
	})
}

func (l *learning) take(learned *lesson) {
	if len(learned.Examples) > 0 {
		l.order.Teach(order.DecodeViews(learned.Examples))
	}
	for _, v := range learned.Visits {
		l.order.Learn(v)
	}
	l.since += len(learned.Visits)
}

// learn makes a lesson durable; apply, which is called once it is, takes it in.
func (e *edit) learn(learned *lesson) (apply func(), err error) {
	f, s := e.f, e.s
	if len(learned.Examples)+len(learned.Visits) == 0 || s.learner() == nil {
		return func() {}, nil
	}
	raw, err := codec.Marshal(learned)
	if err != nil {
		return nil, err
	}
	e.rec.Lessons++
	seq := e.rec.Lessons
	if err := e.Set(lessonKey(s.id, seq), raw); err != nil {
		return nil, err
	}
	return func() {
		l := s.learning
		if l.from > seq { // the topic was changed in the same transaction
			return
		}
		l.take(learned)
		l.seq = seq
		if l.since >= visitsPerSum && !l.saving {
			l.saving, l.since = true, 0
			go f.saveLearning(s, l)
		}
	}, nil
}

// saveLearning keeps the sum of what was learned. Whatever goes wrong, the lessons are still there.
func (f *Frontier) saveLearning(s *state, l *learning) {
	f.mu.Lock()
	seq := l.seq
	raw, err := l.order.Encode()
	f.mu.Unlock()
	if err == nil {
		_ = f.keepSum(s, seq, raw, nil)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	l.saving = false
}

// keepSum writes the sum of the lessons up to a number, in parts, and drops those lessons; apply, which may be nil, is called
// once it is durable.
func (f *Frontier) keepSum(s *state, seq uint64, raw []byte, apply func()) error {
	return f.keepParts(kindSum, s.id, seq, raw, func(tx *transaction) (func(), error) {
		rec := f.draft(tx, s)
		rec.Lessons = max(rec.Lessons, seq)
		return apply, dropLessons(tx.Txn, s.id, seq)
	})
}

// Learned returns the sum of what a crawl has learned, for Relearn; nil if its order does not learn.
func (f *Frontier) Learned(name string) ([]byte, error) {
	if o := f.Learner(name); o != nil {
		return o.Encode()
	}
	return nil, nil
}

// Relearn puts what another frontier had learned of a crawl in place of what this one has, which should be nothing. It does
// nothing if the crawl's order does not learn.
func (f *Frontier) Relearn(name string, raw []byte) error {
	f.mu.Lock()
	s, err := f.get(name)
	if err != nil || s.learner() == nil {
		f.mu.Unlock()
		return err
	}
	l, seq := s.learner(), s.Lessons+1
	f.mu.Unlock()
	if err := order.NewFused(nil, order.DefaultSettings()).Restore(raw); err != nil {
		return err
	}
	return f.keepSum(s, seq, raw, func() {
		if l.order.Restore(raw) == nil { // as it was just tried
			l.seq, l.since = seq, 0
		}
	})
}

// dropLessons deletes the lessons that a sum holds.
func dropLessons(txn *badger.Txn, id uint16, seq uint64) error {
	var old [][]byte
	err := scan(txn, prefix(kindLesson, id), nil, false, func(key, _ []byte) (bool, error) {
		if binary.BigEndian.Uint64(key[3:]) > seq {
			return false, nil
		}
		old = append(old, slices.Clone(key))
		return true, nil
	})
	return deleteAll(txn, old, err)
}

// counts is what was kept with the link to a URL that counts now, and the priority that it gives: the other one's if the best
// counts and that is better.
func (l *learning) counts(r *record, update string) (kept []byte, priority float64) {
	kept, priority = r.keep, l.order.Priority(r.keep)
	if update == crawl.UpdateMax && len(r.also) > 0 {
		if p := l.order.Priority(r.also); p > priority {
			return r.also, p
		}
	}
	return kept, priority
}

// Learner returns the order of a crawl that learns; nil if it has another.
func (f *Frontier) Learner(name string) *order.Fused {
	f.mu.Lock()
	defer f.mu.Unlock()
	if s, err := f.get(name); err == nil && s.learner() != nil {
		return s.learner().order
	}
	return nil
}

// visits are what a batch teaches: its pages, with what their links promise that are not visited yet.
func (s *state) visits(c *Commit, pages []order.Visit, urls []string, list []*offered) *lesson {
	l := s.learner()
	if l == nil || len(pages) == 0 {
		return &lesson{}
	}
	open := make(map[string]bool, len(list))
	for _, o := range list {
		open[o.found] = o.open
	}
	promise := map[string]float64{}
	for _, d := range c.Discoveries {
		if len(d.Keep) > 0 && open[d.URL] {
			promise[d.Via] += l.order.Expect(d.Keep)
		}
	}
	for i := range pages {
		pages[i].Promise = promise[urls[i]]
	}
	return &lesson{Visits: pages}
}

// Teach keeps what was learned, unless it is nil, and shows pages of the topic to an order that learns, in place of those that it was shown
// before: views of them, as order.Views encodes them.
func (f *Frontier) Teach(name string, learned []byte, examples [][]byte) error {
	if learned != nil {
		if err := f.change(name, func(rec *crawlRecord) { rec.Learned, rec.planned = learned, true }); err != nil {
			return err
		}
	}
	return f.withCrawl(name, func(s *state, tx *transaction) (func(), error) {
		return f.edit(tx, s).learn(&lesson{Examples: examples})
	})
}
