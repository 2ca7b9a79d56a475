package activities

import (
	"errors"
	"net/netip"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/mocks"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
)

// claimable is a worker's steps over a frontier with one crawl, c, of one URL, whose signals go nowhere.
func claimable(t *testing.T) *Activities {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	front, err := frontier.Open(filepath.Join(t.TempDir(), "frontier"), frontier.Options{Table: testTable})
	must(err)
	t.Cleanup(func() { _ = front.Close() })
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "c", []crawl.Seed{{URL: "http://a.example/"}}
	_, err = front.Begin(d.Name, "o", 0, d, []string{"http://a.example/"}, false)
	must(err)
	must(front.Crawl(d.Name).URLs().Offer("seeds", []crawl.Discovery{{URL: "http://a.example/", Path: "S", Score: 1}}))
	guard, err := fetch.NewGuard([]string{"127.0.0.0/8"}, nil)
	must(err)
	resolver, err := fetch.NewResolver(map[string]netip.Addr{"a.example": netip.MustParseAddr("127.0.0.1")}, "127.0.0.1:9")
	must(err)
	temporal := &mocks.Client{}
	anything := make([]any, 8)
	for i := range anything {
		anything[i] = mock.Anything
	}
	temporal.On("UpdateWorkflow", mock.Anything, mock.Anything).Return(nil, errNoShard)
	temporal.On("SignalWithStartWorkflow", anything...).Return(nil, nil)
	return &Activities{
		Settings: Settings{Worker: "w", Queue: "q", Shards: 1, Lanes: 8, Round: 8},
		Client:   temporal, Frontier: front, Now: time.Now,
		Fetch: fetch.New(fetch.Options{Limits: fetch.DefaultLimits(), Guard: guard, Resolver: resolver, TempDir: t.TempDir()}),
	}
}

var errNoShard = errors.New("no worker runs the shard")

func (a *Activities) claimRound(t *testing.T, in ClaimInput) ClaimResult {
	t.Helper()
	value, err := newEnv(a).ExecuteActivity(a.Claim, in)
	if err != nil {
		t.Fatal(err)
	}
	var out ClaimResult
	if err := value.Get(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A crawl with a reason to hold claims nothing and reports the reason. When the reason is gone, it continues by itself.
func TestClaimHolds(t *testing.T) {
	a := claimable(t)
	var full atomic.Bool
	var asked atomic.Int64
	full.Store(true)
	a.Holds = Holds{
		func(string) string { return "" },
		func(crawl string) string {
			if crawl != "c" {
				t.Errorf("asked for crawl %q", crawl)
			}
			if asked.Add(1) == 4 { // while a round waits
				full.Store(false)
			}
			if full.Load() {
				return "the disk is full"
			}
			return ""
		},
	}
	out := a.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r"})
	if out.Holds != "the disk is full" || out.Sent != 0 || out.Progress.Waiting != 1 || out.Drained || out.Spent != "" {
		t.Fatalf("%+v", out)
	}
	// the next waits, and returns when the reason has gone
	out = a.claimRound(t, ClaimInput{Crawl: "c", Round: 2, Reply: "r", Held: true})
	if out.Holds == "" || out.Sent != 0 {
		t.Fatalf("%+v", out)
	}
	if full.Load() {
		t.Fatal("the round did not wait")
	}
	out = a.claimRound(t, ClaimInput{Crawl: "c", Round: 3, Reply: "r", Held: true})
	if out.Holds != "" || out.Sent != 1 {
		t.Fatalf("%+v", out)
	}
}

// A crawl that is asked to stop ends although it holds; every reason is reported.
func TestHeldCrawlStops(t *testing.T) {
	a := claimable(t)
	a.Holds = Holds{func(string) string { return "one" }, func(string) string { return "two" }}
	out := a.claimRound(t, ClaimInput{Crawl: "c", Round: 1, Reply: "r", Held: true, Drain: true})
	if out.Spent != "stopped" || !strings.Contains(out.Holds, "one; two") {
		t.Fatalf("%+v", out)
	}
}
