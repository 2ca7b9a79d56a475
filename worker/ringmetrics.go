package worker

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/ring"
)

// ringCollector collects what the worker knows of the ring.
type ringCollector struct {
	membership *activities.Membership
	name       string // of the worker
}

var (
	ringEpoch      = prometheus.NewDesc("muninn_ring_epoch", "Epoch of the ring of workers, as this worker knows it; 0 before it is in the ring.", nil, nil)
	ringWorkers    = prometheus.NewDesc("muninn_ring_workers", "Workers of the ring by state (up, lost, leaving), as this worker knows it.", []string{"state"}, nil)
	ringPartitions = prometheus.NewDesc("muninn_ring_partitions", "Partitions that this worker has or is to load, by step.", []string{"step"}, nil)
)

// Describe names the metrics.
func (r ringCollector) Describe(out chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{ringEpoch, ringWorkers, ringPartitions} {
		out <- d
	}
}

// Collect sends the metrics.
func (r ringCollector) Collect(out chan<- prometheus.Metric) {
	var view *ring.View // never changed once it is taken
	r.membership.With(func(m *ring.Membership) { view = m.View() })
	if view == nil {
		view = &ring.View{}
	}
	gauge := func(d *prometheus.Desc, value float64, labels ...string) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	gauge(ringEpoch, float64(view.Epoch))
	workers := map[ring.WorkerState]int{ring.WorkerUp: 0, ring.WorkerLost: 0, ring.WorkerLeaving: 0}
	for _, w := range view.Workers {
		workers[w.State()]++
	}
	for state, n := range workers {
		gauge(ringWorkers, float64(n), string(state))
	}
	steps := map[ring.Step]int{ring.Owned: 0}
	for _, g := range view.Groups() {
		if r.name == g.Owner || r.name == g.Loader {
			steps[g.Step] += g.Partitions
		}
	}
	for step, n := range steps {
		gauge(ringPartitions, float64(n), step.String())
	}
}
