package frontier

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/urls"
)

func parsed(t testing.TB, text string) urls.URL {
	t.Helper()
	u, err := urls.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// borrower returns a claim of b.example that has its lease.
func (r *rig) borrower() Claim {
	r.submit("borrower", found(0.5, "http://b.example/")...)
	r.hosts.Store("b.example", "192.0.2.3")
	for _, c := range r.next().Claims {
		if c.PLD == "b.example" {
			r.start(c)
			return c
		}
	}
	r.t.Fatal("b.example is not claimed")
	return Claim{}
}

// A killed worker may have asked a borrowed host just before its end. Others ask the host only when its longest loan is over, and
// the claim itself only after the longest pause.
func TestBorrowedHostOfAKilledWorker(t *testing.T) {
	pause := definition(slowly).Politeness.MaxDelay.D()
	for _, delay := range []time.Duration{time.Second, 3 * pause} { // of the host: it counts if it is longer
		testKilledBorrower(t, delay, max(pause, delay))
	}
}

func testKilledBorrower(t *testing.T, delay, pause time.Duration) {
	for name, test := range map[string]struct {
		then func(r *rig, borrower Claim, robots urls.URL)
		free time.Duration // when another claim may ask the host, after the kill
	}{
		"the claim does nothing more": {func(*rig, Claim, urls.URL) {}, time.Minute + pause},
		"the claim asks again": {func(r *rig, borrower Claim, robots urls.URL) {
			host, err := r.Lane(borrower.ID).Borrow(robots, r.clock.Now().Add(time.Hour))
			if want := r.clock.Now().Add(pause); err != nil || host.Next.Before(want) {
				t.Errorf("%+v, %v, want it from %s on", host, err, want)
			}
			r.must(r.Lane(borrower.ID).Return(robots, r.clock.Now().Add(2*pause)))
		}, 2 * pause},
		"the claim ends": {func(r *rig, borrower Claim, _ urls.URL) {
			r.must(r.endLane(borrower.ID, r.clock.Now(), false))
		}, pause},
		"the batch is given back": {func(r *rig, _ Claim, _ urls.URL) {
			r.must(r.Batch(fmt.Sprintf("batch-%d", r.batch)).GiveBack(r.clock.Now()))
		}, pause},
	} {
		t.Run(fmt.Sprint(name, ", delay ", delay), func(t *testing.T) {
			r := oneQueue(t, 2, slowly)
			robots := parsed(t, "http://a.example/robots.txt")
			r.must(r.URLs().KnowDelay(robots, delay))
			r.must(r.rest(record.KeyOf(robots).PLD, r.clock.Now().Add(time.Second))) // so that the first round has no claim of it
			borrower := r.borrower()
			if _, err := r.Lane(borrower.ID).Borrow(robots, r.clock.Now().Add(time.Minute)); err != nil {
				t.Fatal(err)
			}
			r.reopen()
			killed := r.clock.Now()
			test.then(r, borrower, robots)
			free := killed.Add(test.free)
			r.clock.pass(free.Add(-time.Second).Sub(r.clock.Now()))
			claimed := func() bool {
				return slices.ContainsFunc(r.next().Claims, func(c Claim) bool { return c.PLD == "a.example" })
			}
			if claimed() {
				t.Errorf("%s after the kill it is claimed", r.clock.Now().Sub(killed))
			}
			r.clock.pass(2 * time.Second)
			if !claimed() {
				t.Errorf("%s after the kill it is not claimed", r.clock.Now().Sub(killed))
			}
		})
	}
}

// The Crawl-delay of a borrowed host is known to the next claim of any crawl, also if its robots.txt cannot be read then.
func TestDelayOfABorrowedHost(t *testing.T) {
	r, other := twoCrawls(t, slowly)
	robots := parsed(t, "http://a.example/robots.txt")
	r.must(r.rest(record.KeyOf(robots).PLD, r.clock.Now().Add(time.Second)))
	for _, delay := range []time.Duration{20 * time.Second, time.Second} { // a shorter one does not count
		r.must(r.URLs().KnowDelay(robots, delay))
	}
	never := parsed(t, "http://c.example/robots.txt") // of which the crawl has no URL
	r.must(r.URLs().KnowDelay(never, time.Hour))
	r.reopen()
	r.clock.pass(2 * time.Second)
	if got := other(); len(got.Claims) != 1 || got.Claims[0].Delay != 20*time.Second {
		t.Errorf("%+v", got)
	}
	if host, err := r.Lane(r.borrower().ID).Borrow(never, r.clock.Now().Add(time.Minute)); err != nil || host.Delay != time.Hour {
		t.Errorf("%+v, %v", host, err)
	}
}

// A Crawl-delay that becomes known while a host is borrowed counts for the loan, too. The crawl that learned it knows it even after
// another crawl that knew it has ended, and links that are found at the same time do not overwrite it.
func TestDelayLearnedInALoan(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	robots := parsed(t, "http://a.example/robots.txt")
	r.must(r.rest(record.KeyOf(robots).PLD, r.clock.Now().Add(time.Second)))
	borrower := r.borrower()
	if _, err := r.Lane(borrower.ID).Borrow(robots, r.clock.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	r.must(r.URLs().KnowDelay(robots, time.Hour))
	r.reopen()
	host, err := r.Lane(borrower.ID).Borrow(robots, r.clock.Now().Add(2*time.Hour))
	if err != nil || host.Next.Before(r.clock.Now().Add(time.Hour)) {
		t.Errorf("%+v, %v", host, err)
	}
}

// A claim that waited for its lease when the Crawl-delay of its host became known keeps to it.
func TestDelayOfAWaitingClaim(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	c := r.one()
	r.must(r.URLs().KnowDelay(parsed(t, "http://a.example/robots.txt"), 20*time.Second))
	started, err := r.Batch("b").Start(r.grant(c))
	if err != nil || len(started) != 1 || started[0].Delay != 20*time.Second {
		t.Errorf("%+v, %v", started, err)
	}
}

// Nobody else asks a borrowed host, in any crawl, and afterwards it rests for all crawls.
func TestBorrowedHost(t *testing.T) {
	r, other := twoCrawls(t, slowly)
	r.submit("b", found(0.5, "http://b.example/")...)
	r.hosts.Store("b.example", "192.0.2.3")
	var borrower, asking Claim
	for _, c := range r.next().Claims {
		if c.PLD == "b.example" {
			borrower = c
		} else {
			asking = c
		}
	}
	r.start(borrower)
	robots := parsed(t, "http://a.example/robots.txt")
	until := r.clock.Now().Add(DefaultLeaseTTL)
	if _, err := r.Lane(borrower.ID).Borrow(robots, until); err != nil { // its claim only waits for its lease
		t.Fatal(err)
	}
	started, err := r.Batch("late").Start(r.grant(asking))
	if err != nil || len(started) != 0 {
		t.Fatalf("a claim of a host that is borrowed is started: %+v, %v", started, err)
	}
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("another crawl claims a host that is borrowed: %+v", got)
	}
	for range 2 {
		r.must(r.Lane(borrower.ID).Return(robots, r.clock.Now().Add(time.Minute)))
	}
	if got := other(); len(got.Claims) != 0 {
		t.Fatalf("the host was asked, and does not rest: %+v", got)
	}
	r.clock.pass(time.Minute)
	got := other()
	if len(got.Claims) != 1 {
		t.Fatalf("%+v", got)
	}
	if _, err := r.Frontier.Crawl("other").Batch("b").Start(r.grant(got.Claims...)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Lane(borrower.ID).Borrow(robots, until); !errors.Is(err, ErrAsked) {
		t.Fatalf("a host is borrowed that a lane asks: %v", err)
	}
	if _, err := r.Lane(borrower.ID).Borrow(parsed(t, "http://b.example/"), until); err != nil {
		t.Fatalf("a claim's own host at another address: %v", err)
	}
}

// A host that rests for long cannot be borrowed: it is not asked, and its state does not change.
func TestRestingHostIsNotBorrowed(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	first := r.one()
	batch := r.start(first)
	next := r.clock.Now().Add(time.Hour)
	r.must(r.Lane(first.ID).End(LaneEnd{Host: next, Delay: 2 * time.Hour}))
	r.must(r.Batch(batch).GiveBack(r.clock.Now()))
	_, err := r.Lane(r.borrower().ID).Borrow(parsed(t, "http://a.example/robots.txt"), r.clock.Now().Add(DefaultLeaseTTL))
	var rests *RestsError
	if !errors.As(err, &rests) || !rests.Until.Equal(next) {
		t.Fatalf("%v, want that it rests until %s", err, next)
	}
	r.clock.pass(time.Hour)
	if started, err := r.Batch("b").Start(r.grant(r.one())); err != nil || len(started) != 1 {
		t.Fatalf("%+v, %v", started, err)
	}
}

// The number of robots.txt that a lane could not fetch is passed on to the next claim, also after a restart. Batches that did not
// reach the host are counted separately.
func TestUnreadRobotsAreKept(t *testing.T) {
	r := oneQueue(t, 2, slowly)
	met := func(n int) map[string]int {
		return map[string]int{"http://a.example": n, "http://www.a.example": 3}
	}
	var want map[string]int
	for i, end := range []LaneEnd{{Unread: met(1)}, {Unread: met(2)}, {Unreachable: true}, {Unread: met(1)}, {}} {
		claim := r.one()
		if fails := []int{0, 0, 0, 1, 0}[i]; !maps.Equal(claim.Unread, want) || claim.Fails != fails {
			t.Fatalf("claim %d: %v, %d that did not reach it, want %v, %d", i, claim.Unread, claim.Fails, want, fails)
		}
		batch := r.start(claim)
		end.Host, want = r.clock.Now(), end.Unread
		r.must(r.Lane(claim.ID).End(end))
		r.must(r.Batch(batch).GiveBack(r.clock.Now()))
		r.clock.pass(time.Hour)
		r.reopen()
	}
}

// A borrower knows the host's next time and Crawl-delay. A claim that waited for its lease meanwhile keeps to them, or gives the lease
// back if it would hold the address idle.
func TestBorrowedHostKeepsItsDelay(t *testing.T) {
	for _, rest := range []time.Duration{time.Second, time.Minute} {
		r := oneQueue(t, 2, slowly)
		first := r.one()
		batch := r.start(first)
		next := r.clock.Now().Add(10 * time.Second)
		r.must(r.Lane(first.ID).End(LaneEnd{Host: next, Delay: 5 * time.Second}))
		r.must(r.Batch(batch).GiveBack(r.clock.Now()))
		robots, borrower := parsed(t, "http://a.example/robots.txt"), r.borrower()
		host, err := r.Lane(borrower.ID).Borrow(robots, r.clock.Now().Add(time.Hour))
		if err != nil || !host.Next.Equal(next) || host.Delay != 5*time.Second {
			t.Fatalf("%+v, %v", host, err)
		}
		r.must(r.Lane(borrower.ID).Return(robots, next))
		r.clock.pass(10 * time.Second)
		claim := r.one()
		until := r.clock.Now().Add(rest)
		r.must(r.rest(claim.Queue, until))
		started, err := r.Batch("b").Start(r.grant(claim))
		switch {
		case err != nil:
			t.Fatal(err)
		case rest > claims.MaxIdle && len(started) != 0:
			t.Fatalf("an address is held for a host that rests: %+v", started)
		case rest < claims.MaxIdle && (len(started) != 1 || !started[0].NotBefore.Equal(until)):
			t.Fatalf("%+v, want it from %s on", started, until)
		}
	}
}
