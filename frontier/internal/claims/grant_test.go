package claims

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

func TestBindGrant(t *testing.T) {
	now := time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)
	in := now.Add
	unbound := Claim{ID: "a-1"}
	atWork := Claim{ID: "a-1", Batch: "b", Grant: 7, Lease: in(time.Minute)}
	overdue := Claim{ID: "a-1", Batch: "b", Grant: 7, Lease: in(-time.Second)}
	ended := Claim{ID: "a-1", Batch: "b", Grant: 7, Ended: true}
	reading := Claim{ID: "a-1", Batch: "b", Grant: 7, Lease: in(time.Minute), Reading: in(time.Minute)}
	others := Claim{ID: "a-1", Batch: "other", Grant: 7, Lease: in(time.Minute)}
	g := politeness.Grant{Lease: "a-1", Number: 8, NotBefore: in(time.Second)}
	again := g
	again.Number = 7
	hostRests := func(d time.Duration) politeness.Grant {
		g := g
		g.HostNotBefore = in(d)
		return g
	}
	for _, test := range []struct {
		name      string
		claim     *Claim
		grant     politeness.Grant
		asker     Asker
		hostRest  time.Duration
		elsewhere time.Duration
		want      bound
	}{
		{"a new claim", &unbound, g, RoundAsked, 0, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"the claim is gone", nil, g, RoundAsked, 0, 0, bound{verdict: grantReleased}},
		{"the claim is gone from a batch", nil, g, BatchAsked, 0, 0, bound{verdict: grantReleased}},
		{"another batch has the claim", &others, g, RoundAsked, 0, 0, bound{verdict: grantIgnored}},
		{"another batch has the claim, and its host is asked", &others, g, BatchAsked, 0, time.Hour, bound{verdict: grantIgnored}},
		{"the same grant again", &atWork, again, RoundAsked, 0, 0, bound{verdict: grantKept}},
		{"the same grant again, the lane has ended", &ended, again, BatchAsked, 0, 0, bound{verdict: grantKept}},
		{"a second grant of a round, the lane has ended", &ended, g, RoundAsked, 0, 0, bound{verdict: grantReleased}},
		{"a second grant of a round, the lease was yielded", &reading, g, RoundAsked, 0, 0, bound{verdict: grantReleased}},
		{"the batch has asked, the lane has ended", &ended, g, BatchAsked, 0, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"the batch has asked, the lease was yielded", &reading, g, BatchAsked, 0, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"the lease has run out", &overdue, g, RoundAsked, 0, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"a short rest is waited out", &unbound, g, RoundAsked, 3 * time.Second, 0, bound{grantTaken, in(3 * time.Second), time.Time{}}},
		{"a rest that is over", &unbound, g, RoundAsked, -time.Second, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"an address is not held for a long rest", &unbound, g, RoundAsked, 3*time.Second + 1, 0, bound{grantLate, in(3*time.Second + 1), time.Time{}}},
		{"a batch waits out a long rest", &ended, g, BatchAsked, time.Hour, 0, bound{grantTaken, in(time.Hour), time.Time{}}},
		{"another worker reports a short rest", &unbound, hostRests(2 * time.Second), RoundAsked, 0, 0, bound{grantTaken, in(2 * time.Second), in(2 * time.Second)}},
		{"another worker reports a long rest", &unbound, hostRests(time.Hour), RoundAsked, 0, 0, bound{grantLate, in(time.Hour), in(ReportedRestTTL)}},
		{"another worker reports a rest that is over", &unbound, hostRests(-time.Hour), RoundAsked, 0, 0, bound{grantTaken, in(time.Second), time.Time{}}},
		{"another claim asks the host of a new claim", &unbound, g, RoundAsked, 0, time.Second, bound{grantLate, in(time.Second), time.Time{}}},
		{"another claim asks the host of a batch", &ended, g, BatchAsked, 0, time.Second, bound{grantReleased, in(time.Second), time.Time{}}},
		{"another claim asks the host, the lease has run out", &overdue, g, RoundAsked, 0, time.Second, bound{grantReleased, in(time.Second), time.Time{}}},
		{"another claim has asked the host", &unbound, g, RoundAsked, 0, -time.Second, bound{grantTaken, in(time.Second), time.Time{}}},
		{"a newer grant of a lease in use", &atWork, g, RoundAsked, time.Hour, time.Second, bound{grantTaken, in(time.Hour), time.Time{}}},
	} {
		g := Grant{Grant: test.grant, Batch: "b", Asker: test.asker, HostRest: in(test.hostRest), Elsewhere: in(test.elsewhere)}
		got := bindGrant(test.claim, g, now)
		if got != test.want {
			t.Errorf("%s: %+v, want %+v", test.name, got, test.want)
		}
	}
}
