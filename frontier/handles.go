package frontier

import (
	"github.com/muninn-archive/muninn/internal/scope"
)

// handle names a crawl of a frontier. Handles are values: they cost no lock, keep nothing, and may be of a crawl that nobody knows;
// then their methods return ErrNoCrawl.
type handle struct {
	f     *Frontier
	crawl string
}

// Crawl is a crawl of a frontier: its plan and its runs.
type Crawl struct{ handle }

// Batch is a batch of a crawl: the claims that are bound to it.
type Batch struct {
	handle
	id string
}

// Lane is the fetching of a claim: what its lease allows, and what it owes the hosts that it asks.
type Lane struct {
	handle
	claim string
}

// Claims are those of a crawl: rounds of claiming, and what Politeness answers to them.
type Claims struct{ handle }

// URLs are those that a crawl knows.
type URLs struct{ handle }

// Learning is what a crawl learns of its topic.
type Learning struct{ handle }

// Crawl returns the crawl of a name, known or not.
func (f *Frontier) Crawl(name string) Crawl { return Crawl{handle{f, name}} }

// Batch returns the batch of an ID.
func (h Crawl) Batch(id string) Batch { return Batch{h.handle, id} }

// Lane returns the lane of a claim.
func (h Crawl) Lane(claim string) Lane { return Lane{h.handle, claim} }

// Claims returns the claims of the crawl.
func (h Crawl) Claims() Claims { return Claims(h) }

// URLs returns the URLs of the crawl.
func (h Crawl) URLs() URLs { return URLs(h) }

// Learning returns what the crawl learns.
func (h Crawl) Learning() Learning { return Learning(h) }

// state returns the crawl with all that memory holds of it; Frontier.mu is not held.
func (h handle) state() (*state, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	return h.f.get(h.crawl)
}

// update makes a mutation of the crawl durable, with all that memory holds of it.
func (h handle) update(do func(s *state, tx *transaction) (func(), error)) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		h.f.mu.Lock()
		err := s.forgotten()
		if err == nil {
			err = h.f.awake(s) // it may have fallen asleep since
		}
		h.f.mu.Unlock()
		if err != nil {
			return nil, err
		}
		return do(s, tx)
	})
}

// change changes the crawl's record, and puts it in force.
func (h handle) change(edit func(rec *crawlRecord)) error {
	var changed *state
	err := h.update(func(s *state, tx *transaction) (func(), error) {
		changed = s
		rec := h.f.draft(tx, s)
		edit(rec)
		sc, err := scope.New(rec.Definition, rec.Bounds)
		if err != nil {
			return nil, err
		}
		return func() { h.f.adopt(s, sc) }, nil
	})
	if err != nil {
		return err
	}
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	h.f.placeQueues(changed)
	return nil
}
