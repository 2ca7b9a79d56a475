package integration

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// TestS3Crawl crawls the demo web into a real S3 server and checks the archive there.
func TestS3Crawl(t *testing.T) {
	s3 := archive.S3{
		Endpoint: os.Getenv("MUNINN_TEST_S3"), AccessKey: os.Getenv("MUNINN_TEST_S3_ACCESS_KEY"),
		SecretKey: os.Getenv("MUNINN_TEST_S3_SECRET_KEY"), Region: "us-east-1",
	}
	if s3.Endpoint == "" {
		t.Skip("MUNINN_TEST_S3 is not set: tools/versitygw/with-s3.sh sets it")
	}
	server := StartServer(t)
	world := Serve(t, webworld.NewDemo(webworld.Options{Seed: 1, FirstIP: netip.MustParseAddr("127.94.0.1")}))
	conf := Config(server, world, t.TempDir())
	conf.S3 = s3
	conf.Archive = "s3://" + os.Getenv("MUNINN_TEST_S3_BUCKET") + "/crawls/" + time.Now().Format("150405.000000000")
	conf.Knowledge = ignorance(t)
	w := StartWorker(t, conf)
	d := demoDefinition("kept", world)
	d.Politeness.MinDelay, d.Politeness.MaxCrawlDelay = 0, crawl.Duration(100*time.Millisecond)
	StartCrawl(t, server.Client, d)
	result := Result(t, server.Client, d.Name, CrawlTime)
	checkOutcomes(t, w.Activities().Frontier.Crawl(d.Name))

	store, err := archive.Open(t.Context(), conf.Archive, s3)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	objects := s3Download(t, store, dir)
	report := sitesOnce(t, dir, world)
	if len(report.Orphans) > 0 {
		t.Errorf("objects that no manifest names: %v", report.Orphans)
	}
	pages, revisits := 0, int64(report.Revisits)
	for url := range report.Pages {
		if p, known := world.PageOf(url); known && p.Status == 200 {
			pages++
		}
	}
	if result.Totals.Pages+result.Totals.RequisitesArchived+result.Totals.SpeculativeArchived != int64(pages) || result.Totals.Revisits != revisits || int64(report.Segments) > result.Totals.Batches {
		t.Errorf("the archive holds %d pages and %d revisits in %d segments; the result says %+v", pages, revisits, report.Segments, result.Totals)
	}
	t.Logf("%d objects in %s, %d bytes in segments; the result: %+v", objects, store, report.Bytes, result.Totals)
}

// s3Download copies a store into a folder.
func s3Download(t *testing.T, store archive.Store, dir string) (objects int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	err := store.List(ctx, "", func(o archive.Object) error {
		r, err := store.Get(ctx, o.Key)
		if errors.Is(err, archive.ErrNotFound) && strings.HasPrefix(o.Key, "_frontier/") { // workers that are up delete what they do not need any more
			return nil
		}
		if err != nil {
			return err
		}
		defer r.Close()
		objects++
		name := filepath.Join(dir, filepath.FromSlash(o.Key))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		f, err := os.Create(name)
		if err != nil {
			return err
		}
		n, err := io.Copy(f, r)
		if err == nil && n != o.Size {
			t.Errorf("%s is listed with %d bytes and has %d", o.Key, o.Size, n)
		}
		if errClose := f.Close(); err == nil {
			err = errClose
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return objects
}
