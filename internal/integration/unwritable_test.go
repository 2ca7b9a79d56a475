package integration

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/workflows"
)

// TestUnwritableArchive: while the archive cannot be written, the crawl holds and its status has the reason. When it can be written
// again, the crawl continues by itself, and nothing was fetched twice.
func TestUnwritableArchive(t *testing.T) {
	t.Parallel()
	server, world := StartServer(t), demoWorld(t, "127.99.0.1")
	conf := Config(server, world, t.TempDir())
	conf.Attempts = 2 // more attempts fail than a fault of a batch would have
	d := Definition("unwritable", world)
	data := filepath.Join(conf.Archive, d.Name, "data")
	if err := os.MkdirAll(filepath.Dir(data), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(data, nil, 0o644); err != nil { // where a folder should be
		t.Fatal(err)
	}
	w := StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	Until(t, soon, "the status says why the crawl holds", func() string {
		value, err := w.Client().QueryWorkflow(t.Context(), names.CrawlID(d.Name), "", names.QueryStatus)
		if err != nil {
			return err.Error()
		}
		var s workflows.CrawlState
		if err := value.Get(&s); err != nil {
			return err.Error()
		}
		if !strings.Contains(s.Progress.Holds, "the archive cannot be written: put unwritable/data/") {
			return "no word of the archive"
		}
		return ""
	})
	if err := os.Remove(data); err != nil {
		t.Fatal(err)
	}
	end := Result(t, w.Client(), d.Name, CrawlTime)
	if end.Totals.Failed > 0 || end.Totals.Pages == 0 {
		t.Errorf("%d pages, %d batches failed", end.Totals.Pages, end.Totals.Failed)
	}
	for url, n := range world.Stats().URLs {
		if n > 1 && !strings.HasSuffix(url, "/robots.txt") {
			t.Errorf("%s was fetched %d times", url, n)
		}
	}
	report := Check(t, conf.Archive)
	for _, seed := range d.Seeds {
		if report.Pages[seed.URL] != 1 {
			t.Errorf("the archive holds %s %d times", seed.URL, report.Pages[seed.URL])
		}
	}
}
