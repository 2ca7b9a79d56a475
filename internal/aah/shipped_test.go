package aah

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// TestShippedExamples: the built-in base gives the expected results for its examples, and has no rule that never matches.
func TestShippedExamples(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range append(Examples(base), base.Unreachable()...) {
		t.Error(fault)
	}
}

func TestExamplesReportFaults(t *testing.T) {
	with := func(example string) string {
		return strings.Replace(crowBlog, "</application>", "\n"+example+"\n</application>", 1)
	}
	const page = `<page><![CDATA[<!--crow-engine--><h1>Crows</h1><article>They walk.</article><a href="/x">x</a>]]></page>`
	for example, want := range map[string]string{
		`<example url="http://a.test/" level="article">` + page + `<has object="article" count="1" title="Crows" body="They walk."/></example>`: "",
		`<example url="http://a.test/" level="article"><page>raven</page></example>`:                                                            `is taken for ""`,
		`<example url="http://a.test/" level="front">` + page + `</example>`:                                                                    `is of level "article"`,
		`<example url="http://a.test/" level="article">` + page + `<has object="comment"/></example>`:                                           `there is no object "comment"`,
		`<example url="http://a.test/" level="article">` + page + `<has object="article" count="2"/></example>`:                                 `there are 1 objects`,
		`<example url="http://a.test/" level="article">` + page + `<has object="article" title="Ravens"/></example>`:                            `no article has title "Ravens"`,
		`<example url="http://a.test/" level="article">` + page + `<has link="/y" level="article"/></example>`:                                  `/y is not there`,
		`<example url="http://a.test/" level="article">` + page + `<has link="/x" level="article"/></example>`:                                  `leads to level ""`,
		`<example url="http://a.test/" level="article">` + page + `<has dropped="/x"/></example>`:                                               `is not dropped`,
	} {
		got := strings.Join(Examples(base(t, with(example))), "\n")
		if (got == "") != (want == "") || !strings.Contains(got, want) || got != "" && !strings.HasPrefix(got, "0.xml:") {
			t.Errorf("%s\n%q, want %q", example, got, want)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	base, err := kb.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	h := New(base, DefaultLimits())
	body := []byte(`<html><head><meta name="generator" content="WordPress 6.4"></head><body class="single single-post"><article class="hentry"><h1 class="entry-title">Ravens</h1><div class="entry-content">` +
		strings.Repeat(`<div class="p"><p>The raven <a href="/x">flew</a> over the hills.</p></div>`, 300) + `</div></article>`)
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		d := page.Parse(page.Input{URL: "http://a.test/ravens/", MIME: "text/html", Body: body}, page.DefaultLimits())
		b.StartTimer()
		h.Apply(d, Input{})
	}
}
