package activities

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// rigDigest is a payload digest that a batch has archived for the first time.
const rigDigest = "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ"

// archived opens a batch, and leaves in its spool what ARCHIVE leaves: an outcome of the seed, a link and a digest.
func (r *rig) archived(in BatchInput, o crawl.PageOutcome) {
	r.t.Helper()
	_, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	o.URL = rigSeed
	r.must(spool.WriteAll(r.Spool.Batch(in.Crawl, in.Batch), fileCommit, []pipeline.Result{{
		Outcomes: []crawl.PageOutcome{o}, Discoveries: []crawl.Discovery{{URL: rigSeed + "next", Via: rigSeed, Path: "SL", Score: 0.5}},
		Originals: map[string]crawl.Visit{rigDigest: {URL: rigSeed, Digest: rigDigest}},
	}}))
}

// hold puts pages of a batch into the worker's memory, and counts its URLs as in progress.
func (r *rig) hold(in BatchInput) {
	r.t.Helper()
	r.InFlight.begin(in, func() int64 { return 1 })
	_, err := r.Engine.Parse(r.t.Context(), pipeline.Source{
		Crawl: in.Crawl, Batch: in.Batch, Targets: func() (map[string]crawl.Target, error) { return nil, nil },
		Exchanges: func(map[string]crawl.Target) ([]pipeline.Exchange, func() error, error) {
			return nil, func() error { return nil }, nil
		},
	})
	r.must(err)
}

// held lists what the worker holds of a batch: its pages, its count of URLs, its spool, its claims.
func (r *rig) held(in BatchInput) (list []string) {
	r.t.Helper()
	lost := errors.New("memory has nothing")
	_, err := r.Engine.Parse(r.t.Context(), pipeline.Source{
		Crawl: in.Crawl, Batch: in.Batch, Targets: func() (map[string]crawl.Target, error) { return nil, lost },
	})
	if !errors.Is(err, lost) {
		r.must(err)
		list = append(list, "pages")
	}
	if r.InFlight.Of(in.Crawl) > 0 {
		list = append(list, "count")
	}
	if _, err := os.Stat(r.Spool.Batch(in.Crawl, in.Batch).Dir()); err == nil {
		list = append(list, "spool")
	}
	if len(r.Frontier.Crawl(in.Crawl).Batch(in.Batch).Claims()) > 0 {
		list = append(list, "claims")
	}
	return list
}

// TestCommitOutcomes: each kind of outcome sets the state of its URL and is counted, the outlinks of the batch are queued, and the
// worker holds nothing of the batch afterwards.
func TestCommitOutcomes(t *testing.T) {
	later := time.Now().Add(time.Hour).Truncate(time.Second)
	for _, c := range []struct {
		name  string
		o     crawl.PageOutcome
		state string
		want  frontier.Totals // but for what is the same of all
	}{
		{"done", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 200, Bytes: 7}, Score: 0.9}, "done", frontier.Totals{Pages: 1, Scored: 1, Relevant: 1, Bytes: 7, Requests: 1, New: 1}},
		{"not found", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 404}, Score: -1}, "done", frontier.Totals{Errors: 1, Requests: 1}},
		{"unmodified", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeUnmodified, Status: 304}, Score: -1, Revisit: true}, "done", frontier.Totals{Pages: 1, Revisits: 1, Requests: 1, Unchanged: 1}},
		{"robots", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeRobots}, Score: -1}, "refused", frontier.Totals{Robots: 1}},
		{"refused", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeRefused}, Score: -1}, "refused", frontier.Totals{Refused: 1}},
		{"retry", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeRetry, Status: 503, After: later}, Score: -1}, "delayed", frontier.Totals{Retries: 1, Requests: 1}},
		{"failed", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeFailed}, Score: -1}, "failed", frontier.Totals{Errors: 1}},
		{"returned", crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeReturned}, Score: -1}, "waiting", frontier.Totals{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", onTopic)
			first, _, err := r.Frontier.Crawl(rigCrawl).UseArchive(frontier.Place{Where: r.dir})
			r.must(err)
			number, _, err := r.Frontier.Crawl(rigCrawl).UseArchive(frontier.Place{Where: t.TempDir()}) // not the first that the crawl has
			r.must(err)
			in := r.batch()
			r.archived(in, c.o)
			r.hold(in)
			r.must(r.do(r.Commit, in))
			states := r.states()
			if states[rigSeed] != c.state || states[rigSeed+"next"] != "waiting" {
				t.Errorf("states %v", states)
			}
			s, err := r.Frontier.Crawl(rigCrawl).Status()
			r.must(err)
			c.want.Batches, c.want.Links, c.want.Known = 1, 2, 2 // the seed was offered, too
			if s.Totals != c.want {
				t.Errorf("totals %+v, want %+v", s.Totals, c.want)
			}
			if _, found := r.Frontier.Crawl(rigCrawl).URLs().Original(number, rigSeed, rigDigest); !found {
				t.Error("what is archived for the first time is not known")
			}
			if _, found := r.Frontier.Crawl(rigCrawl).URLs().Original(first, rigSeed, rigDigest); found {
				t.Error("it is taken for a record of another archive")
			}
			if held := r.held(in); len(held) > 0 {
				t.Errorf("held are %q", held)
			}
		})
	}
}

// unreadable is a store whose objects cannot be read for now.
type unreadable struct {
	archive.Store
	closed atomic.Bool
}

func (s *unreadable) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	if s.closed.Load() {
		return nil, errNoAnswer
	}
	return s.Store.Get(ctx, key)
}

// TestCommitRefused: a batch that cannot be committed stays as it is, and the error says whether it may be tried again.
func TestCommitRefused(t *testing.T) {
	all := []string{"pages", "count", "spool", "claims"}
	for _, c := range []struct {
		name string
		kind string // of the error; empty: Temporal tries again
		left []string
		make func(r *rig, in *BatchInput) (repair func()) // nil: it stays so
	}{
		{"no batch", ErrorInput, all, func(_ *rig, in *BatchInput) func() { in.Batch = ""; return nil }},
		{"a path for a batch", ErrorInput, all, func(_ *rig, in *BatchInput) func() { in.Batch = "../" + in.Batch; return nil }},
		{"a crawl that nobody knows", "", all, func(_ *rig, in *BatchInput) func() { in.Crawl = "another"; return nil }},
		{"the lists cannot be read", "", all, func(r *rig, in *BatchInput) func() {
			name := filepath.Join(r.Spool.Batch(in.Crawl, in.Batch).Dir(), fileCommit)
			r.must(os.Rename(name, name+".kept"))
			r.must(os.Mkdir(name, 0o700))
			return func() { r.must(errors.Join(os.Remove(name), os.Rename(name+".kept", name))) }
		}},
		{"nothing was archived", ErrorSpool, all, func(r *rig, in *BatchInput) func() {
			r.must(os.Remove(filepath.Join(r.Spool.Batch(in.Crawl, in.Batch).Dir(), fileCommit)))
			return nil
		}},
		{"the archive does not answer", ErrorStore, []string{"pages", "count", "claims"}, func(r *rig, in *BatchInput) func() {
			store := &unreadable{}
			r.through(func(s archive.Store) archive.Store { store.Store = s; return archive.Faults(store) })
			r.must(r.do(r.Process, *in))
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			r.hold(*in)
			store.closed.Store(true)
			return func() { store.closed.Store(false) }
		}},
		{"the disk of the frontier is full", ErrorDisk, all, func(r *rig, _ *BatchInput) func() {
			r.refuse.Store(0)
			return func() { r.refuse.Store(-1) }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", nil)
			in := r.batch()
			if c.kind == ErrorStore {
				r.open(in, linking)
			} else {
				r.archived(in, crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 200}, Score: -1})
			}
			r.hold(in)
			as := in
			repair := c.make(r, &as)
			err := r.do(r.Commit, as)
			var failure *temporal.ApplicationError
			if !errors.As(err, &failure) || c.kind != "" && failure.Type() != c.kind || failure.NonRetryable() != (c.kind == ErrorInput || c.kind == ErrorSpool) {
				t.Fatalf("ends with %v", err)
			}
			if held := r.held(in); !slices.Equal(held, c.left) {
				t.Errorf("held are %q, want %q", held, c.left)
			}
			if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Totals.Batches != 0 || s.Claimed != 1 {
				t.Errorf("%+v, %v", s, err)
			}
			if repair == nil {
				return
			}
			repair()
			r.must(r.do(r.Commit, in))
			if states, held := r.states(), r.held(in); states[rigSeed] != "done" || states[rigSeed+"next"] != "waiting" || len(held) > 0 {
				t.Errorf("then states are %v, and held are %q", states, held)
			}
		})
	}
}

// TestCommitAgain: a batch is committed once. What a late attempt of another step left since then is dropped.
func TestCommitAgain(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	r.archived(in, crawl.PageOutcome{Outcome: crawl.Outcome{Kind: crawl.OutcomeDone, Status: 200}, Score: -1})
	r.must(r.do(r.Commit, in))
	before, err := r.Frontier.Crawl(rigCrawl).Status()
	r.must(err)
	r.must(r.Spool.Batch(in.Crawl, in.Batch).Write(fileLanes, []lane{}))
	r.hold(in)
	r.must(r.do(r.Commit, in))
	if held := r.held(in); len(held) > 0 {
		t.Errorf("held are %q", held)
	}
	if after, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || after.Totals != before.Totals {
		t.Errorf("%+v, after the first %+v, %v", after.Totals, before.Totals, err)
	}
}

// TestCommitAfterGiveBack: a batch whose URLs went back commits nothing, and what its next life has in the spool stays.
func TestCommitAfterGiveBack(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	_, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	r.must(r.do(r.GiveBack, in))
	r.must(r.Spool.Batch(in.Crawl, in.Batch).Write(fileLanes, []lane{}))
	r.must(r.do(r.Commit, in))
	if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Totals.Batches != 0 || s.Waiting != 1 || s.Claimed != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if held := r.held(in); !slices.Equal(held, []string{"spool"}) {
		t.Errorf("held are %q", held)
	}
}

// TestCommitOfFailedBatch: what a failed batch has archived is committed, it counts as failed, and its queue rests.
func TestCommitOfFailedBatch(t *testing.T) {
	r, _ := newSalvaged(t)
	s, err := r.Frontier.Crawl(rigCrawl).Status()
	r.must(err)
	if s.Totals.Pages != 1 || s.Totals.Failed != 1 || s.Resting != 1 || s.Claimed != 0 || s.Waiting != 2 {
		t.Errorf("%+v", s)
	}
}

// TestCommitInPortions: the next attempt finishes a commit that was cut off between two portions, and counts each outcome and link
// once; also if it reads them from the archive, where links are in another order.
func TestCommitInPortions(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(fmt.Sprintf("spool lost %v", lost), func(t *testing.T) {
			const pages, links = 3, 4000 // a portion has 10,000
			r := newRig(t)
			r.begin("o", func(d *crawl.Definition) {
				for i := 1; i < pages; i++ {
					d.Seeds = append(d.Seeds, crawl.Seed{URL: fmt.Sprint(rigSeed, i)})
				}
			})
			in := r.batch()
			r.open(in, func(url string) string {
				var b strings.Builder
				for i := range links {
					fmt.Fprintf(&b, "<a href=\"/of%s/%d\">%d</a> ", url[strings.LastIndex(url, "/"):], i, i)
				}
				return b.String()
			})
			r.must(r.do(r.Process, in))
			b := r.Spool.Batch(in.Crawl, in.Batch)
			left, err := readResult(b)
			r.must(err)
			if len(left.Discoveries) != pages*links {
				t.Fatalf("%d links", len(left.Discoveries))
			}
			slices.Reverse(left.Discoveries)
			r.must(spool.WriteAll(b, fileCommit, []pipeline.Result{left}))
			r.refuse.Store(1)
			if err := r.do(r.Commit, in); err == nil || len(r.Frontier.Crawl(in.Crawl).Batch(in.Batch).Claims()) == 0 {
				t.Fatalf("the second portion cannot be written, and the commit ends with %v", err)
			}
			if s, err := r.Frontier.Crawl(rigCrawl).Status(); err != nil || s.Totals.Links == 0 || s.Totals.Pages != 0 {
				t.Fatalf("after the first portion: %+v, %v", s.Totals, err)
			}
			r.refuse.Store(-1)
			if lost {
				r.must(b.Remove())
			}
			r.must(r.do(r.Commit, in))
			s, err := r.Frontier.Crawl(rigCrawl).Status()
			r.must(err)
			if s.Totals.Pages != pages || s.Totals.Batches != 1 || s.Waiting != pages*links || s.Claimed != 0 {
				t.Errorf("%d URLs wait, %+v", s.Waiting, s.Totals)
			}
			if !lost && s.Totals.Links != pages+pages*links {
				t.Errorf("%d links are counted", s.Totals.Links)
			}
		})
	}
}

// room refuses writes of the frontier as long as refuse says, see rig.
func (r *rig) room() error {
	for {
		n := r.refuse.Load()
		switch {
		case n < 0:
			return nil
		case n == 0:
			return syscall.ENOSPC
		case r.refuse.CompareAndSwap(n, n-1):
			return nil
		}
	}
}
