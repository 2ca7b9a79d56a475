package activities

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/urls"
)

// A lane borrows a host at its own address until a time that it names, and holds its lease meanwhile. The error for a host that
// rests longer differs from the error for a host that others ask.
func TestBorrowAtOwnAddress(t *testing.T) {
	if fetch.MaxChain > politeness.LoanTTL-politeness.Margin {
		t.Errorf("a lane may wait %s for other hosts, and a borrowed lease is over before", fetch.MaxChain)
	}
	at, err := urls.Parse("http://b.example/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name     string
		rest     time.Duration // of the other host; 0: it is asked
		until    time.Duration // that the lane can wait
		borrowed bool
	}{
		{"asked", 0, time.Hour, false},
		{"a short rest", time.Minute, time.Hour, true},
		{"a longer rest", time.Minute, 30 * time.Second, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := newRig(t)
			r.begin("one", func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: "http://b.example/"}) })
			in := r.batch()
			var claim frontier.Claim
			next := time.Now().Add(test.rest)
			for _, c := range in.Claims {
				switch {
				case c.PLD == "a.example":
					claim, _ = r.Frontier.Crawl(in.Crawl).Lane(c.ID).Claim()
				case test.rest > 0:
					r.must(r.Frontier.Crawl(in.Crawl).Lane(c.ID).End(frontier.LaneEnd{Host: next}))
				}
			}
			f := r.fetching(in, r.definition(nil).Politeness, politeness.Clock{}, nil)
			until := time.Now().Add(test.until)
			loan, err := f.borrowHost(t.Context(), claim, at, netip.MustParseAddr(rigIP), until)
			var rests *fetch.RestsError
			var busy *fetch.BusyError
			switch {
			case test.borrowed:
				if err != nil || loan.NotBefore.Before(next) || !loan.Until.Equal(until) {
					t.Errorf("%+v, %v", loan, err)
				}
			case test.rest > 0:
				if !errors.As(err, &rests) || !rests.Until.Equal(next) {
					t.Errorf("%v, want that it rests until %s", err, next)
				}
			case !errors.As(err, &busy):
				t.Errorf("%v, want that it is busy", err)
			}
		})
	}
}

// A lane that has borrowed the lease of another address takes a place there, as lanes of claims do: the bound holds even if a
// lease is granted twice.
func TestBorrowedLaneHasAPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &Activities{}
		f := &fetching{a: a, plan: crawl.Politeness{PerIP: 1}}
		returned := 0
		loan := func() *fetch.Loan { return &fetch.Loan{Return: func(time.Time) { returned++ }} }
		first := loan()
		if err := f.occupyAddress(t.Context(), here, first); err != nil {
			t.Fatal(err)
		}
		var busy *fetch.BusyError
		if err := f.occupyAddress(t.Context(), here, loan()); !errors.As(err, &busy) || returned != 1 {
			t.Fatalf("a second lane at the address: %v, %d leases returned", err, returned)
		}
		rest := time.Now().Add(time.Minute)
		first.Return(rest)
		next := loan()
		if err := f.occupyAddress(t.Context(), here, next); err != nil || !next.NotBefore.Equal(rest) || returned != 2 {
			t.Errorf("%v, it may ask from %s on, want %s; %d leases returned", err, next.NotBefore, rest, returned)
		}
	})
}

// A loan at another address takes a place there, and the delay that it learns for its host is stored.
func TestBorrowElsewhere(t *testing.T) {
	at, err := urls.Parse("http://b.example/robots.txt")
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t)
	r.begin("one", nil)
	in := r.batch()
	claim, _ := r.Frontier.Crawl(in.Crawl).Lane(in.Claims[0].ID).Claim()
	f := r.fetching(in, r.definition(nil).Politeness, politeness.Clock{}, nil)
	returned := 0
	f.borrower = func(string) borrow {
		return func(context.Context, netip.Addr) (fetch.Loan, error) {
			return fetch.Loan{Until: time.Now().Add(time.Minute), Return: func(time.Time) { returned++ }}, nil
		}
	}
	loan, err := f.borrowHost(t.Context(), claim, at, there, time.Now().Add(time.Minute))
	r.must(err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := r.asked.enter(ctx, there.String(), f.plan.PerIP); err == nil {
		t.Error("another lane may ask the address beside the loan")
	}
	r.must(loan.KeepDelay(20 * time.Second))
	loan.KeepRest(time.Now())
	loan.Return(time.Time{})
	again, err := f.borrowHost(t.Context(), claim, at, there, time.Now().Add(time.Minute))
	r.must(err)
	if again.Delay != 20*time.Second || returned != 1 {
		t.Errorf("the next loan knows of a delay of %s, %d were returned", again.Delay, returned)
	}
	again.Return(time.Time{})
}
