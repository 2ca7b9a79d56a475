package worker

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/ring"
)

// The metrics of the ring are there before the worker is in the ring, and then say what its view says.
func TestRingMetrics(t *testing.T) {
	membership, state, now, m := activities.NewMembership("w1", "p1"), ring.New(ring.DefaultLimits()), time.Now(), newMeter()
	m.registry.MustRegister(ringCollector{membership, "w1"})
	has(t, scrape(t, m), "muninn_ring_epoch 0", `muninn_ring_partitions{step="owned"} 0`, `muninn_ring_workers{state="up"} 0`)
	membership.Registered(now, state.Register(now, ring.Registration{Name: "w1", Instance: "i1", Process: "p1", Queue: "q1", Shards: 1}))
	state.Register(now, ring.Registration{Name: "w2", Instance: "i2", Process: "p2", Queue: "q2", Shards: 1})
	membership.Take(state.View("w1"))
	has(t, scrape(t, m), "muninn_ring_epoch 2", `muninn_ring_partitions{step="closing"} 512`, `muninn_ring_partitions{step="owned"} 512`,
		`muninn_ring_workers{state="up"} 2`, `muninn_ring_workers{state="lost"} 0`, `muninn_ring_workers{state="leaving"} 0`)
}
