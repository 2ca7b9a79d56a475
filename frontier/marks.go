package frontier

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/store"
)

// Each partition of a spread crawl says which batches have brought links to it, its owner's own as well: there is a mark of each that is not
// below the watermark of its worker, and the value of a mark is that watermark. So the worker that makes the partition again knows which segments of the
// archive it has: those below the highest watermark of their worker, and those with a mark.

// wholeBatch is the part of a mark that stands for all parts: the worker's own batches bring them in one mutation.
const wholeBatch = math.MaxUint32

// trims reports whether a batch, or its delivery, deletes the marks below the watermark of its worker in the partitions that it has links to: one of
// sixteen does, because a look into each partition costs more than the marks. Numbers of batches may have a period: each has so many claims.
func trims(number uint64) bool { return number*0x9e3779b97f4a7c15>>60 == 0 }

func markValue(watermark uint64) []byte { return binary.BigEndian.AppendUint64(nil, watermark) }

// marks are those of a batch of this worker that is committed; nil: it leaves none.
type marks struct {
	e      *edit
	worker string
	number uint64
	nonce  string
	known  map[Partition]bool
}

// marksOf are those of a batch with some claims.
func (e *edit) marksOf(batch string, claims []*Claim) *marks {
	worker, number, ok := BatchOf(batch)
	if !e.rec.Spread || len(claims) == 0 || !ok {
		return nil
	}
	return &marks{e, worker, number, claims[0].Nonce, map[Partition]bool{}}
}

// delivered reports whether a partition has the links of the batch already: when it was made again, its segment was in the archive.
func (m *marks) delivered(p Partition) (bool, error) {
	if m == nil {
		return false, nil
	}
	has, known := m.known[p]
	if known {
		return has, nil
	}
	has, err := m.e.Has(m.e.s.keys.Delivered(p, m.worker, m.number, m.nonce, 0))
	m.known[p] = has
	return has, err
}

// all marks the partitions to which the batch has brought links.
func (m *marks) all(now committing) error {
	if m == nil {
		return nil
	}
	keys := m.e.s.keys
	m.e.f.mu.Lock()
	watermark := min(m.e.s.watermark(), m.number)
	m.e.f.mu.Unlock()
	marked := map[Partition]bool{}
	for _, o := range now.all {
		p := store.PartitionOf(o.key.PLD)
		if marked[p] || now.c.Others != nil && now.c.Others(p) {
			continue
		}
		marked[p] = true
		if trims(m.number) {
			if err := m.e.DeleteBelow(keys.DeliveredBy(p, m.worker), keys.Delivered(p, m.worker, watermark, "", 0)); err != nil {
				return err
			}
		}
		if err := m.e.Set(keys.Delivered(p, m.worker, m.number, m.nonce, wholeBatch), markValue(watermark)); err != nil {
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

// Watermarks are those that the marks of a partition say, by worker: what their batches below them have found there is in it.
func (h Crawl) Watermarks(p Partition) (map[string]uint64, error) {
	s, err := h.state()
	if err != nil {
		return nil, err
	}
	marks := map[string]uint64{}
	err = h.f.store.View(func(txn store.Reader) error {
		return txn.InPartition(s.keys, store.Deliveries, p, func(key store.Key, value []byte) (bool, error) {
			if worker, ok := key.Delivered(); ok && worker != rebuildWorker && len(value) == 8 {
				marks[worker] = max(marks[worker], binary.BigEndian.Uint64(value))
			}
			return true, nil
		})
	})
	return marks, err
}
