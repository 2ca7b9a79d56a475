package starter

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/selection"
)

// selectable is an archive with pages about birds and about soup, on two hosts; one has a hostile title.
func selectable(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: "b", Nonce: "0123456789abcdef", Worker: "w"}, at, func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
	for i := range 24 {
		host, what := "birds.example", "the raven and the crow with a nest and feathers"
		if i%2 == 1 {
			host, what = "soup.example", "a pot of water with an onion and a leek"
		}
		url := fmt.Sprintf("https://%s/%d", host, i)
		body := fmt.Sprintf("<title>Page %d \x1b[31m&lt;b&gt;</title><p>%s, number %d of all", i, what, i)
		d := page.Parse(page.Input{URL: url, MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
		_, err = s.Add(archive.Capture{
			Exchange: crawl.Exchange{
				Kind: crawl.ExchangePage, URL: url, Started: at.Add(time.Duration(i) * time.Second), Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html", IP: "192.0.2.1", Path: "SL",
				Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200},
			},
			Page:    &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page}, Verdict: crawl.Verdict{Score: 0.25}},
			Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestSelect: a selection is made, gets rules and decisions, asks, proposes, explains; nothing but its own entries is put.
func TestSelect(t *testing.T) {
	dir := selectable(t)
	t.Setenv("MUNINN_WHO", "ann")
	before := filesOf(t, dir)
	run := func(args ...string) string {
		t.Helper()
		code, printed, said := call(t, append([]string{"select"}, args...)...)
		if code != cli.ExitOK {
			t.Fatalf("%q: exit code %d: %s", args, code, said)
		}
		if strings.ContainsRune(printed+said, '\x1b') && !strings.Contains(strings.Join(args, " "), "--json") {
			t.Errorf("%q prints a control character: %q", args, printed)
		}
		return printed
	}
	run("create", dir, "ravens", "--about", "birds")
	run("rule", dir, "ravens", "drop", "host:soup.example score:<0.1")
	run("rule", dir, "ravens", "keep", "raven OR crow")
	if text := run("withdraw", dir, "ravens", "3", "3"); text != "entry 4: 1 rule withdrawn\n" {
		t.Error(text)
	}
	var first asked
	parsed(t, run("ask", dir, "ravens", "--json"), &first)
	if first.Open != 24 || first.Learned || len(first.Questions) != 10 || first.Quality.Recall != nil || first.Version != 4 {
		t.Fatalf("%+v", first)
	}
	for i := range 16 {
		verdict, host := "keep", "birds.example"
		if i%2 == 1 {
			verdict, host = "drop", "soup.example"
		}
		run("decide", dir, "ravens", verdict, fmt.Sprintf("https://%s/%d", host, i), "--why", "seen")
	}
	var second asked
	parsed(t, run("ask", dir, "ravens", "--json", "-n", "3"), &second)
	if second.Open != 8 || !second.Learned || len(second.Questions) != 3 || second.Quality.Precision == nil || second.Quality.Recall.Value < 0.9 || second.Questions[0].Keep == nil {
		t.Fatalf("%+v", second)
	}
	run("ask", dir, "ravens")
	var taken accepted
	parsed(t, run("accept", dir, "ravens", "--least", "0.6", "--json"), &taken)
	if taken.Kept == 0 || taken.Dropped == 0 || taken.Kept+taken.Dropped+taken.Open != 8 {
		t.Fatalf("%+v", taken)
	}
	run("decide", dir, "ravens", "keep", "HTTPS://Soup.example/1#x", "--why", "a soup about ravens")
	var why explained
	parsed(t, run("explain", dir, "ravens", "https://soup.example/1", "--json"), &why)
	if len(why.Captures) != 1 || why.Captures[0].Verdict != selection.Keep || len(why.Captures[0].Steps) != 2 || why.Captures[0].Steps[1].Why != "a soup about ravens" || !why.Captures[0].Steps[1].Counts {
		t.Errorf("%+v", why)
	}
	if text := run("explain", dir, "ravens", "https://soup.example/1"); !strings.Contains(text, "keep by person") || !strings.Contains(text, "a soup about ravens") {
		t.Error(text)
	}
	if text := run("decide", dir, "ravens", "drop", "host:soup.example"); !strings.Contains(text, ": drop for 1 group\n") {
		t.Error(text)
	}
	if list := run("show", dir, "ravens", "--list", "keep"); strings.Contains(list, "soup.example") || !strings.Contains(list, "https://birds.example/0\n") {
		t.Error(list)
	}
	var shown shownSelection
	parsed(t, run("show", dir, "ravens", "--json"), &shown)
	if shown.Captures[selection.Drop][selection.ByPerson] != 12 || len(shown.Rules) != 2 || !shown.Rules[1].Withdrawn || shown.By != "ann" || shown.About != "birds" {
		t.Errorf("%+v", shown)
	}
	if text := run("show", dir, "ravens"); !strings.Contains(text, "withdrawn") || !strings.Contains(text, "8 to keep, 0 to drop") {
		t.Error(text)
	}
	if text := run("list", dir); text != "ravens\n" {
		t.Error(text)
	}
	if code, printed, said := call(t, "verify", dir); code != cli.ExitOK {
		t.Errorf("verify: %s%s", printed, said)
	}
	after := filesOf(t, dir)
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s was changed", name)
		}
	}
	for name := range after {
		if _, was := before[name]; !was && !strings.HasPrefix(name, "_selections/ravens/") {
			t.Errorf("%s was made", name)
		}
	}
}

func parsed(t *testing.T, text string, into any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), into); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		found[filepath.ToSlash(name)] = string(raw)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSelectUsage: what is wrong with a command line is named, and nothing is put.
func TestSelectUsage(t *testing.T) {
	dir := selectable(t)
	t.Setenv("MUNINN_WHO", "ann")
	if code, _, said := call(t, "select", "create", dir, "ravens"); code != cli.ExitOK {
		t.Fatal(said)
	}
	before := len(filesOf(t, dir))
	none := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"select fly", cli.ExitUsage, `unknown command "fly"`},
		{"select create " + dir, cli.ExitUsage, "a name for the selection"},
		{"select create " + dir + " a/b", cli.ExitUsage, "no selection can have that name"},
		{"select create " + dir + " ravens", cli.ExitFailed, "already"},
		{"select create " + none + " ravens", cli.ExitUsage, "there is no folder"},
		{"select create " + dir + " x --who=", cli.ExitUsage, "--who"},
		{"select rule " + dir + " ravens maybe x", cli.ExitUsage, `"maybe" must be keep, drop or ask`},
		{"select rule " + dir + " ravens keep score:>many", cli.ExitUsage, "score"},
		{"select rule " + dir + " crows keep x", cli.ExitFailed, "muninn select create"},
		{"select withdraw " + dir + " ravens 1", cli.ExitUsage, "1 is no number of a rule"},
		{"select withdraw " + dir + " ravens x", cli.ExitUsage, `"x"`},
		{"select decide " + dir + " ravens keep example.org", cli.ExitUsage, "neither a URL"},
		{"select decide " + dir + " ravens keep javascript:alert(1)", cli.ExitUsage, "neither a URL"},
		{"select decide " + dir + " ravens keep app:x", cli.ExitUsage, "APPLICATION/LEVEL"},
		{"select ask " + dir + " ravens -n 0", cli.ExitUsage, "--number"},
		{"select ask " + dir + " crows", cli.ExitFailed, "muninn select create"},
		{"select accept " + dir + " ravens --least 0.2", cli.ExitUsage, "--least"},
		{"select accept " + dir + " ravens", cli.ExitUsage, "nothing to accept yet"},
		{"select show " + dir + " ravens --list some", cli.ExitUsage, "--list"},
		{"select explain " + dir + " ravens https://none.example/", cli.ExitFailed, "no capture of a page"},
		{"select explain " + dir + " ravens x", cli.ExitUsage, "http"},
	} {
		code, _, said := call(t, strings.Fields(c.args)...)
		if code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%s: exit code %d: %s, want %d and %q", c.args, code, said, c.code, c.says)
		}
	}
	if after := len(filesOf(t, dir)); after != before {
		t.Errorf("%d files, and %d before", after, before)
	}
}

// TestSelectMany: what is decided takes no room. Where too much is open, it is listed, counted and explained, and the error of the others says what helps.
func TestSelectMany(t *testing.T) {
	dir := selectable(t)
	t.Setenv("MUNINN_WHO", "ann")
	for _, args := range []string{"create " + dir + " ravens", "decide " + dir + " ravens drop https://soup.example/1 https://soup.example/3"} {
		if code, _, said := call(t, append([]string{"select"}, strings.Fields(args)...)...); code != cli.ExitOK {
			t.Fatal(said)
		}
	}
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	load := func(of purpose, own string) (all *selected, seen int, err error) {
		all, err = (&selector{most: 14}).load(t.Context(), store, "ravens", io.Discard, of, own, func(*selection.State, *selection.Facts) error {
			seen++
			return nil
		})
		return all, seen, err
	}
	if _, _, err := load(forProposals, ""); err == nil || !strings.Contains(err.Error(), "more than 14 pages are open: decide on") {
		t.Error(err)
	}
	if all, seen, err := load(forQuality, "https://birds.example/22"); err != nil || seen != 24 || !all.full || all.pool.Len() != 3 {
		t.Errorf("%+v, %d captures, %v", all, seen, err)
	}
	if all, seen, err := load(forNothing, ""); err != nil || seen != 24 || all.pool.Len() != 0 {
		t.Errorf("%+v, %d captures, %v", all, seen, err)
	}
	if code, _, said := call(t, "select", "rule", dir, "ravens", "drop", "host:soup.example"); code != cli.ExitOK {
		t.Fatal(said)
	}
	all, _, err := load(forProposals, "")
	if err != nil || all.pool.Len() != 14 {
		t.Fatalf("%+v, %v", all, err)
	}
	if out := all.ask(3); out.Open != 12 || len(out.Questions) != 3 {
		t.Errorf("%+v", out)
	}
	if code, _, said := call(t, "select", "rule", dir, "ravens", "drop", "host:birds.example"); code != cli.ExitOK {
		t.Fatal(said)
	}
	if all, _, err = load(forProposals, ""); err != nil || all.pool.Len() != 2 || all.ask(3).Open != 0 {
		t.Errorf("%+v, %v", all, err)
	}
}
