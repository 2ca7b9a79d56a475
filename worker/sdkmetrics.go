package worker

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.temporal.io/sdk/client"
)

// sdkLabels are the tags of Temporal's SDK that become labels. All its metrics have the same labels, because Prometheus wants one
// set of labels for each name and the SDK has several. Other tags are left out.
var sdkLabels = []string{"task_queue", "workflow_type", "activity_type", "worker_type", "poller_type", "operation", "status_code", "failure_reason"}

// sdkBuckets are the buckets for the SDK's latencies, in seconds: calls take milliseconds, activities minutes.
var sdkBuckets = []float64{.005, .025, .1, .5, 1, 5, 15, 60, 300, 1800}

// sdkMetrics adds the metrics of Temporal's SDK to the registry of the worker, under the names of the SDK's documentation, with
// _total for counters and _seconds for times.
type sdkMetrics struct {
	*sdkVectors
	values []string // of sdkLabels
}

type sdkVectors struct {
	registry *prometheus.Registry

	mu       sync.Mutex
	counters map[string]*prometheus.CounterVec
	gauges   map[string]*prometheus.GaugeVec
	timers   map[string]*prometheus.HistogramVec
}

func newSDKMetrics(registry *prometheus.Registry) *sdkMetrics {
	return &sdkMetrics{&sdkVectors{
		registry: registry, counters: map[string]*prometheus.CounterVec{}, gauges: map[string]*prometheus.GaugeVec{}, timers: map[string]*prometheus.HistogramVec{},
	}, make([]string, len(sdkLabels))}
}

// WithTags adds tags.
func (m *sdkMetrics) WithTags(tags map[string]string) client.MetricsHandler {
	values := append([]string(nil), m.values...)
	for i, label := range sdkLabels {
		if value, set := tags[label]; set {
			values[i] = value
		}
	}
	return &sdkMetrics{m.sdkVectors, values}
}

const sdkHelp = "Of Temporal's SDK: https://docs.temporal.io/references/sdk-metrics"

// vector is the vector of a name. It is made at its first use.
func vector[V prometheus.Collector](m *sdkVectors, of map[string]V, name string, make func(name string) V) V {
	m.mu.Lock()
	defer m.mu.Unlock()
	v, known := of[name]
	if !known {
		v = make(name)
		m.registry.MustRegister(v)
		of[name] = v
	}
	return v
}

type (
	sdkCounter struct{ prometheus.Counter }
	sdkGauge   struct{ prometheus.Gauge }
	sdkTimer   struct{ prometheus.Observer }
)

// Inc adds to the counter.
func (c sdkCounter) Inc(n int64) { c.Add(float64(n)) }

// Update sets the gauge.
func (g sdkGauge) Update(v float64) { g.Set(v) }

// Record adds a time to the histogram.
func (t sdkTimer) Record(d time.Duration) { t.Observe(d.Seconds()) }

// Counter is a counter of the SDK or of a workflow.
func (m *sdkMetrics) Counter(name string) client.MetricsCounter {
	v := vector(m.sdkVectors, m.counters, name, func(name string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name + "_total", Help: sdkHelp}, sdkLabels)
	})
	return sdkCounter{v.WithLabelValues(m.values...)}
}

// Gauge is a gauge of the SDK.
func (m *sdkMetrics) Gauge(name string) client.MetricsGauge {
	v := vector(m.sdkVectors, m.gauges, name, func(name string) *prometheus.GaugeVec {
		return prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: sdkHelp}, sdkLabels)
	})
	return sdkGauge{v.WithLabelValues(m.values...)}
}

// Timer is a timer of the SDK.
func (m *sdkMetrics) Timer(name string) client.MetricsTimer {
	v := vector(m.sdkVectors, m.timers, name, func(name string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name + "_seconds", Help: sdkHelp, Buckets: sdkBuckets}, sdkLabels)
	})
	return sdkTimer{v.WithLabelValues(m.values...)}
}
