package activities

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestReport: a report is made from the archive, and stored there.
func TestReport(t *testing.T) {
	for name, c := range map[string]struct {
		crawl   string
		fetched bool
		fault   string
	}{
		"of no page":    {crawl: rigCrawl},
		"of a page":     {crawl: rigCrawl, fetched: true},
		"another crawl": {crawl: "other", fault: "does not know the crawl other"},
	} {
		r := newRig(t)
		r.begin("o", nil)
		if c.fetched {
			in := r.batch()
			r.open(in, linking)
			r.must(r.do(r.Process, in))
			r.must(r.do(r.Commit, in))
		}
		out, err := call[ReportResult](r, r.Report, AskInput{Crawl: c.crawl})
		if c.fault != "" {
			if err == nil || !strings.Contains(err.Error(), c.fault) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		r.must(err)
		kept, err := os.ReadFile(filepath.Join(r.dir, filepath.FromSlash(out.Key)))
		if err != nil || !bytes.Equal(kept, out.HTML) || !bytes.Contains(kept, []byte("<html")) {
			t.Errorf("%s: %s of %d bytes, %v", name, out.Key, len(kept), err)
		}
	}
}
