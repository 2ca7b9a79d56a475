package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// manyQueues is a rig with n URLs on each of k PLDs.
func manyQueues(t *testing.T, k, n int, edit func(*crawl.Definition)) *rig {
	t.Helper()
	r := newRig(t, edit)
	var list []crawl.Discovery
	for i := range k {
		for j := range n {
			list = append(list, found(0.5, fmt.Sprintf("http://h%d.example/%d", i, j))...)
		}
	}
	r.submit("seeds", list...)
	return r
}

// crawlOut claims and commits until the crawl is over, several batches side by side, and returns the last
// round. of gives the outcome of a URL.
func (r *rig) crawlOut(of func(url string) crawl.PageOutcome) Round {
	r.t.Helper()
	type job struct {
		batch string
		lanes []OpenClaim
	}
	var out []job
	for range 10_000 {
		round := r.next()
		r.confirm(round)
		for _, c := range round.Claims {
			batch := r.start(c)
			lanes, err := r.Batch(batch).Reopen([]Claim{c}, nil)
			r.must(err)
			out = append(out, job{batch, lanes})
		}
		if len(out) == 0 {
			if round.Drained || round.Spent != "" {
				return round
			}
			continue
		}
		j := out[0]
		out = out[1:]
		var outcomes []crawl.PageOutcome
		for _, u := range targets(j.lanes...) {
			outcomes = append(outcomes, of(u))
		}
		for _, l := range j.lanes {
			r.must(r.endLane(l.ID, r.clock.Now(), false))
		}
		r.must(r.Commit(Commit{Batch: j.batch, Outcomes: outcomes}))
	}
	r.t.Fatal("10,000 rounds and no end")
	return Round{}
}

func TestPageBudget(t *testing.T) {
	for _, pages := range []int64{1, 7, 50, 119} {
		r := manyQueues(t, 6, 20, func(d *crawl.Definition) { d.Budget.Pages, d.Order.PerQueue = pages, 4 })
		round := r.crawlOut(done)
		if s := r.status(); round.Spent != "pages" || s.Totals.Pages != pages {
			t.Errorf("budget %d: %d pages, %+v", pages, s.Totals.Pages, round)
		}
		if got := r.next(); len(got.Claims) != 0 {
			t.Errorf("budget %d: claimed when spent", pages)
		}
	}
}

// All claimed URLs may become pages, so they count for the budget; those that turn out not to be pages are subtracted again.
func TestPageBudgetCountsPagesOnly(t *testing.T) {
	r := manyQueues(t, 2, 20, func(d *crawl.Definition) { d.Budget.Pages, d.Order.PerQueue = 5, 5 })
	n := 0
	round := r.crawlOut(func(url string) crawl.PageOutcome {
		if n++; n <= 12 {
			return crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 404}, Score: -1}
		}
		return done(url)
	})
	if s := r.status(); round.Spent != "pages" || s.Totals.Pages != 5 || s.Totals.Errors != 12 || n != 17 {
		t.Errorf("%+v, %+v after %d", round, s.Totals, n)
	}
}

func TestPhaseLimit(t *testing.T) {
	r := manyQueues(t, 3, 20, func(d *crawl.Definition) { d.Budget.Pages = 40 })
	r.must(r.Phase(11, true))
	r.reopen()
	if round := r.crawlOut(done); round.Spent != "phase" || r.status().Totals.Pages != 11 || !r.status().Reference {
		t.Fatalf("%+v, %+v", round, r.status())
	}
	r.must(r.Phase(0, false))
	if round := r.crawlOut(done); round.Spent != "pages" || r.status().Totals.Pages != 40 || r.status().Reference {
		t.Fatalf("%+v, %+v", round, r.status())
	}
}

// TestTimeOfTheCrawl: the time of a run counts from its start, also if others have begun it before; it does not count here if the crawl keeps it.
func TestTimeOfTheCrawl(t *testing.T) {
	r := manyQueues(t, 2, 2, func(d *crawl.Definition) { d.Budget.Time = crawl.Duration(time.Hour) })
	round := func(shared *Shared) Round {
		w := r.want()
		w.Shared, w.Claims = shared, 1
		got, err := r.Claim(t.Context(), w)
		r.must(err)
		return got
	}
	all := func(Totals, int64) int64 { return 10 }
	none := func(Totals, int64) bool { return false }
	r.must(r.Since(50 * time.Minute))
	r.must(r.Since(time.Minute)) // who says so is behind
	r.clock.pass(11 * time.Minute)
	if got := round(nil); got.Spent != crawl.ReasonTime || len(got.Claims) > 0 {
		t.Errorf("after 61 minutes: %+v", got)
	}
	if got := round(&Shared{Room: all, Short: none, Timed: true}); got.Spent != "" || len(got.Claims) != 1 {
		t.Errorf("the crawl keeps the time: %+v", got)
	}
}

func TestPLDBudget(t *testing.T) {
	for _, reopen := range []bool{false, true} {
		r := manyQueues(t, 3, 20, func(d *crawl.Definition) { d.Budget.PerPLD, d.Order.PerQueue = 7, 3 })
		counts := map[string]int{}
		round := r.crawlOut(func(url string) crawl.PageOutcome {
			counts[url[:len("http://h0")]]++
			return done(url)
		})
		if !round.Drained || r.status().Totals.Pages != 21 {
			t.Errorf("%+v, %+v", round, r.status().Totals)
		}
		for pld, n := range counts {
			if n != 7 {
				t.Errorf("%s: %d pages", pld, n)
			}
		}
		if reopen {
			r.reopen()
		}
		r.submit("more", found(1, "http://h0.example/more", "http://new.example/")...)
		if got := r.next(); len(got.Claims) != 1 || got.Claims[0].PLD != "new.example" {
			t.Errorf("%+v", got)
		}
	}
}

func TestBytesBudget(t *testing.T) {
	r := manyQueues(t, 1, 20, func(d *crawl.Definition) { d.Budget.Bytes, d.Order.PerQueue = 4500, 2 })
	round := r.crawlOut(done) // 1,000 bytes each: known only when they have come
	if s := r.status(); round.Spent != "bytes" || s.Totals.Bytes != 6000 {
		t.Errorf("%+v, %+v", round, s.Totals)
	}
}

func TestTimeBudget(t *testing.T) {
	r := manyQueues(t, 2, 5, func(d *crawl.Definition) { d.Budget.Time = crawl.Duration(time.Hour) })
	batch, lanes := r.take()
	r.clock.pass(time.Hour - time.Millisecond)
	r.submit("s", found(1, "http://new.example/")...)
	if got := r.next(); len(got.Claims) != 1 || got.Spent != "" {
		t.Fatalf("%+v", got)
	}
	r.clock.pass(time.Millisecond)
	r.submit("s2", found(1, "http://newer.example/")...)
	r.reopen()
	if got := r.next(); len(got.Claims) != 0 || got.Spent != "" {
		t.Fatalf("%+v", got)
	}
	r.finish(batch, lanes)
	r.clock.pass(DefaultLeaseWait)
	r.must(r.Withdraw())
	r.confirm(r.next())
	if got := r.next(); got.Spent != "time" {
		t.Fatalf("%+v", got)
	}
}

// A waiting claim returns when the time is up.
func TestTimeBudgetWakesUp(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Budget.Time = crawl.Duration(400 * time.Millisecond) })
	r.submit("s", found(1, "http://a.example/")...)
	batch, _ := r.take()
	r.must(r.Batch(batch).GiveBack(r.clock.Now().Add(time.Hour)))
	r.confirm(r.next())
	out := r.waiting()
	r.clock.pass(400 * time.Millisecond)
	if got := r.comes(out, "the time is up"); got.Spent != "time" {
		t.Fatalf("%+v", got)
	}
}

// TestWaitingClaimsLeaveBudget: claims that wait for an address do not take a small budget for themselves: one of them waits there, and the crawl asks for
// other addresses meanwhile. A larger budget leaves room for as many as may wait.
func TestWaitingClaimsLeaveBudget(t *testing.T) {
	const shared, perQueue = "192.0.2.1", 10
	for _, c := range []struct {
		budget      int64
		spread      bool
		want, there int // claims, and those at the shared address
	}{{40, false, 4, 1}, {40, true, 4, 1}, {400, false, 8, 4}, {400, true, 8, 4}} {
		t.Run(fmt.Sprintf("%d spread %t", c.budget, c.spread), func(t *testing.T) {
			r := manyQueues(t, 8, 20, func(d *crawl.Definition) {
				if d.Order.PerQueue = perQueue; !c.spread {
					d.Budget.Pages = c.budget
				}
			})
			for i := 4; i < 8; i++ { // their own addresses, and no claim before the others
				host := fmt.Sprintf("h%d.example", i)
				r.hosts.Store(host, fmt.Sprintf("192.0.2.%d", i))
			}
			for i := range 4 {
				r.submit(fmt.Sprint("best", i), found(1, fmt.Sprintf("http://h%d.example/best", i))...)
			}
			round := func() Round {
				return r.ask(func(w *Want) {
					w.Server = func(_, ip string) (string, int) { return ip, 4 }
					if c.spread {
						room := func(t Totals, inProgress int64) int64 { return c.budget - t.Pages - inProgress }
						w.Shared = &Shared{Room: room, Short: func(t Totals, inProgress int64) bool { return room(t, inProgress) < perQueue }}
					}
				})
			}
			there := func(list []Claim) (n int) {
				for _, c := range list {
					if c.IP == shared {
						n++
					}
				}
				return n
			}
			var claims []Claim
			for range 4 {
				claims = append(claims, round().Claims...)
			}
			if len(claims) != c.want || there(claims) != c.there {
				t.Fatalf("%d of %d claims wait for the shared address", there(claims), len(claims))
			}
			for _, one := range claims { // the next ones come when its claim has its lease
				batch := r.start(one)
				lanes, err := r.Batch(batch).Reopen([]Claim{one}, nil)
				r.must(err)
				r.finish(batch, lanes)
				claims = append(claims, round().Claims...)
			}
			if there(claims) < c.there {
				t.Errorf("%d claims for the shared address", there(claims))
			}
		})
	}
}
