package aah

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// asArchived is an object as a reader finds it in an archive.
func asArchived(t testing.TB, o crawl.Object) (read crawl.Object) {
	t.Helper()
	if err := json.Unmarshal(o.Properties.AppendPlaced(nil), &read.Properties); err != nil {
		t.Fatal(err)
	}
	read.Type, read.Rule, read.Confidence = o.Type, o.Rule, o.Confidence
	return read
}

// values are the values of a property, whatever stands between them.
func values(o crawl.Object) map[string][]string {
	m := map[string][]string{}
	for _, p := range o.Properties {
		if p.Name != crawl.Markup {
			m[p.Name] = append(m[p.Name], p.Value)
		}
	}
	return m
}

// checkPlaces checks that the archived form of each object, together with the page, gives byte for byte what was extracted. It
// returns how many texts were cut out of the page, and their bytes.
func checkPlaces(t testing.TB, name, url, mime string, body []byte, extracted []crawl.Object, limits page.Limits) (cut, size int) {
	t.Helper()
	again := page.Parse(page.Input{URL: url, MIME: mime, Body: body}, limits)
	for _, o := range extracted {
		read := asArchived(t, o)
		for _, p := range read.Properties {
			if p.Place != nil && p.Place.Sum != "" {
				cut, size = cut+1, size+p.Place.Bytes
				if p.Value != "" {
					t.Errorf("%s: the archive has both the place and the text of a %s", name, p.Name)
				}
			}
		}
		if err := extract.Fill(again, &read); err != nil {
			t.Errorf("%s: %s: %v", name, o.Rule, err)
			continue
		}
		if got, want := values(read), values(o); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s: %.300q, want %.300q", name, o.Rule, got, want)
		}
	}
	return cut, size
}

// TestPlacesOfSavedPages: see checkPlaces.
func TestPlacesOfSavedPages(t *testing.T) {
	dir := os.Getenv("MUNINN_TESTDATA")
	if dir == "" {
		t.Skip("MUNINN_TESTDATA names no folder of saved pages")
	}
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "aah", "index.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	h := New(base, DefaultLimits())
	objects, cut, size := 0, 0, 0
	for line := range bytes.Lines(raw) {
		var l struct{ File, URL string }
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		body, err := os.ReadFile(filepath.Join(dir, "aah", filepath.FromSlash(l.File)))
		if err != nil {
			t.Fatal(err)
		}
		d := page.Parse(page.Input{URL: l.URL, MIME: "text/html", Body: body}, page.DefaultLimits())
		found := h.Apply(d, Input{}).Objects
		n, bytes := checkPlaces(t, l.File, l.URL, "text/html", body, found, page.DefaultLimits())
		objects, cut, size = objects+len(found), cut+n, size+bytes
	}
	t.Logf("%d objects, %d texts of %d bytes cut out of their pages", objects, cut, size)
	if cut < objects/3 {
		t.Errorf("of %d objects %d texts are archived by their place", objects, cut)
	}
}

// TestPlaces: with parts that are left out, limits, markup without text, bodies that are no elements, and texts made of blocks.
func TestPlaces(t *testing.T) {
	const rules = `<application xmlns="` + kb.Namespace + `" name="Crow" category="blog"><detect text="crow-engine"/>
<level name="article" terminal="true"><match xpath="//article"/>
<object type="article" each="//article"><property name="title" xpath="h1"/><property name="body" xpath="div" without=".//ins | .//aside"/></object>
<object type="comment" each="//li"><property name="author" xpath="b"/><property name="body" xpath="text()"/></object>
<object type="post" each="//p"><property name="body" xpath="." match="said: (.*)"/></object>
</level></application>`
	for name, c := range map[string]struct {
		body       string
		text, html string // of the first object
		at         crawl.Place
	}{
		"left out": {`<article><h1>T</h1><div>One <ins>ad <aside>in ad</aside></ins><b>two</b><aside>x</aside></div></article>`, "One two", "One <b>two</b>",
			crawl.Place{At: "/1/2/1/2", Without: []string{"/1/2/1/2/1", "/1/2/1/2/3"}, Bytes: 7}},
		"nothing else": {`<article><div><ins>all that is</ins></div></article>`, "all that is", "<ins>all that is</ins>", crawl.Place{At: "/1/2/1/1", Bytes: 11}},
		"a picture":    {`<article><div><img src="x"><ins>ad</ins></div></article>`, "ad", `<img src="x"/><ins>ad</ins>`, crawl.Place{At: "/1/2/1/1", Bytes: 2}},
		"no text":      {`<article><div><img src="x"></div></article>`, "", `<img src="x"/>`, crawl.Place{At: "/1/2/1/1"}},
		"cut off":      {`<article><div>` + strings.Repeat("ä", 60) + `</div></article>`, strings.Repeat("ä", 50), strings.Repeat("ä", 50), crawl.Place{At: "/1/2/1/1", Bytes: 100}},
		"a text node":  {`<article></article><ul><li><b>Hugin</b>It flew.</ul>`, "It flew.", "", crawl.Place{}},
		"a match":      {`<article></article><p>Munin <i>said</i>: nothing.</p>`, "nothing.", "Munin <i>said</i>: nothing.", crawl.Place{At: "/1/2/2"}},
	} {
		t.Run(name, func(t *testing.T) {
			limits := DefaultLimits()
			limits.PropertyBytes = 100
			body := "<html><head><!-- crow-engine --></head><body>" + c.body
			d := read(New(base(t, rules), limits), "http://a.test/", body, Input{})
			if len(d.Objects) == 0 {
				t.Fatal("nothing was extracted")
			}
			checkPlaces(t, name, d.URL, "text/html", []byte(body), d.Objects, page.DefaultLimits())
			o := asArchived(t, d.Objects[0])
			var at crawl.Place
			for _, p := range o.Properties {
				if p.Place != nil {
					at = *p.Place
					if (at.Sum != "") != (at.Bytes > 0) {
						t.Errorf("%+v", at)
					}
					at.Limit, at.Sum = 0, ""
				}
			}
			if !reflect.DeepEqual(at, c.at) {
				t.Errorf("place %+v, want %+v", at, c.at)
			}
			if err := extract.Fill(page.Parse(page.Input{URL: d.URL, MIME: "text/html", Body: []byte(body)}, page.DefaultLimits()), &o); err != nil {
				t.Fatal(err)
			}
			if text, html := o.Properties.Get("body"), o.Properties.Get(crawl.Markup); text != c.text || html != c.html {
				t.Errorf("text %q and markup %q, want %q and %q", text, html, c.text, c.html)
			}
		})
	}
}

// TestPlaceOfBlocks: the text of an article that was extracted without a rule is archived as the numbers of its blocks.
func TestPlaceOfBlocks(t *testing.T) {
	body := `<body><nav><a href="/a">x</a></nav><h1>Ravens</h1>` + strings.Repeat("<p>"+strings.Repeat("The raven flew over the hills. ", 10)+"</p>", 10)
	d := read(New(base(t, crowBlog), DefaultLimits()), "http://a.test/", body, Input{})
	if len(d.Objects) != 1 || d.Objects[0].Rule != "segments" {
		t.Fatalf("%+v", d.Objects)
	}
	if cut, _ := checkPlaces(t, "blocks", d.URL, "text/html", []byte(body), d.Objects, page.DefaultLimits()); cut != 1 {
		t.Errorf("%d texts are archived by their place", cut)
	}
}

// TestPlaceOfAnotherPage: a page with another text at the position, or without it, is distinguished from the page that was read.
func TestPlaceOfAnotherPage(t *testing.T) {
	d := page.Parse(page.Input{URL: "http://a.test/", MIME: "text/html", Body: []byte("<p>one<p>two")}, page.DefaultLimits())
	for _, at := range []crawl.Place{
		{At: "/1/2/1", Limit: 10, Bytes: 3, Sum: crawl.SumOf("two")}, {At: "/1/2/3", Limit: 10}, {At: "/0"}, {At: "/x"}, {At: "1"}, {At: "/1/2/1.2"},
		{At: "/1/2/1", Without: []string{"/9"}}, {At: "/1/2/1", Without: []string{"/"}}, {Blocks: []int{2}}, {Blocks: []int{-1}},
	} {
		if text, _, err := extract.Cut(d, &at); !errors.Is(err, extract.ErrPlace) {
			t.Errorf("%+v: %q, %v", at, text, err)
		}
	}
	if _, _, err := extract.Cut(&page.Document{}, &crawl.Place{At: "/1"}); !errors.Is(err, extract.ErrPlace) {
		t.Error(err)
	}
}
