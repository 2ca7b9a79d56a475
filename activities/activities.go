// Package activities holds the durable steps of a crawl, one a file. Each is a thin adapter: it
// reads its input from spool and frontier, calls a domain package, and leaves its result where the
// next step finds it. All are idempotent, most of them by batch.
package activities

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/hostgroups"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
)

// Settings are the worker's own bounds.
type Settings struct {
	Worker     string        // name of the worker: its queue, its frontier
	Instance   string        // identity of its data folder
	Queue      string        // the shared task queue
	Shards     int           // of Politeness
	Lanes      int           // claims that may be in progress at a time
	Round      int           // claims a round
	Linger     time.Duration // how long a round waits for more
	BatchTime  time.Duration // a batch stops fetching after this and gives the rest back
	BundlePLDs int           // claims in one batch, at most
	BundleURLs int           // URLs in one batch, at most; a single claim may have more
	Attempts   int           // faults of a batch in one step before it fails; those of stores and kills do not count
	GiveBack   time.Duration // how long the queues of a failed batch rest
	Deliveries int           // links of other workers' segments are taken in from so many at a time; 0: DefaultDeliveries
	Software   string        // for warcinfo
}

// Activities holds what the steps work with.
type Activities struct {
	Settings   Settings
	Client     client.Client
	Frontier   *frontier.Frontier
	Spool      *spool.Spool
	Disk       *disk.Watch
	Fetch      *fetch.Client
	Engine     *pipeline.Engine
	Archives   *Archives
	Meter      Meter
	Now        func() time.Time
	Allow      Allow
	Groups     *hostgroups.Groups
	Browser    Browser      // opens pages; nil: there is none
	NoBrowser  string       // why there is none
	Log        *slog.Logger // of what concerns no activity; may be nil
	Holds      Holds        // each may keep crawls from claiming
	InFlight   InFlight
	Behind     Behind
	Database   *Database    // of the views that derivations are added to; nil: none
	Membership *Membership  // in the ring; nil if this worker is in none
	Probe      func() error // returns once the worker has shown that it does work; nil: nothing is asked of it

	Quotas      Quotas
	batches     exclusiveSteps
	deliveries  gate       // from other workers
	damaged     tried      // objects of the archive, see passOver
	mu          sync.Mutex // guards clocks and differing
	asked       addresses  // by their lanes
	clocks      politeness.Clocks
	pageAnswers answers // to pages that are open
	silence     silence // of politeness shards

	differing string // workers that have other host groups

	unwritable batchFaults // archives
	refusals   batchFaults // of deliveries, by other workers
	seeds      knownSeeds
}

// Observe has an engine write to the logs of the activities that call it, and report its progress in their heartbeats.
func Observe(e *pipeline.Engine) {
	e.Log = func(ctx context.Context) pipeline.Logger { return activity.GetLogger(ctx) }
	e.Reached = func(ctx context.Context, what string) { activity.RecordHeartbeat(ctx, what) }
}

// Meter counts what the operator watches; internal to the worker's metrics.
type Meter interface {
	Fetched(status int, bytes int64, elapsed time.Duration)
	Outcome(kind crawl.OutcomeKind)
	Archived(pages int, bytes int64)
}

// Archives opens the stores that crawls name, once each.
type Archives struct {
	Default string
	Allow   []string // other places than below Default, or in its bucket
	S3      archive.S3
	Wrap    func(archive.Store) archive.Store // around each store; may be nil

	mu   sync.Mutex
	open map[string]archive.Store
}

// Open returns the store of a crawl; where is empty for the worker's own. A place that the worker's configuration does
// not allow is an InputError.
func (a *Archives) Open(ctx context.Context, where string) (archive.Store, error) {
	if where == "" {
		where = a.Default
	} else if err := checkArchive(where, a.Default, a.Allow); err != nil {
		return nil, err
	}
	return a.reopen(ctx, where)
}

// reopen returns a store that Open has given before, perhaps to an earlier process under other settings: batches that
// are in progress go to the archive that they were started for, whatever is allowed now.
func (a *Archives) reopen(ctx context.Context, where string) (archive.Store, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if s, ok := a.open[where]; ok {
		return s, nil
	}
	s, err := archive.Open(ctx, where, a.S3)
	if err != nil {
		return nil, archive.AsFault(ctx, err)
	}
	s = archive.Faults(s)
	if a.Wrap != nil {
		s = a.Wrap(s)
	}
	if a.open == nil {
		a.open = map[string]archive.Store{}
	}
	a.open[where] = s
	return s, nil
}
