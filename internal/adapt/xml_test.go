package adapt_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

const raven = `<application xmlns="` + kb.Namespace + `" name="Raven" category="forum"><detect text="raven-board"/>
<level name="article" terminal="true"><match url="/a/"/><object type="article" each="//body"><property name="body" xpath=".//article"/></object></level>
<level name="thread" terminal="true"><match url="/t/"/><object type="post" each="//div[has-class('old')]"><property name="body" xpath=".//p"/></object></level>
<level name="login"><match url="/login"/></level></application>`

// learned is a site with rules in force and one that is not; whole adds one for pages as a whole.
func learned(whole bool) *adapt.Site {
	s := &adapt.Site{Host: "a.test"}
	add := func(level, kind, each, instead string, pages int, parts ...string) {
		r := adapt.SiteRule{Application: "Raven", Level: level, Method: adapt.ByContent, Instead: instead, Rule: adapt.Rule{Type: kind, Each: each}}
		for i := 0; i+1 < len(parts); i += 2 {
			r.Properties = append(r.Properties, adapt.PropertyRule{Name: parts[i], XPath: parts[i+1]})
		}
		for i := range pages {
			s.Add(r, fmt.Sprintf("http://a.test/t/%d?a=1&b=--%d---&c=<x>", i, i), time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC))
		}
	}
	add("thread", "post", `//section[@data-type="a & b" and has-class('new')]`, "raven.xml:3", 3, "author", ".//b", "body", ".//p", "published", ".//time/@datetime", "permalink", ".//a/@href", "tags", ".//i", "score", ".//u")
	add("thread", "post", `//section[has-class('rare')]`, "", 2, "body", ".//p")
	if whole {
		add("article", "article", "//body", "a--b.xml:3", 4, "body", `//main[@id='m']`)
	}
	return s
}

func loaded(t *testing.T, s *adapt.Site) *kb.Base {
	t.Helper()
	var out strings.Builder
	if err := s.WriteXML(&out, "Raven", kb.Namespace, extract.ValueType); err != nil {
		t.Fatal(err)
	}
	base, err := kb.Load(fstest.MapFS{"raven.xml": {Data: []byte(raven)}, "site.xml": {Data: []byte(out.String())}})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return base
}

func apply(base *kb.Base, url, body string) crawl.Findings {
	d := page.Parse(page.Input{URL: url, MIME: "text/html; charset=utf-8", Body: []byte(body)}, page.DefaultLimits())
	return aah.New(base, aah.DefaultLimits()).Apply(d, aah.Input{})
}

// TestWriteXML: learned rules are written as a file of the knowledge base with the same effect.
func TestWriteXML(t *testing.T) {
	base := loaded(t, learned(false))
	site := base.SiteOf("a.test")
	if site == nil || site.Application != "Raven" || len(site.Levels) != 1 {
		t.Fatalf("%+v", site)
	}
	d := apply(base, "http://a.test/t/1", `<section class="new" data-type="a &amp; b"><b>Hugin</b><p>They fly.</p><time datetime="2026-11-21">x</time><a href="/t/1#2">2</a><i>one</i><i>two</i><u>7 points</u></section>`)
	if d.Application != "Raven" || d.Level != "thread" || !d.Terminal || len(d.Objects) != 1 {
		t.Fatalf("%s %s: %+v", d.Application, d.Level, d.Objects)
	}
	p := d.Objects[0].Properties
	for name, want := range map[string]string{"author": "Hugin", "body": "They fly.", "published": "2026-11-21T00:00:00Z", "permalink": "http://a.test/t/1#2", "score": "7", "tags": "one"} {
		if got := p.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if got := apply(base, "http://a.test/t/1", `<section class="rare"><p>They fly.</p></section>`); len(got.Objects) > 0 && got.Objects[0].Type == "post" {
		t.Errorf("a rule that is not in force was written: %+v", got.Objects)
	}
}

// TestWriteXMLTags: a property of several values has them all.
func TestWriteXMLTags(t *testing.T) {
	d := apply(loaded(t, learned(false)), "http://a.test/t/1", `<section class="new" data-type="a &amp; b"><p>They fly.</p><i>one</i><i>two</i></section>`)
	if len(d.Objects) != 1 {
		t.Fatalf("%+v", d.Objects)
	}
	if got := d.Objects[0].Properties.All("tags"); len(got) != 2 {
		t.Errorf("tags %q", got)
	}
}

// TestWriteXMLOfWholePages: a rule for the page as a whole does not make all pages of the site pages of its level.
func TestWriteXMLOfWholePages(t *testing.T) {
	base := loaded(t, learned(true))
	if d := apply(base, "http://a.test/a/1", `<main id="m">They fly.</main>`); len(d.Objects) != 1 || d.Objects[0].Properties.Get("body") != "They fly." {
		t.Errorf("%s: %+v", d.Level, d.Objects)
	}
	d := apply(base, "http://a.test/login", `raven-board<form>Who are you?</form>`)
	if d.Level != "login" {
		t.Errorf("the page to log in is taken for %q by %s", d.Level, d.LevelRule)
	}
}

// TestWriteXMLOfNothing: without a rule in force there is nothing to write.
func TestWriteXMLOfNothing(t *testing.T) {
	s := &adapt.Site{Host: "a.test"}
	var out strings.Builder
	if err := s.WriteXML(&out, "Raven", kb.Namespace, extract.ValueType); err != nil || strings.Contains(out.String(), "<level") || s.InForce() || len(s.Applications()) != 0 {
		t.Errorf("%v: %s", err, out.String())
	}
}

// TestWriteXMLComments: texts in comments cannot end the comments.
func TestWriteXMLComments(t *testing.T) {
	for _, text := range []string{"a.xml:1", "a-b.xml:1", "a--b.xml:1", "a---b.xml:1", "a----b.xml:1", "-->.xml:1", "a.xml-"} {
		s := &adapt.Site{Host: "a.test"}
		for i := range adapt.EnoughPages {
			s.Add(adapt.SiteRule{Application: "Raven", Level: "thread", Method: adapt.ByContent, Instead: text, Rule: adapt.Rule{
				Type: "post", Each: "//p", Properties: []adapt.PropertyRule{{Name: "body", XPath: "."}},
			}}, fmt.Sprintf("http://a.test/%s/%d?-->-", text, i), time.Time{})
		}
		var out strings.Builder
		if err := s.WriteXML(&out, "Raven", kb.Namespace, extract.ValueType); err != nil {
			t.Fatal(err)
		}
		if _, err := kb.Load(fstest.MapFS{"raven.xml": {Data: []byte(raven)}, "site.xml": {Data: []byte(out.String())}}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWriteXMLHosts: any host is written so that it can be read again.
func TestWriteXMLHosts(t *testing.T) {
	for _, host := range []string{"a.test", "xn--rksmrgs-5wao1o.test", "[2001:db8::1]", "127.0.0.1"} {
		s := learned(true)
		s.Host = host
		if base := loaded(t, s); base.SiteOf(host) == nil {
			t.Errorf("%s is not found", host)
		}
	}
}
