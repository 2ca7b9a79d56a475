package integration

import (
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"
)

// A host that answers 429 again and again is asked less and less often, by all crawls together: each rest is twice the one before, less a
// quarter of jitter.
func TestSlowDown(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	web := servePlain(t, func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) <= 4 {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		_, _ = fmt.Fprint(w, "<html><body>ravens</body></html>")
	}, "127.97.0.1")
	server := StartServer(t)
	conf := web.config(t, server, map[string]string{"busy.test": "127.97.0.1"})
	conf.Fetch.MaxAttempts = 9
	StartWorker(t, conf)
	for _, name := range []string{"one", "two"} {
		StartCrawl(t, server.Client, web.definition(name, "busy.test/"+name))
	}
	for _, name := range []string{"one", "two"} {
		if result := Result(t, server.Client, name, CrawlTime); result.Reason != "drained" {
			t.Errorf("%s ended with %q", name, result.Reason)
		}
	}
	log := web.requests()
	if len(log) != 6 || web.peak["127.97.0.1"] != 1 {
		t.Fatalf("%d requests, %d at a time: %v", len(log), web.peak["127.97.0.1"], log)
	}
	for i, least := range []time.Duration{time.Second, 1500 * time.Millisecond, 3 * time.Second, 6 * time.Second} {
		gap := log[i+1].start.Sub(log[i].end)
		t.Logf("%s after %s", gap, log[i].path)
		if gap < least {
			t.Errorf("rest %d is %s, want %s at least", i+1, gap, least)
		}
	}
}
