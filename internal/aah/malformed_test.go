package aah

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// What one page may take at most, however it is written.
const (
	soon   = 10 * time.Second // of the processor
	enough = 1 << 30          // bytes that are allocated, most of which are free again at once
)

// numbered writes n pieces, each with its number.
func numbered(n int, piece string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
	}
	return b.String()
}

// within runs fn and reports what it took.
func within(t *testing.T, fn func()) {
	t.Helper()
	if raced {
		t.Skip("the race detector takes its own time and memory, and one page alone has no races")
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := cputime.Used()
	fn()
	took := cputime.Used() - begin
	runtime.ReadMemStats(&after)
	allocated := after.TotalAlloc - before.TotalAlloc
	t.Logf("%v, %d MB", took.Round(time.Millisecond), allocated>>20)
	if allocated > enough {
		t.Errorf("%d MB were allocated", allocated>>20)
	}
	if took > soon {
		t.Errorf("took %v", took)
	}
}

// heads make the helper take a page for several things.
var heads = map[string]struct{ url, head string }{
	"nothing known": {"http://a.test/x", ""},
	"WordPress":     {"http://a.test/2026/11/ravens/", `<html><head><meta name="generator" content="WordPress 6.4"></head><body class="single single-post postid-7">`},
	"phpBB":         {"http://a.test/viewtopic.php?t=1", `<html><head><link href="/styles/prosilver/theme/stylesheet.css" rel="stylesheet"></head><body id="phpbb" class="nojs notouch section-viewtopic ltr">`},
}

const hundredThousand = 100_000

func TestMalformed(t *testing.T) {
	words := strings.Repeat("raven ", 100)
	pages := map[string]string{
		"deep":                  strings.Repeat("<div class='post'>", hundredThousand) + "x",
		"deep, but not too":     strings.Repeat("<div class='post postbody content entry-content'><p>x", 400),
		"deep tables":           strings.Repeat("<table><tr><td>", 30_000) + "x",
		"deep formatting":       strings.Repeat("<b><i><p>", 30_000) + "x",
		"attributes":            "<div" + numbered(hundredThousand, " a#=x") + ">" + words + "</div>",
		"attributes above":      "<div" + numbered(hundredThousand, " a#=x") + ">" + numbered(1000, "<p class=post>"+words[:60]) + "</div>",
		"huge attributes":       "<div class='" + strings.Repeat("x", 4<<20) + "' id='" + strings.Repeat("y", 4<<20) + "' title='" + words + strings.Repeat("z ", 1<<20) + "'>" + words + "</div>",
		"links":                 numbered(hundredThousand, "<a href='/t/#'>thread #</a> "),
		"links with much text":  numbered(2000, "<a href='/t/#'>"+words+"</a>"),
		"classes":               "<div class='" + numbered(hundredThousand, "post# ") + "'>" + words + "</div>",
		"classes above":         "<div class='" + numbered(hundredThousand, "comment# ") + "'>" + numbered(5000, "<p>The raven sat on wall #.") + "</div>",
		"other classes above":   "<div class='" + numbered(hundredThousand, "zz# ") + "'>" + numbered(20_000, "<p>The raven sat on wall #.") + "</div>",
		"a long class above":    "<div class='" + strings.Repeat("zz", 1<<20) + "'>" + numbered(20_000, "<p>The raven sat on wall #.") + "</div>",
		"links below":           "<div" + numbered(hundredThousand, " a#=x") + ">" + numbered(50_000, "<a href='/t/#'>thread #</a> ") + "</div>",
		"classes alike":         numbered(hundredThousand, "<p class='postb# poztbody# entri-content-#'>raven #</p>"),
		"long classes alike":    numbered(200, "<p class='"+strings.Repeat("postbody", 5000)+"#'>raven #</p>"),
		"classes each":          numbered(hundredThousand, "<p class='post-body-# entry#'>raven #</p>"),
		"a word":                "<p class=post>" + strings.Repeat("raven", 1<<20) + "</p>",
		"a word of letters":     "<p>" + strings.Repeat("ä", 1<<20) + "</p><article>" + strings.Repeat("1", 1<<20) + "</article>",
		"paragraphs":            "<article class='hentry entry-content post'>" + numbered(hundredThousand, "<p>raven #") + "</article>",
		"posts":                 numbered(30_000, "<div class='post' id='p#'><div class='postbody'><p class='author'>by <a href='/u/#'>Hugin</a> » 21 Nov 2026, 10:#</p><div class='content'>raven #</div></div></div>"),
		"text nodes":            numbered(hundredThousand, "a<!-- # -->"),
		"JSON-LD deep":          `<script type="application/ld+json">` + strings.Repeat(`{"@type":"Article","mainEntity":`, 10_000) + `1` + strings.Repeat(`}`, 10_000) + `</script>`,
		"JSON-LD deep, arrays":  `<script type="application/ld+json">` + strings.Repeat("[", 9_999) + strings.Repeat("]", 9_999) + `</script>`,
		"JSON-LD deep, authors": `<script type="application/ld+json">{"@type":"Article","author":` + strings.Repeat(`{"name":[`, 4_990) + strings.Repeat(`]}`, 4_990) + `}</script>`,
		"JSON-LD long":          `<script type="application/ld+json">[` + numbered(3_000, `{"@type":"Article","headline":"<b>#</b>","keywords":"a,b,c"},`) + `{}]</script>`,
		"JSON-LD often":         strings.Repeat(`<script type="application/ld+json">{"@type":"Comment","text":"`+strings.Repeat("<p>", 1000)+`"}</script>`, 2000),
		"JSON-LD of many words": strings.Repeat(`<script type="application/ld+json">{"@type":"Article","keywords":"`+strings.Repeat("a,", 120_000)+`"}</script>`, 20),
		"headers":               numbered(hundredThousand, "<h1></h1><meta name=generator content=x#>"),
	}
	h := shippedLearner(t)
	for name, body := range pages {
		for known, head := range heads {
			if known == "phpBB" && len(body) > 1<<20 {
				continue // two will do
			}
			t.Run(name+", "+known, func(t *testing.T) {
				within(t, func() {
					d := page.Parse(page.Input{URL: head.url, MIME: "text/html; charset=utf-8", Body: []byte(head.head + body)}, page.DefaultLimits())
					links := slices.Clone(d.Links)
					sane(t, apply(h, d, Input{Head: []byte(strings.Repeat("X-A: b\r\n", 1000))}), links, DefaultLimits())
				})
			})
		}
	}
}

// TestMalformedBefore: learning takes no longer if the former page had many texts that the page repeats.
func TestMalformedBefore(t *testing.T) {
	for name, test := range map[string]struct{ was, now string }{
		"one text everywhere": {numbered(60, "<div class=post><b class=who>reply</b><div class=text>The raven said #</div></div>"), numbered(60, "<div class=m><b>reply</b><div class=t>The raven said #</div></div>") + numbered(hundredThousand, "<a href=#>reply</a>")},
		"one body everywhere": {strings.Repeat("<div class=post><div class=text>The raven said it</div></div>", 60), strings.Repeat("<div class=m><p>The raven said it</div>", 50_000)},
		"deep":                {numbered(60, "<div class=post><div class=text>The raven said #</div></div>"), strings.Repeat("<div class=w>", 200) + numbered(60, "<div class=m>"+strings.Repeat("<div class=w>", 200)+"The raven said #"+strings.Repeat("</div>", 201)) + numbered(50_000, "<div class=w>x</div>")},
		"classes":             {numbered(60, "<div class=post><div class=text>The raven said #</div></div>"), "<div class='" + numbered(hundredThousand, "c# ") + "'>" + numbered(60, "<div class=m><p>The raven said #</div>")},
	} {
		t.Run(name, func(t *testing.T) {
			h := learner(t, DefaultLimits())
			before := read(h, threadURL(1), rook+test.was, Input{})
			if len(before.Objects) != 60 {
				t.Fatalf("%d objects", len(before.Objects))
			}
			within(t, func() { read(h, threadURL(1), rook+test.now, Input{Before: before.Prints}) })
		})
	}
	prints := adapt.Prints{Application: "Rook", Level: "thread"}
	for i := range 20_000 {
		prints.Objects = append(prints.Objects, adapt.Print{Type: "post", Properties: []adapt.Property{{Name: "body", Hash: adapt.Hash(fmt.Sprint("raven", i)), Size: 9}}})
	}
	t.Run("many prints", func(t *testing.T) {
		h := learner(t, DefaultLimits())
		within(t, func() {
			read(h, threadURL(1), rook+numbered(20_000, "<p>raven#"), Input{Before: prints.Encode()})
		})
	})
}

// TestMalformedUnseen: guessing takes no longer on pages without a former version.
func TestMalformedUnseen(t *testing.T) {
	for name, now := range map[string]string{
		"classes that are alike": numbered(hundredThousand, "<p class='postz# textz#'>raven #</p>"),
		"long classes":           numbered(200, "<p class='"+strings.Repeat("postext", 5000)+"#'>raven #</p>"),
		"a long class":           "<div class='" + strings.Repeat("post-text-who", 1<<18) + "'>" + numbered(5000, "<p>raven #</p>"),
		"classes above":          "<div class='" + numbered(hundredThousand, "c# ") + "'>" + numbered(60, "<div class=m><b>Hugin</b><i>21 Nov 2026</i><p>The raven said #, and more than that</div>"),
		"records in records":     numbered(200, "<div class=m>21 Nov 2026 The raven said # and more of it on this day") + numbered(5000, "<div class=m2><p>21 Nov 2026</p>The raven said # and more of it on this day</div>"),
		"records":                numbered(30_000, "<div class=m#><i>21 Nov 2026</i><p>The raven said # and more of it on this day</div>"),
	} {
		t.Run(name, func(t *testing.T) {
			h := learner(t, DefaultLimits())
			within(t, func() { read(h, threadURL(1), rook+now, Input{}) })
		})
	}
}

// TestBigText: an extracted text is cut before it costs much, even if elements with the same text are nested.
func TestBigText(t *testing.T) {
	h := shippedLearner(t)
	text := strings.Repeat("The raven sat on the wall. ", 8<<20/27)
	for known, head := range heads {
		for name, open := range map[string]string{"posts": "<div class='post hentry'>", "bodies": "<div class='postbody content entry-content'>", "both": "<div class='post hentry'><div class='postbody content entry-content'>"} {
			t.Run(name+", "+known, func(t *testing.T) {
				within(t, func() { read(h, head.url, head.head+strings.Repeat(open, 200)+text, Input{}) })
			})
		}
	}
}

// TestExplodingRules: rules of a user's base that would take forever are abandoned.
func TestExplodingRules(t *testing.T) {
	body := "<!--x-explode-->" + strings.Repeat("<div class='a'><p id='b'>", 200) + numbered(20_000, "<a href='/#' class='c#'>#</a>")
	for _, x := range []string{
		"//*[.//*[.//*[.//*[.//x]]]]", "//*[//*/@class = //*/@id]", "//*[following::*[preceding::*[following::*/@q = 'x']]]", "//a[count(//a[count(//a) > 3]) > 3]",
		"//*[contains(concat(/, /, /, /), 'explode-not')]", "//*[string-length(translate(/, 'abc', 'xyz')) > 3][2]", "//node()/ancestor-or-self::node()/descendant::node()[@z]",
	} {
		quoted := strings.NewReplacer("<", "&lt;", `"`, "&quot;").Replace(x)
		b := base(t, `<application xmlns="`+kb.Namespace+`" name="Explode" category="blog"><detect text="x-explode"/><detect xpath="`+quoted+`"/>
<level name="thread" terminal="true"><match xpath="`+quoted+`"/><object type="post" each="`+quoted+`"><property name="body" xpath="`+quoted+`"/></object></level>
<level name="article" terminal="true"><match url="."/><object type="article" each="//div | `+quoted+`"><property name="body" xpath="`+quoted+`"/><property name="title" xpath=".//a[1]"/></object>
<follow xpath="`+quoted+`" level="article"/><drop xpath="`+quoted+`"/></level></application>`)
		t.Run(x, func(t *testing.T) {
			h := New(b, DefaultLimits())
			h.Adaptations, _ = adapt.OpenStore("")
			within(t, func() {
				if d := read(h, "http://a.test/x", body, Input{}); d.Application != "Explode" {
					t.Errorf("%q", d.Application)
				}
			})
		})
	}
}
