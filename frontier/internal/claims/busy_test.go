package claims

import (
	"fmt"
	"testing"
	"time"
)

// Lines are short once a third of the claims wait that may.
func TestLine(t *testing.T) {
	for _, c := range []struct{ waiting, wait, line int }{{960, 0, 0}, {960, 319, 0}, {960, 320, crowdedLine}, {960, 960, crowdedLine}, {0, 0, crowdedLine}} {
		if got := (Limits{Lanes: 320, Waiting: c.waiting}).Line(c.wait); got != c.line {
			t.Errorf("%d of %d wait: %d, want %d", c.wait, c.waiting, got, c.line)
		}
	}
}

// Addresses whose time has passed are forgotten, those that are busy stay.
func TestBusyIsSwept(t *testing.T) {
	now := time.Date(2026, 10, 5, 12, 0, 0, 0, time.UTC)
	var b Busy
	for n := range 10_000 {
		now = now.Add(time.Second)
		b.Note(fmt.Sprint(n), now.Add(BusyAddress), now)
		if b.Until(fmt.Sprint(max(n-9, 0))).Before(now) || len(b.until) > 2*minBusy {
			t.Fatalf("after %d addresses, %d are kept", n, len(b.until))
		}
	}
}
