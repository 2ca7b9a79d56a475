package integration

import (
	"fmt"
	"net"
	"net/http"
	"sync"
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
	log := web.requests() // of each crawl the last is for the icon of the host
	if len(log) != 8 || web.peak["127.97.0.1"] != 1 {
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

// A server that answers 429 to one site after the other is asked less and less often, whichever site is next; one at which a single site is
// refused is not.
func TestSlowServer(t *testing.T) {
	t.Parallel()
	const shared, beside = "127.97.0.2", "127.97.0.3"
	var mu sync.Mutex
	met := map[string]bool{}
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		mu.Lock()
		first := !met[host]
		met[host] = true
		mu.Unlock()
		if first && host != "well.test" {
			w.Header().Set("Retry-After", "1")
			http.Error(w, "too many requests", http.StatusTooManyRequests)
			return
		}
		_, _ = fmt.Fprint(w, "<html><body>ravens")
	}, shared, beside)
	server := StartServer(t)
	conf := web.config(t, server, map[string]string{"a.test": shared, "b.test": shared, "c.test": shared, "single.test": beside, "well.test": beside})
	conf.Fetch.MaxAttempts = 9
	StartWorker(t, conf)
	StartCrawl(t, server.Client, web.definition("servers", "a.test/", "b.test/", "c.test/", "single.test/", "well.test/"))
	if result := Result(t, server.Client, "servers", CrawlTime); result.Reason != "drained" {
		t.Errorf("the crawl ended with %q", result.Reason)
	}
	var at []plainRequest
	for _, x := range web.requests() {
		if x.ip == shared {
			at = append(at, x)
		}
	}
	if len(at) != 9 { // and once for the icon of each host
		t.Fatalf("%d requests at the shared address: %v", len(at), at)
	}
	for i, least := range map[int]time.Duration{1: 750 * time.Millisecond, 2: 1500 * time.Millisecond} { // after the second site, and the third
		if gap := at[i+1].start.Sub(at[i].end); gap < least {
			t.Errorf("the server rests %s after %d sites were refused, want %s at least", gap, i+1, least)
		}
	}
}
