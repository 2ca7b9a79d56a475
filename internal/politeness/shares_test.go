package politeness

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

// share is what a crawl of a worker asks for: a few asks wait always.
type share struct {
	crawl, worker, ip string
	weight            int
	waiting, got      int
}

// TestSharesOverWorkers: two crawls, each on two workers, get a site by weight, whatever the number of asks of each: at one address, and at two, one of which each worker knows, where the site is
// asked by one lane at a time.
func TestSharesOverWorkers(t *testing.T) {
	for name, addresses := range map[string][2]string{"one address": {"10.0.0.1", "10.0.0.1"}, "two addresses": {"10.0.0.1", "10.0.0.2"}} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(20) {
				random := rand.New(rand.NewPCG(seed, 0))
				s, now, claims := NewPresent(0, 1), start, 0
				heavy, most := 2+random.IntN(4), 1+random.IntN(5)
				var shares []*share
				for i, worker := range []string{"v", "w"} {
					shares = append(shares, &share{"heavy", worker, addresses[i], heavy, 0, 0}, &share{"light", worker, addresses[i], 1, 0, 0})
				}
				var held []Grant
				take := func(answers []Answer) {
					for _, a := range answers {
						held = append(held, a.Grants...)
					}
				}
				for range 400 {
					now = now.Add(time.Second)
					for _, i := range random.Perm(len(shares)) {
						for c := shares[i]; c.waiting < 2+(most+i)%3; c.waiting++ {
							claims++
							take(s.Serve(now, []Round{{Asks: []Ask{{Lease: fmt.Sprint(claims), IP: c.ip, PerIP: 1, Crawl: c.crawl, Worker: c.worker, Weight: c.weight, Host: "h.example", Reply: c.crawl + c.worker}}}}))
						}
					}
					if len(held) > 1 {
						t.Fatalf("the site is asked by %d lanes", len(held))
					}
					if len(held) > 0 {
						g := held[0]
						held = nil
						c := shares[slices.IndexFunc(shares, func(c *share) bool { return c.crawl == g.ID.Crawl && c.worker == g.ID.Worker })]
						c.waiting--
						c.got++
						take(s.Serve(now, []Round{{Releases: []Release{{Lease: g.Lease, Crawl: c.crawl, Worker: c.worker, IP: c.ip, Number: g.Number, Asked: true, Rest: time.Second}}}}))
					}
					take(s.Tick(now))
				}
				all, of := 0, map[string]int{}
				for _, c := range shares {
					all += c.got
					of[c.crawl] += c.got
				}
				if want := all * heavy / (heavy + 1); all < 100 || of["heavy"] < want-want/10-2 || of["heavy"] > want+want/10+2 {
					t.Errorf("seed %d: a crawl of weight %d gets %d of %d leases, want %d", seed, heavy, of["heavy"], all, want)
				}
				for _, c := range shares {
					if c.got < of[c.crawl]/4 {
						t.Errorf("seed %d: worker %s gets %d of the %d leases of %s", seed, c.worker, c.got, of[c.crawl], c.crawl)
					}
				}
			}
		})
	}
}
