package activities

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/ring"
)

// lose has the ring give a worker up. The others make its partitions again.
func (s *spreadRing) lose(name string) {
	s.t.Helper()
	s.state.Lost(time.Now(), name, name)
	s.state.Tick(time.Now().Add(ring.DefaultGrace))
	s.play()
}

// forget has the ring forget all that it knows, so long ago that all permits have run out: all partitions are made again by those that come back.
func (s *spreadRing) forget() {
	s.t.Helper()
	s.state = ring.New(ring.DefaultLimits())
	s.state.Forgotten(time.Now().Add(-time.Hour))
}

// comeBack has the ring accept a worker again that it does not know any more, in the same process.
func (s *spreadRing) comeBack(name string) ring.Answer {
	s.t.Helper()
	now, r := time.Now(), s.workers[name]
	answer := s.state.Register(now, ring.Registration{Name: name, Instance: name, Process: name, Queue: "muninn/" + name, Shards: 1, Epoch: r.Membership.Epoch()})
	if !answer.Accepted {
		s.t.Fatalf("%+v", answer)
	}
	r.Membership.Registered(now, answer)
	r.Membership.Take(s.state.View(name))
	return answer
}

// TestOpenOfStaleArchived: a worker has archived a batch when the ring gives it up. Retire terminates the workflow of the batch, the ring takes the worker back, and the batch is started
// again, because who makes the partition again waits for its claims. To open it keeps the claims: without them its commit would have nothing to commit, and its pages, which are in the archive
// once, would be in nobody's totals.
func TestOpenOfStaleArchived(t *testing.T) {
	for name, gone := range map[string]func(s *spreadRing, worker string){
		"another worker has made the partition again": (*spreadRing).lose,
		"the worker is to make the partition again":   func(s *spreadRing, _ string) { s.forget() },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSpreadRing(t, "v", "w")
			from := s.ownerOf("a.example")
			in, worker := from.linking(), from.Settings.Worker
			gone(s, worker)
			s.comeBack(worker)
			if err := from.Frontier.Crawl(rigCrawl).Batch(in.Batch).MayCommit(); !errors.Is(err, ring.ErrStale) {
				t.Fatalf("the claims are of the present tenure: %v", err)
			}

			out, err := call[OpenResult](from, from.Open, in)
			if err != nil || !out.Archived || out.Done {
				t.Errorf("%+v, %v", out, err)
			}
			if left := s.undelivered(from, in); left.Stale != nil {
				in.Delivered, in.Owes = left.Stale.Partitions, true
			}
			from.must(from.do(from.Commit, in))
			if !from.Frontier.Crawl(rigCrawl).Batch(in.Batch).Committed() || len(from.Frontier.Crawl(rigCrawl).Batch(in.Batch).Claims()) > 0 {
				t.Error("the batch is not committed")
			}
			for name := range s.workers {
				if _, member := s.state.View("").Worker(name); !member {
					s.comeBack(name)
				}
			}
			s.play()
			pages, report := int64(0), from.check(s.dir)
			for _, r := range s.workers {
				pages += r.totals().Pages
			}
			if report.Pages[rigSeed] != 1 || pages != 1 {
				t.Errorf("%d pages are counted, and the archive has the seed %d times", pages, report.Pages[rigSeed])
			}
			if state := s.ownerOf("a.example").states()[rigSeed]; state != "done" {
				t.Errorf("the seed is %q", state)
			}
		})
	}
}

// totals are what the worker has counted of the run.
func (r *rig) totals() frontier.Totals {
	r.t.Helper()
	status, err := r.Frontier.Crawl(rigCrawl).Status()
	r.must(err)
	return status.Totals
}

// landingStore is an archive in which a manifest lands only when who puts it is stopped.
type landingStore struct {
	archive.Store
	onWay chan struct{}
}

func (s landingStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	close(s.onWay)
	<-ctx.Done()
	return s.Store.PutIfAbsent(context.WithoutCancel(ctx), key, data)
}

// TestOpenWaitsForArchive: the workflow of a batch is terminated while its manifest is on its way, and the batch is started again by another tenure. To open it stops the former attempt first,
// and sees that it is archived: it would drop the claims of a batch that is archived a moment later.
func TestOpenWaitsForArchive(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	from := s.ownerOf("a.example")
	in := from.batch()
	in.Spread = true
	from.open(in, linkingToMany)
	onWay, former := make(chan struct{}), make(chan error, 1)
	from.through(func(store archive.Store) archive.Store { return landingStore{store, onWay} })
	env := newEnv(from.Activities)
	go func() {
		_, err := env.ExecuteActivity(from.Process, in)
		former <- err
	}()
	<-onWay
	s.forget()
	s.comeBack(from.Settings.Worker)

	out, err := call[OpenResult](from, from.Open, in)
	if err != nil || !out.Archived {
		t.Errorf("%+v, %v", out, err)
	}
	<-former
	if left := s.undelivered(from, in); left.Stale != nil {
		in.Delivered, in.Owes = left.Stale.Partitions, true
	}
	from.must(from.do(from.Commit, in))
	if n := from.totals().Pages; n != 1 {
		t.Errorf("%d pages are counted", n)
	}
}

// lateLandingStore is an archive that carries the put of a manifest out after its client has given it up.
type lateLandingStore struct {
	archive.Store
	onWay chan func() error // what the store does later
}

func (s lateLandingStore) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	s.onWay <- func() error { return s.Store.PutIfAbsent(context.WithoutCancel(ctx), key, data) }
	<-ctx.Done()
	return ctx.Err()
}

// TestOpenTakesTheKey: the put of a manifest was given up, as the attempt was stopped, and the store carries it out after the batch was opened by another tenure. The batch would be
// archived without claims: its page would be in the archive, in nobody's totals, and fetched by the next owner as well.
func TestOpenTakesTheKey(t *testing.T) {
	s := newSpreadRing(t, "v", "w")
	from := s.ownerOf("a.example")
	in := from.batch()
	in.Spread = true
	from.open(in, linkingToMany)
	onWay, former := make(chan func() error, 1), make(chan error, 1)
	var plain archive.Store
	from.through(func(store archive.Store) archive.Store { plain = store; return lateLandingStore{store, onWay} })
	env := newEnv(from.Activities)
	go func() {
		_, err := env.ExecuteActivity(from.Process, in)
		former <- err
	}()
	land := <-onWay
	from.through(func(archive.Store) archive.Store { return plain })
	s.forget()
	s.comeBack(from.Settings.Worker)

	out, err := call[OpenResult](from, from.Open, in)
	if err != nil || out.Archived {
		t.Errorf("%+v, %v", out, err)
	}
	<-former
	if err := land(); !errors.Is(err, archive.ErrExists) {
		t.Errorf("the manifest has landed after the batch was opened: %v", err)
	}
	if n, report := from.totals().Pages, from.check(s.dir); n != int64(report.Pages[rigSeed]) {
		t.Errorf("%d pages are counted, and the archive has the seed %d times", n, report.Pages[rigSeed])
	}
}
