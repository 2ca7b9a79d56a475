package integration

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestLostDisk: a worker that lost its disk restores its frontier from the archive. The only seed of the second run
// has no links, so that everything else that it crawls comes from the sidecars; it archives no payload again.
func TestLostDisk(t *testing.T) {
	t.Parallel()
	server, world := StartServer(t), demoWorld(t, "127.98.0.1")
	conf := Config(server, world, t.TempDir())
	d := Definition("lost", world)
	d.Seeds, d.Scope.Within = d.Seeds[:1], crawl.WithinHost

	w := StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	first := Result(t, w.Client(), d.Name, CrawlTime)
	w.Stop()
	if err := os.RemoveAll(conf.Data); err != nil {
		t.Fatal(err)
	}

	d.Seeds = []crawl.Seed{{URL: d.Seeds[0].URL + "no/such/page"}}
	w = StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	second := Result(t, w.Client(), d.Name, CrawlTime)
	if second.Run != 2 || second.Totals.Pages < first.Totals.Pages*9/10 || second.Totals.Revisits < second.Totals.Pages*8/10 {
		t.Errorf("run %d: %d pages, %d of them revisits; run 1 had %d", second.Run, second.Totals.Pages, second.Totals.Revisits, first.Totals.Pages)
	}
	for _, name := range []string{"run-1.json", "run-2.json"} {
		if _, err := os.Stat(filepath.Join(conf.Archive, d.Name, "definitions", name)); err != nil {
			t.Error(err)
		}
	}
	Check(t, conf.Archive)
}
