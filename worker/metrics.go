package worker

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/spool"
	"github.com/muninn-archive/muninn/internal/version"
)

// meter counts what the activities do.
type meter struct {
	registry  *prometheus.Registry
	responses *prometheus.CounterVec
	bytes     prometheus.Counter
	seconds   prometheus.Histogram
	outcomes  *prometheus.CounterVec
	pages     prometheus.Counter
	stored    prometheus.Counter

	faults      *prometheus.CounterVec // attempts of steps that failed
	retries     *prometheus.CounterVec // attempts beyond the first
	store       *prometheus.HistogramVec
	storeErrors *prometheus.CounterVec
	lookups     *prometheus.HistogramVec // in DNS
}

func newMeter() *meter {
	m := &meter{
		registry:  prometheus.NewRegistry(),
		responses: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muninn_responses_total", Help: "Responses by status class."}, []string{"status"}),
		bytes:     prometheus.NewCounter(prometheus.CounterOpts{Name: "muninn_fetched_bytes_total", Help: "Bytes on the wire."}),
		seconds:   prometheus.NewHistogram(prometheus.HistogramOpts{Name: "muninn_fetch_seconds", Help: "Duration of exchanges.", Buckets: prometheus.ExponentialBuckets(0.005, 2.5, 12)}),
		outcomes:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muninn_outcomes_total", Help: "Outcomes of claimed URLs."}, []string{"kind"}),
		pages:     prometheus.NewCounter(prometheus.CounterOpts{Name: "muninn_archived_pages_total", Help: "Responses and revisits archived."}),
		stored:    prometheus.NewCounter(prometheus.CounterOpts{Name: "muninn_archived_bytes_total", Help: "Bytes of WARC objects."}),

		faults:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muninn_step_failures_total", Help: "Failed attempts of steps, by step; the step is tried again unless its batch or crawl fails."}, []string{"step"}),
		retries: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muninn_step_retries_total", Help: "Attempts of steps beyond their first, by step."}, []string{"step"}),
		store: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "muninn_store_seconds", Help: "Duration of calls to archives, by call; that of list includes the work for each object.",
			Buckets: []float64{.001, .005, .025, .1, .5, 1, 5, 15, 60, 300}}, []string{"call"}),
		storeErrors: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "muninn_store_errors_total", Help: "Calls to archives that failed, by call."}, []string{"call"}),
		lookups: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "muninn_dns_seconds", Help: "Duration of DNS look-ups that were not cached, by result (found, failed).",
			Buckets: prometheus.ExponentialBuckets(0.001, 4, 8)}, []string{"result"}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "muninn_build_info", Help: "1; the labels name the build.", ConstLabels: prometheus.Labels{
		"version": version.Number, "revision": version.Build(), "go": runtime.Version()}})
	info.Set(1)
	m.registry.MustRegister(info, m.faults, m.retries, m.store, m.storeErrors, m.lookups)
	m.registry.MustRegister(m.responses, m.bytes, m.seconds, m.outcomes, m.pages, m.stored,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Fetched counts a response.
func (m *meter) Fetched(status int, bytes int64, elapsed time.Duration) {
	m.responses.WithLabelValues(strconv.Itoa(status/100) + "xx").Inc()
	m.bytes.Add(float64(bytes))
	m.seconds.Observe(elapsed.Seconds())
}

// Outcome counts an outcome.
func (m *meter) Outcome(kind crawl.OutcomeKind) { m.outcomes.WithLabelValues(string(kind)).Inc() }

// Archived counts a segment.
func (m *meter) Archived(pages int, bytes int64) {
	m.pages.Add(float64(pages))
	m.stored.Add(float64(bytes))
}

// Resolved counts a DNS look-up.
func (m *meter) Resolved(took time.Duration, err error) {
	result := "found"
	if err != nil {
		result = "failed"
	}
	m.lookups.WithLabelValues(result).Observe(took.Seconds())
}

// crawlCollector collects the state of the crawls in the frontier.
type crawlCollector struct {
	frontier *frontier.Frontier
	holding  func(crawl string) string // why a crawl claims nothing; empty if it may
	behind   func(crawl string, now time.Time) time.Duration
	untaken  func(crawl string) int
	now      func() time.Time
}

func describeCrawl(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("muninn_crawl_"+name, help, []string{"crawl"}, nil)
}

// Describe sends nothing, because the metrics depend on the crawls in the frontier: the collector is unchecked.
func (c crawlCollector) Describe(chan<- *prometheus.Desc) {}

// Collect sends the state of each crawl.
func (c crawlCollector) Collect(out chan<- prometheus.Metric) {
	for _, s := range c.frontier.Running() { // runs that have ended are left out: the archive has their report
		name := s.Crawl
		gauge := func(metric, help string, value float64) {
			out <- prometheus.MustNewConstMetric(describeCrawl(metric, help), prometheus.GaugeValue, value, name)
		}
		gauge("pages", "Pages of the run.", float64(s.Totals.Pages))
		gauge("requisites", "Images, style sheets, scripts and frames that pages of the run need, as far as they are known, and what they ask for while they are open in a browser.", float64(s.Totals.AllRequisites()))
		gauge("requisites_archived", "Requisites of pages that are archived.", float64(s.Totals.AllArchived()))
		gauge("relevant_pages", "Pages of the run at or above the threshold.", float64(s.Totals.Relevant))
		gauge("harvest_ratio", "Relevant of scored pages.", s.Totals.HarvestRatio())
		gauge("harvest_ratio_lately", "Relevant of scored pages in the last tenth of the run.", frontier.Lately(s.History))
		gauge("bytes", "Bytes on the wire of the run.", float64(s.Totals.Bytes))
		gauge("requests", "Answers of any kind in the run, except robots.txt, DNS, requisites of pages and what is probably one.", float64(s.Totals.Requests))
		gauge("errors", "Errors of the run.", float64(s.Totals.Errors))
		gauge("robots_refused", "URLs refused by robots.txt.", float64(s.Totals.Robots))
		gauge("waiting_urls", "URLs in queues.", float64(s.Waiting))
		gauge("delayed_urls", "URLs that wait for their next attempt.", float64(s.Delayed))
		gauge("queues", "Queues with URLs.", float64(s.Queues))
		gauge("lanes", "Claims that hold a lease of their address.", float64(s.Lanes))
		gauge("asking", "Claims that wait for a lease of their address.", float64(s.Asking))
		gauge("resting_queues", "Queues that rest.", float64(s.Resting))
		held := 0
		if s.Reserve != nil {
			held = s.Reserve.Held
		}
		gauge("held_queues", "Queues that could be claimed from and wait, because better ones are expected to use the budget of pages up.", float64(held))
		gauge("failed_batches", "Batches of the run that failed.", float64(s.Totals.Failed))
		if !s.Oldest.IsZero() {
			gauge("oldest_claim_seconds", "Age of the oldest claim.", c.now().Sub(s.Oldest).Seconds())
		}
		gauge("undelivered_seconds", "For how long the links of a batch wait until other workers take them, at most; 0 in a crawl that is not spread.", c.behind(name, c.now()).Seconds())
		gauge("untaken_learning_objects", "Objects of learning updates of other workers that this one has not taken yet, as of its last exchange; 0 in a crawl that is not spread.", float64(c.untaken(name)))
		if plan, err := c.frontier.Crawl(name).Plan(); err == nil && plan.Definition.Spread {
			gauge("definition_version", "Changes of the definition of a spread crawl that this worker has taken; one that lags has fewer.", float64(plan.Version))
		}
		gauge("holding", "1 while the crawl holds: it claims nothing until a fault is removed; /health says which.", flag(c.holding(name) != ""))
	}
}

// diskCollector collects the free space of the worker's disk, and the size of the spool.
type diskCollector struct {
	disk  *disk.Watch
	spool *spool.Spool
}

var (
	freeBytes    = prometheus.NewDesc("muninn_disk_free_bytes", "Free space of the data folder's disk.", nil, nil)
	floorBytes   = prometheus.NewDesc("muninn_disk_floor_bytes", "Free space below which nothing is claimed (setting disk-floor).", nil, nil)
	spoolBytes   = prometheus.NewDesc("muninn_spool_bytes", "Working files of running and failed batches.", nil, nil)
	spoolBatches = prometheus.NewDesc("muninn_spool_batches", "Batches that have working files.", nil, nil)
)

// Describe names the metrics.
func (r diskCollector) Describe(out chan<- *prometheus.Desc) { prometheus.DescribeByCollect(r, out) }

// Collect sends the metrics; those that cannot be read are left out.
func (r diskCollector) Collect(out chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, value int64) {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, float64(value))
	}
	gauge(floorBytes, r.disk.Floor)
	if n, err := r.disk.Free(r.disk.Data); err == nil {
		gauge(freeBytes, n)
	}
	if u, err := r.spool.Usage(); err == nil {
		gauge(spoolBytes, u.Bytes)
		gauge(spoolBatches, int64(u.Batches))
	}
}

func flag(set bool) float64 {
	if set {
		return 1
	}
	return 0
}

// server serves health and metrics.
type server struct {
	http *http.Server
	addr string
}

func serve(listen string, w *Worker) (*server, error) {
	if listen == "" {
		return nil, nil
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return nil, fmt.Errorf("listen for health and metrics (--listen): %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/metrics", promhttp.HandlerFor(w.meter.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/health", w.health)
	if profiled(w.conf.Profiles, l.Addr()) {
		mux.HandleFunc("/debug/pprof/", limitProfiles(pprof.Index))
		mux.HandleFunc("/debug/pprof/profile", limitProfiles(pprof.Profile))
	}

	s := &server{&http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}, l.Addr().String()}
	go func() {
		if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
			w.log.Error("serve health and metrics", "error", err)
		}
	}()
	return s, nil
}

// registerCollectors adds the metrics of what the worker has opened.
func (w *Worker) registerCollectors() {
	w.meter.registry.MustRegister(crawlCollector{w.front, w.acts.Holds.Reason, w.acts.Behind.Oldest, w.untaken.Of, time.Now}, diskCollector{w.acts.Disk, w.acts.Spool}, ringCollector{w.acts.Membership, w.conf.Name})
}

// Values of the setting profiles.
const (
	profilesOff      = "off"
	profilesLoopback = "loopback" // if only this machine reaches the listener
	profilesOn       = "on"
)

// maxProfile bounds how long a profile is taken.
const maxProfile = time.Minute

// profiled reports whether a listener at an address serves profiles with a setting.
func profiled(setting string, at net.Addr) bool {
	if tcp, ok := at.(*net.TCPAddr); setting == profilesLoopback {
		return ok && tcp.IP.IsLoopback()
	}
	return setting == profilesOn
}

// limitProfiles refuses profiles that take longer than maxProfile: they cost the worker time and memory.
func limitProfiles(serve http.HandlerFunc) http.HandlerFunc {
	return func(out http.ResponseWriter, r *http.Request) {
		if text := r.FormValue("seconds"); text != "" {
			const most = int(maxProfile / time.Second)
			if n, err := strconv.Atoi(text); err != nil || n < 0 || n > most {
				http.Error(out, fmt.Sprintf("seconds must be between 0 and %d", most), http.StatusBadRequest)
				return
			}
		}
		serve(out, r)
	}
}

// health answers 200 if the worker is up and Temporal answers, 503 if not. If crawls hold, it answers 200 and says why: a restart of the worker would
// not help.
func (w *Worker) health(out http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), 3*time.Second)
	defer cancel()
	if what := w.starting.says(); what != "" {
		http.Error(out, "the worker starts: it waits for "+what, http.StatusServiceUnavailable)
		return
	}
	if _, err := w.client.CheckHealth(ctx, nil); err != nil {
		http.Error(out, "Temporal does not answer: "+err.Error(), http.StatusServiceUnavailable)
		return
	}
	_, _ = fmt.Fprintln(out, "ok")
	if reason := w.acts.Holds.Reason(""); reason != "" {
		_, _ = fmt.Fprintf(out, "all crawls hold: %s\n", reason)
		return
	}
	for _, s := range w.front.Running() {
		if reason := w.acts.Holds.Reason(s.Crawl); reason != "" {
			_, _ = fmt.Fprintf(out, "crawl %s holds: %s\n", s.Crawl, reason)
		}
	}
}

func (s *server) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	_ = s.http.Shutdown(ctx)
}
