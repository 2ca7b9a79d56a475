package adaptation

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/recognition"
	"github.com/muninn-archive/muninn/kb"
)

// The least shares that must be extracted again from pages that were crawled before their templates changed.
const (
	leastMild      = 0.95
	leastMedium    = 0.85
	leastPrecision = 0.98
	leastBeside    = 0.8
)

const birds = `<application xmlns="` + kb.Namespace + `" name="Birds" category="forum"><detect generator="birds"/>
<level name="thread" terminal="true"><match url="/t/"/><object type="post" each="//div[has-class('post')]"><property name="author" xpath=".//b[has-class('who')]"/><property name="body" xpath=".//div[has-class('text')]"/></object></level>
</application>`

// saved writes pages of two posts each into a folder.
func saved(t *testing.T, pages int) (dir string, list []recognition.Labelled) {
	t.Helper()
	dir = t.TempDir()
	for i := range pages {
		text := `<meta name="generator" content="birds"><ul class="menu"><li class="item"><a href="/">Home</a></ul><div class="all">`
		for j, who := range []string{"Hugin", "Munin", "Odin"} {
			text += fmt.Sprintf(`<div class="post" id="p%d"><b class="who">%s</b><div class="text">Page %d, post %d: the ravens said <i>much</i>.</div></div>`, 10*i+j, who, i, j)
		}
		name := fmt.Sprintf("%d.html", i)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"</div><p>By birds."), 0o644); err != nil {
			t.Fatal(err)
		}
		list = append(list, recognition.Labelled{File: name, CMS: "Birds", Level: "thread", URL: fmt.Sprintf("http://a.test/t/%d", i)})
	}
	return dir, list
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
	dir, list := saved(t, LeastOfSite)
	list = append(list, recognition.Labelled{File: "0.html", CMS: "Birds", Level: "thread"}, // has no URL
		recognition.Labelled{File: "0.html", CMS: "Birds", URL: "http://a.test/about"}, // is not terminal
		recognition.Labelled{File: "0.html", CMS: "Crows", URL: "http://a.test/t/0"})   // is of another application
	rows, err := Measure(dir, list, Options{Base: small(t), Limits: aah.DefaultLimits(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(Strengths) {
		t.Fatalf("%+v", rows)
	}
	for i, r := range rows {
		for _, s := range []Score{r.Without, r.Recrawl, r.New} {
			if s.Pages != LeastOfSite || s.Truth != 3*LeastOfSite || s.Parts != 3*LeastOfSite || s.Right > s.Truth || s.Right > s.Extracted || s.PartsOK > s.Parts || s.Time <= 0 {
				t.Errorf("%s: %+v", r.Strength, s)
			}
		}
		if r.Application != "Birds" || r.Strength != Strengths[i].Name || r.Recrawl.Right < r.Without.Right || r.Recrawl.Right < 3*LeastOfSite || r.Beside.Pages != LeastOfSite/2 || r.Beside.Right < r.Beside.Truth/3 {
			t.Errorf("%+v", r)
		}
	}
	if rows[0].New.Right != rows[0].New.Truth || rows[0].Beside.Right != rows[0].Beside.Extracted {
		t.Errorf("pages that did not change: %+v", rows[0])
	}
	if rows[3].Without.Right != 0 {
		t.Errorf("without learning %d objects survive that all classes are renamed", rows[3].Without.Right)
	}
	if site := rows[1].Sites["a.test"]; len(rows[1].Sites) != 1 || site == nil || site.Recrawl != rows[1].Recrawl || site.New != rows[1].New {
		t.Errorf("the only site is %+v, all are %+v", site, rows[1])
	}
	sites := 0
	for part := 1; part <= 2; part++ {
		for _, others := range []bool{false, true} {
			part, err := Measure(dir, list, Options{Base: small(t), Limits: aah.DefaultLimits(), Fold: Fold{Part: part, Of: 2, Others: others}})
			if err != nil {
				t.Fatal(err)
			}
			sites += len(part) / len(Strengths)
		}
	}
	if sites != 2 {
		t.Errorf("a site is in %d of two parts and their others", sites)
	}
	if few, err := Measure(dir, list[:Least-1], Options{Base: small(t), Limits: aah.DefaultLimits(), Seed: 1}); err != nil || len(few) != 0 {
		t.Errorf("too few pages are measured: %+v %v", few, err)
	}
	if _, err := Measure(t.TempDir(), list, Options{Base: small(t), Limits: aah.DefaultLimits(), Seed: 1}); err == nil {
		t.Error("pages that are not there are measured")
	}
}

func TestCompare(t *testing.T) {
	object := func(parts ...string) (o crawl.Object) {
		for i := 0; i+1 < len(parts); i += 2 {
			o.Properties = append(o.Properties, crawl.Property{Name: parts[i], Value: parts[i+1]})
		}
		return o
	}
	a, b := object("body", "The raven", "author", "Hugin", "published", "2026"), object("body", "The crow", "title", "Crows")
	words := strings.Repeat("the ravens said much and more of it ", 10)
	long, longer := object("body", words), object("body", words+"Reply")
	for name, test := range map[string]struct {
		truth, extracted []crawl.Object
		want             Score
	}{
		"all":            {[]crawl.Object{a, b}, []crawl.Object{b, a}, Score{Truth: 2, Extracted: 2, Right: 2, Parts: 3, PartsOK: 3}},
		"case and space": {[]crawl.Object{a}, []crawl.Object{object("body", " the RAVEN.", "author", "hugin")}, Score{Truth: 1, Extracted: 1, Right: 1, Parts: 2, PartsOK: 1}},
		"one twice":      {[]crawl.Object{a}, []crawl.Object{a, a}, Score{Truth: 1, Extracted: 2, Right: 1, Parts: 2, PartsOK: 2}},
		"two the same":   {[]crawl.Object{a, a}, []crawl.Object{a, a}, Score{Truth: 2, Extracted: 2, Right: 2, Parts: 4, PartsOK: 4}},
		"another text":   {[]crawl.Object{a}, []crawl.Object{b}, Score{Truth: 1, Extracted: 1, Parts: 2}},
		"without a body": {[]crawl.Object{object("title", "x")}, []crawl.Object{object("title", "x"), a}, Score{Extracted: 1}},
		"nearly":         {[]crawl.Object{long}, []crawl.Object{longer, longer}, Score{Truth: 1, Extracted: 2, Near: 1}},
		"nothing":        {[]crawl.Object{a}, nil, Score{Truth: 1, Parts: 2}},
	} {
		test.want.Pages, test.want.Near = 1, test.want.Right+test.want.Near
		if got := compare(things(test.truth), things(test.extracted)); got != test.want {
			t.Errorf("%s: %+v, want %+v", name, got, test.want)
		}
	}
}

func TestReport(t *testing.T) {
	row := func(app, strength string, right int) Row {
		s := Score{Pages: 5, Truth: 10, Extracted: 10, Right: right, Parts: 4, PartsOK: 2, Time: 5e6}
		return Row{Application: app, Strength: strength, Without: s, Recrawl: s, New: s}
	}
	r := Sum("base", 7, []Row{row("Birds", "mild", 9), row("Crows", "mild", 10), row("Birds", "medium", 5)})
	if m := r.Totals["mild"]; m.Recrawl.Right != 19 || m.Recrawl.Truth != 20 || m.New.Pages != 10 || m.Without.Time != 1e7 || r.Totals["medium"].Recrawl.Right != 5 {
		t.Errorf("%+v", r.Totals)
	}
	var out strings.Builder
	if err := r.Print(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"95.0%", "50.0%", "Crows", "1.0", "medium"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	raw, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again Result
	if err := json.Unmarshal(raw, &again); err != nil || !reflect.DeepEqual(again, r) {
		t.Errorf("as JSON it is another: %v\n%s", err, raw)
	}
}

// TestMeanOverSites: each site counts once, however many pages it has.
func TestMeanOverSites(t *testing.T) {
	score := func(truth, right int) Score { return Score{Truth: truth, Extracted: truth, Right: right, Near: right} }
	row := Row{Application: "Birds", Strength: "mild", Sites: map[string]*Ways{
		"large.test": {Recrawl: score(900, 900)}, "small.test": {Recrawl: score(4, 1)}, "none.test": {New: score(5, 5)},
	}}
	var out strings.Builder
	if err := Sum("base", 1, []Row{row, row}).Print(&out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "62.5%") {
		t.Errorf("the mean of 100 %% and 25 %% is not in\n%s", out.String())
	}
}

func TestParseFold(t *testing.T) {
	for text, want := range map[string]Fold{"": {}, "1/2": {Part: 1, Of: 2}, "-3/3": {Part: 3, Of: 3, Others: true}} {
		if got, err := ParseFold(text); err != nil || got != want {
			t.Errorf("%q: %+v %v", text, got, err)
		}
	}
	for _, text := range []string{"1", "/", "0/2", "3/2", "1/1", "a/2", "1/b", "--1/2"} {
		if got, err := ParseFold(text); err == nil {
			t.Errorf("%q is %+v", text, got)
		}
	}
}

// TestLongShippedOnSavedPages: over all applications together, enough is extracted again.
func TestLongShippedOnSavedPages(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no saved pages")
	}
	if raced {
		t.Skip("with the race detector it takes minutes, and there is one goroutine")
	}
	all := Strengths
	Strengths = all[:3]
	defer func() { Strengths = all }()
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(data, "aah")
	list, err := recognition.Read(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := Measure(dir, list, Options{Base: base, Limits: aah.DefaultLimits(), Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	totals := Sum(base.ID, 1, rows).Totals
	if s := totals["none"]; s.Recrawl.Right != s.Recrawl.Truth || s.Recrawl.Extracted != s.Recrawl.Truth || s.New.Right != s.New.Truth || s.New.Extracted != s.New.Truth {
		t.Errorf("pages whose templates did not change are extracted in another way: %+v", s)
	}
	if s := totals["medium"].Beside; float64(s.Right) < leastBeside*float64(s.Truth) || float64(s.Right) < leastPrecision*float64(s.Extracted) {
		t.Errorf("of pages beside those that are known %+v", s)
	}
	for strength, want := range map[string]float64{"mild": leastMild, "medium": leastMedium} {
		s := totals[strength].Recrawl
		t.Logf("%s: %d of %d objects, of %d extracted; parts %d of %d", strength, s.Right, s.Truth, s.Extracted, s.PartsOK, s.Parts)
		if s.Truth == 0 || float64(s.Right) < want*float64(s.Truth) {
			t.Errorf("%s: %d of %d objects are extracted again, want %g %%", strength, s.Right, s.Truth, 100*want)
		}
		if float64(s.Right) < leastPrecision*float64(s.Extracted) {
			t.Errorf("%s: %d of %d extracted objects were there, want %g %%", strength, s.Right, s.Extracted, 100*leastPrecision)
		}
	}
}
