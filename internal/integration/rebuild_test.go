package integration

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/checkpoint"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestRebuildLostFrontier: the frontier of a worker that was stopped in the middle of its crawl, when a checkpoint was made, and that then
// came to the end, is rebuilt from that checkpoint: every URL has the state that it had in the lost one, and its links the scores.
func TestRebuildLostFrontier(t *testing.T) {
	t.Parallel()
	server, world := StartServer(t), demoWorld(t, "127.98.64.1")
	world.SetLatency(20 * time.Millisecond)
	dir := t.TempDir()
	conf := Config(server, world, dir)
	d := demoDefinition("rebuilt", world)
	d.Order.Update = crawl.UpdateAvg // by others, scores are forgotten that change nothing at the time

	w := StartWorker(t, conf)
	StartCrawl(t, w.Client(), d)
	Until(t, CrawlTime, "some batches are archived", func() string {
		list, err := os.ReadDir(filepath.Join(conf.Archive, d.Name, "segments"))
		if len(list) < 3 {
			return fmt.Sprintf("%d segments, %v", len(list), err)
		}
		return ""
	})
	w.Stop()
	store, err := archive.OpenDir(conf.Archive)
	if err != nil {
		t.Fatal(err)
	}
	opened := func(dir string) *frontier.Frontier {
		f, err := frontier.Open(dir, frontier.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	f := opened(filepath.Join(conf.Data, frontier.Folder))
	made, err := checkpoint.Make(t.Context(), store, f, checkpoint.Worker{Name: conf.Name, Instance: "of the test"}, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	world.SetLatency(0)
	w = StartWorker(t, conf)
	Result(t, w.Client(), d.Name, CrawlTime)
	w.Stop()

	r := checkpoint.Rebuild{
		Data: filepath.Join(dir, "new"), Worker: conf.Name, Store: store, Log: slog.New(slog.DiscardHandler),
		Open: func(ctx context.Context, where string) (archive.Store, error) {
			return archive.OpenReader(ctx, where, archive.S3{})
		},
		Engine: func(f *frontier.Frontier) *pipeline.Engine {
			return pipeline.New(f, nil, score.NewDictionary(), page.DefaultLimits(), time.Now)
		},
	}
	out, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d entries in the checkpoint, %+v", made.Entries, out)
	if out.Segments == 0 {
		t.Error("no segment came after the checkpoint: the test tests nothing")
	}
	was, now := knownURLs(t, opened(filepath.Join(conf.Data, frontier.Folder)), d.Name), knownURLs(t, opened(out.Frontier), d.Name)
	differ := 0
	for url, known := range was {
		// What ended without a page after it had waited for another attempt is in no segment: it waits still, and is tried again.
		if again := strings.HasPrefix(now[url].state, "delayed") && (strings.HasPrefix(known.state, "refused") || strings.HasPrefix(known.state, "failed")); now[url].state != known.state && !again {
			t.Errorf("%s is %s, was %s", url, now[url].state, known.state)
		}
		if now[url].scores != known.scores { // a batch that ran beside the one that fetched it had a link to it
			differ++
			t.Logf("%s\nis  %s\nwas %s", url, now[url].scores, known.scores)
		}
	}
	if differ > len(was)/20 || len(now) != len(was) {
		t.Errorf("of %d of %d URLs the scores differ; %d are known", differ, len(was), len(now))
	}
}

// known is what a frontier knows of a URL.
type known struct{ state, scores string }

// knownURLs is what a frontier knows of the URLs of a crawl. It closes the frontier.
func knownURLs(t *testing.T, f *frontier.Frontier, name string) map[string]known {
	t.Helper()
	defer func() { _ = f.Close() }()
	list := map[string]known{}
	of := f.Crawl(name).URLs()
	if err := of.Known(func(url, _ string) error { list[url] = known{}; return nil }); err != nil {
		t.Fatal(err)
	}
	for url := range list {
		u, err := urls.Trusted(url)
		if err != nil {
			t.Fatal(err)
		}
		e, err := of.Explain(u)
		if err != nil {
			t.Fatal(err)
		}
		if crawl.IsRequisite(e.Path) { // the links of the pages that are committed after it was fetched with one of them do not count
			list[url] = known{fmt.Sprintf("%s in run %d", e.State, e.Run), "a requisite, whose place no score decides"}
			continue
		}
		list[url] = known{fmt.Sprintf("%s in run %d", e.State, e.Run), fmt.Sprintf("%d links, at best %.3f, %.3f on average", e.Links, e.Max, e.Mean)}
	}
	return list
}
