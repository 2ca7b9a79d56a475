package ring

import (
	"errors"
	"strings"
	"testing"
)

// TestMay: what the owner, the loader, another worker and one that is not in the ring may do in each step.
func TestMay(t *testing.T) {
	const owner, loader, other, none = "owner", "loader", "other", "none"
	for _, c := range []struct {
		step               Step
		who, may           string
		withOwner, loading bool
	}{
		{Orphan, other, "", false, false},
		{Owned, owner, "claim fetch commit accept explain", true, false},
		{Owned, other, "drop", true, false},
		{Closing, owner, "fetch commit explain export", true, false},
		{Closing, other, "drop", true, false},
		{Exported, owner, "explain", true, false},
		{Exported, other, "drop", true, false},
		{Loading, owner, "explain", true, true},
		{Loading, loader, "load", true, true},
		{Loading, loader, "load", false, true}, // its exporter is gone
		{Loading, other, "drop", true, true},
		{Rebuilding, loader, "load", false, true},
		{Rebuilding, owner, "drop", false, true}, // it is no owner any more
		{Owned, none, "", true, false},
	} {
		v := &View{Epoch: 7, Workers: []Worker{{Index: 1, Name: owner}, {Index: 2, Name: loader}, {Index: 3, Name: other}}}
		v.parts[5] = partition{step: c.step}
		if c.withOwner {
			v.parts[5].owner = 1
		}
		if c.loading {
			v.parts[5].loader = 2
		}
		var may []string
		for act, name := range actNames {
			if v.May(Act(act), c.who, 5) {
				may = append(may, name)
			}
		}
		if got := strings.Join(may, " "); got != c.may {
			t.Errorf("%s: the %s may %q, not %q", c.step, c.who, got, c.may)
		}
	}
}

// TestCheck: a message counts if whose right it depends on has that right, and had it already when the message was made.
func TestCheck(t *testing.T) {
	v := &View{Epoch: 9, Workers: []Worker{{Index: 1, Name: "a"}, {Index: 2, Name: "b"}}}
	v.parts[0] = partition{step: Owned, owner: 1, tenure: 5, order: 5}
	v.parts[1] = partition{step: Closing, owner: 1, tenure: 5, order: 8}
	v.parts[2] = partition{step: Loading, owner: 1, loader: 2, tenure: 5, order: 9}
	for _, c := range []struct {
		act    Act
		worker string
		p      int
		epoch  uint64
		want   error
	}{
		{Claim, "a", 0, 9, nil},
		{Claim, "a", 0, 5, nil},
		{Claim, "a", 0, 4, ErrStale},  // it owned the partition in an earlier tenure
		{Claim, "a", 0, 10, ErrAhead}, // the receiver lags behind
		{Claim, "b", 0, 9, ErrStale},
		{Claim, "c", 0, 9, ErrStale},
		{Claim, "a", 1, 9, ErrStale},
		{Fetch, "a", 1, 5, nil}, // its batches continue
		{Commit, "a", 1, 9, nil},
		{Accept, "a", 1, 9, ErrStale}, // deliveries wait
		{Commit, "a", 2, 9, ErrStale},
		{Accept, "b", 2, 9, ErrStale},
	} {
		if err := v.Check(c.act, c.worker, c.p, c.epoch); !errors.Is(err, c.want) {
			t.Errorf("%s of %s in partition %d, epoch %d: %v, not %v", c.act, c.worker, c.p, c.epoch, err, c.want)
		}
	}
}

// TestRoutes: deliveries go to an owner only; questions go to the worker that has all of a partition.
func TestRoutes(t *testing.T) {
	v := &View{Epoch: 9, Workers: []Worker{{Index: 1, Name: "a"}, {Index: 2, Name: "b"}}}
	for step, want := range map[Step]struct{ owner, answerer string }{
		Orphan: {}, Owned: {"a", "a"}, Closing: {"", "a"}, Exported: {"", "a"}, Loading: {"", "a"}, Rebuilding: {},
	} {
		v.parts[0] = partition{step: step}
		if step != Orphan && step != Rebuilding {
			v.parts[0].owner = 1
		}
		if step == Loading || step == Rebuilding {
			v.parts[0].loader = 2
		}
		owner, _ := v.Owner(0)
		answerer, _ := v.Answerer(0)
		if owner.Name != want.owner || answerer.Name != want.answerer {
			t.Errorf("%s: owner %q, answerer %q", step, owner.Name, answerer.Name)
		}
	}
}

// TestCanHandOver: a worker hands over to those that are up and stay.
func TestCanHandOver(t *testing.T) {
	s := two(t)
	check := func(when, worker string, want bool) {
		t.Helper()
		if got := s.View("").CanHandOver(worker); got != want {
			t.Errorf("%s: that %s can hand over is %v", when, worker, got)
		}
	}
	check("both are up", "a", true)
	s.Leave(start, "a", "a")
	check("it leaves", "a", true)
	check("the other one leaves", "b", false)
	s.Lost(start, "b", "b")
	check("the other one is lost", "a", false)
}
