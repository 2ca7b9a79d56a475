package frontier

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// What a claim has asked for at another address goes back when the claim ends, although its worker was killed before it knew whether
// it was granted.
func TestBorrowedAddressOfAKilledWorker(t *testing.T) {
	const there, number = "192.0.2.9", 7
	rest := definition(slowly).Politeness.MaxDelay.D()
	for name, test := range map[string]struct {
		then func(r *rig, lane Lane)
		want []EndedLease // but for the lease; its times count from the kill
	}{
		"the claim ends": {func(r *rig, lane Lane) {
			r.must(lane.End(LaneEnd{Host: r.clock.Now()}))
		}, []EndedLease{{IP: there, Next: time.Time{}.Add(rest)}}},
		"the batch is given back": {func(r *rig, _ Lane) {
			r.must(r.Batch(fmt.Sprintf("batch-%d", r.batch)).GiveBack(r.clock.Now()))
		}, []EndedLease{{IP: there, Next: time.Time{}.Add(rest)}}},
		"the claim asks again and returns it": {func(r *rig, lane Lane) {
			r.must(lane.BorrowAddress(there))
			r.must(lane.ReturnAddress(there, number, r.clock.Now().Add(time.Second)))
			r.must(lane.End(LaneEnd{Host: r.clock.Now()}))
		}, []EndedLease{{IP: there, Number: number, Next: time.Time{}.Add(time.Second)}}},
		"the claim asks again and is refused": {func(r *rig, lane Lane) {
			r.must(lane.BorrowAddress(there))
			r.must(lane.AddressRefused(there))
			r.must(lane.End(LaneEnd{Host: r.clock.Now()}))
		}, nil},
		"the claim continues": {func(*rig, Lane) {}, nil},
		"it was returned, the claim is gone": {func(r *rig, lane Lane) {
			r.must(r.Batch(fmt.Sprintf("batch-%d", r.batch)).GiveBack(r.clock.Now()))
			r.must(lane.ReturnAddress(there, number, r.clock.Now().Add(time.Second)))
		}, []EndedLease{{IP: there, Number: number, Next: time.Time{}.Add(rest)}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := oneQueue(t, 2, slowly)
			claim := r.borrower()
			r.must(r.Lane(claim.ID).BorrowAddress(there))
			r.reopen()
			killed := r.clock.Now()
			test.then(r, r.Lane(claim.ID))
			r.reopen()
			got := slices.DeleteFunc(r.next().Releases, func(back EndedLease) bool { return back.Lease == claim.ID })
			for i := range test.want {
				test.want[i].Lease = politeness.LoanOf(claim.ID, there)
				test.want[i].Next = killed.Add(test.want[i].Next.Sub(time.Time{}))
			}
			if !slices.EqualFunc(got, test.want, func(a, b EndedLease) bool {
				return a.Lease == b.Lease && a.Number == b.Number && a.IP == b.IP && a.Next.Equal(b.Next)
			}) {
				t.Errorf("the releases are %+v, want %+v", got, test.want)
			}
		})
	}
}

// A release that ends whatever was granted must not meet a newer loan: a claim that has ended asks for the address again only once
// that release has arrived.
func TestAddressIsNotBorrowedBeforeItIsBack(t *testing.T) {
	const there = "192.0.2.9"
	r := oneQueue(t, 2, slowly)
	claim := r.borrower()
	lane := r.Lane(claim.ID)
	r.must(lane.BorrowAddress(there))
	r.must(lane.End(LaneEnd{Host: r.clock.Now()}))
	if err := lane.BorrowAddress(there); err == nil {
		t.Error("a claim that has ended asks for an address")
	}
	r.must(r.Batch(fmt.Sprintf("batch-%d", r.batch)).Lease(r.grant(claim))) // its batch was run again
	if err := lane.BorrowAddress(there); !errors.Is(err, ErrUnreturned) {
		t.Errorf("asked for again with the release on its way: %v", err)
	}
	r.confirm(r.next())
	r.must(lane.BorrowAddress(there))
}

// A loan that is returned under a newer grant, in the group of writes that confirms its earlier release, stays on its way back: else
// nobody gives the newer grant back, and the address is left to nobody until the loan runs out.
func TestReturnedWhileTheEarlierReturnIsConfirmed(t *testing.T) {
	const there, earlier, newer = "192.0.2.9", 7, 8
	for name, gone := range map[string]bool{"the claim is there": false, "the claim is gone": true} {
		t.Run(name, func(t *testing.T) {
			r := oneQueue(t, 2, slowly)
			claim := r.borrower()
			lane := r.Lane(claim.ID)
			r.must(lane.BorrowAddress(there))
			r.must(lane.ReturnAddress(there, earlier, r.clock.Now()))
			if gone {
				r.must(r.Batch(fmt.Sprintf("batch-%d", r.batch)).GiveBack(r.clock.Now()))
			}
			sent := r.next()
			r.together(
				func() { r.must(lane.ReturnAddress(there, newer, r.clock.Now())) },
				func() {
					r.eventually("the return is in the group before it", func() bool { return len(r.writes) > 0 })
					r.confirm(sent)
				},
			)
			for _, where := range []string{"in memory", "on disk"} {
				back := r.next().Releases
				if len(back) != 1 || back[0].Lease != politeness.LoanOf(claim.ID, there) || back[0].Number != newer {
					t.Errorf("%s: the releases are %+v, want that of grant %d", where, back, newer)
				}
				r.reopen()
			}
		})
	}
}
