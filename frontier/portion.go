package frontier

import (
	"fmt"
	"maps"
	"slices"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// A transaction of the store holds some 4.8 MB and 50,000 entries, and a commit that does not fit can never succeed. So a
// commit is written in portions of at most commitPart entries and about commitBytes bytes: an entry takes some hundred
// bytes in a transaction beside those that are counted here.
const (
	commitPart  = 6000
	commitBytes = 2 << 20
)

// portion is what one transaction of a commit writes.
type portion struct {
	links    []*offered
	keeps    []sideRecord
	outcomes []crawl.PageOutcome
}

// sideRecord is what is kept of a batch beside its outcomes: to write it again changes nothing. A crawl can do without it.
type sideRecord struct {
	key   store.Key
	value []byte
}

// outcomeBytes is what an outcome takes beside its texts: what the order kept with the links to it, and its record.
const outcomeBytes = 600

func outcomeSize(o *crawl.PageOutcome) int {
	v := &o.Visit
	return outcomeBytes + 2*len(o.URL) + len(o.Reason) + len(o.PageFeatures) + len(v.ETag) + len(v.LastModified) + len(v.Digest) + len(v.URL)
}

// portions divides a commit: outlinks first, for what an order learns of a page depends on which of them are new, outcomes
// last. There is at least one portion; the last ends the batch. One version always divides the same commit alike: each portion has a
// marker of its own. A commit that another version cut off may offer some links twice. One that was recovered has other lists, and other markers (Commit.Recovered).
func portions(links []*offered, keeps []sideRecord, outcomes []crawl.PageOutcome) []portion {
	list, now := []portion{{}}, 0
	entries, size := 0, 0
	room := func(bytes int) {
		size += bytes
		if entries == commitPart || size > commitBytes && entries > 0 {
			list, entries, size = append(list, portion{}), 0, bytes
			now++
		}
		entries++
	}
	for i := range links {
		room(links[i].size())
		list[now].links = append(list[now].links, links[i])
	}
	for i := range keeps {
		room(len(keeps[i].key) + len(keeps[i].value))
		list[now].keeps = append(list[now].keeps, keeps[i])
	}
	for i := range outcomes {
		room(outcomeSize(&outcomes[i]))
		list[now].outcomes = append(list[now].outcomes, outcomes[i])
	}
	return list
}

// spare is the portion without what a crawl can do without.
func (p portion) spare() portion {
	out := portion{outcomes: slices.Clone(p.outcomes)}
	for i := range out.outcomes {
		out.outcomes[i].PageFeatures = nil
	}
	for _, o := range p.links {
		less := *o
		less.links = slices.Clone(o.links)
		for i := range less.links {
			less.links[i].Features, less.links[i].Parts = nil, nil
		}
		out.links = append(out.links, &less)
	}
	return out
}

// keeps lists what outlasts the batch: prints of web objects, payload digests, samples.
func (s *state) keeps(c *Commit) ([]sideRecord, error) {
	var list []sideRecord
	for i := range c.Outcomes {
		o := &c.Outcomes[i]
		if len(o.Prints) == 0 || o.Kind != crawl.OutcomeDone && o.Kind != crawl.OutcomeUnmodified {
			continue
		}
		u, err := urls.Trusted(o.URL)
		if err != nil {
			return nil, fmt.Errorf("commit %s: %w", o.URL, err)
		}
		list = append(list, sideRecord{s.keys.Print(record.KeyOf(u)), o.Prints})
	}
	for _, digest := range slices.Sorted(maps.Keys(c.Originals)) {
		original := c.Originals[digest]
		u, err := urls.Trusted(original.URL)
		if err != nil {
			continue // of an index with an odd line: without its digest a page is archived as a whole once more
		}
		raw, err := codec.Marshal(original)
		if err != nil {
			return nil, fmt.Errorf("commit %s: %w", c.Batch, err)
		}
		list = append(list, sideRecord{s.keys.Digest(record.KeyOf(u).PLD, c.Archive, digest), raw})
	}
	if len(c.Sample) > 0 {
		list = append(list, sideRecord{s.keys.Sample(s.Run, c.Batch), c.Sample})
	}
	return list, nil
}

func writeKeeps(tx store.Tx, keeps []sideRecord) error {
	for _, k := range keeps {
		if err := tx.Set(k.key, k.value); err != nil {
			return err
		}
	}
	return nil
}
