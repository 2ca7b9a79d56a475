package starter

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// call runs a command line in an empty folder without a Temporal server: a command that tries to reach one
// fails with another exit code. It returns the exit code, standard output and standard error.
func call(t *testing.T, args ...string) (code int, printed, said string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("PATH", "")
	t.Setenv("MUNINN_CONFIG", "")
	t.Setenv("MUNINN_TEMPORAL", "127.0.0.1:9")
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	words, err := os.Create(filepath.Join(t.TempDir(), "err"))
	if err != nil {
		t.Fatal(err)
	}
	defer words.Close()
	stdout, stderr := os.Stdout, os.Stderr
	defer func() { os.Stdout, os.Stderr = stdout, stderr }()
	os.Stdout, os.Stderr = out, words
	code = Main(args)
	return code, read(t, out.Name()), read(t, words.Name())
}

func read(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// write writes a file of the test and returns its path.
func write(t *testing.T, name, text string) string {
	t.Helper()
	return fixture.Write(t, t.TempDir(), name, text)
}

const good = "name: ravens\nseeds: [https://example.org/]\ntopic: {keywords: [raven]}\n"

// A wrong command line is reported before anything is started, with exit code 2.
func TestUsage(t *testing.T) {
	file, folder := write(t, "ravens.yaml", good), t.TempDir()
	for _, c := range []struct {
		args []string
		says []string
	}{
		{[]string{"fly"}, []string{`unknown command "fly"`, "muninn --help"}},
		{[]string{"statsu"}, []string{"did you mean status?"}},
		{[]string{"serve", "--listen", ":8480"}, []string{"--listen", "other machines", "--token FILE", "--trust-proxy HEADER"}},
		{[]string{"serve", "--listen", "127.0.0.1:8480", "--replay-listen", "0.0.0.0:8481"}, []string{"0.0.0.0:8481 can be reached"}},
		{[]string{"serve", "--decide", "--who", "ann", "--listen", ":8480", "--trust-proxy", "X-Remote-User"}, []string{"--decide", "leave out --who"}},
		{[]string{"serve", "--decide", "--token", write(t, "long-token", "a-token-of-this-test\n")}, []string{"--decide", "a token does not say who decides"}},
		{[]string{"serve", "--who", "ann"}, []string{"--who", "needs --decide"}},
		{[]string{"serve", "--token", "none"}, []string{"--token", "none"}},
		{[]string{"serve", "--token", write(t, "token", "short\n")}, []string{"5 bytes", "16"}},
		{[]string{"serve", "--rules", write(t, "rules.yaml", "rules: [{access: ajar}]")}, []string{"--rules", "rules[0].access"}},
		{[]string{"serve", "--replay", folder}, []string{"--replay", "make replay"}},
		{[]string{"serve", "--archive", "none"}, []string{"--archive", "there is no folder"}},
		{[]string{"serve", "raven"}, []string{"raven"}},
		{[]string{"run"}, []string{"definition file", "URLs"}},
		{[]string{"run", "example.org"}, []string{`"example.org"`, "a URL starts with https://"}},
		{[]string{"run", "https://example.org/", "--no-such-flag"}, []string{"--no-such-flag"}},
		{[]string{"run", "https://example.org/", "--archive", "gs://bucket/x"}, []string{`"gs://bucket/x"`, "s3://bucket/prefix"}},
		{[]string{"run", "https://example.org/", "--dns", "nonsense"}, []string{`"nonsense"`, "ADDR:PORT"}},
		{[]string{"run", "https://example.org/", "--allow-network", "home"}, []string{`"home"`, "10.0.0.0/8"}},
		{[]string{"run", "https://example.org/", "--resolve", "example.org=here"}, []string{"HOST=IP"}},
		{[]string{"run", "https://example.org/", "--batch-time", "1s"}, []string{"batch-time"}},
		{[]string{"run", "https://example.org/", "--pages", "-1"}, []string{"pages"}},
		{[]string{"run", "https://example.org/", "--pages", "0"}, []string{"--pages"}},
		{[]string{"run", "https://example.org:99999/"}, []string{"seeds[0]", "99999"}},
		{[]string{"run", "https://example.org/", "ftp://example.org/"}, []string{"seeds[1]", "ftp://example.org/"}},
		{[]string{"run", "https://example.org/", "--config", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"run", file, "--topic", "raven"}, []string{"--topic", "ravens.yaml"}},
		{[]string{"run", file, "--crawl", "crows"}, []string{"--crawl", "ravens.yaml"}},
		{[]string{"run", file, "https://example.org/"}, []string{"one definition file"}},
		{[]string{"run", file, "--pages", "-3"}, []string{"pages"}},
		{[]string{"run", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"start"}, []string{"one definition file"}},
		{[]string{"start", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"status"}, []string{"one crawl"}},
		{[]string{"status", "ravens", "--no-such-flag"}, []string{"--no-such-flag"}},
		{[]string{"pause"}, []string{"one crawl"}},
		{[]string{"schedule", "foo"}, []string{`unknown command "foo"`, "muninn schedule"}},
		{[]string{"schedule", "create"}, []string{"one definition file"}},
		{[]string{"schedule", "create", file}, []string{"--cron", "--every"}},
		{[]string{"schedule", "create", file, "--every", "10s"}, []string{"--every", "1m"}},
		{[]string{"schedule", "create", file, "--every", "soon"}, []string{"--every"}},
		{[]string{"schedule", "create", file, "--every", "1h", "--overlap", "none"}, []string{`"none"`, "buffer-one"}},
		{[]string{"schedule", "pause"}, []string{"one schedule"}},
		{[]string{"check"}, []string{"one definition file"}},
		{[]string{"check", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"check", "-"}, []string{"standard input", "is empty"}},
		{[]string{"check", folder}, []string{folder, "is a directory"}},
		{[]string{"status", "a b"}, []string{`"a b"`, "no crawl can be named"}},
		{[]string{"stop", "x' OR '1'='1"}, []string{"no crawl can be named"}},
		{[]string{"forget", ""}, []string{"no crawl can be named"}},
		{[]string{"configure", "a/b", "order.per_queue=3"}, []string{`"a/b"`, "no crawl can be named"}},
		{[]string{"configure", "ravens", "none.yaml"}, []string{"none.yaml"}},
		{[]string{"learn", "a b"}, []string{"no crawl can be named"}},
		{[]string{"log", "a b"}, []string{"no crawl can be named"}},
		{[]string{"log", "./none"}, []string{"/none", "s3://bucket/prefix"}},
		{[]string{"objects", folder, "a b"}, []string{"no crawl can be named"}},
		{[]string{"objects", "none", "ravens"}, []string{"there is no folder", "s3://bucket/prefix"}},
		{[]string{"verify", "none"}, []string{"there is no folder", "s3://bucket/prefix"}},
		{[]string{"verify", file}, []string{"there is no folder", "ravens.yaml"}},
		{[]string{"verify", "gs://bucket"}, []string{`"gs://bucket"`, "s3://bucket/prefix"}},
		{[]string{"verify", folder, "--older", "48h"}, []string{"--older", "--sweep"}},
		{[]string{"verify", folder, "--older", "soon"}, []string{`"soon" is not a duration`, "24h"}},
		{[]string{"submit", "ravens", "https://example.org/", "--score", "7"}, []string{"--score", "from 0 to 1"}},
		{[]string{"submit", "ravens", "https://example.org/", "--score", "NaN"}, []string{"--score", "from 0 to 1"}},
		{[]string{"submit", "ravens", "https://example.org/", "--score", "high"}, []string{`"high" is not a number`}},
		{[]string{"submit", "a b", "https://example.org/"}, []string{"no crawl can be named"}},
		{[]string{"submit", "ravens", "none.txt"}, []string{"none.txt", "neither a URL nor a file"}},
		{[]string{"submit", "ravens", folder}, []string{folder, "is a directory"}},
		{[]string{"explain", "ravens", "raven"}, []string{`"raven" is not a URL`, "http://"}},
		{[]string{"status", "ravens", "--temporal", "nonsense"}, []string{`"nonsense"`, "HOST:PORT"}},
		{[]string{"status", "ravens", "--temporal", ""}, []string{"HOST:PORT"}},
		{[]string{"status", "ravens", "--tls-cert", "x"}, []string{"tls-cert and tls-key"}},
		{[]string{"run", file, "--temporal", "nonsense"}, []string{`"nonsense"`, "HOST:PORT"}},
		{[]string{"run", file, "--disk-floor", "1MiB"}, []string{"disk-floor", "256.0 MiB"}},
		{[]string{"run", file, "--lanes", "many"}, []string{`"many" is not a whole number`}},
		{[]string{"dev", "--port", "99999"}, []string{"--port", "65535"}},
		{[]string{"dev", "ravens"}, []string{`"ravens"`, "muninn dev --help"}},
		{[]string{"demo", "ravens"}, []string{`"ravens"`, "muninn demo --help"}},
		{[]string{"kb", "fly"}, []string{`unknown command "fly"`, "muninn kb --help"}},
		{[]string{"kb", "check", folder}, []string{folder, "muninn kb check --help"}},
		{[]string{"kb", "list", "--kb", "none"}, []string{"--kb", "none"}},
		{[]string{"kb", "test", "none.html"}, []string{"none.html", "neither a URL"}},
		{[]string{"schedule", "list", "ravens"}, []string{`"ravens"`, "muninn schedule list --help"}},
	} {
		t.Run(strings.NewReplacer(filepath.Dir(file)+"/", "", folder, "FOLDER").Replace(strings.Join(c.args, " ")), func(t *testing.T) {
			code, printed, said := call(t, c.args...)
			if code != cli.ExitUsage {
				t.Errorf("exit code %d, want %d", code, cli.ExitUsage)
			}
			for _, words := range c.says {
				if !strings.Contains(said, words) {
					t.Errorf("%q is not in what it says: %s", words, said)
				}
			}
			if printed != "" {
				t.Errorf("it prints: %s", printed)
			}
		})
	}
}

// A correct command line that cannot be carried out has exit code 1.
func TestFailed(t *testing.T) {
	t.Setenv("MUNINN_DATA", t.TempDir()) // the data of the user who runs the tests is neither read nor written
	file := write(t, "ravens.yaml", good)
	for _, args := range [][]string{
		{"run", file}, {"run", "https://example.org/", "--topic", "raven", "--pages", "3"},
		{"start", file}, {"status", "ravens"}, {"schedule", "list"}, {"schedule", "create", file, "--every", "1h"},
	} {
		code, _, said := call(t, args...)
		if code != cli.ExitFailed || !strings.Contains(strings.ToLower(said), "temporal") || args[0] != "run" && !strings.Contains(said, "`muninn dev` starts one") {
			t.Errorf("%v: exit code %d, want %d; it says: %s", args, code, cli.ExitFailed, said)
		}
	}
}

func TestNothingToDo(t *testing.T) {
	for _, args := range [][]string{{}, {"--help"}, {"run", "--help"}, {"schedule"}, {"version"}, {"--version"}} {
		if code, printed, said := call(t, args...); code != cli.ExitOK || printed == "" {
			t.Errorf("%v: exit code %d; it prints %q and says %q", args, code, printed, said)
		}
	}
}

func TestCheck(t *testing.T) {
	file := write(t, "ravens.yaml", good)
	code, printed, said := call(t, "check", file)
	if code != cli.ExitOK || !strings.Contains(printed, "valid definition") || said != "" {
		t.Errorf("exit code %d: %s%s", code, printed, said)
	}
	code, printed, _ = call(t, "check", file, "--json")
	d, err := crawl.ParseDefinition([]byte(printed))
	if code != cli.ExitOK || err != nil || d.Name != "ravens" || d.Budget.Pages != crawl.DefaultDefinition().Budget.Pages {
		t.Errorf("exit code %d, %v: %s", code, err, printed)
	}
}

// faults runs check, for people and for machines, and returns the faults by place.
func faults(t *testing.T, file string) map[string]string {
	t.Helper()
	var out struct{ Faults crawl.Faults }
	code, printed, _ := call(t, "check", file, "--json")
	if err := json.Unmarshal([]byte(printed), &out); err != nil || code != cli.ExitUsage || len(out.Faults) == 0 {
		t.Errorf("check --json: exit code %d, %v: %s", code, err, printed)
	}
	var keys map[string]json.RawMessage
	if err := json.Unmarshal([]byte(printed), &keys); err != nil || len(keys) != 1 || keys["faults"] == nil {
		t.Errorf("check --json prints not faults alone: %s", printed)
	}
	code, printed, said := call(t, "check", file)
	if code != cli.ExitUsage || printed != "" {
		t.Errorf("check: exit code %d, it prints %q", code, printed)
	}
	places := map[string]string{}
	for _, f := range out.Faults {
		places[f.Path] += f.Message
		if !strings.Contains(said, f.Path+" "+f.Message) {
			t.Errorf("%q is among the faults, and not in what people read: %s", f.Path, said)
		}
	}
	return places
}

func TestFaultsOfADefinition(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       map[string]string // what is wrong where
	}{
		{"empty", "", map[string]string{"": "empty"}},
		{"keys and values", "name: a b\nseeds: [raven]\nbudgit: {}\nbudget: {pages: 0}\norder: {per_queue: many}\n",
			map[string]string{"name": "letters", "seeds[0]": "http://", "budgit": "", "budget.pages": "at least 1", "order.per_queue": ""}},
		{"two files", "name: ravens\nseeds: [{file: one.txt}, {url: 'https://example.org/'}, {file: /no/where/two.txt}]\n",
			map[string]string{"seeds[0].file": "one.txt", "seeds[2].file": "two.txt"}},
		{"two ports", "name: ravens\nseeds: ['https://example.org:99999/', {sitemap: 'https://example.org:70000/s.xml'}]\n",
			map[string]string{"seeds[0]": "99999", "seeds[1]": "70000"}},
		{"ports of other services", "name: ravens\nseeds: ['https://example.org:22/']\ntopic: {examples: ['https://example.org:25/'], paths: [['https://example.org/', 'http://example.org:6667/']]}\n",
			map[string]string{"seeds[0]": "port 22", "topic.examples[0]": "port 25", "topic.paths[0][1]": "port 6667"}},
	} {
		t.Run(c.name, func(t *testing.T) { faultsAt(t, c.text, c.want) })
	}
}

// faultsAt checks a definition: it has faults in the places wanted, and in no other.
func faultsAt(t *testing.T, text string, want map[string]string) {
	t.Helper()
	got := faults(t, write(t, "bad.yaml", text))
	for place, words := range want {
		if said, there := got[place]; !there || !strings.Contains(said, words) {
			t.Errorf("%q: %q, want %q in it", place, said, words)
		}
	}
	if len(got) != len(want) {
		t.Errorf("the faults are %v", got)
	}
}

// Faults of different checks are reported together.
func TestAllFaultsAtOnce(t *testing.T) {
	faultsAt(t, "name: ravens\nseeds: [{file: one.txt}, {file: two.txt}, 'https://example.org:99999/']\n",
		map[string]string{"seeds[0].file": "one.txt", "seeds[1].file": "two.txt", "seeds[2]": "99999"})
}

// The path of a file of seeds is relative to the definition, not to the working directory.
func TestSeedFileBesideTheDefinition(t *testing.T) {
	file := write(t, "ravens.yaml", "name: ravens\nseeds: [{file: seeds.txt}]\n")
	seeds := filepath.Join(filepath.Dir(file), "seeds.txt")
	if err := os.WriteFile(seeds, []byte("https://example.org/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, printed, said := call(t, "check", file, "--json")
	d, err := crawl.ParseDefinition([]byte(printed))
	if code != cli.ExitOK || err != nil || len(d.Seeds) != 1 || d.Seeds[0].File != seeds {
		t.Errorf("exit code %d, %v: %s%s", code, err, printed, said)
	}
}

// Each command that sends a definition refuses one that is too long before it connects.
func TestLongDefinition(t *testing.T) {
	file := write(t, "long.yaml", good+"description: "+strings.Repeat("raven ", maxInline/6+1)+"\n")
	for _, verb := range [][]string{{"check"}, {"start"}, {"schedule", "create", "--every", "24h"}, {"schedule", "update"}} {
		if code, _, said := call(t, append(verb, file)...); code != 2 || !strings.Contains(said, "put the seeds into a file") {
			t.Errorf("%v: exit code %d: %.300s", verb, code, said)
		}
	}
}

// A definition that is far too long is not even read.
func TestHugeDefinition(t *testing.T) {
	file := write(t, "huge.yaml", "name: ravens\nseeds:\n"+strings.Repeat("- https://example.org/ravens/0123456789\n", crawl.MaxDefinition/40+1))
	if code, _, said := call(t, "check", file); code != 2 || !strings.Contains(said, "huge.yaml has more than 8.0 MiB") || !strings.Contains(said, "file: seeds.txt") {
		t.Errorf("exit code %d: %.300s", code, said)
	}
}

// URLs of a list that no crawl can take are answered with their line and not sent; a file that is no list of URLs is refused.
func TestSubmissions(t *testing.T) {
	file := write(t, "urls.txt", "# a list\nhttps://example.org/a # the first\nhttp://joe:hush@example.org/\nhttps://example.org:22/\nno URL\n")
	list, bad, err := submissions([]string{"https://example.org/b", file, "https://joe:hush@example.org/"}, frontier.Submission{})
	if err != nil || len(list) != 2 || list[0].URL != "https://example.org/b" || list[1].URL != "https://example.org/a" {
		t.Errorf("%+v, %v", list, err)
	}
	want := []string{"malformed http://***@example.org/", "refused https://example.org:22/", "malformed no URL", "malformed https://***@example.org/"}
	lines := []string{"line 3", "line 4", "line 5", ""}
	for i, a := range bad {
		if i >= len(want) || a.Answer+" "+a.URL != want[i] || !strings.Contains(a.Reason, lines[i]) || strings.Contains(a.Reason, "hush") {
			t.Errorf("%+v", a)
		}
	}
	if len(bad) != len(want) {
		t.Errorf("%d answers, want %d", len(bad), len(want))
	}
	for text, want := range map[string]string{
		"https://example.org/\n" + strings.Repeat("x", 5_000_000) + "\n": "line 2 has more than 65536 bytes",
		strings.Repeat("https://example.org/\n", 1_000_001):              "has more than 1000000 lines",
		"\n\n": "there is no URL in",
	} {
		file := write(t, "bad.txt", text)
		if code, _, said := call(t, "submit", "ravens", file); code != cli.ExitUsage || !strings.Contains(said, "bad.txt") || !strings.Contains(said, want) {
			t.Errorf("exit code %d: %.300s, want %q", code, said, want)
		}
	}
}

// A definition without a pause is valid and gives a warning; the output for machines does not change.
func TestNoPauseIsWarnedOf(t *testing.T) {
	file := write(t, "hasty.yaml", good+"politeness: {min_delay: 0s, max_delay: 0s, factor: 0}\n")
	for _, args := range [][]string{{"check", file}, {"check", file, "--json"}, {"start", file}} {
		if _, printed, said := call(t, args...); !strings.Contains(said, "muninn: warning: politeness leaves no pause") || strings.Contains(printed, "warning") {
			t.Errorf("%v prints %s and says %s", args, printed, said)
		}
	}
}
