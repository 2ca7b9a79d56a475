package pipeline

import (
	"bytes"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/webworld"
	benchworld "github.com/muninn-archive/muninn/internal/webworld/bench"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
	"github.com/muninn-archive/muninn/kb"
)

// syntheticPages are zipped pages of the web that `make bench` crawls.
func syntheticPages(b *testing.B) (list []Exchange) {
	w := worldtest.Start(b, benchworld.New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.13.1")}, 2, 40))
	for _, p := range w.Pages()[:20] {
		u := webworld.MustParse(p.URL)
		found := w.Host(u.Hostname()).Find(u)
		if found == nil || found.Status >= 300 {
			continue
		}
		list = append(list, benched(p.URL, webworld.Join(found.Compressed())))
	}
	return list
}

// savedPages are the first saved page of each level of each application.
func savedPages(b *testing.B) (list []Exchange) {
	dir := os.Getenv("MUNINN_TESTDATA")
	if dir == "" {
		return nil
	}
	levels := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(dir, "aah"), func(path string, e fs.DirEntry, err error) error {
		level, _, _ := strings.Cut(path, "__")
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".html") || levels[level] {
			return err
		}
		levels[level] = true
		raw, err := os.ReadFile(path)
		list = append(list, benched("http://a.test/dir/page", []byte(fixture.Gzip(string(raw)))))
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	return list
}

func benched(url string, zipped []byte) Exchange {
	return Exchange{
		Exchange: crawl.Exchange{Kind: crawl.ExchangePage, URL: url, Status: 200, MIME: "text/html; charset=utf-8", Encoding: "gzip"},
		Header: func() io.Reader {
			return strings.NewReader("HTTP/1.1 200 OK\r\nServer: nginx\r\nContent-Type: text/html\r\n\r\n")
		},
		Body: func() io.Reader { return bytes.NewReader(zipped) },
	}
}

// BenchmarkParsed is what it costs to decode, parse and recognise a page, of several kinds.
func BenchmarkParsed(b *testing.B) {
	base, err := kb.Shipped()
	if err != nil {
		b.Fatal(err)
	}
	for name, pages := range map[string][]Exchange{"synthetic": syntheticPages(b), "saved": savedPages(b)} {
		if len(pages) == 0 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			e := New(nil, aah.New(base, aah.DefaultLimits()), nil, page.DefaultLimits(), time.Now)
			b.ReportAllocs()
			start := cputime.Used()
			for i := 0; b.Loop(); i++ {
				if _, ok, err := e.Understand(b.Context(), &pages[i%len(pages)], "", nil); !ok || err != nil {
					b.Fatal(pages[i%len(pages)].URL, err)
				}
			}
			b.ReportMetric(float64(cputime.Used()-start)/float64(b.N), "cpu-ns/op") // with garbage collection, whatever else runs
		})
	}
}
