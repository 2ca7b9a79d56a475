package page

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
)

// heavy are pages of up to 16 MiB, each with much of one thing.
func heavy(size int) map[string][]byte {
	many := func(head, form string) []byte {
		var b strings.Builder
		b.WriteString(head)
		for i := 0; b.Len() < size; i++ {
			if strings.Contains(form, "%") {
				fmt.Fprintf(&b, form, i)
			} else {
				b.WriteString(form)
			}
		}
		return []byte(b.String())
	}
	return map[string][]byte{
		"links":                        many("", "<a href=/l/%d>%[1]d</a>\n"),
		"fragments":                    many("", "<a href=/l#%d>x</a>\n"),
		"elements":                     many("", "<p><br>"),
		"formatting":                   many(strings.Repeat("<b class=x>", 3)+strings.Repeat("<font a><font b><font c><font d>", 20), "<p>"),
		"formatting, closed by blocks": many("<p>"+strings.Repeat("<font a><font b><font c><font d>", 20), "<p>x")[:min(size, 1<<20)],
		"attributes":                   many("<p ", "a%d "),
		"one tag":                      many("<p ", "a "),
		"text":                         many("<p>", "a river of ravens "),
		"blanks":                       many("<p>", "          "),
		"comments":                     many("", "<!>"),
	}
}

// TestHeavyPages: no page of 16 MiB takes many times its size in memory, whatever its content.
func TestHeavyPages(t *testing.T) {
	const most = 160 << 20 // bytes; 600 MB without a bound of markup, and 500 MB for one MiB of formatting
	for name, body := range heavy(8 << 20) {
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		d := Parse(Input{URL: "http://a.example/", MIME: "text/html", Body: body}, DefaultLimits())
		runtime.GC()
		runtime.ReadMemStats(&after)
		if held := int64(after.HeapAlloc) - int64(before.HeapAlloc); held > most {
			t.Errorf("%s: %d MB held, %d links", name, held>>20, len(d.Links))
		}
		if cut := len(d.Source) < len(body); cut != d.Cut && name != "text" && name != "blanks" {
			t.Errorf("%s: read %d of %d bytes, and says cut: %v", name, len(d.Source), len(body), d.Cut)
		}
		runtime.KeepAlive(d)
	}
}

func TestMarkupBound(t *testing.T) {
	for _, c := range []struct {
		text  string
		limit int
		read  string
	}{
		{"", 5, ""}, {"no tags", 0, "no tags"}, {"<p>a<p>b<p>c", 3, "<p>a<p>b<p>c"}, {"<p>a<p>b<p>c", 2, "<p>a<p>b"},
		{`<a href="x y z" b=c>t</a><p>`, 4, `<a href="x y z" b=c>t</a>`}, {`<a href='x>y' b>t</a>`, 4, `<a href='x>y' b>t</a>`},
		{"<p a b c d e f>x", 3, ""}, {"<p>1<p a b c d e f>x", 3, "<p>1"}, {`<p title="never closed`, 9, `<p title="never closed`},
		{"<b>1</b><b>2</b><b>3</b>", 9, "<b>1</b><b>2</b><b>3</b>"}, // closed at once
		{"<b><p><p><p><p>", 6, "<b><p><p>"},                         // made again in each block
		{"<b><b><b><b><b>", 20, "<b><b><b><b><b>"}, {"<B><STRONG><p>", 5, "<B><STRONG>"}, {"<body><i>", 3, "<body><i>"},
		{"a < b << c", 3, "a < b << c"}, {"a < b << c", 2, "a < b <"}, {"<", 1, "<"}, {"</", 1, "</"},
	} {
		if got := c.text[:(&meter{text: []byte(c.text)}).bound(c.limit)]; got != c.read {
			t.Errorf("%q, %d: reads %q, want %q", c.text, c.limit, got, c.read)
		}
	}
}

// TestMarkupBoundSeesAll: tags and attributes are counted, whatever is before them.
func TestMarkupBoundSeesAll(t *testing.T) {
	const limit = 5000
	fonts := func(form string) string {
		var b strings.Builder
		for i := range 20 {
			fmt.Fprintf(&b, form, i)
		}
		return b.String()
	}
	twenty := func(s string) string { return strings.Repeat(s, 20) }
	for _, c := range []struct {
		head, form string
		times      int
	}{
		{`<!--<p x="-->`, "<p>", limit},
		{`<p a=b=">`, "<p>", limit},
		{`<p a=b='>`, "<p>", limit},
		{`<p a"="b">`, "<p>", limit},
		{`<p a= ">">`, "<p>", limit},
		{`<script><p x="</script>`, "<p>", limit},
		{`<svg><style><!--</style><p a="-->`, "<p>", limit},
		{"<p ", `a=""`, limit},
		{"<p ", "a='>'", limit},
		{"<p / ", "a/", limit},
		{`<!--<p x='--><p a=">" `, "a ", limit},
		{"<svg><desc>", "<desc>", limit},
		{fonts("<font a=%d>") + twenty("</b></i>"), "<p>", 400},
		{fonts("<font a=%d>") + "<!--" + twenty("</font>") + "-->", "<p>", 400},
		{fonts("<font a=%d>") + "<title>" + twenty("</font>") + "</title>", "<p>", 400},
		{fonts("<font a=%d>") + "<p a='" + twenty("</font>") + "'>", "<p>", 400},
		{fonts(`<font a="<%d">`), "<p>", 400},
		{fonts("<font a=%d></font><font a=%[1]d></font><font a=%[1]d></font>") + fonts("<font a=%d>"), "<p>", 400},
	} {
		text := []byte(c.head + strings.Repeat(c.form, c.times))
		if at := (&meter{text: text}).bound(limit); at == len(text) {
			t.Errorf("%.60q and %d of %q are not cut", c.head, c.times, c.form)
		}
	}
	fine := strings.Repeat("<b>x</b><font a=1>y</font><i title=\"it's > 1\">z</i>", 700)
	if at := (&meter{text: []byte(fine)}).bound(700 * (6 + 2 + 3)); at != len(fine) {
		t.Errorf("a page with little markup is cut at %d of %d", at, len(fine))
	}
}

func FuzzMarkupBound(f *testing.F) {
	f.Add([]byte("<p a=\"x\" b><b>x</b><i>"), 3)
	f.Fuzz(func(t *testing.T, text []byte, limit int) {
		at := (&meter{text: text}).bound(limit)
		if at < 0 || at > len(text) || at < len(text) && text[at] != '<' {
			t.Fatalf("%q is cut at %d", text, at)
		}
		if limit > 0 && at < len(text) && (&meter{text: text[:at]}).bound(limit) != at {
			t.Fatal("what is read has too much markup")
		}
		under(t, string(text))
	})
}

func BenchmarkMarkupBound(b *testing.B) {
	text := []byte(strings.Repeat(`<div class="a b c"><p>A <b>text</b> with <a href="/of/some/length">a link</a> and more words than that.</p></div>`, 300))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		(&meter{text: text}).bound(1 << 30)
	}
}
