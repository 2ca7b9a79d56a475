package aah

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// rendered is the tree of a page as markup.
func rendered(t testing.TB, d *page.Document) string {
	t.Helper()
	var b strings.Builder
	if d.Root != nil {
		if err := html.Render(&b, d.Root); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

// TestPageIsNotAltered: the tree of a page is the same before and after the helper read it, with and without adaptation.
func TestPageIsNotAltered(t *testing.T) {
	h := shippedLearner(t)
	same := func(name string, in page.Input, head string, before []byte) []byte {
		t.Helper()
		d := page.Parse(in, page.DefaultLimits())
		was := rendered(t, d)
		found := h.Apply(d, Input{Head: []byte(head), Before: before})
		if rendered(t, d) != was {
			t.Errorf("%s: the page is another afterwards", name)
		}
		return found.Prints
	}
	for _, app := range h.Base().Applications {
		for _, x := range app.Examples {
			in := page.Input{URL: x.URL, MIME: "text/html; charset=utf-8", Body: []byte(x.Page)}
			prints := same(x.Rule, in, x.Headers, nil)
			in.Body = []byte(strings.ReplaceAll(x.Page, "class=", "data-was="))
			same(x.Rule+" in another template", in, x.Headers, prints)
		}
	}
	for name, body := range odd {
		same(name, page.Input{URL: "http://a.test/viewtopic.php?t=1", MIME: "text/html", Body: []byte(body)}, "Set-Cookie: phpbb3_x_sid=1\r\n", nil)
	}
	for name, in := range savedPages(t) {
		same(name, in, "", nil)
	}
}

// savedPages are the pages under MUNINN_TESTDATA by their file; none if that is not set.
func savedPages(t testing.TB) map[string]page.Input {
	t.Helper()
	if os.Getenv("MUNINN_TESTDATA") == "" {
		return nil
	}
	dir := filepath.Join(os.Getenv("MUNINN_TESTDATA"), "aah")
	raw, err := os.ReadFile(filepath.Join(dir, "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]page.Input{}
	for line := range strings.Lines(string(raw)) {
		var l struct{ File, URL string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
		if err != nil {
			t.Fatal(err)
		}
		pages[l.File] = page.Input{URL: l.URL, MIME: "text/html", Body: body}
	}
	return pages
}

// TestPageIsReadAtTheSameTime: several helpers can read one tree at once, because none writes to it. A helper that removed the elements
// that a rule leaves out would hide them from the others.
func TestPageIsReadAtTheSameTime(t *testing.T) {
	const rules = `<application xmlns="` + kb.Namespace + `" name="Crow" category="blog"><detect text="crow-engine"/>
<level name="article" terminal="true"><match xpath="//article"/>
<object type="article" each="//article"><property name="body" xpath="div" without=".//ins"/></object></level></application>`
	body := "<!-- crow-engine -->" + strings.Repeat("<article><div>One <ins>and a half</ins> two</div></article>", 200)
	first := page.Parse(page.Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
	h := New(base(t, rules), DefaultLimits())
	const readers = 4
	objects := make([][]crawl.Object, readers)
	var wait sync.WaitGroup
	for i := range readers {
		d := page.Parse(page.Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(body)}, page.DefaultLimits())
		d.Root, d.Starts = first.Root, first.Starts
		wait.Go(func() {
			for range 20 {
				objects[i] = h.Apply(d, Input{}).Objects
			}
		})
	}
	wait.Wait()
	for _, list := range objects {
		if len(list) != 200 || list[7].Properties.Get("body") != "One two" || !reflect.DeepEqual(list, objects[0]) {
			t.Fatalf("%d objects, %+v", len(list), list[:min(len(list), 8)])
		}
	}
}
