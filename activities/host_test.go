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
	for _, test := range []struct {
		host, address string
		queues        int
		unknown       bool   // it has no address
		fault         string // of the input
	}{
		{host: "a.example", address: "127.0.0.1", queues: 1},
		{host: "www.a.example", unknown: true},
		{host: "b.example", unknown: true},
		{host: "127.0.0.1", address: "127.0.0.1"},
		{host: "a b", fault: `"a b" is no host`},
		{host: "", fault: `"" is no host`},
	} {
		out, err := call[HostResult](r, r.Host, HostInput{Host: test.host})
		if test.fault != "" {
			if err == nil || !strings.Contains(err.Error(), test.fault) {
				t.Errorf("%q: %v, want %q", test.host, err, test.fault)
			}
			continue
		}
		if err != nil || len(out.Queues) != test.queues || out.Address != test.address || (out.Unknown != "") != test.unknown {
			t.Errorf("%q: %+v, %v", test.host, out, err)
		}
		for _, q := range out.Queues {
			if out.PLD != "a.example" || q.Crawl != rigCrawl || q.Waiting != 1 {
				t.Errorf("%q: %+v", test.host, out)
			}
		}
	}
}
