package activities

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestOpen: what there is to do for a batch, by how far it has come, and the leases that it must ask for. To open it again is the same.
func TestOpen(t *testing.T) {
	none := func(*rig, BatchInput) {}
	for name, test := range map[string]struct {
		before func(r *rig, in BatchInput)
		want   OpenResult
		asks   int
	}{
		"claimed":        {none, OpenResult{URLs: 1}, 0},
		"opened earlier": {func(r *rig, in BatchInput) { r.must(r.do(r.Open, in)) }, OpenResult{URLs: 1}, 0},
		"fetching ended before a URL was fetched": {func(r *rig, in BatchInput) {
			r.must(r.do(r.Open, in))
			r.must(r.Frontier.Crawl(rigCrawl).Lane(in.Claims[0].ID).End(frontier.LaneEnd{Host: time.Now()}))
		}, OpenResult{URLs: 1}, 1},
		"fetched": {func(r *rig, in BatchInput) { r.open(in, linking) }, OpenResult{URLs: 1}, 0},
		"archived": {func(r *rig, in BatchInput) {
			r.open(in, linking)
			r.must(r.do(r.Process, in))
		}, OpenResult{Archived: true}, 0},
		"committed": {func(r *rig, in BatchInput) {
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
		}, OpenResult{Done: true}, 0},
		"given back": {func(r *rig, in BatchInput) { r.must(r.do(r.GiveBack, in)) }, OpenResult{Done: true}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.begin("o", nil)
			in := r.batch()
			test.before(r, in)
			for range 2 {
				out, err := call[OpenResult](r, r.Open, in)
				if err != nil || out.Done != test.want.Done || out.Archived != test.want.Archived || out.URLs != test.want.URLs || len(out.Asks) != test.asks {
					t.Errorf("%+v, %v, want %+v and %d asks", out, err, test.want, test.asks)
				}
			}
		})
	}
}

// A batch of a crawl that the worker does not know is not opened.
func TestOpenOfUnknownCrawl(t *testing.T) {
	r := newRig(t)
	r.begin("o", nil)
	in := r.batch()
	in.Crawl = "another"
	var failed *temporal.ApplicationError
	if err := r.do(r.Open, in); !errors.As(err, &failed) {
		t.Errorf("%v", err)
	}
}

// TestOpenOfGivenBack: the give-back of a batch has taken the key of its manifest, and is cut off before it returns the URLs; the batch is started again. It has not failed: it is opened in
// another life, with the leases that it has, and archives what it has fetched.
func TestOpenOfGivenBack(t *testing.T) {
	r := newRig(t)
	late := &lateStore{}
	r.through(func(s archive.Store) archive.Store { late.Store = s; return late })
	r.begin("o", func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: "http://b.example/"}) })
	in := r.batch()
	r.open(in, linking)
	if err := r.do(r.Process, in); err == nil {
		t.Fatal("the manifest was put")
	}
	before, err := r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Life()
	r.must(err)
	if stands, err := r.closeLife(t.Context(), in); stands != isGivenBack || err != nil {
		t.Fatalf("%v, %v", stands, err)
	}

	for range 2 {
		out, err := call[OpenResult](r, r.Open, in)
		if err != nil || out.URLs != 2 || out.Done || out.Archived || len(out.Asks) > 0 {
			t.Errorf("%+v, %v", out, err)
		}
	}
	after, err := r.Frontier.Crawl(rigCrawl).Batch(in.Batch).Life()
	if err != nil || after.Nonce == before.Nonce || after.Archive != before.Archive {
		t.Errorf("life %+v after %+v, %v", after, before, err)
	}
	if err := late.late(); !errors.Is(err, archive.ErrExists) {
		t.Errorf("the late manifest: %v, not ErrExists", err)
	}
	r.must(r.do(r.Process, in))
	r.must(r.do(r.Commit, in))
	if got := r.totals(); got.Failed != 0 || got.Pages != 2 {
		t.Errorf("%d batches have failed, %d pages", got.Failed, got.Pages)
	}
	if report := r.check(r.dir); report.Pages[rigSeed] != 1 || report.Segments != 1 || report.GivenBack != 1 {
		t.Errorf("%+v", report)
	}
}
