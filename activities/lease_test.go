package activities

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestLease: a batch that is opened without a lease asks for it, and has it until the deadline of the grant; the same grant
// twice is one.
func TestLease(t *testing.T) {
	for name, c := range map[string]struct {
		grants []politeness.Grant
		holds  bool
	}{
		"granted":                        {grants: []politeness.Grant{{IP: rigIP, Number: 1, Deadline: time.Now().Add(time.Hour)}}, holds: true},
		"granted twice":                  {grants: []politeness.Grant{{IP: rigIP, Number: 1, Deadline: time.Now().Add(time.Hour)}, {IP: rigIP, Number: 1, Deadline: time.Now().Add(time.Hour)}}, holds: true},
		"of a claim that is not its own": {grants: []politeness.Grant{{Lease: "b.example-9", IP: rigIP, Number: 1, Deadline: time.Now().Add(time.Hour)}}},
		"none":                           {},
	} {
		r := newRig(t)
		r.begin("o", nil)
		in := r.batch()
		claim := in.Claims[0].ID
		r.must(r.do(r.Open, in))
		r.must(r.Frontier.Crawl(rigCrawl).Batch(in.Batch).GiveBack(time.Now()))
		if until := r.Frontier.Crawl(rigCrawl).Lane(claim).LeaseUntil(); !until.IsZero() {
			t.Fatalf("%s: the lease lasts until %v", name, until)
		}
		out, err := call[OpenResult](r, r.Open, in)
		r.must(err)
		if len(out.Asks) != 1 || out.Asks[0].Lease != claim {
			t.Fatalf("%s: asks for %v", name, out.Asks)
		}
		for i := range c.grants {
			if c.grants[i].Lease == "" {
				c.grants[i].Lease = claim
			}
		}
		r.must(r.do(r.Lease, LeaseInput{BatchInput: in, Grants: c.grants}))
		if holds := r.Frontier.Crawl(rigCrawl).Lane(claim).LeaseUntil().After(time.Now()); holds != c.holds {
			t.Errorf("%s: the lease is held: %v", name, holds)
		}
	}
}
