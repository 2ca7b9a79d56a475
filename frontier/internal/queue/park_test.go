package queue

import (
	"fmt"
	"testing"
	"time"
)

// Queues that are parked for an address come back by value when they are recalled, those of other addresses stay; each comes back by itself in the
// end. What has moved a queue meanwhile counts.
func TestPark(t *testing.T) {
	s, now := NewSchedule(), start
	queues := map[string]*Queue{}
	for n, name := range []string{"low", "high", "mid", "moved", "other"} {
		q := New(uint64(n))
		q.Name = name
		q.Add(Position{Priority: map[string]uint16{"low": 1, "mid": 2, "high": 3, "moved": 9, "other": 9}[name]})
		queues[name] = q
		address := "a"
		if name == "other" {
			address = "b"
		}
		s.Park(q, address, now.Add(time.Minute), now)
	}
	queues["moved"].Next = now.Add(time.Hour) // a host's rest
	s.Place(queues["moved"], now)
	pop := func(want ...string) {
		t.Helper()
		for _, name := range append(want, "") {
			got := ""
			if q := s.Pop(now); q != nil {
				got = q.Name
			}
			if got != name {
				t.Fatalf("%q comes, not %q", got, name)
			}
		}
	}
	pop()
	s.Recall("nobody's", 1, now)
	s.Recall("a", 1, now)
	pop("high")
	s.Recall("a", 2, now)
	pop("mid", "low")
	s.Recall("a", 2, now)
	pop()
	now = now.Add(time.Minute)
	pop("other")
	now = now.Add(time.Hour)
	pop("moved")
}

// What is noted of parked queues does not grow with how often they are parked.
func TestParkedListIsShort(t *testing.T) {
	s, now := NewSchedule(), start
	for n := range 10_000 {
		q := New(uint64(n % 10))
		q.Name = fmt.Sprint(n % 10)
		q.Add(Position{Priority: 1})
		s.Park(q, "a", now.Add(time.Minute), now)
		now = now.Add(10 * time.Minute)
		if got := s.Pop(now); got != q {
			t.Fatal(got)
		}
	}
	if len(s.parked["a"]) > 40 {
		t.Errorf("%d entries of 10 queues", len(s.parked["a"]))
	}
}
