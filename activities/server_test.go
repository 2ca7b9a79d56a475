package activities

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/hostgroups"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// Asks, renewals and releases of an address go under the group of its network, hosts of groups name theirs, and per_ip of a definition
// holds only where it is allowed.
func TestSplitRoundWithGroups(t *testing.T) {
	groups, err := hostgroups.Parse([]byte(`{"groups": [
		{"name": "net", "networks": ["192.0.2.0/24"], "per_ip": 2, "min_delay": "45s"}, {"name": "names", "hosts": ["a.example"]},
		{"name": "strong", "networks": ["203.0.113.0/24"], "each_address": true, "per_ip": 4}]}`))
	if err != nil {
		t.Fatal(err)
	}
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true, Table: testTable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	a := &Activities{Settings: Settings{Worker: "w", Shards: 1}, Now: time.Now, Groups: groups, Frontier: front}
	claim := func(id, pld, ip string) frontier.Claim { return frontier.Claim{ID: id, PLD: pld, IP: ip} }
	rounds, _ := a.splitRound(ClaimInput{Crawl: "c"}, frontier.Round{
		Claims: []frontier.Claim{
			claim("1", "b.example", "192.0.2.7"), claim("2", "a.example", "198.51.100.1"), claim("3", "b.example", "203.0.113.1"), claim("4", "b.example", "10.0.0.1"),
		},
		Renewals: []frontier.Claim{claim("5", "b.example", "192.0.2.8")},
		Releases: []frontier.EndedLease{{Lease: "6", IP: "192.0.2.9"}, {Lease: "7", IP: "@net"}, {Lease: "8", IP: "10.0.0.2"}},
	}, crawl.Politeness{PerIP: 3, MaxDelay: crawl.Duration(30 * time.Second)})
	r := rounds[0]
	if len(rounds) != 1 || r.Worker != "w" || r.Groups != groups.Hash() {
		t.Fatalf("%+v", r)
	}
	type ask struct {
		ip, group string
		perIP     int
		rest      time.Duration
	}
	want := []ask{{"@net", "", 2, 45 * time.Second}, {"198.51.100.1", "names", 1, 30 * time.Second}, {"203.0.113.1", "", 3, 30 * time.Second}, {"10.0.0.1", "", 1, 30 * time.Second}}
	for i, got := range r.Asks {
		if (ask{got.IP, got.Group, got.PerIP, got.Rest}) != want[i] {
			t.Errorf("ask %s: %+v, want %+v", got.Lease, got, want[i])
		}
	}
	if r.Renewals[0].IP != "@net" || r.Releases[0].IP != "@net" || r.Releases[1].IP != "@net" || r.Releases[2].IP != "10.0.0.2" {
		t.Errorf("%+v, %+v", r.Renewals, r.Releases)
	}
}

// Claims wait for what is leased: the group of the host, that of its network, or the address, as many as its leases allow.
func TestServerOf(t *testing.T) {
	groups, err := hostgroups.Parse([]byte(`{"groups": [
		{"name": "net", "networks": ["192.0.2.0/24"], "per_ip": 2}, {"name": "names", "hosts": ["a.example"]},
		{"name": "strong", "networks": ["203.0.113.0/24"], "each_address": true, "per_ip": 4}]}`))
	if err != nil {
		t.Fatal(err)
	}
	a := &Activities{Groups: groups}
	for _, test := range []struct {
		pld, ip, server string
		leases          int
	}{
		{"b.example", "192.0.2.7", "@net", 2}, {"a.example", "192.0.2.7", "@names", 1}, {"a.example", "10.0.0.1", "@names", 1},
		{"b.example", "203.0.113.1", "203.0.113.1", 3}, {"b.example", "10.0.0.1", "10.0.0.1", 1},
	} {
		if server, waiting := a.serverOf(crawl.Politeness{PerIP: 3}, test.pld, test.ip); server != test.server || waiting != askersPerLease*test.leases {
			t.Errorf("%s at %s: %d wait for %s, want %d for %s", test.pld, test.ip, waiting, server, askersPerLease*test.leases, test.server)
		}
	}
}

// TestSplitRoundOverShards: what a release says of its host goes to all shards, for the host may have addresses in them, with whom it is from; what it says of its address to the shard of that alone.
func TestSplitRoundOverShards(t *testing.T) {
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	now := time.Now()
	a := &Activities{Settings: Settings{Worker: "w", Shards: 3}, Now: func() time.Time { return now }, Frontier: front}
	const ip = "192.0.2.7"
	rounds, confirm := a.splitRound(ClaimInput{Crawl: "c", Round: 2, Reply: "r"}, frontier.Round{Releases: []frontier.EndedLease{
		{Lease: "a.example-1", IP: ip, Number: 7, Next: now.Add(time.Second), Host: "a.example", HostNext: now.Add(time.Hour), Trouble: politeness.TroubleBusy, Asked: true},
		{Lease: "b.example-1", IP: ip, Number: 8, Next: now.Add(time.Second), Asked: true},
	}}, crawl.Politeness{})
	if len(rounds) != 3 || len(confirm.Releases) != 2 {
		t.Fatalf("%d shards are asked, %d releases are confirmed", len(rounds), len(confirm.Releases))
	}
	for n, r := range rounds {
		if r.From != "r" || r.Round != 2 || r.Worker != "w" {
			t.Errorf("shard %d: the round is of %q, %d, %q", n, r.From, r.Round, r.Worker)
		}
		first := r.Releases[0]
		if first.Host != "a.example" || first.HostRest != time.Hour || first.Trouble != politeness.TroubleBusy || first.Number != 7 {
			t.Errorf("shard %d: %+v", n, first)
		}
		if mine := n == Shard(ip, 3); mine != (first.IP == ip) || mine != (first.Rest == time.Second) || mine != (len(r.Releases) == 2) {
			t.Errorf("shard %d of the address %t: %+v", n, mine, r.Releases)
		}
	}
}
