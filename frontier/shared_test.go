package frontier

import (
	"testing"
	"time"
)

// TestEmptyLasts: that nothing is left at a worker of a spread crawl is said when it has lasted, unless the crawl knows it, or nothing may be claimed. A round
// that ends for another reason before says that something is left.
func TestEmptyLasts(t *testing.T) {
	for name, c := range map[string]struct {
		known, nothing bool
		until          time.Duration
		empty          bool
	}{
		"it has lasted":              {false, false, time.Hour, true},
		"the round ends before":      {false, false, 0, false},
		"the crawl knows it":         {true, false, 0, true},
		"nothing may be claimed now": {false, true, time.Hour, true},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, nil)
			w := r.want()
			w.Until, w.ClaimNothing = r.clock.Now().Add(c.until), c.nothing
			w.Shared = &Shared{Room: func(Totals, int64) int64 { return 0 }, Short: func(Totals, int64) bool { return false }, Empty: c.known}
			began := r.clock.Now()
			done := make(chan struct{})
			go func() {
				defer close(done)
				if round, err := r.Claim(t.Context(), w); err != nil || round.Empty != c.empty {
					t.Errorf("%+v, %v", round, err)
				}
			}()
			for ended := false; !ended; r.Wake() { // time passes while the round waits
				select {
				case <-done:
					ended = true
				case <-time.After(time.Millisecond):
					r.clock.pass(100 * time.Millisecond)
				}
			}
			if took := r.clock.Now().Sub(began); c.until > 0 && !c.nothing && took < emptyLasts {
				t.Errorf("it is said after %s", took)
			}
		})
	}
}
