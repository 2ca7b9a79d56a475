package activities

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/urls"
)

// A host with a Crawl-delay whose robots.txt redirects to itself under another name is fetched, although it is always bundled with
// a fast host whose lane ends long before the next hop may be requested.
func TestRobotsChainInABundle(t *testing.T) {
	for name, www := range map[string]string{"at one address": "192.0.2.1", "at two addresses": "192.0.2.3"} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) { chainInABundle(t, dir, netip.MustParseAddr(www)) })
		})
	}
}

func chainInABundle(t *testing.T, dir string, www netip.Addr) {
	const delay, pages = 10 * time.Second, 3
	r := newPaceRig(t, dir, 0)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	slow := func(name, robots string) *paceHost {
		return &paceHost{name: name, pld: "one.org", delay: delay, robots: robots, to: "http://www.one.org/robots.txt"}
	}
	r.web.hosts = map[string]*paceHost{
		"one.org": slow("one.org", "elsewhere"), "www.one.org": slow("www.one.org", "file"),
		"two.org": {name: "two.org", pld: "two.org", robots: "none"},
	}
	c := r.crawls[0]
	c.addrs = map[string]netip.Addr{"one.org": netip.MustParseAddr("192.0.2.1"), "www.one.org": www, "two.org": netip.MustParseAddr("192.0.2.2")}
	c.seeds = nil
	for n := range 20 {
		c.seeds = append(c.seeds, crawl.Discovery{URL: fmt.Sprintf("http://two.org/p/%d", n), Path: "S", Score: 0.5})
		if n < pages {
			c.seeds = append(c.seeds, crawl.Discovery{URL: fmt.Sprintf("http://one.org/p/%d", n), Path: "S", Score: 0.5})
		}
	}
	l := &life{paceRig: r, entries: -1}
	var err error
	l.front, err = frontier.Open(dir+"/frontier", frontier.Options{NoSync: true, Table: testTable})
	must(err)
	defer l.front.Close()
	l.spool, err = spool.Open(dir + "/spool")
	must(err)
	l.ctx, l.kill = context.WithCancel(t.Context())
	defer l.kill()
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds, d.Scope.Within, d.Politeness, d.Order.PerQueue = c.name, []crawl.Seed{{URL: c.seeds[0].URL}}, crawl.WithinWeb, l.minimum, 1
	_, err = l.front.Begin(c.name, "o", 0, d, []string{c.seeds[0].URL}, false)
	must(err)
	must(l.front.Crawl(c.name).URLs().Offer("seeds", c.seeds))
	u, err := urls.Parse("http://one.org/")
	must(err)
	must(l.front.Crawl(c.name).URLs().KnowDelay(u, delay)) // of an earlier life of the worker
	acts, done := l.activities(c), 0
	for round := int64(1); done < pages; round++ {
		if round > 4*pages {
			t.Fatalf("%d pages after %d batches", done, round)
		}
		for _, o := range l.bundle(t, acts, c, round, delay) {
			switch {
			case o.Kind == crawl.OutcomeDone:
				done++
			case o.Kind != crawl.OutcomeReturned:
				t.Errorf("batch %d: %+v", round, o)
			}
		}
		time.Sleep(time.Minute) // both hosts are ready together
	}
	for _, name := range []string{"one.org", "www.one.org"} {
		if n := r.web.hosts[name].served; n != 1 {
			t.Errorf("%s was asked for robots.txt %d times", name, n)
		}
	}
}

// bundle makes one batch of all hosts that are ready, and returns the outcomes of the pages of one.org.
func (l *life) bundle(t *testing.T, acts *Activities, c *paceCrawl, round int64, delay time.Duration) (out []crawl.Outcome) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.front.Crawl(c.name).Claims().Claim(l.ctx, frontier.Want{
		Round: round, Claims: 5, Lanes: 20, Until: time.Now().Add(time.Second), MaxFail: 3, Server: func(_, ip string) (string, int) { return ip, 4 }, Backoff: l.limits.Backoff,
		Resolve: func(_ context.Context, host string) (string, error) { return c.addrs[host].String(), nil },
		Refused: func(error) bool { return false },
	})
	must(err)
	if len(got.Claims) != 2 {
		t.Fatalf("round %d: %d claims", round, len(got.Claims))
	}
	var past frontier.Confirmed
	for _, r := range got.Releases {
		past.Releases = append(past.Releases, r.Key())
	}
	must(l.front.Crawl(c.name).Claims().Confirm(past))
	var grants []politeness.Grant
	for i, claim := range got.Claims {
		grants = append(grants, politeness.Grant{Lease: claim.ID, IP: claim.IP, Number: 2*round + int64(i), Deadline: time.Now().Add(14 * time.Minute)})
	}
	batch := fmt.Sprint("b", round)
	started, err := l.front.Crawl(c.name).Batch(batch).Start(grants)
	must(err)
	opened, err := l.front.Crawl(c.name).Batch(batch).Reopen(started, nil)
	must(err)
	var lanes []lane
	for _, o := range opened {
		lanes = append(lanes, lane{ClaimRef{ID: o.ID, PLD: o.PLD, IP: o.IP}, o.Targets})
	}
	f := acts.fetching(BatchInput{Crawl: c.name, Batch: batch}, l.minimum, politeness.Clock{}, lanes)
	f.borrower = func(string) borrow {
		return func(context.Context, netip.Addr) (fetch.Loan, error) {
			return fetch.Loan{NotBefore: time.Now().Add(delay), Until: time.Now().Add(politeness.LoanTTL), Return: func(time.Time) {}}, nil
		}
	}
	log, _, err := l.spool.Batch(c.name, batch).OpenLog()
	must(err)
	f.log = log
	must(f.sideBySide(l.ctx, lanes))
	must(log.Close())
	entries, closer, err := l.spool.Batch(c.name, batch).Entries()
	must(err)
	defer func() { _ = closer() }()
	commit := frontier.Commit{Batch: batch}
	for _, e := range entries {
		if e.Kind != crawl.ExchangePage {
			continue
		}
		commit.Outcomes = append(commit.Outcomes, crawl.PageOutcome{Outcome: e.Outcome})
		if e.Claim[:3] == "one" {
			out = append(out, e.Outcome)
		}
	}
	must(l.front.Crawl(c.name).Commit(commit))
	return out
}
