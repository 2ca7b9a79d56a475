package frontier

import (
	"bytes"
	"errors"
	"fmt"
	"maps"

	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/order"
)

// The workers of a spread crawl learn from each other: each sends what its own commits have taught its order, as a stream of objects, and
// takes in the streams of the others. How objects travel is the caller's business (internal/learning). The frontier keeps how far it is with each stream, in
// the transaction that writes what was taken to its own log of updates: so that each update is learned once, whatever is repeated.

// maxUnsent is how many updates back the log is kept for those that are not sent yet: while an archive is away, nothing is committed either.
const maxUnsent = 10_000

// LearningStream names what a worker sends of a run.
type LearningStream struct {
	Owner string `cbor:"1,keyasint"` // of the run, see Begin: with another one, all streams start again
	Name  string `cbor:"2,keyasint"` // of the worker and its data folder
}

// LearningUpdate is what a batch of a worker has taught its order.
type LearningUpdate struct {
	Number uint64 `cbor:"1,keyasint"` // in the log of the worker: rises
	Raw    []byte `cbor:"2,keyasint"`
}

// LearningMark says how much of a stream a worker has: its first objects, up to a number, and of those behind them the updates up to a number.
type LearningMark struct {
	Object uint64 `cbor:"1,keyasint"`
	Update uint64 `cbor:"2,keyasint"`
}

// exchange is where a crawl stands.
type exchange struct {
	LearningStream
	Sent  LearningMark            `cbor:"3,keyasint"`
	Taken map[string]LearningMark `cbor:"4,keyasint"` // by name of stream, the own one among them
}

func exchangeOf(r store.Reader, s *state) (x exchange, err error) {
	_, err = r.Load(s.keys.Exchange(), &x)
	return x, err
}

// keptFrom is the first update that the log keeps when a snapshot holds those up to a number: what is not sent is kept.
func (x *exchange) keptFrom(number uint64) uint64 {
	if x.Name == "" || x.Sent.Update >= number { // it sends nothing
		return number + 1
	}
	return max(x.Sent.Update, number-min(number, maxUnsent)) + 1
}

// as is the exchange as a stream continues it. updates is the number of the last update in the log.
func (x exchange) as(stream LearningStream, updates uint64) exchange {
	x.Taken = maps.Clone(x.Taken)
	if x.Taken == nil {
		x.Taken = map[string]LearningMark{}
	}
	if x.Name != "" && x.Name != stream.Name { // the folder is made of another one's checkpoint: what that has sent since is to be taken
		x.Taken[x.Name] = x.Sent
		x.Sent = LearningMark{Update: updates}
	}
	if x.Owner != stream.Owner {
		x.Sent.Object, x.Taken = 0, map[string]LearningMark{}
	}
	x.LearningStream = stream
	return x
}

// LearningState is where a spread crawl stands whose order learns.
type LearningState struct {
	Crawl, Owner, Topic string
	Pages               int64 // that this worker has fetched in the run
}

// SpreadLearners lists the spread crawls that learn and whose runs are in progress. It reads memory alone.
func (f *Frontier) SpreadLearners() (list []LearningState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for name, s := range f.crawls {
		if s.Spread && s.Active && !s.Imported && s.learner() != nil {
			list = append(list, LearningState{name, s.Owner, s.Definition.Topic.Canonical(), s.Totals.Pages})
		}
	}
	return list
}

// LearningMarks are how much the crawl has of each stream, of the run of this one.
func (h Learning) LearningMarks(stream LearningStream) (marks map[string]LearningMark, err error) {
	err = h.exchange(stream, func(x exchange, _ store.Reader, _ *state) error {
		marks = x.Taken
		return nil
	})
	return marks, err
}

func (h Learning) exchange(stream LearningStream, fn func(x exchange, r store.Reader, s *state) error) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	h.f.mu.Lock()
	updates := s.Updates
	h.f.mu.Unlock()
	return h.f.store.View(func(r store.Reader) error {
		x, err := exchangeOf(r, s)
		if err != nil {
			return err
		}
		return fn(x.as(stream, updates), r, s)
	})
}

// Unsent returns updates of this worker that are not sent yet: those that its order has learned, with one in each of their pages (1: all), about so many bytes
// of them at most; none if there are none. next is the mark once they are sent: it passes over those that others have taught and those without a page.
func (h Learning) Unsent(stream LearningStream, bytes, each int) (list []LearningUpdate, next LearningMark, err error) {
	err = h.exchange(stream, func(x exchange, r store.Reader, s *state) error {
		l, err := h.learner()
		if err != nil || l == nil {
			return err
		}
		var last uint64
		l.Frozen(func(number uint64) { last = number })
		next = x.Sent
		size := 0
		err = r.Scan(s.keys.All(store.Updates), s.keys.Update(max(x.Sent.Update, l.TopicSince)+1), func(key store.Key, value []byte) (bool, error) {
			if key.Number() > last || size > 0 && size+len(value) > bytes {
				return false, nil
			}
			raw, err := sampled(key.Number(), value, each)
			if raw != nil {
				list, size = append(list, LearningUpdate{key.Number(), raw}), size+len(raw)
			}
			next.Update = key.Number()
			return true, err
		})
		return err
	})
	if len(list) > 0 {
		next.Object++
	}
	return list, next, err
}

// sampled is an update of this worker with one in each of its pages, of all updates alike; nil if it has none of those, or was taken from others.
func sampled(number uint64, update []byte, each int) ([]byte, error) {
	var u struct { // as learner.Update
		Visits []codec.Raw `cbor:"2,keyasint,omitempty"`
		From   string      `cbor:"3,keyasint,omitempty"`
	}
	if codec.Unmarshal(update, &u) != nil || u.From != "" || len(u.Visits) == 0 {
		return nil, nil
	}
	if each <= 1 {
		return bytes.Clone(update), nil
	}
	kept := u.Visits[:0]
	for i, v := range u.Visits {
		if (number+uint64(i))%uint64(each) == 0 {
			kept = append(kept, v)
		}
	}
	if u.Visits = kept; len(kept) == 0 {
		return nil, nil
	}
	return codec.Marshal(u)
}

// learner is that of the crawl; nil if its order does not learn.
func (h Learning) learner() (*learner.Learner, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	return s.learner(), nil
}

// changeExchange changes where the crawl stands.
func (e *edit) changeExchange(stream LearningStream, fn func(x *exchange) error) error {
	was, err := exchangeOf(e.Reader, e.s)
	if err != nil {
		return err
	}
	x := was.as(stream, e.rec.Updates)
	if err := fn(&x); err != nil {
		return err
	}
	return e.Save(e.s.keys.Exchange(), x)
}

// Sent says that a stream has an object more, see Unsent. Without one, the mark says that the updates up to its number have nothing to send:
// they are not read again then, and a snapshot may delete them.
func (h Learning) Sent(stream LearningStream, mark LearningMark) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	var known bool
	err = h.f.store.View(func(r store.Reader) error {
		x, err := exchangeOf(r, s)
		known = x.LearningStream == stream && x.Sent == mark
		return err
	})
	if err != nil || known {
		return err
	}
	return h.update(func(s *state, tx *transaction) (func(), error) {
		return nil, h.f.edit(tx, s).changeExchange(stream, func(x *exchange) error {
			if mark.Object > x.Sent.Object || mark.Object == x.Taken[stream.Name].Object { // otherwise own objects are still to be taken, see Adopt
				x.Taken[stream.Name] = mark
			}
			x.Sent = mark
			return nil
		})
	})
}

// Take learns from an object of a stream. What was taken before is left alone. An update that cannot be read is left out.
func (h Learning) Take(stream LearningStream, from string, object uint64, list []LearningUpdate) error {
	var taught *state
	err := h.update(func(s *state, tx *transaction) (apply func(), err error) {
		taught = s
		e := h.f.edit(tx, s)
		return apply, errors.Join(err, e.changeExchange(stream, func(x *exchange) error {
			mark := x.Taken[from]
			if object <= mark.Object {
				apply = func() {}
				return nil
			}
			took := learner.Update{From: from}
			for _, l := range list {
				var u learner.Update
				if l.Number > mark.Update && codec.Unmarshal(l.Raw, &u) == nil {
					took.Visits = append(took.Visits, u.Visits...)
				}
				mark.Update = max(mark.Update, l.Number)
			}
			mark.Object = object
			x.Taken[from] = mark
			var err error
			apply, err = e.learn(&took)
			return err
		}))
	})
	if errors.Is(err, store.ErrTooBig) && len(list) > 0 { // the crawl can do without
		return h.Take(stream, from, object, nil)
	}
	if err == nil {
		h.f.train(taught)
	}
	return err
}

// LearningSnapshot is what a worker knows, with how much it has of each stream.
type LearningSnapshot struct {
	Pages int                     `cbor:"1,keyasint"` // that it was learned from
	Marks map[string]LearningMark `cbor:"2,keyasint"`
	Raw   []byte                  `cbor:"3,keyasint"`
}

// Share returns what the crawl knows for Adopt. No Take and no Sent runs meanwhile.
func (h Learning) Share(stream LearningStream) (out LearningSnapshot, err error) {
	err = h.exchange(stream, func(x exchange, _ store.Reader, _ *state) error {
		l, err := h.learner()
		if err != nil || l == nil {
			return errors.Join(err, fmt.Errorf("the order of %s does not learn", h.crawl))
		}
		number, raw, err := l.Snapshot()
		out = LearningSnapshot{l.Order.Pages(), x.Taken, raw}
		out.Marks[stream.Name] = LearningMark{x.Sent.Object, max(number, x.Sent.Update)}
		return err
	})
	return out, err
}

// adoptAhead is how far above the last update the number of an adopted state is: batches that commit meanwhile have lower ones.
const adoptAhead = 1000

// ErrSaving says that a snapshot of what the crawl has learned is being written: try again later.
var ErrSaving = errors.New("a snapshot of what was learned is being written")

// Adopt puts what another worker of the run knows in place of what this one does. What is behind its marks is to be taken then, own objects as
// well. What is not sent yet should be before: this worker's order would not learn it.
func (h Learning) Adopt(stream LearningStream, from LearningSnapshot) error {
	if err := order.NewFused(nil, order.DefaultSettings()).Restore(from.Raw); err != nil {
		return err
	}
	l, err := h.learner()
	if err != nil || l == nil {
		return err
	}
	if !l.StartSaving() {
		return ErrSaving
	}
	defer l.Saved()
	s, err := h.state()
	if err != nil {
		return err
	}
	h.f.mu.Lock()
	seq := s.Updates + adoptAhead
	h.f.mu.Unlock()
	err = h.f.keepSnapshot(s, seq, from.Raw, func(tx *transaction) (func(), error) {
		return func() { l.AddSnapshot(seq, from.Raw) }, h.f.edit(tx, s).changeExchange(stream, func(x *exchange) error {
			x.Taken = maps.Clone(from.Marks)
			return nil
		})
	})
	h.f.train(s)
	return err
}
