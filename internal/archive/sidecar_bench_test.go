package archive_test

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cputime"
)

// BenchmarkArchive is the ARCHIVE step without the spool: segments of 64 pages, written to a folder. It reports the CPU time of a page,
// and the bytes of its parts in the archive.
func BenchmarkArchive(b *testing.B) {
	for name, web := range map[string]func(testing.TB) []understood{"bench web": func(t testing.TB) []understood { return benchWeb(t, 256) }, "saved pages": savedWeb} {
		b.Run(name, func(b *testing.B) {
			const batch = 64
			pages := web(b)
			if len(pages) == 0 {
				b.Skip("MUNINN_TESTDATA names no folder of saved pages")
			}
			captures := make([]archive.Capture, len(pages))
			for i := range pages {
				captures[i] = pages[i].capture(b)
			}
			store, err := archive.OpenDir(b.TempDir())
			if err != nil {
				b.Fatal(err)
			}
			dir := b.TempDir()
			var warc, links, objects int64
			archived := 0
			b.ReportAllocs()
			before := cputime.Used()
			for b.Loop() {
				for i := 0; i+batch <= len(captures); i += batch {
					s, err := archive.NewSegment(dir, label("bench"), epoch, unknown)
					if err != nil {
						b.Fatal(err)
					}
					for _, c := range captures[i : i+batch] {
						c.Request = strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n")
						if _, err := s.Add(c); err != nil {
							b.Fatal(err)
						}
						if err := s.Log(archive.LoggedExchange(&c.Exchange, 1)); err != nil {
							b.Fatal(err)
						}
					}
					m, err := s.Commit(b.Context(), store)
					s.Close()
					if err != nil {
						b.Fatal(err)
					}
					if err := store.Delete(b.Context(), archive.Layout{Crawl: m.Crawl}.Manifest(m.Segment())); err != nil {
						b.Fatal(err)
					}
					warc, links, archived = warc+m.WARC.Bytes, links+m.Links.Bytes, archived+batch
					if m.Objects != nil {
						objects += m.Objects.Bytes
					}
				}
			}
			cpu := cputime.Used() - before
			n := float64(archived)
			b.ReportMetric(float64(cpu.Microseconds())/n, "cpu-µs/page")
			b.ReportMetric(float64(warc)/n, "WARC-B/page")
			b.ReportMetric(float64(links)/n, "links-B/page")
			b.ReportMetric(float64(objects)/n, "objects-B/page")
			b.ReportMetric(100*float64(links+objects)/float64(warc), "%sidecars")
			b.ReportMetric(0, "ns/op")
		})
	}
}
