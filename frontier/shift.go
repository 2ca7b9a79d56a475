package frontier

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"iter"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
)

// Shift changes the times in exported entries from those of the clock by which they were kept to those of another one, which shows so much more: when hosts and queues may be asked again, and when
// URLs are due. Entries that have no such time stay. ErrEntry if one cannot be read. Entries stay in their order.
func Shift(entries iter.Seq2[PartitionEntry, error], by time.Duration) iter.Seq2[PartitionEntry, error] {
	if by == 0 {
		return entries
	}
	return func(yield func(PartitionEntry, error) bool) {
		for e, err := range entries {
			if err == nil {
				e, err = e.shifted(by)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// delayAt is where the time of a key of store.Delays stands, behind kind and crawl.
const delayAt = 2

func (e PartitionEntry) shifted(by time.Duration) (PartitionEntry, error) {
	millis, seconds := by.Milliseconds(), int64((by+time.Second-1).Truncate(time.Second)/time.Second)
	if by < 0 {
		seconds = int64(by / time.Second) // never earlier than it is
	}
	var err error
	switch store.Kind(e.Kind) {
	case store.Hosts:
		var h record.Host
		if err = codec.Unmarshal(e.Value, &h); err == nil {
			h.Next += millis
			e.Value, err = codec.Marshal(h)
		}
	case store.Queues:
		var q record.Queue
		if err = codec.Unmarshal(e.Value, &q); err == nil {
			if q.Next > 0 {
				q.Next += millis
			}
			if q.Rest != 0 {
				q.Rest += millis
			}
			e.Value, err = codec.Marshal(q)
		}
	case store.Records:
		var r record.Record
		if r, err = record.Decode(e.Value); err == nil && r.State == record.Delayed {
			r.Due = max(r.Due+seconds, 1)
			e.Value = r.Encode()
		}
	case store.Delays:
		if len(e.Key) < delayAt+8 {
			break
		}
		e.Key = bytes.Clone(e.Key)
		at := int64(binary.BigEndian.Uint64(e.Key[delayAt:]))
		binary.BigEndian.PutUint64(e.Key[delayAt:], uint64(max(at+seconds, 1)))
	}
	if err != nil {
		return e, fmt.Errorf("%w: kind %q, key %x: %w", ErrEntry, e.Kind, e.Key, err)
	}
	return e, nil
}
