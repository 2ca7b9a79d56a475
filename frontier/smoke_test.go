package frontier

import (
	"context"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/politeness"
)

func TestClaimAndCommit(t *testing.T) {
	dir := t.TempDir()
	f, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Budget.Pages = "c", []crawl.Seed{{URL: "http://a.example/"}}, 100
	if _, err := f.Begin("c", "o", 0, d, seedsOf(d), false); err != nil {
		t.Fatal(err)
	}
	seeds := []crawl.Discovery{{URL: "http://a.example/", Path: "S", Score: 1}, {URL: "http://a.example/b", Path: "S", Score: 0.5}}
	for range 2 { // idempotent
		if err := f.Crawl("c").URLs().Offer("seeds", seeds); err != nil {
			t.Fatal(err)
		}
	}
	want := Want{
		Round: 1, Claims: 10, Lanes: 10, Until: time.Now().Add(time.Second),
		Resolve: func(context.Context, string) (string, error) { return "127.0.0.1", nil },
	}
	r, err := f.Crawl(testCrawl).Claims().Claim(t.Context(), want)
	if err != nil || len(r.Claims) != 1 || len(r.Claims[0].URLs) != 2 {
		t.Fatalf("round %+v, %v", r, err)
	}
	again, err := f.Crawl(testCrawl).Claims().Claim(t.Context(), want)
	if err != nil || len(again.Claims) != 1 || again.Claims[0].ID != r.Claims[0].ID {
		t.Fatalf("the lost round is not given again: %+v, %v", again, err)
	}
	now := time.Now()
	if _, err := f.Crawl("c").Batch("batch").Start([]politeness.Grant{{Lease: r.Claims[0].ID, IP: "127.0.0.1", Deadline: now.Add(time.Minute)}}); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if f, err = Open(dir, Options{}); err != nil {
		t.Fatal(err)
	}
	lanes, err := f.Crawl("c").Batch("batch").Reopen(r.Claims, nil)
	if err != nil || len(lanes) != 1 || len(lanes[0].Targets) != 2 || lanes[0].Targets[0].URL != "http://a.example/" {
		t.Fatalf("lanes %+v, %v", lanes, err)
	}
	if err := f.Crawl("c").Lane(r.Claims[0].ID).End(LaneEnd{Address: now, Host: now}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		err = f.Crawl("c").Commit(Commit{Batch: "batch", Outcomes: []crawl.PageOutcome{
			{Outcome: crawl.Outcome{URL: "http://a.example/", Kind: crawl.OutcomeDone, Status: 200}, Score: 0.9},
			{Outcome: crawl.Outcome{URL: "http://a.example/b", Kind: crawl.OutcomeRetry, After: now.Add(-2 * time.Second)}, Score: -1},
		}, Discoveries: []crawl.Discovery{{URL: "http://a.example/c", Path: "SL", Score: 0.7}, {URL: "http://other.example/", Path: "SL", Score: 0.7}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	want.Round, want.Until = 2, time.Now().Add(time.Second)
	r, err = f.Crawl(testCrawl).Claims().Claim(t.Context(), want)
	if err != nil || len(r.Claims) != 1 || len(r.Claims[0].URLs) != 2 || len(r.Releases) != 1 {
		t.Fatalf("round %+v, %v", r, err)
	}
	s, err := f.Crawl("c").Status()
	if err != nil || s.Totals.Pages != 1 || s.Totals.Relevant != 1 || s.Totals.Retries != 1 || s.Waiting != 0 {
		t.Fatalf("status %+v, %v", s, err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
}
