package integration

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/webworld/single"
)

// TestBrowser: a crawl that opens empty shells finds what their scripts make: at least 95 % of the texts and links of single-page sites. What pages share is asked for once, never
// two requests at a time of one address, and nothing that robots.txt or the scope forbids. A worker that is stopped while a page is open loses nothing of it.
func TestBrowser(t *testing.T) {
	chromium := fixture.Chromium(t, browser.Find)
	t.Parallel()
	sites := map[string]*single.Site{}
	addresses := map[string]string{}
	var ips, seeds []string
	for i, s := range single.Sites() {
		if s.Name == "lists" || s.Name == "shadow" || s.Name == "hashes" {
			ip := fmt.Sprintf("127.97.0.%d", i+1)
			sites[s.Name+".test"], addresses[s.Name+".test"] = s, ip
			ips, seeds = append(ips, ip), append(seeds, s.Name+".test/")
		}
	}
	held, resume, stopOnce := make(chan bool), make(chan bool), make(chan bool, 1)
	stopOnce <- true
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := net.SplitHostPort(r.Host)
		if r.URL.Path == "/api/group/2" {
			select {
			case <-stopOnce:
				close(held)
				<-resume
			default:
			}
		}
		sites[host].ServeHTTP(w, r)
	}, ips...)
	server := StartServer(t)
	conf := web.config(t, server, addresses)
	conf.BatchTime, conf.Fetch.MaxAttempts = 15*time.Minute, 6 // of a machine that is busy
	conf.Drain = conf.BatchTime                                // pages that are open when it is stopped end, and are not asked for again
	conf.Browser, conf.BrowserSandbox = chromium, os.Getuid() != 0
	d := web.definition("browser", seeds...)
	d.Scope.Within, d.Browser = crawl.WithinHost, crawl.BrowserAuto
	first := StartWorker(t, conf)
	StartCrawl(t, server.Client, d)
	<-held
	stopped := time.Now()
	first.StopWhile(func() { close(resume) })
	t.Logf("the first worker has stopped within %v", time.Since(stopped))
	StartWorker(t, conf)
	Result(t, server.Client, d.Name, CrawlTime)
	asked, when := map[string]int{}, map[string][]time.Duration{}
	for _, r := range web.requests() {
		asked[r.host+r.path]++
		when[r.host+r.path] = append(when[r.host+r.path], r.end.Sub(stopped))
	}
	// what pages of several batches share is not remembered by the worker that comes after; the answer that was held back may have been cut off
	again := func(url string) bool {
		return strings.HasSuffix(url, ".js") || strings.HasSuffix(url, "/favicon.ico") || strings.HasSuffix(url, "/api/group/2")
	}
	for what, n := range asked {
		if n > 2 || n > 1 && !again(what) {
			t.Errorf("%s is asked for %d times, %v after the stop", what, n, when[what])
		}
	}
	for ip, n := range web.peak {
		if n > 1 {
			t.Errorf("%d requests at a time at %s", n, ip)
		}
	}
	report := Check(t, conf.Archive)
	for url, n := range report.Pages {
		if n > 2 || n > 1 && !again(url) {
			t.Errorf("%s is archived %d times", url, n)
		}
	}
	all := ""
	files, _ := filepath.Glob(filepath.Join(conf.Archive, d.Name, "data", "*.warc.gz"))
	for _, file := range files {
		all += unpacked(t, file)
	}
	for host, s := range sites {
		texts, want := 0, 0
		for _, p := range s.Pages {
			want += len(p.Texts) + 1
			for _, text := range p.Texts {
				if strings.Contains(all, text) {
					texts++
				}
			}
			if asked[host+p.Path] > 0 {
				texts++
			}
			id := "WARC-Target-URI: urn:dom:http://" + host + ":" + web.port + p.Path + "\r\n"
			if n := strings.Count(all, id); n != 1 {
				t.Errorf("the archive has %d documents of %s%s", n, host, p.Path)
			}
		}
		t.Logf("%s: %d of %d texts and pages", s.Name, texts, want)
		if texts*100 < want*95 {
			t.Errorf("%s: %d of %d texts and pages", s.Name, texts, want)
		}
	}
	if views, opened := strings.Count(all, "WARC-Target-URI: urn:view:"), strings.Count(all, "\r\nmuninn-browser: yes\r\n"); views != opened || opened == 0 {
		t.Errorf("%d pictures of %d pages that were opened", views, opened)
	}
}
