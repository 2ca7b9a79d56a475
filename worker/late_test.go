package worker

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
)

// TestComesBackLate: a worker that the ring has given up meanwhile says so when it is in the ring again. One with a new data folder has nothing to say.
func TestComesBackLate(t *testing.T) {
	for epoch, late := range map[uint64]bool{0: false, 7: true} {
		state, log := ring.New(ring.DefaultLimits()), bytes.Buffer{}
		answer := state.Register(time.Now(), ring.Registration{Name: "w1", Instance: "i1", Process: "p1", Queue: "q1", Shards: 1, Epoch: epoch})
		logAccepted(slog.New(slog.NewTextHandler(&log, nil)), answer)
		if !answer.Accepted || strings.Contains(log.String(), "it starts empty") != late || strings.Contains(log.String(), "level=WARN") != late {
			t.Errorf("a folder that knows epoch %d: %s", epoch, log.String())
		}
	}
}
