package frontier

import "slices"

// Owing is a batch of this worker that is committed and has links left to deliver (Commit.Owes). It has no claims: its queues are free, and a partition
// of it can be handed over. But it is in progress still: the run is neither idle nor drained here, and the watermark does not pass the batch.
type Owing struct {
	Batch   string `cbor:"1,keyasint"`
	Nonce   string `cbor:"2,keyasint"` // of its life: with batch and archive it names the segment
	Archive int    `cbor:"3,keyasint"` // number
}

// owe notes a batch that owes.
func (e *edit) owe(o Owing) {
	if !slices.Contains(e.rec.Owing, o) {
		e.rec.Owing = append(e.rec.Owing, o)
	}
}

// owing is how many batches owe.
func (rec *crawlRecord) owing() int { return len(rec.OwingNumbers) + len(rec.Owing) }

// inProgress is how many claims and batches are in progress.
func (s *state) inProgress() int { return s.claims.Len() + s.owing() }

// Owing lists the batches that owe, in the order of their commits. Of those that an earlier version has committed it knows nothing.
func (h Crawl) Owing() ([]Owing, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	return slices.Clone(s.Owing), nil
}

// Delivered says that nothing of a committed batch is left to deliver.
func (h Batch) Delivered() error {
	s, err := h.state()
	if err != nil {
		return err
	}
	n, _ := Number(h.id)
	h.f.mu.Lock()
	owes := slices.Contains(s.OwingNumbers, n) || slices.ContainsFunc(s.Owing, func(o Owing) bool { return o.Batch == h.id })
	h.f.mu.Unlock()
	if !owes {
		return nil
	}
	return h.update(func(s *state, tx *transaction) (func(), error) {
		rec := h.f.draft(tx, s)
		rec.OwingNumbers = slices.DeleteFunc(rec.OwingNumbers, func(o uint64) bool { return o == n })
		rec.Owing = slices.DeleteFunc(rec.Owing, func(o Owing) bool { return o.Batch == h.id })
		return nil, nil
	})
}
