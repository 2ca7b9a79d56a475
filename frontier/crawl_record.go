package frontier

import (
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// crawlRecord is what is kept of a crawl.
type crawlRecord struct {
	ID        store.Keys `cbor:"1,keyasint"`
	Name      string     `cbor:"2,keyasint"`
	Owner     string     `cbor:"3,keyasint"` // the Crawl workflow's run that it belongs to
	Run       uint32     `cbor:"4,keyasint"` // counts the runs
	Active    bool       `cbor:"5,keyasint"`
	Started   time.Time  `cbor:"6,keyasint"`
	Totals    Totals     `cbor:"9,keyasint"` // of this run
	Counter   uint64     `cbor:"10,keyasint"`
	Sequence  int64      `cbor:"11,keyasint"` // of claims
	Top       []Top      `cbor:"13,keyasint,omitempty"`
	Limit     int64      `cbor:"14,keyasint,omitempty"` // pages of the present phase, 0: the budget alone
	Reference bool       `cbor:"15,keyasint,omitempty"` // the reference crawl is in progress

	DroppedURLs []DroppedURL `cbor:"16,keyasint,omitempty"` // URLs that ended without a page, the last of each kind

	Restore bool `cbor:"17,keyasint,omitempty"` // what another frontier knew is still to be brought in

	Updates    uint64 `cbor:"18,keyasint,omitempty"` // number of the last learning update
	TopicSince uint64 `cbor:"19,keyasint,omitempty"` // updates up to it were of another topic

	HistoryStep int64   `cbor:"20,keyasint,omitempty"` // pages from point to point
	History     []Point `cbor:"-"`                     // kept apart, written when it grows

	Imported bool `cbor:"21,keyasint,omitempty"` // known by an import alone: the run Run is begun here by Begin

	Aborted bool `cbor:"22,keyasint,omitempty"` // see Crawl.Abort

	Spread bool `cbor:"23,keyasint,omitempty"` // over the workers of the ring; the first run decides

	OwingNumbers []uint64 `cbor:"24,keyasint,omitempty"` // of an earlier version: Owing, which named no batch
	Owing        []Owing  `cbor:"25,keyasint,omitempty"`

	Unclaimed bool `cbor:"26,keyasint,omitempty"` // no claim was ever made here, see Crawl.Watermark; false of earlier versions

	Damage               // of the run, see Crawl.NoteDamaged
	DamagedSums []uint64 `cbor:"31,keyasint,omitempty"` // of those that are not named

	First uint64 `cbor:"28,keyasint,omitempty"` // the number of the first claim that was made here, see Watermark; 0 if an earlier version made it

	Traps []ClosedTrap `cbor:"29,keyasint,omitempty"` // the last patterns that were closed

	Again  int64         `cbor:"32,keyasint,omitempty"` // pages of earlier runs that the recrawl of this run has offered
	Former againEmbedded `cbor:"34,keyasint"`

	Outcomes queue.Outcomes `cbor:"37,keyasint"` // of the run

	Ahead knownAhead `cbor:"35,keyasint,omitempty"`

	Unseeded bool         `cbor:"33,keyasint,omitempty"` // what the run begins with may not be queued in all partitions here, see Crawl.Seeded; false of earlier versions
	Lacking  partitionSet `cbor:"36,keyasint,omitempty"` // if so: in which

	planRecord `cbor:"-"`
	planned    bool // planRecord is to be written
}

// againEmbedded are what pages need, or probably need, that earlier runs have fetched: they are counted in the totals of the run, too.
type againEmbedded struct {
	Requisites       int64 `cbor:"1,keyasint,omitempty"`
	RequisiteBytes   int64 `cbor:"2,keyasint,omitempty"`
	Speculative      int64 `cbor:"3,keyasint,omitempty"`
	SpeculativeBytes int64 `cbor:"4,keyasint,omitempty"`
}

func (a *againEmbedded) count(class crawl.Class, urls, bytes int64) {
	switch class {
	case crawl.ClassRequisite:
		a.Requisites, a.RequisiteBytes = a.Requisites+urls, a.RequisiteBytes+bytes
	case crawl.ClassSpeculative:
		a.Speculative, a.SpeculativeBytes = a.Speculative+urls, a.SpeculativeBytes+bytes
	}
}

// planRecord is what a crawl was asked for. It is kept apart: it may be large, and the rest of the record
// is written with each batch.
type planRecord struct {
	Definition crawl.Definition `cbor:"1,keyasint"`
	Bounds     []string         `cbor:"2,keyasint"`           // hosts or PLDs of the seeds, for the scope
	TopicModel []byte           `cbor:"3,keyasint,omitempty"` // the topic model of the reference crawl, see Plan.Topic
	Archives   []Place          `cbor:"4,keyasint,omitempty"` // all that the crawl has written to, by number
	Archive    int              `cbor:"5,keyasint,omitempty"` // number of the one that new batches go to
	Version    int              `cbor:"6,keyasint,omitempty"` // of the definition, see Crawl.Configure
}
