package activities

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestPartialIsNoOriginal: a page that was cut off, or came without a header, is no original of later captures: neither of the batch that has its working files, nor of one
// that is recovered from its segment without them.
func TestPartialIsNoOriginal(t *testing.T) {
	for _, recovered := range []bool{false, true} {
		t.Run(fmt.Sprint("recovered ", recovered), func(t *testing.T) {
			r := newRig(t)
			pages := map[string]bool{rigSeed: true, rigSeed + "cut": false, rigSeed + "headerless": false} // whether it is an original
			r.begin("one", func(d *crawl.Definition) {
				for url := range pages {
					if url != rigSeed {
						d.Seeds = append(d.Seeds, crawl.Seed{URL: url})
					}
				}
			})
			in := r.batch()
			_, err := call[OpenResult](r, r.Open, in)
			r.must(err)
			log, _, err := r.Spool.Batch(in.Crawl, in.Batch).OpenLog()
			r.must(err)
			for url := range pages {
				x, request, response, size := exchange(crawl.Target{URL: url}, in.Claims[0], "<p>a page of "+url)
				switch url {
				case rigSeed + "cut":
					x.Truncated = "length"
				case rigSeed + "headerless":
					body := "<p>a page of " + url
					x.HeaderBytes, x.Fault, response, size = 0, "no header", strings.NewReader(body), int64(len(body))
				}
				r.must(log.Append(x, request, response, size))
			}
			r.must(log.Close())
			r.must(r.do(r.Process, in))
			if recovered {
				r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			}
			r.must(r.do(r.Commit, in))
			store, err := r.Archives.Open(t.Context(), "")
			r.must(err)
			found := 0
			r.must(archive.Manifests(t.Context(), store, "", rigCrawl, func(m archive.Manifest) error {
				return archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(i archive.Indexed) error {
					if original, is := pages[i.URL]; is {
						found++
						if _, known := r.Frontier.Crawl(rigCrawl).URLs().Original(0, i.URL, i.Digest); known != original {
							t.Errorf("%s is an original: %v, want %v", i.URL, known, original)
						}
					}
					return nil
				})
			}))
			if found != len(pages) {
				t.Errorf("%d of %d pages are in the index", found, len(pages))
			}
		})
	}
}
