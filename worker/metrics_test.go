package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/spool"
)

// scrape is what Prometheus would read.
func scrape(t *testing.T, m *meter) string {
	t.Helper()
	out := httptest.NewRecorder()
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}).ServeHTTP(out, httptest.NewRequest("GET", "/metrics", nil))
	if out.Code != 200 {
		t.Fatalf("%d: %s", out.Code, out.Body)
	}
	return out.Body.String()
}

func has(t *testing.T, text string, lines ...string) {
	t.Helper()
	for _, line := range lines {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
}

// The SDK gives metrics of one name with several sets of tags; each becomes a series.
func TestSDKMetrics(t *testing.T) {
	m := newMeter()
	h := newSDKMetrics(m.registry)
	queue := h.WithTags(map[string]string{"task_queue": "muninn", "namespace": "default"})
	h.Counter("temporal_request").Inc(2)
	queue.WithTags(map[string]string{"operation": "Poll"}).Counter("temporal_request").Inc(3)
	queue.Gauge("temporal_num_pollers").Update(4)
	queue.Timer("temporal_request_latency").Record(40 * time.Millisecond)
	text := scrape(t, m)
	has(t, text, "temporal_request_total{", `} 2`, `operation="Poll"`, `task_queue="muninn"`, `} 3`, "temporal_num_pollers{", "temporal_request_latency_seconds_bucket{", `le="0.1"`,
		"muninn_build_info{", "# HELP muninn_build_info")
	if strings.Contains(text, `namespace="`) {
		t.Error("a tag became a label that is none")
	}
}

// A crawl has metrics only while a run is active.
func TestCrawlMetrics(t *testing.T) {
	dir := t.TempDir()
	front, err := frontier.Open(filepath.Join(dir, "frontier"), frontier.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = front.Close() })
	sp, err := spool.Open(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	if err := sp.Batch("c", "a.example-1").Write("state", "0123456789"); err != nil {
		t.Fatal(err)
	}
	d := crawl.DefaultDefinition()
	d.Name, d.Seeds = "ravens", []crawl.Seed{{URL: "https://example.org/"}}
	if _, err := front.Begin(d.Name, "o", 0, d, nil, false); err != nil {
		t.Fatal(err)
	}
	m, watch := newMeter(), disk.New(dir, 100)
	watch.Free = func(string) (int64, error) { return 42, nil }
	m.registry.MustRegister(crawlCollector{front, func(string) string { return "the disk is full" }, new(activities.Behind).Oldest, func(string) int { return 3 }, time.Now}, diskCollector{watch, sp})
	has(t, scrape(t, m), `muninn_crawl_pages{crawl="ravens"} 0`, `muninn_crawl_holding{crawl="ravens"} 1`, `muninn_crawl_resting_queues{crawl="ravens"} 0`, `muninn_crawl_untaken_learning_objects{crawl="ravens"} 3`,
		"muninn_disk_free_bytes 42", "muninn_disk_floor_bytes 100", "muninn_spool_bytes 12", "muninn_spool_batches 1")
	if err := front.Crawl(d.Name).End("o"); err != nil {
		t.Fatal(err)
	}
	if text := scrape(t, m); strings.Contains(text, `crawl="ravens"`) {
		t.Errorf("metrics of a crawl that has ended:\n%s", text)
	}
}

// brokenStore answers nothing.
type brokenStore struct{ archive.Store }

func (brokenStore) PutIfAbsent(context.Context, string, []byte) error { return errors.New("403") }

// Calls to archives are timed and their faults are counted; an object that exists already is no fault.
func TestStoreMetrics(t *testing.T) {
	dir, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := newMeter()
	s := measuredStore{archive.Faults(dir), m}
	for range 2 {
		_ = s.PutIfAbsent(t.Context(), "k", nil)
	}
	_ = measuredStore{archive.Faults(brokenStore{dir}), m}.PutIfAbsent(t.Context(), "k", nil)
	has(t, scrape(t, m), `muninn_store_seconds_count{call="put-if-absent"} 3`, `muninn_store_errors_total{call="put-if-absent"} 1`)
}

func TestLogFormats(t *testing.T) {
	for _, format := range []string{logText, logJSON} {
		var out strings.Builder
		conf := DefaultConfig()
		conf.LogFormat, conf.LogLevel = format, slog.LevelWarn
		log := conf.Logger(&out)
		log.Info("below the level")
		log.Warn("at the level", "crawl", "ravens")
		var line map[string]any
		isJSON := json.Unmarshal([]byte(out.String()), &line) == nil
		if isJSON != (format == logJSON) || !strings.Contains(out.String(), "ravens") || strings.Contains(out.String(), "below") {
			t.Errorf("%s: %s", format, out.String())
		}
	}
	file := filepath.Join(t.TempDir(), "worker.yaml")
	if err := os.WriteFile(file, []byte("log-level: debug\nlog-format: xml\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	conf := loaded(t, file)
	if err := conf.Validate(); conf.LogLevel != slog.LevelDebug || err == nil || !strings.Contains(err.Error(), "log-format") {
		t.Errorf("level %s, %v", conf.LogLevel, err)
	}
}
