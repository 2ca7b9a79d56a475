package integration

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/workflows"
)

// TestDerive: the workers derive what a crawl archives while it runs. Another workflow finds nothing to do, and so does the command; the archive is without faults.
func TestDerive(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 3}, 4, 40))
	dir := t.TempDir()
	conf := Config(server, world, dir)
	StartWorker(t, conf)
	d := Definition("derived", world)
	d.Order.PerQueue = 5
	world.SetLatency(100 * time.Millisecond)
	StartCrawl(t, server.Client, d)
	run := startDerivation(t, server, d.Name)
	Result(t, server.Client, d.Name, CrawlTime)
	var p, again workflows.DeriveProgress
	if err := run.Get(t.Context(), &p); err != nil {
		t.Fatal(err)
	}
	if os.Getenv(recordEnv) == recordDerive {
		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{t, server, strings.NewReplacer(dir, "/srv/muninn", "127.77.", "10.77.", host+":", "worker:", "@"+host+"/", "@worker/")}
		r.record("derive", names.DeriveID(d.Name), run.GetRunID())
	}
	said, err := Run(Program(t, "muninn"), "derive", d.Name, "--follow", "--wait", "--json", "--temporal", server.Address)
	if err == nil {
		err = json.Unmarshal([]byte(said), &again)
	}
	if err != nil || again.State != "done" || again.Segments != 0 {
		t.Errorf("a second time: %+v, %v: %s", again, err, said)
	}
	store, err := archive.OpenDir(conf.Archive)
	if err != nil {
		t.Fatal(err)
	}
	at := archive.CrawlAt{Name: d.Name}
	pages, lines, segments := map[string]bool{}, 0, int64(0)
	err = archive.Manifests(t.Context(), store, "", d.Name, func(m archive.Manifest) error {
		segments++
		if err := archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
			if i.Status == 200 && !i.Revisit && i.MIME == "text/html" {
				pages[i.URL] = true
			}
			return nil
		}); err != nil {
			return err
		}
		return derive.Read(t.Context(), store, at, derive.Text, m.Segment(), func(l *derive.Document) error {
			if lines++; !pages[l.URL] || l.Title == "" || l.Text == "" {
				t.Errorf("%+v", l)
			}
			return nil
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	if p.State != "done" || p.Segments != segments || len(pages) < 40 || lines != len(pages) || p.Lines != int64(lines) || p.Failed != 0 || len(p.Damaged) != 0 {
		t.Errorf("%+v; %d segments, %d pages, %d lines", p, segments, len(pages), lines)
	}
	before := keysOf(t, filepath.Join(conf.Archive, d.Name, "derived", "text-1"))
	out, err := Run(Program(t, "muninn"), "derive", conf.Archive, "--json")
	if err != nil || !strings.Contains(out, `"segments": 0`) {
		t.Errorf("%v: %s", err, out)
	}
	if after := keysOf(t, filepath.Join(conf.Archive, d.Name, "derived", "text-1")); len(before) == 0 || strings.Join(after, " ") != strings.Join(before, " ") {
		t.Errorf("%d objects became %d", len(before), len(after))
	}
	Faultless(t, conf.Archive)
}

// recordDerive, as recordEnv, has TestDerive record the history of its workflow.
const recordDerive = "derive"

// startDerivation starts the workflow that derives a crawl while it runs.
func startDerivation(t *testing.T, server *Server, crawl string) client.WorkflowRun {
	t.Helper()
	run, err := server.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: names.DeriveID(crawl), TaskQueue: names.TaskQueue}, names.Derive,
		workflows.Derivation{DerivableInput: activities.DerivableInput{Crawls: []string{crawl}, Steps: []string{"text"}}, Follow: true})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func keysOf(t *testing.T, folder string) (list []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}
