package recognition

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// BenchmarkSavedPages measures the time of the helper on saved pages (MUNINN_TESTDATA/aah), and that of parsing them.
func BenchmarkSavedPages(b *testing.B) {
	dir := filepath.Join(os.Getenv("MUNINN_TESTDATA"), "aah")
	list, err := Read(dir, "")
	if os.IsNotExist(err) || os.Getenv("MUNINN_TESTDATA") == "" {
		b.Skip("there are no saved pages")
	}
	if err != nil {
		b.Fatal(err)
	}
	base, err := kb.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	h := aah.New(base, aah.DefaultLimits())
	pages := make([]page.Input, len(list))
	var size int64
	for i, l := range list {
		body, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
		if err != nil {
			b.Fatal(err)
		}
		if l.URL == "" {
			l.URL = "http://unknown.invalid/page"
		}
		pages[i] = page.Input{URL: l.URL, MIME: "text/html", Body: body}
		size += int64(len(body))
	}
	var parsing, helping time.Duration
	var links int
	for b.Loop() {
		for _, in := range pages {
			start := time.Now()
			d := page.Parse(in, page.DefaultLimits())
			links += len(d.Links)
			parsed := time.Now()
			h.Apply(d, aah.Input{})
			helping += time.Since(parsed)
			parsing += parsed.Sub(start)
		}
	}
	n := float64(b.N * len(pages))
	b.ReportMetric(float64(helping.Microseconds())/n, "helper-µs/page")
	b.ReportMetric(float64(parsing.Microseconds())/n, "parse-µs/page")
	b.ReportMetric(float64(size)/float64(len(pages))/1024, "KB/page")
	b.ReportMetric(float64(links)/n, "links/page")
}
