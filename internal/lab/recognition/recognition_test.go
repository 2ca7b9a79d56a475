package recognition

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/kb"
)

// The least shares that the shipped base must reach on the saved pages.
const (
	leastRecognised = 0.99
	leastLevels     = 0.95 // of the pages whose labels are not in doubt
	leastExtracted  = 0.97 // of the terminal pages
)

const birds = `<application xmlns="` + kb.Namespace + `" name="Stack Exchange" category="questions"><detect generator="birds"/>
<level name="question" terminal="true"><match url="/q/"/><object type="question" each="//div[has-class('q')]"><property name="title" xpath="h1"/><property name="body" xpath="p"/></object></level>
<level name="list"><match url="/l/"/></level></application>`

// saved writes three pages and their labels into a folder, and a file of doubts.
func saved(t *testing.T) (dir, doubts string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{
		"a/1.html": `<meta name="generator" content="Birds 1"><div class="q"><h1>Why?</h1><p>Nobody knows.</p></div>`,
		"a/2.html": `<meta name="generator" content="Birds 1"><div class="q"><h1>A list?</h1></div>`,
		"b/3.html": `<p>Something else.</p>`,
		"index.jsonl": `{"file":"a/1.html","cms":"StackExchange","level":"thread","url":"http://a.test/q/1","more":[1]}` + "\n\n" +
			`{"file":"a/2.html","cms":"StackExchange","level":"list","url":"http://a.test/q/2"}` + "\n" + `{"file":"b/3.html","cms":"phpBB","level":"nothing"}`,
		"doubts.tsv": "# labels\n\nb/3.html\tnot phpBB at all\na/9.html\tis not there\n",
	} {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir, filepath.Join(dir, "doubts.tsv")
}

func small(t *testing.T) *kb.Base {
	t.Helper()
	b, err := kb.Load(fstest.MapFS{"birds.xml": {Data: []byte(birds)}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestMeasure(t *testing.T) {
	dir, doubts := saved(t)
	for _, test := range []struct {
		doubts                                                     string
		pages, recognised, judged, right, terminal, extracted, doc int
		levels, found                                              map[string]map[string]int
	}{
		{"", 3, 2, 2, 1, 2, 2, 0, map[string]map[string]int{"thread": {"question": 1}, "list": {"question": 1}}, map[string]map[string]int{"Stack Exchange": {"Stack Exchange": 2}, "phpBB": {"none": 1}}},
		{doubts, 2, 2, 2, 1, 2, 2, 1, map[string]map[string]int{"thread": {"question": 1}, "list": {"question": 1}}, map[string]map[string]int{"Stack Exchange": {"Stack Exchange": 2}}},
	} {
		list, err := Read(dir, test.doubts)
		if err != nil {
			t.Fatal(err)
		}
		seen, err := Measure(dir, list, small(t), nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(seen) != 3 || seen[0].Found != "Stack Exchange" || seen[0].Level != "question" || !seen[0].Content || seen[0].Bodies != 1 || seen[1].Bodies != 0 || !reflect.DeepEqual(seen[0].Objects, map[string]int{"question": 1}) {
			t.Errorf("%+v", seen)
		}
		r := Sum("base", false, seen)
		got := []int{r.Total.Pages, r.Total.Recognised, r.Total.Judged, r.Total.Right, r.Total.Terminal, r.Total.WithObjects, len(r.Doubts)}
		if want := []int{test.pages, test.recognised, test.judged, test.right, test.terminal, test.extracted, test.doc}; !reflect.DeepEqual(got, want) {
			t.Errorf("doubts %q: %v, want %v", test.doubts, got, want)
		}
		if !reflect.DeepEqual(r.Levels, test.levels) || !reflect.DeepEqual(r.Found, test.found) {
			t.Errorf("doubts %q: levels %v, found %v", test.doubts, r.Levels, r.Found)
		}
		if want := (map[string]map[string]int{"question": {"pages": 2, "with objects": 2}, "none": {"pages": 1}}); !reflect.DeepEqual(r.PerPart, want) {
			t.Errorf("by level %v", r.PerPart)
		}
		if len(r.Rows) != 2 || r.Rows[0].Application != "Stack Exchange" || r.Rows[0].Objects["question"] != 2 || r.Rows[0].Bodies != 1 {
			t.Errorf("%+v", r.Rows)
		}
	}
}

// TestCompare: the answers of another recogniser are counted as well, except for applications without labels.
func TestCompare(t *testing.T) {
	dir, _ := saved(t)
	list, err := Read(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	said := [][]string{{"Nginx"}, {"WordPress", "PHP"}, {"WordPress", "phpBB"}}
	seen, err := Measure(dir, list, small(t), func(map[string][]string, []byte) []string {
		s := said[0]
		said = said[1:]
		return s
	})
	if err != nil {
		t.Fatal(err)
	}
	r := Sum("base", true, seen)
	if seen[0].Other != "" || seen[1].Other != "wrong" || seen[2].Other != "right" || r.Total.Other != 1 || r.Total.OtherWrong != 1 {
		t.Errorf("%+v", r.Total)
	}
}

func TestPrint(t *testing.T) {
	dir, doubts := saved(t)
	list, err := Read(dir, doubts)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := Measure(dir, list, small(t), nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Sum("base", false, seen)
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Stack Exchange", "100.0%", "50.0%", "question 2", "level: a/2.html is list, taken for question by birds.xml:2; http://a.test/q/2",
		"label not held for right: b/3.html (nothing): not phpBB at all", "applications (known, found)", "thread  question 1"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(raw, &again); err != nil {
		t.Fatal(err)
	}
	if twice, err := json.Marshal(again); err != nil || !bytes.Equal(twice, raw) {
		t.Errorf("as JSON it is another: %v\n%s\n%s", err, raw, twice)
	}
	for _, key := range []string{`"applications":`, `"levels_judged":2`, `"terminal_with_objects":2`, `"doubtful_labels":`, `"cms":"StackExchange"`} {
		if !bytes.Contains(raw, []byte(key)) {
			t.Errorf("%s is not in %s", key, raw)
		}
	}
	if err := Sum("base", false, nil).Print(&out); err != nil {
		t.Error(err)
	}
}

func TestReadFaults(t *testing.T) {
	write := func(index, doubts string) (string, string) {
		dir := t.TempDir()
		for name, text := range map[string]string{"index.jsonl": index, "doubts.tsv": doubts} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		return dir, filepath.Join(dir, "doubts.tsv")
	}
	const good = `{"file":"x","cms":"y"}` + "\n"
	for _, test := range []struct{ name, index, doubts, want string }{
		{"no JSON", good + "x\n", "", "index.jsonl:2:"},
		{"no file", good + "\n" + `{"cms":"y"}`, "", "index.jsonl:3: a line must name file and cms"},
		{"a line too long", `{"file":"` + strings.Repeat("x", MaxLine) + `"}`, "", "too long"},
		{"a doubt without a reason", good, "# x\nx because\n", "doubts.tsv:2: a line must be a file, a tab and the reason"},
	} {
		if _, err := Read(write(test.index, test.doubts)); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
	if _, err := Read(t.TempDir(), ""); err == nil || !strings.Contains(err.Error(), "the folder must hold the labels") {
		t.Errorf("no labels: %v", err)
	}
	dir, _ := write(good, "")
	if _, err := Read(dir, filepath.Join(dir, "nowhere")); err == nil {
		t.Error("doubts that are not there are read")
	}
	list, err := Read(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Measure(dir, list, small(t), nil); err == nil {
		t.Error("a page that is not there is measured")
	}
}

// TestLongShippedOnSavedPages: the built-in base does not get worse.
func TestLongShippedOnSavedPages(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no saved pages")
	}
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(data, "aah")
	list, err := Read(dir, "doubts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen, err := Measure(dir, list, base, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := Sum(base.ID, false, seen)
	least := func(what string, n, of int, want float64) {
		t.Helper()
		if t.Logf("%s: %d of %d", what, n, of); of == 0 || float64(n) < want*float64(of) {
			t.Errorf("%s: %d of %d, want %g %%", what, n, of, 100*want)
		}
	}
	least("recognised", r.Total.Recognised, r.Total.Pages, leastRecognised)
	least("levels right", r.Total.Right, r.Total.Judged, leastLevels)
	least("terminal pages with objects", r.Total.WithObjects, r.Total.Terminal, leastExtracted)
	names := map[string]bool{}
	for _, l := range list {
		names[l.File] = true
	}
	doubts, err := readDoubts("doubts.tsv")
	if err != nil {
		t.Fatal(err)
	}
	for file := range doubts {
		if !names[file] {
			t.Errorf("doubts.tsv names %s, which is not among the pages", file)
		}
	}
}
