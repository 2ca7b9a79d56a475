package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// A spread crawl and a bound one ask the same hosts, from two workers: at each host's address one request is made at a time, and none before
// the pause after the one before it, whichever crawl and worker made that. `muninn host` says which worker has the host.
func TestSpreadCrawlBesideBound(t *testing.T) {
	t.Parallel()
	const pause = 300 * time.Millisecond
	ips, names := []string{"127.97.4.1", "127.97.4.2", "127.97.4.3"}, map[string]string{}
	var one, two []string
	for i, ip := range ips {
		name := fmt.Sprintf("h%d.test", i)
		names[name] = ip
		one, two = append(one, name+"/one"), append(two, name+"/two")
	}
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = fmt.Fprint(w, "<html><body>ravens")
		if strings.Count(r.URL.Path, "/") < 2 {
			for n := range 4 {
				_, _ = fmt.Fprintf(w, `<a href="%s/%d">more</a>`, r.URL.Path, n)
			}
		}
	}, ips...)
	server := StartServer(t)
	first, second := web.config(t, server, names), web.config(t, server, names)
	second.Name, second.Archive = "w2", first.Archive
	StartWorker(t, first)
	StartWorker(t, second)
	server.awaitRing(t, "w1: up, 512 owned", "w2: up, 512 owned")
	bound, spread := web.definition("bound", one...), web.definition("spread", two...)
	spread.Spread = true
	for _, d := range []*crawl.Definition{&bound, &spread} {
		d.Politeness.MinDelay, d.Politeness.MaxDelay = crawl.Duration(pause), crawl.Duration(pause)
		StartCrawl(t, server.Client, *d)
	}
	text, err := Run(Program(t, "muninn"), "host", "--temporal", server.Address, "h0.test")
	if err != nil || !strings.Contains(text, "worker w1, at 127.97.4.1") || !strings.Contains(text, "worker w2, at 127.97.4.1") {
		t.Errorf("%s, %v", text, err)
	}
	for _, name := range []string{"bound", "spread"} {
		if result := Result(t, server.Client, name, CrawlTime); result.Totals.Pages != 15 {
			t.Errorf("%s has %d pages", name, result.Totals.Pages)
		}
	}
	if a, b := segmentsBy(t, first.Archive, "spread", "w1"), segmentsBy(t, first.Archive, "spread", "w2"); a == 0 || b == 0 {
		t.Errorf("of the spread crawl w1 has written %d segments, w2 %d", a, b)
	}
	last := map[string]plainRequest{}
	for _, x := range web.requests() {
		if before, is := last[x.ip]; is && x.start.Sub(before.end) < pause {
			t.Errorf("%s%s is asked %s after %s", x.host, x.path, x.start.Sub(before.end), before.path)
		}
		last[x.ip] = x
	}
	for _, ip := range ips {
		if web.peak[ip] != 1 {
			t.Errorf("%d requests at a time at %s", web.peak[ip], ip)
		}
	}
}
