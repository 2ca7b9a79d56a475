package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/workflows"
)

// Seeds from a file bound the crawl like seeds in the definition: the rest of their host is crawled, and nothing
// of another.
func TestSeedsFromAFile(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 8}, 2, 12))
	dir := t.TempDir()
	StartWorker(t, Config(server, world, dir))
	definition := write(t, "file.yaml", "name: file\nseeds: [{file: seeds.txt}]\npoliteness: {min_delay: 0s, max_delay: 0s, factor: 0}\n")
	list := fmt.Sprintf("# the front page alone\n\n%s # the first of two hosts\n", world.Seeds()[0])
	if err := os.WriteFile(filepath.Join(filepath.Dir(definition), "seeds.txt"), []byte(list), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Run(Program(t, "muninn"), "start", definition, "--temporal", server.Address); err != nil {
		t.Fatal(err)
	}
	result := Result(t, server.Client, "file", CrawlTime)
	if result.Reason != "drained" || result.Totals.Failed > 0 {
		t.Errorf("the crawl ended with %q and %d failed batches", result.Reason, result.Totals.Failed)
	}
	report := Check(t, filepath.Join(dir, "archive"))
	first, more := world.Sites()[0].Host, 0
	for _, p := range world.Pages() {
		want := 0
		if p.Host == first && p.Allowed {
			want = 1
			more++
		}
		if n := report.Pages[p.URL]; n != want {
			t.Errorf("archive: %s is there %d times, want %d", p.URL, n, want)
		}
	}
	if more < 10 {
		t.Errorf("the web has only %d pages that could be crawled", more)
	}
	if n := world.Stats().Hosts[world.Sites()[1].Host]; n > 0 {
		t.Errorf("the other host was asked %d times", n)
	}
}

// define writes the definition that a site crawls.
func (s *site) define(d crawl.Definition) {
	s.t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(s.args[1], raw, 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// muninn runs the site's command to its end, with further flags, and returns its exit code and output.
func (s *site) muninn(flags ...string) (code int, said string) {
	s.t.Helper()
	was := s.args
	defer func() { s.args = was }()
	s.args = append(append([]string{}, was...), flags...)
	p := s.start()
	code = p.end(CrawlTime)
	return code, p.out.String()
}

// interrupted begins the crawl, and ends muninn by Ctrl-C once some pages are fetched.
func (s *site) interrupted() {
	s.t.Helper()
	s.world.SetLatency(500 * time.Millisecond) // so that it is interrupted before the end
	p := s.start()
	Until(s.t, soon, "the crawl is in progress", func() string {
		if n := s.world.Stats().Requested(); n < 8 && !p.ended() {
			return fmt.Sprintf("%d pages are fetched; muninn says:\n%s", n, lines(p.out.String()))
		}
		return ""
	})
	p.signal(os.Interrupt)
	if code := p.end(soon); code != 130 {
		s.t.Fatalf("exit code %d after Ctrl-C, want 130:\n%s", code, lines(p.out.String()))
	}
	s.world.SetLatency(0)
}

// A running crawl does not continue with another definition: the command reports what differs. With the flag it ends the
// crawl and starts the new one.
func TestRunAnew(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 9}, 2, 300))
	d := Definition("changed", world)
	d.Order.PerQueue = 10
	d.Scope.Within = crawl.WithinHost
	s := newSite(t, world, d, "--temporal", server.Address)
	s.interrupted()

	changed := d
	changed.Budget.Pages = 30
	changed.Seeds = append([]crawl.Seed{}, d.Seeds[:1]...)
	s.define(changed)
	code, said := s.muninn()
	if code != 2 {
		t.Errorf("exit code %d with a changed definition, want 2:\n%s", code, lines(said))
	}
	for _, words := range []string{`"changed"`, "(other seeds, budget)", "--anew"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in what it says:\n%s", words, lines(said))
		}
	}
	if state := server.status(t, names.CrawlID(d.Name)); state != "RUNNING" {
		t.Errorf("the crawl is %s after the refusal", state)
	}

	if code, said = s.muninn("--anew"); code != 0 {
		t.Errorf("exit code %d with --anew:\n%s", code, lines(said))
	}
	for _, words := range []string{"ending the earlier crawl", "seeds, budget", "the budget of pages is spent"} {
		if !strings.Contains(said, words) {
			t.Errorf("%q is not in what it says:\n%s", words, lines(said))
		}
	}
	var results []workflows.CrawlResult // the last first
	for _, run := range server.list(t, fmt.Sprintf("WorkflowId = '%s'", names.CrawlID(d.Name))) {
		var result workflows.CrawlResult
		if err := server.Client.GetWorkflow(t.Context(), run.Execution.WorkflowID, run.Execution.RunID).Get(t.Context(), &result); err != nil {
			t.Errorf("run %s: %v", run.Execution.RunID, err)
		}
		results = append(results, result)
	}
	if len(results) != 2 || results[1].Reason != "stopped" || results[1].Run != 1 || results[0].Reason != "pages" || results[0].Run != 2 {
		t.Errorf("the runs ended so: %+v", results)
	}
	if len(results) > 0 && (results[0].Totals.Pages < changed.Budget.Pages || results[0].Totals.Pages > 100) {
		t.Errorf("the new crawl has %d pages, its budget is %d", results[0].Totals.Pages, changed.Budget.Pages)
	}
	raw, err := os.ReadFile(filepath.Join(s.archive(), d.Name, "definitions", "run-2.json"))
	var kept crawl.Definition
	if err == nil {
		kept, err = crawl.ParseDefinition(raw)
	}
	if err != nil || kept.Budget.Pages != changed.Budget.Pages || len(kept.Seeds) != 1 {
		t.Errorf("the definition of run 2 is kept as %+v, %v", kept, err)
	}
	Check(t, s.archive())
	polite(t, world.Stats(), 0)
}

// The same definition, also if it is only formatted differently, continues the crawl.
func TestRunContinues(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 10}, 2, 40))
	d := Definition("same", world)
	d.Order.PerQueue = 10
	d.Scope.Within = crawl.WithinHost
	s := newSite(t, world, d, "--temporal", server.Address)
	s.interrupted()
	raw, err := json.MarshalIndent(d, "", "\t") // with other blanks
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(s.args[1], raw, 0o600); err != nil {
		t.Fatal(err)
	}
	code, said := s.muninn("--anew") // which has nothing to end
	if code != 0 || !strings.Contains(said, "continuing same") || strings.Contains(said, "ending the earlier crawl") {
		t.Errorf("exit code %d:\n%s", code, lines(said))
	}
	if runs := server.list(t, fmt.Sprintf("WorkflowId = '%s'", names.CrawlID(d.Name))); len(runs) != 1 {
		t.Errorf("the crawl has %d runs", len(runs))
	}
	Once(t, Check(t, s.archive()), world)
}

// A crawl whose only seed may not be fetched fails, and says why.
func TestRunRefusedSeed(t *testing.T) {
	t.Parallel()
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 11}, 1, 2))
	dir := t.TempDir()
	seed := fmt.Sprintf("http://%s:%d/", world.Sites()[0].IP, world.Port())
	out, err := Run(Program(t, "muninn"), "run", seed, "--crawl", "refused", "--temporal", server.Address, "--dns", "127.0.0.1:9",
		"--data", filepath.Join(dir, "data"), "--archive", filepath.Join(dir, "archive"))
	if exit(err) != 1 {
		t.Errorf("exit code %d, want 1: %v\n%s", exit(err), err, lines(out))
	}
	for _, words := range []string{"no page was archived", seed, "private or reserved network", "allow-network"} {
		if !strings.Contains(fmt.Sprint(err), words) {
			t.Errorf("%q is not in what it says: %v", words, err)
		}
	}
	if !strings.Contains(out, "1 by the address guard") {
		t.Errorf("the summary does not count the refusal:\n%s", lines(out))
	}
	if n := world.Stats().Connections; n > 0 {
		t.Errorf("%d connections were opened", n)
	}
}
