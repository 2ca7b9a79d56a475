package activities

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// failingParts fails at a partition.
type failingParts struct {
	BoundCrawls
	at int
}

func (f failingParts) Export(_ context.Context, p int, _ uint64) (string, error) {
	if p == f.at {
		return "", errors.New("the archive does not answer")
	}
	return "key", nil
}

// TestCarryOut: what a view asks for is done and reported. What was done before a failure is reported, and the rest is asked for again.
func TestCarryOut(t *testing.T) {
	a, _, state, member := ringRig(t)
	second := state.Register(time.Now(), ring.Registration{Name: "v", Instance: "j", Process: "q", Queue: "q2", Shards: 1})
	a.Membership.Take(state.View("w"))
	reports, err := a.Membership.CarryOut(t.Context(), failingParts{at: 1022})
	if err == nil || reports.RingMember != member || len(reports.Exported) == 0 || len(reports.Exported) > 512 {
		t.Fatalf("%d exported, %v", len(reports.Exported), err)
	}
	if stale := state.Exported(time.Now(), "w", "p", reports.Exported); len(stale) > 0 {
		t.Errorf("%d reports are stale", len(stale))
	}
	a.Membership.Take(state.View("w"))
	again, err := a.Membership.CarryOut(t.Context(), BoundCrawls{})
	if err != nil || len(reports.Exported)+len(again.Exported) != 512 {
		t.Errorf("%d and %d are exported, %v", len(reports.Exported), len(again.Exported), err)
	}
	state.Exported(time.Now(), "w", "p", again.Exported)

	other := NewMembership("v", "q")
	other.Registered(time.Now(), second)
	other.Take(state.View("v"))
	loads, err := other.CarryOut(t.Context(), BoundCrawls{})
	if err != nil || len(loads.Loaded) != 512 {
		t.Fatalf("%d are loaded, %v", len(loads.Loaded), err)
	}
	if stale := state.Loaded(time.Now(), "v", "q", loads.Loaded); len(stale) > 0 {
		t.Errorf("%d reports are stale", len(stale))
	}
	groups := state.View("").Groups()
	if !slices.Equal(groups, []ring.Group{{Step: ring.Owned, Owner: "v", Partitions: 512}, {Step: ring.Owned, Owner: "w", Partitions: 512}}) {
		t.Errorf("%v", groups)
	}
}
