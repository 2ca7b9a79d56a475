package activities

import (
	"context"
	"errors"
	"fmt"
	"slices"
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

// URLs that end without a batch, because their host has no address, are reported when the run ends, once.
func TestEndsAreReported(t *testing.T) {
	r := newRig(t)
	r.begin("one", nil)
	resolve := func(context.Context, string) (string, error) { return "", errors.New("no such host") }
	for range 3 {
		r.round++
		_, err := r.Frontier.Crawl(rigCrawl).Claim(t.Context(), frontier.Want{
			Round: r.round, Claims: 10, Lanes: 100, Until: time.Now(), MaxFail: 1, Resolve: resolve,
			Refused: func(error) bool { return false }, Backoff: func(int) time.Duration { return 0 },
		})
		r.must(err)
	}
	if state := r.states()[rigSeed]; state != "failed" {
		t.Fatalf("the URL is %s", state)
	}
	plan, err := r.Frontier.Crawl(rigCrawl).Plan()
	r.must(err)
	store, err := r.Archives.Open(t.Context(), "")
	r.must(err)
	list, first, err := r.Frontier.Crawl(rigCrawl).URLs().Unfetched(10)
	r.must(err)
	// an attempt before was cut off between the manifest and the frontier
	if _, err := r.archiveUnfetchedPart(t.Context(), store, archive.Label{Crawl: rigCrawl, Batch: fmt.Sprintf("ends-%d", first), Worker: "w"}, list); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r.must(r.archiveUnfetched(t.Context(), plan, store))
	}
	lines := r.logged()
	if len(lines) != 1 || lines[0].URL != rigSeed || lines[0].Kind != "failed" || lines[0].Reason != "no such host" || lines[0].Attempt != 1 {
		t.Errorf("the log says %+v", lines)
	}
	r.check(r.dir)
}
