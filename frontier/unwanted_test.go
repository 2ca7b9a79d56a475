package frontier

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A claim that waits for its lease is given up at once when its PLD is paused, stopped or aborted, or the crawl is aborted: the round that waits ends,
// and the next one withdraws the ask. A lease that is granted right then is given back, too.
func TestUnwantedClaimWaitsNoLonger(t *testing.T) {
	steers := map[string]func(r *rig){"aborted crawl": func(r *rig) { r.must(r.Abort()) }}
	for _, state := range []string{"paused", "stopped", "aborted"} {
		steers[state] = func(r *rig) { r.configure("{plds: {h0.example: {state: " + state + "}}}") }
	}
	for name, steer := range steers {
		for _, granted := range []bool{false, true} {
			r := manyQueues(t, 1, 3, nil)
			c := r.one()
			steer(r)
			if granted {
				if started, err := r.Batch("b").Start(r.grant(c)); err != nil || len(started) > 0 {
					t.Fatalf("%s: a batch has %+v, %v", name, started, err)
				}
			} else {
				ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
				w := r.want()
				w.Until = r.clock.Now().Add(time.Hour)
				if _, err := r.Claim(ctx, w); errors.Is(err, context.DeadlineExceeded) {
					t.Fatalf("%s: the round does not end", name)
				}
				cancel()
				r.must(r.Withdraw())
			}
			if round := r.next(); len(round.Releases) != 1 || round.Releases[0].Lease != c.ID || len(round.Claims) > 0 {
				t.Errorf("%s, granted %v: %+v", name, granted, round)
			}
			if _, there := r.Lane(c.ID).Claim(); there {
				t.Errorf("%s, granted %v: the claim is still there", name, granted)
			}
			if e := r.status(); name == "paused" && e.Waiting != 3 {
				t.Errorf("%s: %d URLs wait", name, e.Waiting)
			}
		}
	}
}
