package activities

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
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
	rounds := a.splitRound(ClaimInput{Crawl: "c"}, frontier.Round{
		Claims: []frontier.Claim{
			claim("1", "b.example", "192.0.2.7"), claim("2", "a.example", "198.51.100.1"), claim("3", "b.example", "203.0.113.1"), claim("4", "b.example", "10.0.0.1"),
		},
		Renewals: []frontier.Claim{claim("5", "b.example", "192.0.2.8")},
		Releases: []frontier.EndedLease{{Lease: "6", IP: "192.0.2.9"}, {Lease: "7", IP: "@net"}, {Lease: "8", IP: "10.0.0.2"}},
	}, crawl.Politeness{PerIP: 3, MaxDelay: crawl.Duration(30 * time.Second)})
	r := rounds.asked[0]
	if len(rounds.asked) != 1 || len(rounds.noticed) > 0 || r.Worker != "w" || r.Groups != groups.Hash() {
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

// TestSplitRoundOverShards: what a release says of its host goes to all shards, for the host may have addresses in them, with whom it is from; what it says of its address to the shard of that alone. Notices
// go with what a shard is asked, or need no answer.
func TestSplitRoundOverShards(t *testing.T) {
	now := time.Now()
	a := overShards(t, 3, nil)
	a.Now = func() time.Time { return now }
	asked := "192.0.2.8"
	for i := 0; Shard(asked, 3) == Shard(rigIP, 3); i++ {
		asked = fmt.Sprint("198.51.100.", i)
	}
	rounds := a.splitRound(ClaimInput{Crawl: "c", Round: 2, Reply: "r"}, frontier.Round{Releases: []frontier.EndedLease{
		{Lease: "a.example-1", IP: rigIP, Number: 7, Next: now.Add(time.Second), Host: "a.example", HostNext: now.Add(time.Hour), Trouble: politeness.TroubleBusy, Asked: true},
		{Lease: "b.example-1", IP: rigIP, Number: 8, Next: now.Add(time.Second), Asked: true},
	}, Claims: []frontier.Claim{{ID: "c.example-1", PLD: "c.example", IP: asked}}}, crawl.Politeness{})
	if len(rounds.asked) != 2 || len(rounds.noticed) != 1 || len(rounds.confirm[Shard(rigIP, 3)].Releases) != 2 || len(rounds.confirm) != 1 {
		t.Fatalf("%d shards are asked, %d get notices alone, %+v is confirmed", len(rounds.asked), len(rounds.noticed), rounds.confirm)
	}
	for n := range 3 {
		r, number := rounds.asked[n], int64(2)
		if r == nil {
			r, number = rounds.noticed[n], 0
		}
		if r.From != "r" || r.Round != number || r.Worker != "w" {
			t.Errorf("shard %d: the round is of %q, %d, %q", n, r.From, r.Round, r.Worker)
		}
		first := r.Releases[0]
		if first.Host != "a.example" || first.HostRest != time.Hour || first.Trouble != politeness.TroubleBusy || first.Number != 7 {
			t.Errorf("shard %d: %+v", n, first)
		}
		if mine := n == Shard(rigIP, 3); mine != (first.IP == rigIP) || mine != (first.Rest == time.Second) || mine != (len(r.Releases) == 2) {
			t.Errorf("shard %d of the address %t: %+v", n, mine, r.Releases)
		}
	}
}

// overShards is a worker whose politeness has so many shards.
func overShards(t *testing.T, shards int, temporal client.Client) *Activities {
	t.Helper()
	front, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true, Table: testTable})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { front.Close() })
	return &Activities{Settings: Settings{Worker: "w", Shards: shards}, Now: time.Now, Frontier: front, Client: temporal}
}

// silentShards is a Temporal of shards that answer nothing; it keeps what they are sent. An update ends when so many are waited for.
type silentShards struct {
	client.Client
	together sync.WaitGroup
	mu       sync.Mutex
	waiting  []string // for the answers of these
	signals  map[string]politeness.Round
}

func (s *silentShards) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	s.mu.Lock()
	s.waiting = append(s.waiting, o.WorkflowID)
	s.mu.Unlock()
	s.together.Done()
	all := make(chan struct{})
	go func() { s.together.Wait(); close(all) }()
	select {
	case <-all:
		return nil, context.DeadlineExceeded
	case <-ctx.Done():
		return nil, fmt.Errorf("it was waited for alone: %w", ctx.Err())
	}
}

func (s *silentShards) SignalWithStartWorkflow(_ context.Context, id, _ string, arg any, _ client.StartWorkflowOptions, _ any, _ ...any) (client.WorkflowRun, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.signals[id] = arg.(politeness.Round)
	return nil, nil
}

// TestSilentShards: of shards that do not answer a round waits for those that it asks something, for all of them at a time. Those that get notices alone it does not wait for: each round with a
// notice would be held up by each shard that does not answer, and nothing would be confirmed.
func TestSilentShards(t *testing.T) {
	s := &silentShards{signals: map[string]politeness.Round{}}
	a := overShards(t, 5, s)
	var ips [2]string
	for i := range ips {
		for n := 0; ips[i] == "" || Shard(ips[i], 5) != i; n++ {
			ips[i] = fmt.Sprint("192.0.2.", n)
		}
	}
	s.together.Add(2)
	ctx, cancel := context.WithTimeout(t.Context(), roundWait/2)
	defer cancel()
	now := time.Now()
	answered, sent, confirm, err := a.sendRound(ctx, ClaimInput{Crawl: "c", Round: 3, Reply: "r"}, frontier.Round{
		Releases: []frontier.EndedLease{{Lease: "a.example-1", IP: ips[0], Number: 7, Next: now, Host: "a.example", HostNext: now.Add(time.Hour), Asked: true}},
		Claims:   []frontier.Claim{{ID: "b.example-1", PLD: "b.example", IP: ips[1]}},
	}, crawl.Politeness{}, now)
	if err != nil || len(answered) > 0 || sent != 2 || len(confirm.Releases) != 1 || ctx.Err() != nil {
		t.Errorf("%d have answered, %d will, %+v is confirmed, %v, %v", len(answered), sent, confirm, err, ctx.Err())
	}
	slices.Sort(s.waiting)
	if want := []string{names.PolitenessID(0), names.PolitenessID(1)}; !slices.Equal(s.waiting, want) {
		t.Errorf("it waits for %q, want %q", s.waiting, want)
	}
	for n := range 5 {
		r := s.signals[names.PolitenessID(n)]
		if answers := r.Round > 0; len(r.Releases) != 1 || r.Releases[0].Host != "a.example" || r.Shards != 5 || answers != (n < 2) {
			t.Errorf("shard %d is sent %+v", n, r)
		}
	}
}

// halfSilent is a Temporal with a shard that answers, beside others that do not.
type halfSilent struct {
	*silentShards
	answers *testShard
	id      string
}

func (s halfSilent) UpdateWorkflow(ctx context.Context, o client.UpdateWorkflowOptions) (client.WorkflowUpdateHandle, error) {
	if o.WorkflowID == s.id {
		return s.answers.UpdateWorkflow(ctx, o)
	}
	return s.silentShards.UpdateWorkflow(ctx, o)
}

// TestSilentShardHoldsUpNoOther: what a shard answers is confirmed to the frontier at once, though another one that the same round asks does not answer: releases would come again and leases run out
// at all addresses while one shard is silent.
func TestSilentShardHoldsUpNoOther(t *testing.T) {
	r := newRig(t)
	s := &silentShards{signals: map[string]politeness.Round{}}
	r.Settings.Shards = 2
	r.Client = halfSilent{s, &testShard{state: politeness.NewPresent(0, 2)}, names.PolitenessID(Shard(rigIP, 2))}
	r.begin("o", nil)
	in := r.batch()
	r.must(r.Frontier.Crawl(rigCrawl).Lane(in.Claims[0].ID).End(frontier.LaneEnd{Host: time.Now(), Address: time.Now().Add(time.Minute)}))
	round, err := r.Frontier.Crawl(rigCrawl).Claims().Claim(t.Context(), frontier.Want{Round: 2, Until: time.Now(), ClaimNothing: true})
	r.must(err)
	elsewhere := rigIP
	for i := 0; Shard(elsewhere, 2) == Shard(rigIP, 2); i++ {
		elsewhere = fmt.Sprint("198.51.100.", i)
	}
	round.Claims = []frontier.Claim{{ID: "b.example-1", PLD: "b.example", IP: elsewhere}}
	if len(round.Releases) != 1 {
		t.Fatalf("%+v", round.Releases)
	}
	s.together.Add(1)
	answered, sent, confirm, err := r.sendRound(t.Context(), ClaimInput{Crawl: rigCrawl, Round: 2, Reply: "r"}, round, crawl.Politeness{}, time.Now())
	if err != nil || len(answered) != 1 || sent != 1 || len(confirm.Releases) > 0 {
		t.Fatalf("%d have answered, %d will and confirm %+v, %v", len(answered), sent, confirm, err)
	}
	r.must(r.confirmAnswered(rigCrawl, answered))
	if round, err = r.Frontier.Crawl(rigCrawl).Claims().Claim(t.Context(), frontier.Want{Round: 3, Until: time.Now(), ClaimNothing: true}); err != nil || len(round.Releases) > 0 {
		t.Errorf("%+v is released again, %v", round.Releases, err)
	}
}
