package activities

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// logged reads the crawl log of the crawl's archive.
func (r *rig) logged() (lines []archive.Logged) {
	r.t.Helper()
	store, err := archive.OpenDir(r.dir)
	r.must(err)
	r.must(archive.Manifests(r.t.Context(), store, "", rigCrawl, func(m archive.Manifest) error {
		return archive.ReadLog(r.t.Context(), store, &m, func(l archive.Logged) error {
			lines = append(lines, l)
			return nil
		})
	}))
	return lines
}

// Every outcome of a batch is in the archive with its reason, even if the batch got no response at all.
func TestCrawlLog(t *testing.T) {
	r := newRig(t)
	r.begin("one", nil)
	in := r.batch()
	out, err := call[OpenResult](r, r.Open, in)
	r.must(err)
	if out.URLs != 1 {
		t.Fatalf("%+v", out)
	}
	began := time.Date(2026, 1, 2, 3, 4, 5, 678e6, time.UTC)
	log, _, err := r.Spool.Batch(in.Crawl, in.Batch).OpenLog()
	r.must(err)
	x := crawl.Exchange{
		Kind: crawl.ExchangePage, URL: rigSeed, Claim: in.Claims[0].ID, IP: rigIP, Started: began, Elapsed: 1500 * time.Millisecond, Path: "S",
		Outcome: crawl.Outcome{URL: rigSeed, Kind: crawl.OutcomeFailed, Reason: "connection refused"},
	}
	r.must(log.Append(x, nil, nil, 0))
	r.must(log.Close())
	r.must(r.do(r.Process, in))
	r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove()) // then the commit is made out of the log
	r.must(r.do(r.Commit, in))
	want := archive.Logged{
		Time: began, URL: rigSeed, Kind: "failed", Reason: "connection refused", Path: "S", Attempt: 1, Millis: 1500, IP: rigIP, Claim: in.Claims[0].ID,
	}
	if lines := r.logged(); !slices.Equal(lines, []archive.Logged{want}) {
		t.Errorf("the log says %+v", lines)
	}
	if report := r.check(r.dir); report.Segments != 1 || report.Records != 0 || report.Logged != 1 {
		t.Errorf("%+v", report)
	}
	if state := r.states()[rigSeed]; state != "failed" {
		t.Errorf("the URL is %s", state)
	}
}

// URLs that end without a batch, because their host has no address, are reported when the run ends, once. What another worker has
// reported under the same number, or another data folder, is not taken for it.
func TestEndsAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		before func(l *archive.Label) // who wrote the part that is there
		lines  int
	}{
		"cut off between the manifest and the frontier":           {func(*archive.Label) {}, 1},
		"cut off there in an earlier version":                     {func(l *archive.Label) { l.Batch, l.Nonce = strings.TrimSuffix(l.Batch, "@w"), "" }, 1},
		"another worker has it":                                   {func(l *archive.Label) { l.Batch, l.Worker = strings.TrimSuffix(l.Batch, "w")+"v", "v" }, 2},
		"another worker of an earlier version has it":             {func(l *archive.Label) { l.Batch, l.Nonce, l.Worker = strings.TrimSuffix(l.Batch, "@w"), "", "v" }, 2},
		"a worker of this name has it, on a folder that was lost": {func(l *archive.Label) { l.Nonce = "fedcba9876543210" }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.begin("one", nil)
			r.withoutAddress()
			plan, err := r.Frontier.Crawl(rigCrawl).Plan()
			r.must(err)
			store, err := r.Archives.Open(t.Context(), "")
			r.must(err)
			list, first, err := r.Frontier.Crawl(rigCrawl).URLs().Unfetched(10)
			r.must(err)
			label := r.unfetchedLabel(plan, first)
			c.before(&label)
			if _, err := r.archiveUnfetchedPart(t.Context(), store, label, list); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				r.must(r.archiveUnfetched(t.Context(), plan, store))
			}
			lines := r.logged()
			if len(lines) != c.lines {
				t.Errorf("%d lines, want %d", len(lines), c.lines)
			}
			for _, l := range lines {
				if l.URL != rigSeed || l.Kind != "failed" || l.Reason != "no such host" || l.Attempt != 1 {
					t.Errorf("the log says %+v", l)
				}
			}
			r.check(r.dir)
		})
	}
}

// withoutAddress has the seed fail, for its host has no address.
func (r *rig) withoutAddress() {
	r.t.Helper()
	resolve := func(context.Context, string) (string, error) { return "", errors.New("no such host") }
	for range 3 {
		r.round++
		_, err := r.Frontier.Crawl(rigCrawl).Claims().Claim(r.t.Context(), frontier.Want{
			Round: r.round, Claims: 10, Lanes: 100, Until: time.Now(), MaxFail: 1, Resolve: resolve,
			Refused: func(error) bool { return false }, Backoff: func(int) time.Duration { return 0 },
		})
		r.must(err)
	}
	if state := r.states()[rigSeed]; state != "failed" {
		r.t.Fatalf("the URL is %s", state)
	}
}
