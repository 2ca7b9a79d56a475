package integration

import (
	"fmt"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/worker"
)

// besideRequests is how many requests of the large crawl, of a fifth of a second each, a small one may wait at the address that both want; on an idle machine some ten. It is no time:
// a busy machine takes longer for all.
const besideRequests = 150

// A crawl of ten pages that starts beside one which never ends gets its first page within seconds, from an address that both want:
// each page of the large crawl's hosts there is slow, and all are claimed before.
func TestSmallCrawlBesideLarge(t *testing.T) {
	t.Parallel()
	for name, spread := range map[string]bool{"bound to a worker": false, "spread over two": true} {
		t.Run(name, func(t *testing.T) { smallBesideLarge(t, spread) })
	}
}

func smallBesideLarge(t *testing.T, spread bool) {
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 7}, 100, 400))
	const shared = "127.97.2.1"
	web := servePlain(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Host, "large") {
			time.Sleep(200 * time.Millisecond)
		}
		_, _ = fmt.Fprint(w, "<html><body>ravens")
		for n := range 9 {
			_, _ = fmt.Fprintf(w, `<a href="%s%d/">more</a>`, r.URL.Path, n)
		}
	}, shared)
	resolve := map[string]string{"small.test": shared}
	large := web.definition("large")
	for i := range 20 {
		host := fmt.Sprintf("large%d.test", i)
		resolve[host] = shared
		large.Seeds = append(large.Seeds, crawl.Seed{URL: "http://" + host + ":" + web.port + "/"})
	}
	for _, seed := range world.Seeds() {
		large.Seeds = append(large.Seeds, crawl.Seed{URL: seed})
	}
	large.Order.PerQueue, large.Scope.Within, large.Budget.Pages = 5, crawl.WithinHost, 1_000_000
	if spread {
		startSpread(t, server, world, func(conf *worker.Config) { maps.Copy(conf.Resolve, resolve) })
	} else {
		conf := Config(server, world, t.TempDir())
		maps.Copy(conf.Resolve, resolve)
		StartWorker(t, conf)
	}
	large.Spread = spread
	StartCrawl(t, server.Client, large)
	Until(t, CrawlTime, "the large crawl is running", func() string {
		if n := len(web.requests()); n < 20 {
			return fmt.Sprintf("%d requests at the shared address", n)
		}
		return ""
	})
	small := web.definition("small", "small.test/")
	small.Budget.Pages, small.Spread = 10, spread
	began := time.Now()
	StartCrawl(t, server.Client, small)
	var first time.Duration
	waited := 0
	Until(t, CrawlTime, "the first page of the small crawl", func() string {
		waited = 0
		for _, x := range web.requests() {
			switch {
			case x.host == "small.test":
				first = x.start.Sub(began)
				return ""
			case x.start.After(began):
				waited++
			}
		}
		return fmt.Sprintf("%d requests of the large crawl", waited)
	})
	if waited > besideRequests {
		t.Errorf("the small crawl had its first page after %d requests of the large one at its address, want %d at most", waited, besideRequests)
	}
	Result(t, server.Client, "small", CrawlTime)
	t.Logf("the first page came after %s and %d requests there, all ten after %s, beside %d requests of the large crawl", first.Round(time.Millisecond), waited, time.Since(began).Round(time.Millisecond), len(web.requests())+int(world.Stats().Requests))
	if peak := web.peak[shared]; peak != 1 {
		t.Errorf("%d requests at a time at the shared address", peak)
	}
	if err := server.Client.TerminateWorkflow(t.Context(), "crawl/large", "", "measured"); err != nil {
		t.Fatal(err)
	}
}
