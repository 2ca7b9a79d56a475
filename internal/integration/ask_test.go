package integration

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/bench"
)

// operator runs commands of the command line.
type operator struct {
	t      *testing.T
	server *Server
}

// muninn runs a command with the server. The command must end with the exit code; muninn returns its standard output and error.
func (o operator) muninn(code int, args ...string) (printed, said string) {
	o.t.Helper()
	printed, err := Run(Program(o.t, "muninn"), append(args, "--temporal", o.server.Address)...)
	if got := exit(err); got != code {
		o.t.Errorf("muninn %s: exit code %d, want %d: %v\n%s", strings.Join(args, " "), got, code, err, lines(printed))
	}
	if err != nil {
		said = err.Error()
	}
	return printed, said
}

// explain explains a URL, as JSON and as text.
func (o operator) explain(name, url string) (e frontier.Explanation, text string) {
	o.t.Helper()
	text, _ = o.muninn(0, "explain", name, url)
	raw, _ := o.muninn(0, "explain", name, url, "--json")
	if err := json.Unmarshal([]byte(raw), &e); err != nil {
		o.t.Fatalf("%v: %s", err, raw)
	}
	return e, text
}

// definitions are those that an archive keeps of a crawl, the first first.
func definitions(t *testing.T, archive, name string) (list []crawl.Definition) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(archive, name, "definitions", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(files, func(a, b string) int { return len(a) - len(b) }) // run-1.json, run-1-0123abcd.json
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := crawl.ParseDefinition(raw)
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		list = append(list, d)
	}
	return list
}

// isReport checks that a page is a report of the crawl, and returns its text.
func isReport(t *testing.T, page []byte, name string) string {
	t.Helper()
	root, err := html.Parse(strings.NewReader(string(page)))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for n := range root.Descendants() {
		if n.Type == html.TextNode {
			text.WriteString(n.Data + "\n")
		}
	}
	for _, words := range []string{"Crawl " + name, "harvest ratio", "pages archived in all runs", "Most relevant pages"} {
		if !strings.Contains(text.String(), words) {
			t.Errorf("%q is not in the report", words)
		}
	}
	if strings.Count(string(page), "<svg") != 4 {
		t.Errorf("the report has %d plots", strings.Count(string(page), "<svg"))
	}
	return text.String()
}

// While a crawl runs, an operator gets explanations of URLs, changes the order, gets an error for what cannot be changed, and makes a
// report. When the crawl has ended, its archive has a report.
func TestAsk(t *testing.T) {
	t.Parallel()
	Program(t, "muninn") // is built before the crawl begins
	server := StartServer(t)
	world := Serve(t, bench.New(webworld.Options{Seed: 15, Latency: 400 * time.Millisecond}, 2, 2000))
	dir := t.TempDir()
	worker := StartWorker(t, Config(server, world, dir))
	known, archive := worker.Activities().Frontier, filepath.Join(dir, "archive")
	d := Definition("asked", world)
	reference := int64(20)
	d.Order.PerQueue, d.Scope.Within, d.Reference.Pages = 5, crawl.WithinHost, &reference
	o := operator{t, server}
	StartCrawl(t, server.Client, d)
	Until(t, soon, "the crawl is in progress", func() string {
		if p, err := known.Crawl(d.Name).Progress(); err != nil || p.Totals.Pages < 5 {
			return fmt.Sprintf("%d pages, %v", p.Totals.Pages, err)
		}
		return ""
	})

	t.Run("explain", func(t *testing.T) {
		o := operator{t, server}
		e, text := o.explain(d.Name, d.Seeds[0].URL)
		if e.State != "done" || e.Path != "S" || e.Strategy != crawl.StrategyFused || e.Links == 0 {
			t.Errorf("the seed: %+v", e)
		}
		if !strings.Contains(text, d.Seeds[0].URL) || !strings.Contains(text, "done") {
			t.Errorf("the seed, for people:\n%s", text)
		}
		o.muninn(0, "pause", d.Name) // nothing changes meanwhile
		defer o.muninn(0, "resume", d.Name)
		// A URL that waits is explained twice with the same answer: a controller may claim once more before the pause has come to it, and the order may learn from the last pages.
		Until(t, soon, "the running batches end, and the order has learned from their pages", func() string {
			waiting := "" // not a seed: nothing led there, and one waits again if the pause came before its lease
			s, err := known.Crawl(d.Name).Status()
			if err == nil {
				err = known.Crawl(d.Name).URLs().Known(func(url, state string) error {
					if state == "waiting" && !slices.ContainsFunc(d.Seeds, func(s crawl.Seed) bool { return s.URL == url }) {
						waiting = url
					}
					return nil
				})
			}
			if err != nil || s.Claimed > 0 || waiting == "" {
				return fmt.Sprintf("%d URLs are in progress, %q waits, %v", s.Claimed, waiting, err)
			}
			before, _ := o.explain(d.Name, waiting)
			if e, text = o.explain(d.Name, waiting); e.State != "waiting" || !reflect.DeepEqual(e, before) {
				return fmt.Sprintf("%+v, and then %+v", before, e)
			}
			return ""
		})
		if e.State != "waiting" || e.Busy || e.Priority <= 0 || e.Waiting <= e.Before || e.Via == "" || len(e.Weights) == 0 || len(e.Parts) == 0 || e.Links == 0 {
			t.Errorf("a URL that waits: %+v", e)
		}
		for _, words := range []string{"waiting", "found on   " + e.Via, fmt.Sprintf("priority   %.3f", e.Priority), fmt.Sprintf("%s: %d URLs before it of %d", e.PLD, e.Before, e.Waiting), e.Weights[0].Name, string(e.Parts[0].Name)} {
			if !strings.Contains(text, words) {
				t.Errorf("%q is not in\n%s", words, text)
			}
		}
		if e, text = o.explain(d.Name, "http://nobody.example/"); e.State != "unknown" || !strings.Contains(text, "not known") {
			t.Errorf("a URL that nobody knows: %+v\n%s", e, text)
		}
		o.muninn(2, "explain", d.Name)
		o.muninn(1, "explain", "nobody", d.Seeds[0].URL)
		if _, said := o.muninn(2, "explain", d.Name, "http://[/"); !strings.Contains(said, "is not a URL") || strings.Contains(said, "the crawl failed") {
			t.Errorf("of what is not a URL it says: %s", said)
		}
	})

	t.Run("configure", func(t *testing.T) {
		o := operator{t, server}
		text, _ := o.muninn(0, "configure", d.Name, "order.strategy=weighted", "order.per_queue=7")
		if !strings.Contains(text, "weighted") || !strings.Contains(text, "7") {
			t.Errorf("it says %q", text)
		}
		plan, err := known.Crawl(d.Name).Plan()
		if err != nil || plan.Definition.Order.Strategy != crawl.StrategyWeighted || plan.Definition.Order.PerQueue != 7 || known.Crawl(d.Name).Learning().Order() != nil {
			t.Errorf("in force is %+v, %v", plan.Definition.Order, err)
		}
		kept := definitions(t, archive, d.Name)
		if len(kept) != 2 || kept[0].Order != d.Order || kept[1].Order.Strategy != crawl.StrategyWeighted || kept[1].Order.PerQueue != 7 || kept[1].Weights != d.Weights || len(kept[1].Seeds) != len(d.Seeds) {
			t.Errorf("the archive keeps %+v", kept)
		}
		if e, _ := o.explain(d.Name, d.Seeds[0].URL); e.Strategy != crawl.StrategyWeighted {
			t.Errorf("the strategy is %s", e.Strategy)
		}
		file := write(t, "change.yaml", "order: {update: avg}\nweights: {anchor: 3}\n")
		raw, _ := o.muninn(0, "configure", d.Name, file, "--json")
		var answered crawl.Definition
		if err := json.Unmarshal([]byte(raw), &answered); err != nil || answered.Order.Update != crawl.UpdateAvg || answered.Weights.Anchor != 3 || answered.Order.PerQueue != 7 {
			t.Errorf("it answers %s, %v", raw, err)
		}
	})

	t.Run("submit", func(t *testing.T) {
		o := operator{t, server}
		url := d.Seeds[0].URL + "handed-in?n=1"
		file := write(t, "urls.txt", "# of a colleague\n"+url+"\nhttp://[/\n")
		text, _ := o.muninn(0, "submit", d.Name, file, d.Seeds[0].URL, "http://elsewhere.example/", "--score", "0.9")
		for _, want := range []string{"accepted     " + url, "malformed    http://[/: ", "known        " + d.Seeds[0].URL, "out of scope http://elsewhere.example/"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in\n%s", want, lines(text))
			}
		}
		if e, _ := o.explain(d.Name, url); e.State == "unknown" {
			t.Errorf("%+v", e)
		}
		o.muninn(2, "submit", d.Name)
		o.muninn(2, "submit", d.Name, "no-such-file.txt")
		o.muninn(1, "submit", "nobody", url)
	})

	t.Run("learn", func(t *testing.T) {
		o := operator{t, server}
		Until(t, soon, "the reference crawl has taught something", func() string {
			plan, err := known.Crawl(d.Name).Plan()
			if err != nil {
				return err.Error()
			}
			if model, err := plan.Topic(); err != nil || model == nil {
				return fmt.Sprintf("nothing was learned, %v", err)
			}
			return ""
		})
		file := filepath.Join(t.TempDir(), "suggested.yaml")
		text, _ := o.muninn(0, "learn", d.Name, "--out", file)
		if !strings.Contains(text, file) {
			t.Errorf("it says\n%s", text)
		}
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		suggested, err := crawl.ParseDefinition(raw)
		if err != nil || suggested.Order.Strategy != crawl.StrategyWeighted || suggested.Order.PerQueue != 7 || suggested.Weights.Anchor != 3 || len(suggested.Topic.Keywords) <= len(d.Topic.Keywords) {
			t.Errorf("the definition is not as it was configured, with what is suggested: %v\n%s", err, raw)
		}
	})

	t.Run("what cannot be", func(t *testing.T) {
		before, err := known.Crawl(d.Name).Plan()
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			code int
			args []string
			says []string
		}{
			{2, []string{d.Name, "order.stratgey=weighted"}, []string{"order.stratgey", "is not known", "strategy"}},
			{2, []string{d.Name, "order.strategy=best", "order.per_queue=9999"}, []string{"order.strategy", "weighted", "order.per_queue", "500"}},
			{2, []string{d.Name, "topic.keywords=[soup]"}, []string{"topic", "cannot change", "order, weights"}},
			{2, []string{d.Name, "seeds=['http://b.example/']"}, []string{"seeds", "cannot change", "order, weights"}},
			{2, []string{d.Name, "name=other"}, []string{"name", "cannot change", "order, weights"}},
			{2, []string{d.Name}, []string{"order.strategy=weighted"}},
			{2, []string{d.Name, "order.strategy", "weighted"}, []string{"FIELD=VALUE"}},
			{2, []string{d.Name, "none.yaml"}, []string{"none.yaml"}},
			{1, []string{"nobody", "order.strategy=weighted"}, []string{"nobody"}},
		} {
			o := operator{t, server}
			_, said := o.muninn(c.code, append([]string{"configure"}, c.args...)...)
			for _, words := range c.says {
				if !strings.Contains(said, words) {
					t.Errorf("configure %q: %q is not in what it says: %s", c.args, words, said)
				}
			}
			if strings.Contains(said, "the crawl failed") {
				t.Errorf("configure %q: the crawl has not failed: %s", c.args, said)
			}
		}
		after, err := known.Crawl(d.Name).Plan()
		if err != nil || after.Definition.Order != before.Definition.Order || len(after.Definition.Topic.Keywords) != len(d.Topic.Keywords) {
			t.Errorf("in force is %+v, %v", after.Definition, err)
		}
	})

	// The definition has min_delay 0, the default is a second: what fits the one need not fit the other.
	t.Run("what fits this crawl", func(t *testing.T) {
		o := operator{t, server}
		o.muninn(0, "configure", d.Name, "politeness.max_delay=500ms")
		if plan, err := known.Crawl(d.Name).Plan(); err != nil || plan.Definition.Politeness.MaxDelay.D() != 500*time.Millisecond {
			t.Errorf("in force is %+v, %v", plan.Definition.Politeness, err)
		}
	})

	t.Run("report", func(t *testing.T) {
		o := operator{t, server}
		file := filepath.Join(t.TempDir(), "report.html")
		text, _ := o.muninn(0, "report", d.Name, "--out", file)
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if text := isReport(t, page, d.Name); !strings.Contains(text, world.Sites()[0].Host) || !strings.Contains(text, "Order: weighted") {
			t.Errorf("the report has neither the hosts nor the order:\n%s", lines(text))
		}
		reports, err := filepath.Glob(filepath.Join(archive, d.Name, "reports", "run-1-*.html"))
		if err != nil || len(reports) != 1 {
			t.Fatalf("the archive holds the reports %q, %v", reports, err)
		}
		made := reports[0]
		if kept, err := os.ReadFile(made); err != nil || string(kept) != string(page) || !strings.Contains(text, filepath.Base(made)) || !strings.Contains(text, file) {
			t.Errorf("it says %q; the archive has %d bytes, the file %d, %v", text, len(kept), len(page), err)
		}
		o.muninn(2, "report")
		o.muninn(1, "report", "nobody")
	})

	p, err := known.Crawl(d.Name).Progress()
	if err != nil || p.Totals.Pages >= 3900 {
		t.Fatalf("after %d pages nothing of this was asked while the crawl was in progress: let the web be slower (%v)", p.Totals.Pages, err)
	}
	o.muninn(0, "stop", d.Name)
	result := Result(t, server.Client, d.Name, CrawlTime)
	if result.Reason != "stopped" || result.Report == "" {
		t.Errorf("ended: %s, report %q", result.Reason, result.Report)
	}
	t.Logf("%d pages were fetched while it was asked", p.Totals.Pages)
	page, err := os.ReadFile(filepath.Join(archive, filepath.FromSlash(result.Report)))
	if err != nil || path.Dir(result.Report) != d.Name+"/reports" {
		t.Fatalf("the report %q of the end: %v", result.Report, err)
	}
	if text := isReport(t, page, d.Name); !strings.Contains(text, fmt.Sprintf("\n%d\n%d\n", result.Totals.Pages, result.Totals.Scored)) {
		t.Errorf("the report does not have the run's %d pages, %d scored:\n%s", result.Totals.Pages, result.Totals.Scored, lines(text))
	}
	if _, said := o.muninn(1, "configure", d.Name, "order.per_queue=8"); !strings.Contains(said, "has ended") {
		t.Errorf("of a crawl that has ended it says: %s", said)
	}
	if _, said := o.muninn(1, "submit", d.Name, d.Seeds[0].URL); !strings.Contains(said, "has ended") {
		t.Errorf("of a crawl that has ended it says: %s", said)
	}
	if e, _ := o.explain(d.Name, d.Seeds[0].URL); e.State != "done" {
		t.Errorf("after the end: %+v", e)
	}
	Check(t, archive) // reports and definitions are no orphans
	if text, _ := o.muninn(0, "forget", d.Name); !strings.Contains(text, "would forget") || !known.Knows(d.Name) {
		t.Errorf("it says %q", text)
	}
	if text, _ := o.muninn(0, "forget", d.Name, "--yes"); !strings.Contains(text, "forgot "+d.Name) || known.Knows(d.Name) {
		t.Errorf("it says %q", text)
	}
	if _, said := o.muninn(1, "report", d.Name); !strings.Contains(said, "does not know the crawl "+d.Name) || strings.Contains(said, "running?") {
		t.Errorf("of a crawl that is forgotten it says: %s", said)
	}
}
