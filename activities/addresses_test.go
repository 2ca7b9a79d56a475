package activities

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

var (
	here  = netip.MustParseAddr("192.0.2.1")
	there = netip.MustParseAddr("192.0.2.2")
)

// Lanes of one process keep to per_ip and to the pause, even if leases were granted too often.
func TestAddresses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a addresses
		enter := func(addr netip.Addr, perIP int) (*addressSlot, time.Time) {
			p, next, err := a.enter(t.Context(), addr.String(), perIP)
			if err != nil {
				t.Error(err)
			}
			return p, next
		}
		first, _ := enter(here, 1)
		other, _ := enter(there, 1)
		rest := time.Now().Add(time.Hour)
		entered := false
		go func() {
			second, next := enter(here, 3) // the least per_ip holds
			if entered = true; !next.Equal(rest) {
				t.Errorf("it may ask from %s on, want %s", next, rest)
			}
			second.leave(time.Time{})
		}()
		synctest.Wait()
		if other.leave(time.Time{}); entered {
			t.Fatal("two lanes ask one address")
		}
		first.leave(rest)
		synctest.Wait()
		if !entered {
			t.Fatal("nobody enters a free address")
		}
		first, next := enter(here, 2) // a lane that comes after all have left keeps to the pause, too
		if !next.Equal(rest) {
			t.Errorf("it may ask from %s on, want %s", next, rest)
		}
		second, _ := enter(here, 2)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := a.enter(ctx, here.String(), 2); !errors.Is(err, context.Canceled) {
			t.Fatalf("a third lane: %v", err)
		}
		first.leave(time.Time{})
		second.leave(time.Time{})
		time.Sleep(time.Hour)
		for i := range minAddresses + 1 { // addresses whose rest is over are forgotten
			p, _ := enter(netip.AddrFrom4([4]byte{198, 51, 100, byte(i)}), 1)
			p.leave(time.Now().Add(time.Second))
		}
		if _, kept := a.at[here.String()]; kept || len(a.at) != minAddresses+1 {
			t.Errorf("%d addresses are kept, this one %v", len(a.at), kept)
		}
	})
}

// A lane that reads a slow answer makes room for another, and so many of them are read at a time.
func TestSlowLanesOfAnAddress(t *testing.T) {
	var a addresses
	var slow []*addressSlot
	released := func() bool { return true }
	for i := range maxSlow + 1 {
		p, _, err := a.enter(t.Context(), here.String(), 1)
		if err != nil {
			t.Fatal(err)
		}
		if p.yield(time.Time{}, released) != (i < maxSlow) {
			t.Fatalf("lane %d", i)
		}
		slow = append(slow, p)
	}
	slow[0].leave(time.Time{})
	if last := slow[maxSlow]; !last.yield(time.Time{}, released) || last.yield(time.Time{}, released) {
		t.Fatal("it yields when another one has ended, once")
	}
	for _, p := range slow[1:] {
		p.leave(time.Time{})
	}
	if len(a.at) != 0 {
		t.Fatalf("%d addresses are kept", len(a.at))
	}
}

// A lane whose lease could not be given back keeps its place, and continues to make requests.
func TestPlaceIsKeptWithTheLease(t *testing.T) {
	var a addresses
	p, _, err := a.enter(t.Context(), here.String(), 1)
	if err != nil {
		t.Fatal(err)
	}
	free := func() bool {
		a.mu.Lock()
		defer a.mu.Unlock()
		return a.at[here.String()].free(1)
	}
	for range maxSlow + 1 {
		if p.yield(time.Time{}, func() bool { return false }) || free() {
			t.Fatal("the place is given up, and the lease is not")
		}
	}
	if !p.yield(time.Time{}, func() bool { return !free() }) || !free() {
		t.Error("the place is to be given up once the lease is")
	}
	p.leave(time.Time{})
	if len(a.at) != 0 {
		t.Errorf("%d addresses are kept", len(a.at))
	}
}

// A batch that names a claim twice has one lane of it.
func TestDistinctLanes(t *testing.T) {
	target := func(urls ...string) (list []crawl.Target) {
		for _, u := range urls {
			list = append(list, crawl.Target{URL: u})
		}
		return list
	}
	got := mergeLanes([]lane{
		{ClaimRef{ID: "a"}, target("1", "2")}, {ClaimRef{ID: "b"}, target("4")}, {ClaimRef{ID: "a"}, target("2", "3", "1")},
	})
	want := []lane{{ClaimRef{ID: "a"}, target("1", "2", "3")}, {ClaimRef{ID: "b"}, target("4")}}
	if !slices.EqualFunc(got, want, func(x, y lane) bool {
		return x.Claim == y.Claim && slices.EqualFunc(x.Targets, y.Targets, func(a, b crawl.Target) bool { return a.URL == b.URL })
	}) {
		t.Errorf("%+v", got)
	}
}
