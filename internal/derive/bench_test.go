package derive_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/derive"
)

// BenchmarkText derives a segment of 64 pages of some 30 KB, each with an article, as the web has them. It reports the CPU time and the bytes of data of a page.
func BenchmarkText(b *testing.B) {
	r := newRig(b)
	var list []exchange
	for i := range 64 {
		var page strings.Builder
		page.WriteString(strings.Replace(ravens, "Ravens</title>", fmt.Sprintf("Ravens %d</title>", i), 1))
		for j := range 60 {
			fmt.Fprintf(&page, "<p class=\"text\">The raven number %d flew over hill %d, and came back with the news of day %d: %s.</p>\n", i*j, j, i+j, strings.Repeat("all is well ", j%5))
		}
		page.WriteString("</article>")
		for j := range 150 {
			fmt.Fprintf(&page, "<li class=\"menu entry\"><a href=\"/path/%d/%d.html\">link number %d</a> beside it some words</li>\n", i, j, j)
		}
		list = append(list, html(fmt.Sprintf("http://a.example/%d", i), page.String()))
	}
	m, _ := r.segment("b", nil, list...)
	size := 0
	for _, x := range list {
		size += len(x.body)
	}
	b.SetBytes(int64(size))
	var data int64
	n := 0
	before := cputime.Used()
	for b.Loop() {
		step := derive.Text
		n++
		step.Version = n // another version derives again
		result, err := r.Segment(b.Context(), at, m.Segment(), step)
		if err != nil || result.Lines != len(list) {
			b.Fatalf("%+v, %v", result, err)
		}
		data = result.Data.Bytes
	}
	pages := float64(n * len(list))
	b.ReportMetric(float64((cputime.Used()-before).Microseconds())/pages, "cpu-µs/page")
	b.ReportMetric(float64(data)/float64(len(list)), "data-B/page")
	b.ReportMetric(float64(size)/float64(len(list)), "html-B/page")
}
