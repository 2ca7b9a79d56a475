package frontier

import (
	"cmp"
	"encoding/binary"
	"math"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Each partition of a spread crawl says which batches have brought links to it, its owner's own as well: there is a mark of each that the
// watermark of its worker has not passed, and the value of a mark is that watermark. So the worker that makes the partition again knows which segments of the
// archive it has: those that the highest watermark of their folder has passed, and those with a mark.

// wholeBatch is the part of a mark that stands for all parts: the worker's own batches bring them in one mutation.
const wholeBatch = math.MaxUint32

// trims reports whether a batch, or its delivery, deletes the marks below the watermark of its worker in the partitions that it has links to: one of
// sixteen does, because a look into each partition costs more than the marks. Numbers of batches may have a period: each has so many claims.
func trims(number uint64) bool { return number*0x9e3779b97f4a7c15>>60 == 0 }

// Watermark says which batches of a data folder deliver nothing more: those with numbers from its first claim on, and below another number. The numbers
// of a new folder of a worker begin above those of its former one, whose batches may have links left that other workers take over meanwhile.
type Watermark struct {
	First uint64 `json:"first,omitempty"` // 0: an earlier version has made the first claim, and all below counted
	Below uint64 `json:"below"`
}

// passes reports whether it passes the batch of that number.
func (w Watermark) passes(number uint64) bool { return w.First <= number && number < w.Below }

// value is that of a mark.
func (w Watermark) value() []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, w.Below), w.First)
}

// watermarkOf reads the value of a mark, also of an earlier version, which has the number alone below which all batches of the worker counted.
func watermarkOf(value []byte) (w Watermark, ok bool) {
	switch len(value) {
	case 8:
		return Watermark{0, binary.BigEndian.Uint64(value)}, true
	case 16:
		return Watermark{binary.BigEndian.Uint64(value[8:]), binary.BigEndian.Uint64(value)}, true
	}
	return w, false
}

// trim deletes the marks in a partition of the batches of a worker that the watermark passes, up to a batch.
func (w Watermark) trim(tx store.Tx, keys store.Keys, p Partition, worker string, number uint64) error {
	if w.First >= min(w.Below, number) {
		return nil
	}
	return tx.DeleteBetween(keys.DeliveredBy(p, worker), keys.Delivered(p, worker, w.First, "", 0), keys.Delivered(p, worker, min(w.Below, number), "", 0))
}

// Watermarks are, by worker, those of the data folders that it has had, in the order of their numbers.
type Watermarks map[string][]Watermark

// Add adds one; of each folder the highest counts.
func (m Watermarks) Add(worker string, w Watermark) {
	list := m[worker]
	i, known := slices.BinarySearchFunc(list, w, func(a, b Watermark) int { return cmp.Compare(a.First, b.First) })
	if known {
		list[i].Below = max(list[i].Below, w.Below)
	} else {
		m[worker] = slices.Insert(list, i, w)
	}
}

// Pass reports whether they pass the batch of a worker with that number.
func (m Watermarks) Pass(worker string, number uint64) bool {
	return slices.ContainsFunc(m[worker], func(w Watermark) bool { return w.passes(number) })
}

// marks are those of a batch of this worker that is committed; nil: it leaves none.
type marks struct {
	e      *edit
	worker string
	number uint64
	nonce  string
	known  map[Partition]brought
	counts map[Partition]int // of the batch's discoveries; nil until they are asked for
}

// brought says what deliveries of a batch have brought to a partition before the batch is committed.
type brought uint8

const (
	noParts brought = iota
	someParts
	allParts
)

// marksOf are those of a batch with some claims.
func (e *edit) marksOf(batch string, claims []*Claim) *marks {
	worker, number, ok := BatchOf(batch)
	if !e.rec.Spread || len(claims) == 0 || !ok {
		return nil
	}
	return &marks{e, worker, number, claims[0].Nonce, map[Partition]brought{}, nil}
}

// delivered says how much of the links of the batch a partition has already: a delivery to its former owner has brought them, or its segment was in the archive when it was made again. Deliveries
// write their parts in order, so the last one stands for all.
func (m *marks) delivered(p Partition, found []crawl.Discovery) (brought, error) {
	if m == nil {
		return noParts, nil
	}
	has, known := m.known[p]
	if known {
		return has, nil
	}
	first, err := m.e.Has(m.e.s.keys.Delivered(p, m.worker, m.number, m.nonce, 0))
	if err != nil {
		return noParts, err
	}
	if first {
		last, err := m.e.Has(m.e.s.keys.Delivered(p, m.worker, m.number, m.nonce, m.last(p, found)))
		if err != nil {
			return noParts, err
		}
		if has = someParts; last {
			has = allParts
		}
	}
	m.known[p] = has
	return has, nil
}

// last is the number of the last part in which the discoveries of a partition are delivered.
func (m *marks) last(p Partition, found []crawl.Discovery) int {
	if m.counts == nil {
		m.counts = map[Partition]int{}
		for _, part := range partsOf(found) {
			m.counts[part.partition]++
		}
	}
	return m.counts[p] - 1
}

// all marks the partitions to which the batch has brought links.
func (m *marks) all(now committing) error {
	if m == nil {
		return nil
	}
	keys := m.e.s.keys
	m.e.f.mu.Lock()
	watermark := m.e.s.watermark()
	m.e.f.mu.Unlock()
	watermark.Below = min(watermark.Below, m.number)
	marked := map[Partition]bool{}
	for _, o := range now.all {
		p := store.PartitionOf(o.key.PLD)
		if marked[p] || now.c.Others != nil && now.c.Others(p) {
			continue
		}
		marked[p] = true
		if trims(m.number) {
			if err := watermark.trim(m.e.Tx, keys, p, m.worker, m.number); err != nil {
				return err
			}
		}
		if err := m.e.Set(keys.Delivered(p, m.worker, m.number, m.nonce, wholeBatch), watermark.value()); err != nil {
			return err
		}
	}
	return nil
}

// BatchOf is the worker and the number of a batch, by its name PLD-N@WORKER.EPOCH. Batches of earlier versions name no worker.
func BatchOf(name string) (worker string, number uint64, ok bool) {
	number, ok = Number(name)
	_, worker, _ = strings.Cut(name, "@")
	if dot := strings.LastIndexByte(worker, '.'); dot >= 0 {
		worker = worker[:dot]
	}
	return worker, number, ok && worker != ""
}

// Watermarks are those that the marks of a partition say: what the batches that they pass have found there is in it.
func (h Crawl) Watermarks(p Partition) (Watermarks, error) {
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	marks := Watermarks{}
	err = h.f.store.View(func(txn store.Reader) error {
		return txn.InPartition(s.keys, store.Deliveries, p, func(key store.Key, value []byte) (bool, error) {
			worker, ok := key.Delivered()
			if w, has := watermarkOf(value); ok && has && worker != rebuildWorker {
				marks.Add(worker, w)
			}
			return true, nil
		})
	})
	return marks, err
}
