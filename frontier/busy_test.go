package frontier

import (
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// A claim whose ask was answered busy goes back, with nothing to release. For some time the crawl claims nothing for its address, of whatever
// queue, and for others instead. Then it asks once, for the queue that comes first; the others come back when it has its lease.
func TestBusyAddress(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
	r.hosts.Store("free.example", "192.0.2.2")
	r.submit("s", slices.Concat(found(0.9, "http://a.example/1"), found(0.8, "http://a.example/2"), found(0.7, "http://b.example/"), found(0.1, "http://free.example/"))...)
	first := r.ask(func(w *Want) { w.Claims = 1 })
	if got := claimed(first); !slices.Equal(got, []string{"a.example×1"}) {
		t.Fatal(got)
	}
	r.must(r.Confirm(Confirmed{Busy: []string{first.Claims[0].ID}}))
	if got := r.next(); !slices.Equal(claimed(got), []string{"free.example×1"}) || len(got.Releases) > 0 {
		t.Fatalf("%+v", got)
	}
	r.clock.pass(claims.BusyAddress - time.Second)
	if got := r.next(); len(got.Claims) > 0 {
		t.Fatalf("%+v", got)
	}
	r.clock.pass(time.Second)
	got := r.next()
	if !slices.Equal(claimed(got), []string{"a.example×1"}) || !slices.Equal(got.Claims[0].URLs, first.Claims[0].URLs) {
		t.Fatalf("%+v, first was %+v", got, first)
	}
	// One that has been granted meanwhile, because its round was served twice, stays. The others come back with its lease.
	r.start(got.Claims[0])
	r.must(r.Confirm(Confirmed{Busy: []string{got.Claims[0].ID}}))
	if _, there := r.Lane(got.Claims[0].ID).Claim(); !there {
		t.Error("a claim with a lease is given back")
	}
	if got = r.next(); !slices.Equal(claimed(got), []string{"b.example×1"}) {
		t.Fatalf("%+v", got)
	}
	// A lease that comes although the ask was answered busy is given back.
	r.must(r.Confirm(Confirmed{Busy: []string{got.Claims[0].ID}}))
	if started, err := r.Batch("late").Start(r.grant(got.Claims[0])); err != nil || len(started) > 0 {
		t.Fatalf("%+v, %v", started, err)
	}
	if got := r.next(); len(got.Releases) != 1 || got.Releases[0].Number == 0 {
		t.Errorf("%+v", got)
	}
}
