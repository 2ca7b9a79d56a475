package queue

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// The counts are those of a walk over all queues, after any sequence of operations.
func TestCountsAreThoseOfAWalk(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 0))
		now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		s, all := NewSchedule(), []*Queue{}
		for i := range 30 {
			q := New(uint64(i))
			q.Name = fmt.Sprintf("%d.example", i)
			all = append(all, q)
			s.Place(q, now)
		}
		for range 400 {
			q := all[random.IntN(len(all))]
			switch random.IntN(9) {
			case 0, 1:
				q.Add(Position{uint16(random.UintN(100)), random.Uint64()})
			case 2:
				q.Waiting = max(q.Waiting-1, 0)
			case 3:
				q.Rest = now.Add(time.Duration(random.IntN(40)) * time.Second)
			case 4:
				q.Fails = random.IntN(2)
			case 5:
				q.Spent = random.IntN(3) == 0
			case 6:
				q.Busy = !q.Busy
			case 7:
				q.Next = now.Add(time.Duration(random.IntN(40)) * time.Second)
			case 8:
				now = now.Add(time.Duration(random.IntN(10)) * time.Second)
				s.Promote(now)
			}
			s.Place(q, now)
			check(t, s, all, now)
			if t.Failed() {
				t.Fatalf("seed %d", seed)
			}
		}
	}
}

func check(t *testing.T, s *Schedule, all []*Queue, now time.Time) {
	t.Helper()
	queues, spent := 0, 0
	var longest *Queue
	var slow []*Queue
	for _, q := range all {
		if q.Spent {
			spent += q.Waiting
		}
		if q.Waiting == 0 {
			continue
		}
		if queues++; !q.Spent && (longest == nil || q.Waiting > longest.Waiting || q.Waiting == longest.Waiting && q.Name < longest.Name) {
			longest = q
		}
		if q.Due().Sub(now) > slowAfter || q.Fails > 0 {
			slow = append(slow, q)
		}
	}
	slices.SortFunc(slow, func(a, b *Queue) int { return cmp.Or(b.Due().Compare(a.Due()), strings.Compare(a.Name, b.Name)) })
	if s.Queues() != queues || s.SpentEntries() != spent || s.Longest() != longest {
		t.Errorf("%d queues with entries, %d of them spent, longest %v; not %d, %d, %v", s.Queues(), s.SpentEntries(), s.Longest(), queues, spent, longest)
	}
	n, list := s.Slow(now, 10)
	if n != len(slow) || !slices.Equal(list, slow[:min(len(slow), 10)]) {
		t.Errorf("%d slow queues, not %d, or in another order", n, len(slow))
	}
}
