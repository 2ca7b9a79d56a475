package claims

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// shard is a shard of politeness that slows servers down, and a set of claims of one address there.
type shard struct {
	*testing.T
	now    time.Time
	claims *Set
	state  *politeness.State
}

const shared = "192.0.2.1"

// lane begins to ask a site.
func (s *shard) lane(site string, queue uint64) {
	s.Helper()
	s.claims.Apply(Change{Claims: []Claim{{ID: site, PLD: site, Queue: queue, IP: shared, Asked: s.now, Deadline: s.now.Add(time.Hour)}}})
	answers := s.state.Serve(s.now, []politeness.Round{{Asks: []politeness.Ask{{Lease: site, Crawl: "c", Worker: "w", Reply: "r", IP: shared, PerIP: 1, Host: site}}}})
	if len(answers) != 1 || len(answers[0].Grants) != 1 {
		s.Fatalf("%s is not granted: %+v", site, answers)
	}
	s.claims.Apply(s.claims.Grant(Grant{Grant: answers[0].Grants[0], Batch: "b", Fresh: Life{Nonce: site}}, s.terms()))
	s.now = s.now.Add(time.Second)
}

func (s *shard) terms() Terms { return Terms{Now: s.now} }

// apply has the shard serve the releases of a change, and their confirmation come back.
func (s *shard) apply(ch Change) {
	s.claims.Revise(ch.Releases, s.now)
	s.claims.Apply(ch)
	for _, r := range s.claims.Releases() {
		s.state.Serve(s.now, []politeness.Round{{Releases: []politeness.Release{r.Release("c", "w", s.now)}}})
		s.claims.Apply(s.claims.Confirm(Confirmed{Releases: []politeness.Key{r.Key()}}, s.now))
	}
	s.now = s.now.Add(time.Minute)
}

func (s *shard) end(site string, trouble politeness.Trouble) {
	s.Helper()
	ch, ends := s.claims.End(site, LaneEnd{Address: s.now.Add(time.Second), Host: s.now.Add(time.Second), Trouble: trouble}, s.terms())
	if !ends {
		s.Fatalf("%s has no claim", site)
	}
	s.apply(ch)
}

func (s *shard) yield(site string) {
	s.apply(s.claims.Yield(site, s.now.Add(time.Second), s.now.Add(time.Hour)))
}

// rest is how long the server rests between two lanes.
func (s *shard) rest() time.Duration {
	for _, a := range s.state.Host(s.now, "", []string{shared}).Addresses {
		if a.Slow != nil {
			return a.Slow.Rest
		}
	}
	return 0
}

// TestSlowAnswerCountsOnce: a lane that gives its lease back while it reads a slow answer counts at its server by how it ends: a refusal slows the server
// down, and a good answer is one, not two.
func TestSlowAnswerCountsOnce(t *testing.T) {
	s := &shard{T: t, now: start, claims: NewSet(), state: politeness.New(0, 1)}
	s.state.CountServers()
	s.state.Ends = true
	s.lane("a.example", 1)
	s.end("a.example", politeness.TroubleBusy)
	for i, want := range []time.Duration{1, 2, 4} {
		site := string(rune('b'+i)) + ".example"
		s.lane(site, uint64(2+i))
		before := s.rest()
		s.yield(site)
		if got := s.rest(); got != before {
			t.Errorf("the server rests %s while %s is read, want %s", got, site, before)
		}
		s.end(site, politeness.TroubleUnavailable)
		if got := s.rest(); got != want*time.Second {
			t.Errorf("the server rests %s after %s has refused, want %d s", got, site, want)
		}
	}
	s.lane("z.example", 9)
	s.yield("z.example")
	s.end("z.example", "")
	if got := s.rest(); got != 2*time.Second {
		t.Errorf("the server rests %s after a good answer, want 2 s", got)
	}
	s.lane("cut.example", 10)
	s.apply(s.claims.Drop(s.claims.Where(func(c *Claim) bool { return c.ID == "cut.example" }), s.terms()))
	if got := s.rest(); got != 2*time.Second {
		t.Errorf("the server rests %s after a lane was cut off, want 2 s", got)
	}
}
