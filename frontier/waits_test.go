package frontier

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

var errNetwork = errors.New("no DNS server answers")

// ask makes a round of claiming that wants something else than usual.
func (r *rig) ask(edit func(*Want)) Round {
	r.t.Helper()
	w := r.want()
	edit(&w)
	got, err := r.Claim(r.t.Context(), w)
	r.must(err)
	return got
}

func local(w *Want) {
	w.Local = func(err error) bool { return errors.Is(err, errNetwork) }
}

// A look-up that fails because of the DNS server neither counts against the host nor clears its failures, and does not delay other
// queues.
func TestHostWaits(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		wait time.Duration
	}{
		{"a slow name", context.DeadlineExceeded, slowName},
		{"a slow name, wrapped", fmt.Errorf("look up: %w", context.DeadlineExceeded), slowName},
		{"no network", fmt.Errorf("look up: %w", errNetwork), noNetwork},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRig(t, nil)
			r.submit("s", slices.Concat(found(1, "http://slow.example/"), found(0.5, "http://b.example/"), found(0.2, "http://c.example/"))...)
			asked := 0
			want := func(w *Want) {
				local(w)
				w.Resolve = func(ctx context.Context, host string) (string, error) {
					if _, bounded := ctx.Deadline(); !bounded {
						t.Errorf("nothing bounds the look-up of %s", host)
					}
					if host == "slow.example" {
						asked++
					}
					return r.resolve(ctx, host)
				}
			}
			r.hosts.Store("slow.example", errNoHost)
			r.start(r.ask(want).Claims...)
			r.submit("more", found(0.5, "http://d.example/")...)
			r.clock.pass(time.Minute)
			r.hosts.Store("slow.example", c.err)
			if got := r.ask(want); !slices.Equal(plds(got.Claims), []string{"d.example"}) {
				t.Fatalf("the claims of the others: %+v", got)
			}
			for n := range 5 { // MaxFail is 3
				if asked != n+2 {
					t.Fatalf("looked up %d times, not %d", asked, n+2)
				}
				r.clock.pass(c.wait - time.Second)
				if got := r.ask(want); len(got.Claims) != 0 || got.Drained || asked != n+2 {
					t.Fatalf("asked again too early: %+v", got)
				}
				r.clock.pass(time.Second)
				if got := r.ask(want); len(got.Claims) != 0 || got.Drained {
					t.Fatalf("%+v", got)
				}
				if s := r.status(); len(s.Slow) != 1 || s.Slow[0].Fails != 1 || !s.Slow[0].Next.Equal(r.clock.Now().Add(c.wait)) || s.Totals.Errors != 0 {
					t.Fatalf("%+v", s)
				}
			}
			r.hosts.Delete("slow.example")
			r.clock.pass(c.wait)
			got := r.ask(want)
			if !slices.Equal(plds(got.Claims), []string{"slow.example"}) || got.Claims[0].Fails != 1 {
				t.Fatalf("%+v", got)
			}
		})
	}
}

// The hosts of a queue that have an address are claimed. Hosts whose look-up is slow or cut off wait, and so do hosts without an
// address, as they are not the whole queue.
func TestSlowHostBesideOthers(t *testing.T) {
	for _, err := range []error{context.DeadlineExceeded, errNetwork} {
		r := newRig(t, nil)
		r.submit("s", slices.Concat(found(0.9, "http://slow.ravens.org/1"), found(0.8, "http://fast.ravens.org/1"),
			found(0.7, "http://down.ravens.org/1"), found(0.6, "http://fast.ravens.org/2"), found(0.5, "http://slow.ravens.org/2"))...)
		r.hosts.Store("slow.ravens.org", err)
		r.hosts.Store("down.ravens.org", errNoHost)
		claim := func(want ...string) {
			t.Helper()
			got := r.ask(local)
			if len(want) == 0 {
				if len(got.Claims) != 0 || got.Drained {
					t.Fatalf("%v: %+v", err, got)
				}
				return
			}
			if len(got.Claims) != 1 || got.Claims[0].Fails != 0 {
				t.Fatalf("%v: %+v", err, got)
			}
			batch := r.start(got.Claims...)
			lanes, failed := r.Batch(batch).Reopen(got.Claims, nil)
			r.must(failed)
			if list := targets(lanes...); !slices.Equal(list, want) {
				t.Fatalf("%v: %q, not %q", err, list, want)
			}
			r.finish(batch, lanes)
		}
		claim("http://fast.ravens.org/1", "http://fast.ravens.org/2")
		if s := r.status(); s.Waiting != 3 || s.Totals.Errors != 0 {
			t.Fatalf("%v: %+v", err, s)
		}
		claim() // what is left has no address
		if s := r.status(); s.Waiting != 3 || s.Totals.Errors != 0 {
			t.Fatalf("%v: %+v", err, s)
		}
		r.hosts.Delete("slow.ravens.org")
		claim() // the queue waits
		r.clock.pass(noNetwork)
		claim("http://slow.ravens.org/1", "http://slow.ravens.org/2")
		if got := r.states(); got["http://down.ravens.org/1"] != "waiting" {
			t.Fatalf("%v: %v", err, got)
		}
	}
}

// A round that is cut off is not a host's fault.
func TestRoundCutOff(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(1, "http://x.ravens.org/", "http://y.ravens.org/", "http://a.example/")...)
	for _, fault := range []error{context.Canceled, errNoHost} {
		ctx, cancel := context.WithCancel(t.Context())
		w := r.want()
		w.MaxFail = 1
		w.Resolve = func(context.Context, string) (string, error) {
			cancel()
			return "", fault
		}
		if got, err := r.Claim(ctx, w); !errors.Is(err, context.Canceled) || len(got.Claims) != 0 {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	got := r.next().Claims
	if len(got) != 2 || got[0].Fails+got[1].Fails != 0 || len(got[0].URLs)+len(got[1].URLs) != 3 {
		t.Fatalf("%+v", got)
	}
}

func askers(n int) func(*Want) {
	return func(w *Want) { w.Server = func(_, ip string) (string, int) { return ip, n } }
}

// No more than so many claims wait for the lease of an address; claims of other addresses do not wait for them.
func TestAskersPerAddress(t *testing.T) {
	r := newRig(t, nil)
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		r.submit(name, found(0.9-float64(i)/10, "http://"+name+".example/")...)
	}
	r.hosts.Store("f.example", "192.0.2.2")
	r.hosts.Store("g.example", "192.0.2.2")
	out := map[string]Claim{}
	claim := func(want ...string) {
		t.Helper()
		got := r.ask(askers(2))
		if list := plds(got.Claims); !slices.Equal(list, want) {
			t.Fatalf("%q, not %q", list, want)
		}
		for _, c := range got.Claims {
			out[c.PLD] = c
		}
	}
	claim("a.example", "b.example", "f.example", "g.example")
	claim()
	r.reopen() // the wait is forgotten, the claims are not
	claim()
	r.clock.pass(parkedTime - time.Second)
	claim() // the others are parked
	r.start(out["a.example"])
	claim("c.example") // in the place of the one that has its lease
	claim()
	r.start(out["b.example"], out["c.example"])
	claim("d.example", "e.example")
	if s := r.status(); s.Asking != 4 || s.Lanes != 3 {
		t.Fatalf("%+v", s)
	}
}

// Claims that wait for an address take no lane, so that those of other addresses are made meanwhile; no more than so many wait. Those of the
// present round count: they may all be granted.
func TestWaitingClaimsTakeNoLane(t *testing.T) {
	r := newRig(t, nil)
	for i := range 12 {
		r.submit(fmt.Sprint(i), found(0.9-float64(i)/20, fmt.Sprintf("http://h%02d.example/", i))...)
	}
	claim := func(n int) []Claim {
		t.Helper()
		got := r.ask(func(w *Want) { w.Lanes, w.Waiting = 4, 3 })
		if len(got.Claims) != n {
			t.Fatalf("%q: %d claims, want %d", plds(got.Claims), len(got.Claims), n)
		}
		return got.Claims
	}
	first := claim(4)
	batches := []string{r.start(first[0])}
	second := claim(3) // one lane is taken, three wait
	claim(0)           // six wait: too many
	batches = append(batches, r.start(first[1:]...))
	claim(0) // four lanes are taken
	var outcomes []crawl.PageOutcome
	for _, c := range first {
		r.must(r.endLane(c.ID, r.clock.Now(), false))
		outcomes = append(outcomes, done("http://"+c.PLD+"/"))
	}
	r.must(r.Commit(Commit{Batch: batches[0], Outcomes: outcomes[:1]}))
	r.must(r.Commit(Commit{Batch: batches[1], Outcomes: outcomes[1:]}))
	claim(4)
	r.start(second...)
	if s := r.status(); s.Lanes != 3 || s.Asking != 4 {
		t.Fatalf("%+v", s)
	}
}

// Claims that wait for one server are counted together, whatever their addresses.
func TestAskersPerServer(t *testing.T) {
	r := newRig(t, nil)
	for i := range 6 {
		r.hosts.Store(fmt.Sprintf("h%d.example", i), fmt.Sprintf("192.0.2.%d", i))
		r.submit(fmt.Sprint(i), found(0.9-float64(i)/10, fmt.Sprintf("http://h%d.example/", i))...)
	}
	got := r.ask(func(w *Want) {
		w.Server = func(pld, ip string) (string, int) {
			if pld < "h4" {
				return "@group", 2
			}
			return ip, 1
		}
	})
	if want := []string{"h0.example", "h1.example", "h4.example", "h5.example"}; !slices.Equal(plds(got.Claims), want) {
		t.Fatalf("%q, not %q", plds(got.Claims), want)
	}
}

// A round ends when a claim has waited too long, and not at its own end: near the end of a budget the claim may have all that is left of it.
func TestRoundEndsWithAWait(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", found(0.9, "http://a.example/")...)
	claim := r.one()
	r.clock.pass(DefaultLeaseWait - 50*time.Millisecond)
	base, began := r.clock.Now(), time.Now()
	r.opts.Now = func() time.Time { return base.Add(time.Since(began)) }
	r.comes(r.waiting(), "the wait of a claim is over")
	if waited := r.opts.Now().Sub(claim.Asked); waited <= DefaultLeaseWait {
		t.Fatalf("the round ended after %s", waited)
	}
	r.clock.pass(time.Second)
	r.must(r.Withdraw())
	if s := r.status(); s.Asking != 0 {
		t.Fatalf("%+v", s)
	}
}

func TestWithdrawnAskersMakeRoom(t *testing.T) {
	r := newRig(t, nil)
	r.submit("s", slices.Concat(found(0.9, "http://a.example/"), found(0.8, "http://b.example/"))...)
	perIP := askers(1)
	if got := r.ask(perIP); !slices.Equal(plds(got.Claims), []string{"a.example"}) {
		t.Fatalf("%+v", got)
	}
	r.submit("better", found(1, "http://b.example/best")...) // it would be first
	r.clock.pass(DefaultLeaseWait + time.Second)
	if got := r.ask(perIP); len(got.Claims) != 0 {
		t.Fatalf("%+v", got)
	}
	r.must(r.Withdraw())
	if got := r.ask(perIP); !slices.Equal(plds(got.Claims), []string{"b.example"}) {
		t.Fatalf("%+v", got)
	}
}

// Queues that become ready together do not get more claims for an address than may wait for it.
func TestAskersOfManyQueues(t *testing.T) {
	r := newRig(t, nil)
	var list []crawl.Discovery
	for i := range 60 {
		name := fmt.Sprintf("q%d.example", i)
		r.hosts.Store(name, fmt.Sprintf("192.0.2.%d", i%3))
		list = append(list, found(0.5, "http://"+name+"/")...)
	}
	r.submit("s", list...)
	for range 4 {
		got := r.ask(askers(3))
		at := map[string]int{}
		for _, c := range got.Claims {
			at[c.IP]++
		}
		if len(got.Claims) != 9 || at["192.0.2.0"] != 3 || at["192.0.2.1"] != 3 {
			t.Fatalf("%v", at)
		}
		r.start(got.Claims...)
	}
}

// The hosts of many queues are looked up side by side, so that a round of new hosts does not take the time of all of them.
func TestHostsAreLookedUpSideBySide(t *testing.T) {
	r := newRig(t, nil)
	for i := range 2 * readsAtOnce {
		r.submit(fmt.Sprint(i), found(0.5, fmt.Sprintf("http://h%d.example/", i))...)
	}
	var asking atomic.Int64
	var once sync.Once
	full := make(chan struct{})
	got := r.ask(func(w *Want) {
		w.Resolve = func(ctx context.Context, host string) (string, error) {
			n := asking.Add(1)
			defer asking.Add(-1)
			if n == readsAtOnce {
				once.Do(func() { close(full) })
			}
			if n > readsAtOnce {
				t.Errorf("%d names are looked up at a time, at most %d are allowed", n, readsAtOnce)
			}
			select {
			case <-full:
			case <-time.After(2 * time.Minute):
				t.Errorf("%d names are looked up at a time, want %d", n, readsAtOnce)
			}
			return r.resolve(ctx, host)
		}
	})
	if len(got.Claims) != 2*readsAtOnce {
		t.Errorf("%d claims", len(got.Claims))
	}
}
