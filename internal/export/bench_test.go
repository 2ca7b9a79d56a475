package export_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/export"
)

// benchArchive archives segments of 64 pages: every fourth a picture of 100 kB, the others HTML of 30 kB with 40 outlinks, of which 8 are embedded.
func benchArchive(b *testing.B, segments int) archive.Store {
	b.Helper()
	store := openDir(b, b.TempDir())
	random := rand.New(rand.NewPCG(1, 2))
	for n := range segments {
		var list []exchange
		for i := range 64 {
			x := exchange{url: fmt.Sprintf("http://site%03d.example/%d", n, i), path: "SL", title: "A page", after: time.Duration(n) * time.Minute}
			if i%4 == 0 {
				noise := make([]byte, 100_000)
				for j := range noise {
					noise[j] = byte(random.Uint32())
				}
				x.mime, x.path, x.body, x.title = "image/png", "SE", string(noise), ""
			} else {
				var text strings.Builder
				for text.Len() < 30_000 {
					fmt.Fprintf(&text, "<p>word%d <a href=\"/%d\">link %d</a></p>\n", random.IntN(4000), random.IntN(1000), random.IntN(10000))
				}
				x.body = text.String()
				for l := range 40 {
					hop := crawl.HopLink
					if l < 8 {
						hop = crawl.HopEmbed
					}
					x.links = append(x.links, link(hop, fmt.Sprintf("http://site%03d.example/%d", n, l*4)))
				}
			}
			list = append(list, x)
		}
		batch{crawl: "c", name: fmt.Sprintf("site%03d.example-1@w1.1", n), exchanges: list}.commit(b, store)
	}
	return store
}

// BenchmarkExport exports an archive of 24 segments: whole (plan and copy), a selection of half of its hosts with closure, and the copying of planned parts
// alone. MB/CPU-s are the megabytes of records a second of CPU time.
func BenchmarkExport(b *testing.B) {
	from := benchArchive(b, 24)
	for _, test := range []struct {
		name   string
		format export.Format
		keep   *export.Rules
	}{
		{"everything", export.WARC, nil}, {"closure", export.WARC, keeping("http://site01*", "http://site000*")}, {"wacz", export.WACZ, nil},
	} {
		b.Run(test.name, func(b *testing.B) {
			o := order("c")
			o.Format, o.Keep, o.Size = test.format, test.keep, 64<<20
			rate(b, func() int64 {
				result, err := export.Run(b.Context(), from, openDir(b, b.TempDir()), o, nil)
				if err != nil {
					b.Fatal(err)
				}
				return result.Bytes
			})
		})
	}
	b.Run("copy", func(b *testing.B) {
		dir := b.TempDir()
		to := openDir(b, dir)
		o := order("c")
		o.Size = 64 << 20
		planned, err := export.Plan(b.Context(), from, to, o, nil)
		if err != nil {
			b.Fatal(err)
		}
		outline, err := export.ReadOutline(b.Context(), to, planned.Outline)
		if err != nil {
			b.Fatal(err)
		}
		rate(b, func() (sum int64) {
			for _, p := range outline.Parts {
				w, err := export.WritePart(b.Context(), from, to, p.Plan)
				if err != nil {
					b.Fatal(err)
				}
				sum += w.Files[0].Bytes
				if err := to.Delete(b.Context(), strings.TrimSuffix(filepath.Base(p.Plan), ".plan.zst")+".json"); err != nil {
					b.Fatal(err)
				}
			}
			return sum
		})
	})
}

// rate reports how many megabytes a function exports a second of CPU time.
func rate(b *testing.B, do func() int64) {
	var bytes int64
	began := cputime.Used()
	for b.Loop() {
		bytes += do()
	}
	b.SetBytes(bytes / int64(b.N))
	b.ReportMetric(float64(bytes)/1e6/(cputime.Used()-began).Seconds(), "MB/CPU-s")
}
