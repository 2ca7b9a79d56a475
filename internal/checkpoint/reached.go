package checkpoint

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
)

// noteEvery is after how many segments a rebuild of partitions notes how far it is. A note costs an entry for each partition.
const noteEvery = 64

// rebuildNote says, in a partition of a crawl, that the checkpoint is loaded, and up to which segment all are brought in, in their order. Segments that come up
// later with an earlier time are of batches that have not delivered what they found: they do so to the one that owns the partition then.
type rebuildNote struct {
	Origin string    `json:"origin,omitempty"` // the key of the checkpoint; empty: there was none
	Run    uint32    `json:"run,omitempty"`    // of the segment; 0 in notes of versions that did not write it, as if there were no segment yet
	At     time.Time `json:"at,omitzero"`
	Batch  string    `json:"batch,omitempty"`
}

// compare compares the segments of two notes by the order in which they are brought in.
func (n rebuildNote) compare(o rebuildNote) int {
	return cmp.Or(cmp.Compare(n.Run, o.Run), n.At.Compare(o.At), cmp.Compare(n.Batch, o.Batch))
}

// rebuildNote is that of a partition which has the segment, and those before it.
func (s *segment) rebuildNote() rebuildNote {
	return rebuildNote{Run: s.run, At: s.Created, Batch: s.Batch}
}

// note is that of a partition which is loaded, and has no segment yet.
func (o origin) note() (n rebuildNote) {
	if o.there {
		n.Origin = o.key()
	}
	return n
}

// reached is how far the rebuild of a crawl's partitions is.
type reached struct {
	notes map[frontier.Partition]rebuildNote
	last  segment // that was brought in by this call
}

// reached reads how far the rebuild of a crawl's partitions is. Those without a note of their checkpoint are not in it.
func (r *Partitions) reached(name string, origins map[frontier.Partition]origin) (*reached, error) {
	raw, err := r.Frontier.Crawl(name).RebuildNotes(slices.Sorted(maps.Keys(origins)))
	if err != nil {
		return nil, err
	}
	out := &reached{notes: map[frontier.Partition]rebuildNote{}}
	for p, text := range raw {
		var n rebuildNote
		if err := json.Unmarshal(text, &n); err != nil {
			return nil, fmt.Errorf("the note of the rebuild of partition %d: %w", p, err)
		}
		if n.Origin == origins[p].note().Origin {
			out.notes[p] = n
		}
	}
	return out, nil
}

// by reports whether a partition has a segment already.
func (r *reached) by(p frontier.Partition, s segment) bool {
	n, noted := r.notes[p]
	return noted && s.rebuildNote().compare(n) <= 0
}

// byAll reports whether all partitions have it.
func (r *reached) byAll(s segment) bool {
	for p := range r.notes {
		if !r.by(p, s) {
			return false
		}
	}
	return len(r.notes) > 0
}

// note notes that all partitions have the last segment.
func (r *reached) note(h frontier.Crawl) error {
	behind := map[rebuildNote][]frontier.Partition{} // by what they are noted to have
	for p, n := range r.notes {
		if !r.by(p, r.last) {
			origin := n.Origin
			n = r.last.rebuildNote()
			n.Origin = origin
			r.notes[p] = n
			behind[n] = append(behind[n], p)
		}
	}
	for n, list := range behind {
		if err := setNote(h, list, n); err != nil {
			return err
		}
	}
	return nil
}

func setNote(h frontier.Crawl, list []frontier.Partition, n rebuildNote) error {
	raw, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return h.SetRebuildNote(list, raw)
}

// loadAll loads the checkpoints of partitions that are not loaded yet. origins are those that could be read then.
func (r *Partitions) loadAll(ctx context.Context, names []string, list []frontier.Partition, origins map[frontier.Partition]origin) error {
	loaded := map[frontier.Partition]int{} // by how many crawls that is noted
	for _, name := range names {
		of, err := r.reached(name, origins)
		if err != nil {
			return err
		}
		for p := range of.notes {
			loaded[p]++
		}
	}
	for _, p := range list {
		if len(names) > 0 && loaded[p] == len(names) {
			continue
		}
		from, err := r.loadNewest(ctx, p, origins[p])
		if err != nil {
			return err
		}
		origins[p] = from
		now, err := r.Frontier.SpreadCrawls() // the checkpoint may have made others known
		if err != nil {
			return err
		}
		for _, name := range now {
			if err := setNote(r.Frontier.Crawl(name), []frontier.Partition{p}, origins[p].note()); err != nil {
				return err
			}
		}
	}
	return nil
}
