package frontier

import (
	"errors"
	"fmt"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/share"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Rights are what this worker may do in the partitions of crawls that are spread over the ring of workers. Crawls that are bound to this
// worker ask for none. It is safe for concurrent use, and takes no lock of the frontier.
//
// Mutations ask within the writer. So a caller that takes the right to commit in a partition away, as ring.Membership.StartExport does, and then calls
// Frontier.CheckFree, finds all on disk that was ever allowed in it.
type Rights interface {
	// Epoch is that of the view of the ring by which the worker acts; 0 if it may do nothing at present.
	Epoch() uint64
	// Check reports whether the worker may claim, fetch, commit or accept in a partition by what was made in an epoch. The error is
	// ring.ErrStale if the partition is another worker's, or has been since; ring.ErrNotNow if it may be allowed later.
	Check(act ring.Act, p Partition, epoch uint64) error
}

// ErrUndelivered says that a batch has found links in a partition that is not this worker's at present, and which Commit.Others does not
// name: they are to be delivered first, or the worker has to wait for the partition.
var ErrUndelivered = errors.New("links to partitions of other workers are not delivered yet")

// PartlyDeliveredError says that a delivery has brought some of the links of a batch to partitions that are this worker's now: it was cut off when their owner gave them away. Its parts
// are not those of a commit, so it is to be sent again, to this worker, before the batch is committed with these partitions among Commit.Others.
type PartlyDeliveredError struct {
	Batch      string
	Partitions []Partition
}

func (e *PartlyDeliveredError) Error() string {
	return fmt.Sprintf("commit %s: its links to partitions %v are delivered in part", e.Batch, e.Partitions)
}

// ErrElsewhere says that a submitted URL is in a partition that is not this worker's at present.
var ErrElsewhere = errors.New("the URL is to be submitted to the worker that owns its partition")

// rights are those that the crawl depends on; nil if it is bound to this worker.
func (s *state) rights(f *Frontier) Rights {
	if !s.crawlRecord.Spread {
		return nil
	}
	return f.opts.Rights
}

// epoch is that by which the crawl acts now: 0 if it is bound to this worker, or may do nothing.
func (s *state) epoch(f *Frontier) uint64 {
	if rights := s.rights(f); rights != nil {
		return rights.Epoch()
	}
	return 0
}

// check reports whether the crawl may do something to a PLD by what was made in an epoch. See Rights.Check.
func (s *state) check(f *Frontier, act ring.Act, pld, epoch uint64) error {
	if rights := s.rights(f); rights != nil {
		return rights.Check(act, store.PartitionOf(pld), epoch)
	}
	return nil
}

// idles reports whether the crawl may do nothing at present.
func (s *state) idles(f *Frontier) bool {
	rights := s.rights(f)
	return rights != nil && rights.Epoch() == 0
}

// committable answers, for one mutation, what the crawl may commit to. nil: to everything.
type committable struct {
	rights Rights
	epoch  uint64
	known  map[Partition]error
	claims map[uint64]uint64 // by PLD: by which epoch its claim was made
}

// committable is for the commit of claims, or of none.
func (s *state) committable(f *Frontier, claims []*Claim) *committable {
	rights := s.rights(f)
	if rights == nil {
		return nil
	}
	c := &committable{rights: rights, epoch: rights.Epoch(), known: map[Partition]error{}, claims: map[uint64]uint64{}}
	for _, claim := range claims {
		c.claims[claim.Queue] = claim.Epoch
	}
	return c
}

// to reports whether a PLD may be committed to now.
func (c *committable) to(pld uint64) error {
	if c == nil {
		return nil
	}
	p := store.PartitionOf(pld)
	err, known := c.known[p]
	if !known {
		err = c.rights.Check(ring.Commit, p, c.epoch)
		c.known[p] = err
	}
	return err
}

// lost reports whether the partition of a URL is another worker's by now, which has its outcome of the archive.
func (c *committable) lost(url string) (bool, error) {
	if c == nil {
		return false, nil
	}
	u, err := urls.Trusted(url)
	if err != nil {
		return false, fmt.Errorf("commit %s: %w", url, err)
	}
	pld := record.KeyOf(u).PLD
	epoch, claimed := c.claims[pld]
	if claimed { // first: who loads the partition, perhaps this worker, waits until a claim of a former tenure is gone
		err = c.rights.Check(ring.Commit, store.PartitionOf(pld), epoch)
	}
	if !errors.Is(err, ring.ErrStale) {
		err = errors.Join(err, c.to(pld))
	}
	if errors.Is(err, ring.ErrStale) {
		return true, nil
	}
	return false, err
}

// Idle is what the worker says of its part of a crawl: Epoch, Idle and Work. Idle: what the run begins with is queued (Seeded), no URL waits here whose PLD's budget is not spent, none waits for
// its next attempt, and nothing is in progress; a batch is in progress until it is committed and all that it has found for
// other workers is acknowledged by them. Work rises whenever a URL is queued or claimed, also over restarts.
func (h Crawl) Idle() (r share.IdleReport, err error) {
	if rights := h.f.opts.Rights; rights != nil {
		r.Epoch = rights.Epoch() // before the rest: what comes with a later epoch is not taken for this one's
	}
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return r, err
	}
	h.f.placeQueues(s) // else a queue whose budget was raised would seem spent
	r.Idle = !s.Unseeded && s.waitingLive() == 0 && s.delays.n == 0 && s.inProgress() == 0 && len(h.f.moves.now) == 0
	r.Work = s.Counter + uint64(s.Sequence)
	return r, nil
}

// LinksTo lists the partitions that some of these lead to and that are in the crawl's scope, in order.
func (h Crawl) LinksTo(found []crawl.Discovery) (partitions []Partition, err error) {
	h.f.mu.Lock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		h.f.mu.Unlock()
		return nil, err
	}
	bound := s.scope
	h.f.mu.Unlock()
	var to [Partitions]bool
	list, _ := gather(bound, found, false)
	for _, o := range list {
		to[store.PartitionOf(o.key.PLD)] = true
	}
	for p, is := range to {
		if is {
			partitions = append(partitions, Partition(p))
		}
	}
	return partitions, nil
}

// MayCommit reports whether the claims of a batch of a spread crawl are still this worker's, so that it may be archived: the error of the
// first that is not. What another worker asks again must not be archived twice.
func (h Batch) MayCommit() error {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil || s.rights(h.f) == nil {
		return err
	}
	for _, c := range s.claims.OfBatch(h.id) {
		if err := s.check(h.f, ring.Commit, c.Queue, c.Epoch); err != nil {
			return fmt.Errorf("archive %s: claim %s: %w", h.id, c.ID, err)
		}
	}
	return nil
}

// others says which partitions are left out of what no batch has found: of what each worker offers for itself, such as seeds, those that
// another worker owns for sure; of new scores of URLs that wait, all in which nothing may be changed now. nil: none.
func (h Crawl) others(rescore bool) (func(Partition) bool, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err != nil {
		return nil, err
	}
	rights := s.rights(h.f)
	if rights == nil {
		return nil, nil
	}
	epoch := rights.Epoch()
	return func(p Partition) bool {
		err := rights.Check(ring.Commit, p, epoch)
		return rescore && err != nil || errors.Is(err, ring.ErrStale)
	}, nil
}

// ByPartition divides discoveries by partition.
func ByPartition(found []crawl.Discovery) map[Partition][]crawl.Discovery {
	by := map[Partition][]crawl.Discovery{}
	for _, d := range found {
		if u, err := urls.Trusted(d.URL); err == nil {
			p := store.PartitionOf(record.KeyOf(u).PLD)
			by[p] = append(by[p], d)
		}
	}
	return by
}
