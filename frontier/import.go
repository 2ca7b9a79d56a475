package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// ErrBound says that a crawl is bound to this worker which is spread over the workers elsewhere.
var ErrBound = errors.New("the crawl is bound to this worker, and spread over the workers elsewhere: forget it here (muninn forget CRAWL --worker NAME), or give one of the two another name")

// ErrEntry says that an entry that is to be imported is not of its partition, or cannot be read.
var ErrEntry = errors.New("it is no entry of the partition")

// Imported says what an import has read.
type Imported struct {
	Entries int      // also those that were left out
	Bound   []string // crawls that are spread where the entries are from, and bound here: what these have of them was left out
}

// Import puts what another frontier has exported of a partition in place of all that some crawls have of it here; entries of other crawls
// are left out. Crawls are found by their names, and made known where they are not; their run is to be begun by Begin. Entries of claims are
// given back by it.
//
// Nobody claims in the partition before Import returns, of these crawls. ErrBusy if claims of theirs are in progress, which changes nothing.
// After any other error, and after a kill, these crawls have nothing of the partition here once Import or Drop is called or the frontier is
// opened again.
func (f *Frontier) Import(p Partition, of Choice, entries iter.Seq2[PartitionEntry, error]) (out Imported, err error) {
	err = f.move(p, of, func() error {
		in := importing{f: f, p: p, of: of, crawls: map[*PartitionCrawl]*importedCrawl{}, bound: map[*PartitionCrawl]bool{}, rests: map[uint64]time.Time{}, pairs: pairs{to: f.store}}
		for e, err := range entries {
			if err == nil && (e.Crawl == nil || of == AllCrawls || e.Crawl.Spread) && !in.bound[e.Crawl] {
				err = in.add(e)
			}
			if errors.Is(err, ErrBound) {
				in.bound[e.Crawl], out.Bound, err = true, append(out.Bound, e.Crawl.Name), nil
			}
			if err != nil {
				return err
			}
			out.Entries++
		}
		if err := in.pairs.flush(); err != nil {
			return err
		}
		return in.finish()
	})
	if err != nil {
		return out, fmt.Errorf("import partition %d: %w", p, err)
	}
	return out, nil
}

// CheckBound returns ErrBound if one of some crawls is spread where they are from, bound here, and may be in progress there: what is left out of an
// import would be lost. It is over if the bound one is in progress or has a run that is not earlier: there is one crawl of a name at a time, and their
// runs are numbered together.
func (f *Frontier) CheckBound(list []PartitionCrawl) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range list {
		if s := f.crawls[c.Name]; s != nil && c.Spread && !s.Spread && !s.Active && s.Run < c.Run {
			return fmt.Errorf("crawl %s: %w", c.Name, ErrBound)
		}
	}
	return nil
}

// importing is an import in progress.
type importing struct {
	f      *Frontier
	p      Partition
	of     Choice
	crawls map[*PartitionCrawl]*importedCrawl
	bound  map[*PartitionCrawl]bool // those of Imported.Bound
	rests  map[uint64]time.Time     // hosts that may be asked again later
	pairs  pairs
}

// importedCrawl is a crawl of an import in the frontier that imports it.
type importedCrawl struct {
	*state
	counter  uint64 // the highest of its entries
	counts   map[uint32]knownURLs
	archives map[int]int // by the number that the export has: the number here; nil if all are the same
}

// moveBytes is how many bytes of entries are written at a time.
const moveBytes = 4 << 20

// restsAtOnce is how many hosts are said to rest in one transaction.
const restsAtOnce = 1000

func (in *importing) add(e PartitionEntry) error {
	kind := store.Kind(e.Kind)
	if !slices.Contains(store.OfExports(), kind) || (e.Crawl == nil) != (kind == store.Hosts) || !in.p.Has(e.Key) {
		return fmt.Errorf("%w: kind %q, key %x", ErrEntry, e.Kind, e.Key)
	}
	if e.Crawl == nil {
		var h record.Host
		if err := codec.Unmarshal(e.Value, &h); err != nil {
			return fmt.Errorf("%w: kind %q, key %x: %w", ErrEntry, e.Kind, e.Key, err)
		}
		in.rests[binary.BigEndian.Uint64(e.Key)] = time.UnixMilli(h.Next)
		return nil
	}
	c, err := in.crawl(e.Crawl)
	if err != nil {
		return err
	}
	pair, err := c.pair(kind, e)
	if err != nil {
		return fmt.Errorf("%w: kind %q, key %x: %w", ErrEntry, e.Kind, e.Key, err)
	}
	return in.pairs.add(pair)
}

// pairs gathers what is to be written, and writes it in portions.
type pairs struct {
	to    *store.Store
	list  []store.Pair
	bytes int
}

func (p *pairs) add(pair store.Pair) error {
	p.list = append(p.list, pair)
	p.bytes += len(pair.Key) + len(pair.Value)
	if len(p.list) < moveBatch && p.bytes < moveBytes {
		return nil
	}
	return p.flush()
}

func (p *pairs) flush() error {
	err := p.to.Write(p.list)
	p.list, p.bytes = p.list[:0], 0
	return err
}

// pair is an entry as this frontier keeps it.
func (c *importedCrawl) pair(kind store.Kind, e PartitionEntry) (store.Pair, error) {
	pair := store.Pair{Key: append(c.keys.All(kind), e.Key...), Value: bytes.Clone(e.Value)}
	switch kind {
	case store.Entries:
		at, ok := pair.Key.Position()
		if !ok {
			return pair, errors.New("it has no position")
		}
		c.counter = max(c.counter, at.Counter)
	case store.Digests:
		if c.archives == nil {
			break
		}
		number, digest := record.SplitDigest(string(e.Key[8:]))
		pair.Key = c.keys.Digest(binary.BigEndian.Uint64(e.Key), c.archive(number), digest)
	case store.Records:
		r, err := record.Decode(e.Value)
		if err != nil {
			return pair, err
		}
		countBy(c.counts, &r)
		if to := c.archive(r.Archive); to != r.Archive {
			r.Archive = to
			pair.Value = r.Encode()
		}
	}
	return pair, nil
}

// archive is the number here of an archive.
func (c *importedCrawl) archive(number int) int {
	if to, other := c.archives[number]; other {
		return to
	}
	return number
}

// crawl is the crawl that entries are of; it is made known if it is not.
func (in *importing) crawl(of *PartitionCrawl) (*importedCrawl, error) {
	if c := in.crawls[of]; c != nil {
		return c, nil
	}
	c := &importedCrawl{counts: map[uint32]knownURLs{}}
	err := in.f.update(func(tx *transaction) (func(), error) {
		s, apply, err := in.f.acquaint(tx, of)
		if err != nil {
			return nil, err
		}
		rec := in.f.draft(tx, s)
		c.state, c.archives = s, nil
		for number, place := range of.Archives {
			here := slices.Index(rec.Archives, place)
			if here < 0 {
				here, rec.Archives, rec.planned = len(rec.Archives), append(slices.Clip(rec.Archives), place), true
			}
			if here != number {
				if c.archives == nil {
					c.archives = map[int]int{}
				}
				c.archives[number] = here
			}
		}
		return apply, nil
	})
	if err != nil {
		return nil, err
	}
	in.crawls[of] = c
	return c, nil
}

// acquaint returns a crawl of an import, and makes it known if it is not.
func (f *Frontier) acquaint(tx *transaction, of *PartitionCrawl) (s *state, apply func(), err error) {
	f.mu.Lock()
	s, known := f.crawls[of.Name]
	id, full := f.freeID(tx)
	f.mu.Unlock()
	if !known {
		s, known = tx.added[of.Name]
	}
	if known && of.Spread && !f.draft(tx, s).Spread {
		return nil, nil, fmt.Errorf("crawl %s: %w", of.Name, ErrBound)
	}
	if known {
		return s, nil, nil
	}
	if full != nil {
		return nil, nil, full
	}
	s, err = f.newState(crawlRecord{ID: id, Name: of.Name, Sequence: f.opts.Now().UnixMilli(), Run: of.Run, Imported: true, Spread: of.Spread, Unclaimed: true})
	if err != nil {
		return nil, nil, err
	}
	tx.addCrawl(of.Name, s)
	return s, func() { f.adopt(s, s.scope) }, nil
}

// finish brings memory up to what was written, and takes the mark away.
func (in *importing) finish() error {
	f := in.f
	for plds := range slices.Chunk(slices.Sorted(maps.Keys(in.rests)), restsAtOnce) {
		rests := map[uint64]time.Time{}
		for _, pld := range plds {
			rests[pld] = in.rests[pld]
		}
		if err := f.update(func(tx *transaction) (func(), error) { return f.restHosts(tx, rests) }); err != nil {
			return err
		}
	}
	read := map[*importedCrawl]*state{}
	for _, c := range in.crawls {
		s, err := f.readPartition(c, in.p)
		if err != nil {
			return err
		}
		read[c] = s
	}
	return f.update(func(tx *transaction) (func(), error) {
		for c := range read {
			rec := f.draft(tx, c.state)
			if rec.Counter = max(rec.Counter, c.counter); in.of == SpreadCrawls && rec.Spread { // what is restored with the crawls is in their totals
				rec.moveKnown(c.counts, 1)
			}
		}
		return func() {
			f.moves.set(in.p, 0)
			for c, s := range read {
				c.join(s)
			}
		}, tx.Delete(store.Move(in.p))
	})
}

// readPartition reads what memory is to hold of a partition of a crawl. Nobody writes to it: it is marked.
func (f *Frontier) readPartition(c *importedCrawl, p Partition) (*state, error) {
	f.mu.Lock()
	rec := c.crawlRecord
	f.mu.Unlock()
	s := &state{crawlRecord: rec, keys: rec.ID, hosts: newHosts(nil, f.opts)}
	s.clear()
	return s, f.store.View(func(txn store.Reader) error {
		return f.loadQueuesOf(s, func(kind store.Kind, fn func(store.Key, []byte) (bool, error)) error {
			return txn.InPartition(s.keys, kind, p, fn)
		})
	})
}

// join puts what was read of a partition in force; Frontier.mu is held.
func (s *state) join(read *state) {
	for pld, q := range read.queues {
		s.queues[pld] = q
		q.Enter(s.Run)
		s.hosts.inform(s, q)
		s.placeQueue(q)
	}
	s.waiting += read.waiting
	s.evicted = s.evicted || read.evicted
	for p, first := range read.delays.by {
		s.delays.addMany(p, first, read.delays.n)
	}
}
