package frontier

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// ErrNotBegun says that the frontier has not begun the run that a delivery is of.
var ErrNotBegun = errors.New("that run of the crawl has not begun here")

// Delivery is what a batch of another worker has found in partitions of this one.
type Delivery struct {
	Worker string // that has the batch
	Number uint64 // of the batch: see Number. A later batch of the worker has a higher one
	Nonce  string // of the batch's life
	Run    uint32 // of the crawl
	// Watermark is that of the worker's frontier: the batches that it passes deliver nothing more, and what is kept to know their
	// deliveries again is deleted.
	Watermark   Watermark
	Discoveries []crawl.Discovery // in an order that does not change
	replayed    bool              // the totals of the run are left as they are, but for what a spread crawl knows, see Replay

	pages []crawl.PageOutcome // that were fetched there, of which it is learned what is a trap: where a segment of the archive is replayed
}

// deliveryPart is how many links to a partition have a mark together.
const deliveryPart = 1000

// delivered is a part of a delivery, which has a mark of its own.
type delivered struct {
	partition Partition
	number    int // among the parts of the partition
	pld       uint64
	found     []crawl.Discovery
	links, of []*offered // see gather
	bytes     int
}

// Deliver queues what a batch of another worker has found, as its own Commit would. It is idempotent by worker, batch and partition,
// also if the partition has been imported since: the marks move with it. may says whether a partition takes deliveries, by the worker's view
// of the ring; it is asked before anything is read, within each mutation, because a partition that was given away may be dropped by then, and what is written
// after that would stay; and again once all is on disk: what was written to a partition that was given away meanwhile may not be in its export. Its error is returned, and then the delivery is to be sent again, to the worker that has the partition.
// ErrMoving while the partition is being imported, ErrNotBegun before the run begins, ErrNoCrawl if the crawl is not known.
//
// Marks of deliveries are deleted by some later deliveries of the same worker to the partition, see Watermark. An attempt that comes
// later than that, which no caller waits for any more, would count its links twice; it loses nothing.
func (h Crawl) Deliver(d Delivery, may func(Partition) error) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	h.f.mu.Lock()
	begun := !s.Imported && s.Run >= d.Run
	h.f.mu.Unlock()
	if !begun { // a crawl that is known by an import alone has no scope yet
		return fmt.Errorf("%w: run %d of %s", ErrNotBegun, d.Run, h.crawl)
	}
	return h.receive(s, d, may)
}

// receive is Deliver to a crawl that has a scope.
func (h Crawl) receive(s *state, d Delivery, may func(Partition) error) error {
	h.f.mu.Lock()
	bound := s.scope
	h.f.mu.Unlock()
	parts := partsOf(d.Discoveries)
	if err := d.allowed(parts, may); err != nil {
		return err
	}
	for i := range parts {
		p := &parts[i]
		p.links, p.of = gather(bound, p.found, false)
		for _, o := range p.links {
			p.bytes += o.size()
		}
	}
	for rest := parts; len(rest) > 0; {
		n, links, bytes := 0, 0, 0
		for n < len(rest) && (n == 0 || links+len(rest[n].links) < commitPart && bytes+rest[n].bytes < commitBytes) {
			links, bytes = links+len(rest[n].links)+1, bytes+rest[n].bytes
			n++
		}
		err := h.deliver(&d, rest[:n], may)
		if errors.Is(err, store.ErrTooBig) {
			for i := range rest[:n] {
				rest[i].links = portion{links: rest[i].links}.spare().links
			}
			d.pages = nil // what is known of traps may be 8 KB a PLD
			err = h.deliver(&d, rest[:n], may)
		}
		if err != nil {
			return err
		}
		rest = rest[n:]
	}
	return d.allowed(parts, may)
}

// allowed asks for the right in the partitions of parts, which stand in their order.
func (d *Delivery) allowed(parts []delivered, may func(Partition) error) error {
	for i := range parts {
		if i > 0 && parts[i].partition == parts[i-1].partition {
			continue
		}
		if err := may(parts[i].partition); err != nil {
			return fmt.Errorf("deliver batch %d of %s: %w", d.Number, d.Worker, err)
		}
	}
	return nil
}

// partsOf divides discoveries by partition, in their order. The parts of a partition depend on the discoveries in it alone: a worker that had other
// partitions at an attempt before has the same marks.
func partsOf(found []crawl.Discovery) []delivered {
	plds := map[string]uint64{} // by host
	var by [Partitions][]delivered
	for _, d := range found {
		host := urls.HostOf(d.URL)
		pld, known := plds[host]
		if !known {
			u, err := urls.Trusted(d.URL)
			if err != nil {
				continue
			}
			pld = record.KeyOf(u).PLD
			plds[host] = pld
		}
		p := store.PartitionOf(pld)
		last := len(by[p]) - 1
		if last < 0 || len(by[p][last].found) == deliveryPart {
			by[p] = append(by[p], delivered{partition: p, number: len(by[p]), pld: pld})
			last++
		}
		by[p][last].found = append(by[p][last].found, d)
	}
	return slices.Concat(by[:]...)
}

// deliver writes parts that have no mark yet.
func (h Crawl) deliver(d *Delivery, parts []delivered, may func(Partition) error) error {
	return h.update(func(s *state, tx *transaction) (func(), error) {
		if err := d.allowed(parts, may); err != nil {
			return nil, err
		}
		e := h.f.edit(tx, s)
		if e.rec.Run < d.Run {
			return nil, fmt.Errorf("%w: run %d of %s", ErrNotBegun, d.Run, h.crawl)
		}
		totals, former := e.rec.Totals, e.rec.Former
		fresh, links, err := h.unmarked(tx, s, d, parts)
		if err != nil {
			return nil, err
		}
		if err := e.look(links); err != nil {
			return nil, err
		}
		if err := e.learnReplayed(d, fresh); err != nil {
			return nil, err
		}
		for _, p := range fresh {
			for _, o := range p.links {
				if err := e.offer(o); err != nil {
					return nil, err
				}
			}
			if trims(d.Number) {
				if err := d.Watermark.trim(tx.Tx, s.keys, p.partition, d.Worker, d.Number); err != nil {
					return nil, err
				}
			}
			if err := tx.Set(s.keys.Delivered(p.partition, d.Worker, d.Number, d.Nonce, p.number), d.Watermark.value()); err != nil {
				return nil, err
			}
		}
		if len(fresh) == 0 {
			return nil, nil
		}
		if err := e.sites.save(tx.Tx); err != nil {
			return nil, err
		}
		apply, err := e.finish(nil, nil)
		if d.replayed {
			e.rec.undoTotals(totals, former)
		}
		return apply, err
	})
}

// unmarked are the parts that have no mark yet, and their links.
func (h Crawl) unmarked(tx *transaction, s *state, d *Delivery, parts []delivered) (fresh []*delivered, links []*offered, err error) {
	for i := range parts {
		p := &parts[i]
		if h.f.isMoving(tx, s, p.pld) {
			return nil, nil, fmt.Errorf("deliver to partition %d: %w", p.partition, ErrMoving)
		}
		already, err := tx.Has(s.keys.Delivered(p.partition, d.Worker, d.Number, d.Nonce, p.number))
		if !already && err == nil { // or all of it was committed here, when the batch was this worker's own
			already, err = tx.Has(s.keys.Delivered(p.partition, d.Worker, d.Number, d.Nonce, wholeBatch))
		}
		if err != nil {
			return nil, nil, err
		}
		if !already {
			fresh, links = append(fresh, p), append(links, p.links...)
		}
	}
	return fresh, links, nil
}

// Watermark is that of the crawl here: below the lowest of claims in progress, of which batches are or will be made, and of batches that are committed
// and have links left to deliver; or below the next one. It passes nothing until the first claim.
func (h Crawl) Watermark() (w Watermark, err error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.get(h.crawl)
	if err == nil {
		w = s.watermark()
	}
	return w, err
}

// watermark is that of the crawl; Frontier.mu is held.
func (s *state) watermark() Watermark {
	if s.Unclaimed {
		return Watermark{}
	}
	mark := uint64(s.Sequence) + 1
	for _, n := range s.OwingNumbers {
		mark = min(mark, n)
	}
	for _, o := range s.Owing {
		if n, ok := Number(o.Batch); ok {
			mark = min(mark, n)
		}
	}
	for c := range s.claims.All() {
		if n, ok := Number(c.ID); ok {
			mark = min(mark, n)
		}
		if n, ok := Number(c.Batch); ok {
			mark = min(mark, n)
		}
	}
	return Watermark{s.First, mark}
}

// Number is that of a claim, or of a batch, which is named after one: PLD-N or PLD-N@….
func Number(name string) (n uint64, ok bool) {
	claim, _, _ := strings.Cut(name, "@")
	n, err := strconv.ParseUint(claim[strings.LastIndexByte(claim, '-')+1:], 10, 64)
	return n, err == nil
}
