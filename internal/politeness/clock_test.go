package politeness

import (
	"testing"
	"time"
)

// With any clock of a worker, a lease neither begins early nor ends late. The time that a task took to reach the worker makes it
// begin later; at its end, Margin covers that time.
func TestClock(t *testing.T) {
	g := Grant{NotBefore: start.Add(10 * time.Second), Deadline: start.Add(DefaultTTL)}
	for _, skew := range []time.Duration{-2 * time.Minute, 0, 2 * time.Minute} {
		for _, delivery := range []time.Duration{0, 50 * time.Millisecond, 30 * time.Second} {
			local := start.Add(skew) // what its clock shows at start
			c := ClockOf(local, start.Add(-delivery))
			if early := local.Add(10 * time.Second).Sub(c.NotBefore(g)); early > 0 {
				t.Errorf("skew %v, delivery %v: it begins %v early", skew, delivery, early)
			}
			if late := c.Deadline(g).Sub(local.Add(DefaultTTL)); late > 0 {
				t.Errorf("skew %v, delivery %v: it ends %v late", skew, delivery, late)
			}
			if rest := RestOf(local.Add(time.Minute), local); rest != time.Minute {
				t.Errorf("skew %v: the rest of a minute is %v", skew, rest)
			}
		}
	}
	if at := ClockOf(start, start).NotBefore(Grant{}); !at.IsZero() {
		t.Errorf("what may begin at once begins at %v", at)
	}
}

// A delay of a worker between Temporal's start of a task and its own does not make a lease end later.
func TestClockOfAStoppedWorker(t *testing.T) {
	g := Grant{Deadline: start.Add(DefaultTTL)}
	want := g.Deadline.Add(-Margin)
	var k Clocks
	at := func(after, delivery time.Duration) Clock { return k.Of(start.Add(after), start.Add(after-delivery)) }
	if got := at(0, 8*time.Minute); got.Deadline(g).After(want.Add(Margin)) {
		t.Errorf("held up before its first measure: until %v, want %v and the margin at the latest", got.Deadline(g), want)
	}
	at(0, 0)
	at(time.Second, 20*time.Millisecond)
	if got := at(10*time.Minute-time.Second, 8*time.Minute); !got.Deadline(g).Equal(want) || got.Ahead != 8*time.Minute {
		t.Errorf("held up for 8 minutes: %+v, until %v, want %v", got, got.Deadline(g), want)
	}
	at(10*time.Minute, 0)
	// After the clock was set back and forward again, leases end early for a while, but never late.
	for after := time.Duration(0); after < 30*time.Minute; after += time.Minute {
		got := at(10*time.Minute+after, -2*time.Minute)
		if late := got.Deadline(g).Sub(want.Add(-2 * time.Minute)); late != 0 {
			t.Fatalf("set back, %v later: it ends %v late", after, late)
		}
	}
	for after := time.Duration(0); after < 30*time.Minute; after += time.Minute {
		early := want.Sub(at(40*time.Minute+after, 0).Deadline(g))
		if early < 0 || early > 2*time.Minute || after > 2*clockAge && early != 0 {
			t.Fatalf("set forward, %v later: it ends %v early", after, early)
		}
	}
}

// TestAhead: what a worker knows of its clock is the measure of the task that took the shortest time to it in the last minutes, and never an assumption.
func TestAhead(t *testing.T) {
	var k Clocks
	if by, known := k.Ahead(start); known {
		t.Errorf("without a measure it is ahead by %v", by)
	}
	const fast = 3 * time.Minute // more than is assumed of a right clock
	at := func(after, delivery time.Duration) time.Duration {
		k.Of(start.Add(after+fast), start.Add(after-delivery))
		by, known := k.Ahead(start.Add(after + fast))
		if !known {
			t.Errorf("after %v it is not known", after)
		}
		return by - fast
	}
	for _, test := range []struct{ after, delivery, want time.Duration }{
		{0, 5 * time.Second, 5 * time.Second}, {time.Second, 20 * time.Millisecond, 20 * time.Millisecond}, {2 * time.Second, time.Second, 20 * time.Millisecond},
		{clockAge, time.Minute, 20 * time.Millisecond}, {10 * clockAge, time.Second, time.Second},
	} {
		if got := at(test.after, test.delivery); got != test.want {
			t.Errorf("after %v, by a task that took %v: off by %v, want %v", test.after, test.delivery, got, test.want)
		}
	}
	if by, known := k.Ahead(start.Add(fast + 12*clockAge)); known {
		t.Errorf("a measure of long ago counts: %v", by)
	}
}
