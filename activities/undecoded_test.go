package activities

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

// TestUndecoded: a page whose content coding cannot be taken off says so in its metadata record and in the crawl log; one that has none is read as it is.
func TestUndecoded(t *testing.T) {
	const text = "<title>Ravens</title><p>Two ravens"
	zip := fixture.Gzip(text + strings.Repeat(" fly", 1000))
	for name, c := range map[string]struct{ body, coding, truncated, undecoded, title string }{
		"plain":             {text, "gzip", "", "", "Ravens"},
		"cut off":           {zip[:len(zip)-8], "gzip", "", "the gzip stream is cut off", "Ravens"},
		"cut off by us":     {zip[:len(zip)-8], "gzip", "length", "", "Ravens"},
		"in another format": {"\x89PNG\x00\x01", "gzip", "", "content coding gzip: the body is in another format", ""},
		"not known":         {"\x01\x02\x03", "raven", "", "content coding raven: not known", ""},
	} {
		r := newRig(t)
		r.begin("o", nil)
		in := r.batch()
		_, err := call[OpenResult](r, r.Open, in)
		r.must(err)
		lanes, log, _ := r.spooled(in)
		x, request, response, size := exchange(lanes[0].Targets[0], lanes[0].Claim, c.body)
		x.Encoding, x.Truncated = c.coding, c.truncated
		text, err := io.ReadAll(response)
		r.must(err)
		r.must(log.Append(x, request, strings.NewReader(strings.TrimSuffix(string(text), noIcon)), size-int64(len(noIcon))))
		r.must(log.Close())
		r.must(r.do(r.Process, in))
		r.must(r.do(r.Commit, in))
		r.check(r.dir)
		if lines := r.logged(); len(lines) != 1 || lines[0].Undecoded != c.undecoded || lines[0].Kind != archive.LoggedKind(crawl.OutcomeDone) {
			t.Errorf("%s: the crawl log says %+v", name, lines)
		}
		files, err := filepath.Glob(filepath.Join(r.dir, "*", "data", "*.warc.gz"))
		r.must(err)
		fields := map[string]string{}
		for _, file := range files {
			r.must(archive.ReadWARC(file, 0, func(rec archive.Captured) (bool, error) {
				block, err := io.ReadAll(rec.Block)
				for line := range strings.Lines(string(block)) {
					if field, value, is := strings.Cut(line, ": "); is && rec.Kind == "metadata" {
						fields[field] = strings.TrimSpace(value)
					}
				}
				return true, err
			}))
		}
		if fields["muninn-undecoded"] != c.undecoded || fields["title"] != c.title {
			t.Errorf("%s: the metadata record says %q", name, fields)
		}
	}
}
