package politeness

import (
	"testing"
	"time"
)

// Whatever the clock of a worker shows, a lease neither begins early nor ends late by it; the time that a task took to the
// worker makes it begin later, and is covered by Margin where it ends.
func TestClock(t *testing.T) {
	g := Grant{NotBefore: start.Add(10 * time.Second), Deadline: start.Add(DefaultTTL)}
	for _, skew := range []time.Duration{-2 * time.Minute, 0, 2 * time.Minute} {
		for _, delivery := range []time.Duration{0, 50 * time.Millisecond, 30 * time.Second} {
			local := start.Add(skew) // what its clock shows at start
			c := ClockOf(local, start.Add(-delivery))
			if early := local.Add(10 * time.Second).Sub(c.Earliest(g)); early > 0 {
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
	if at := ClockOf(start, start).Earliest(Grant{}); !at.IsZero() {
		t.Errorf("what may begin at once begins at %v", at)
	}
}
