package activities

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/fetch"
)

// What a worker knows of a host has the queue of each crawl, and its address; what is no host is refused.
func TestHost(t *testing.T) {
	guard, err := fetch.NewGuard([]string{"127.0.0.0/8"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	resolver, err := fetch.NewResolver(map[string]netip.Addr{"a.example": netip.MustParseAddr("127.0.0.1")}, "127.0.0.1:1")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.Fetch = fetch.New(fetch.Options{Limits: fetch.DefaultLimits(), Guard: guard, Resolver: resolver, TempDir: t.TempDir()})
	r.begin("o", nil)
	out, err := call[HostResult](r, r.Host, HostInput{Host: "a.example"})
	if err != nil || out.PLD != "a.example" || len(out.Queues) != 1 || out.Queues[0].Crawl != rigCrawl || out.Queues[0].Waiting != 1 || out.Address != "127.0.0.1" {
		t.Errorf("%+v, %v", out, err)
	}
	if _, err := call[HostResult](r, r.Host, HostInput{Host: "a b"}); err == nil || !strings.Contains(err.Error(), `"a b" is no host`) {
		t.Error(err)
	}
}
