package derive_test

import (
	"crypto/sha256"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 800_000_000, time.UTC)

var at = archive.CrawlAt{Name: "c"}

// shipped takes half a second.
var shipped = sync.OnceValues(kb.Shipped)

// rig is an archive, and what derives it.
type rig struct {
	t testing.TB
	*derive.Deriver
	dir    string
	helper *aah.Helper
}

func newRig(t testing.TB) *rig {
	t.Helper()
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	base, err := shipped()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{t, &derive.Deriver{Store: store, Dir: t.TempDir(), Now: func() time.Time { return epoch }}, dir, aah.New(base, aah.DefaultLimits())}
}

// exchange is a response to archive.
type exchange struct {
	url, mime, head, body string // the head has further fields, with line ends
	status                int
	document              string // that a browser made of the page
	unparsed              bool   // no page was made of it
	title                 string // of the metadata record, in place of the page's
}

func html(url, body string) exchange {
	return exchange{url: url, mime: "text/html; charset=utf-8", body: body}
}

func of(text string) func() io.Reader {
	return func() io.Reader { return strings.NewReader(text) }
}

// segment archives exchanges; original finds those that they are revisits of.
func (r *rig) segment(batch string, original func(url, digest string) (crawl.Visit, bool), list ...exchange) (archive.Manifest, []archive.Recorded) {
	r.t.Helper()
	if original == nil {
		original = func(string, string) (crawl.Visit, bool) { return crawl.Visit{}, false }
	}
	s, err := archive.NewSegment(r.t.TempDir(), archive.Label{Crawl: "c", Batch: batch, Nonce: "0123456789abcdef", Run: 3, Worker: "w"}, epoch, original)
	if err != nil {
		r.t.Fatal(err)
	}
	defer s.Close()
	var recorded []archive.Recorded
	for i, x := range list {
		rec, err := s.Add(r.capture(x, epoch.Add(time.Duration(i)*time.Second)))
		if err != nil {
			r.t.Fatal(err)
		}
		recorded = append(recorded, rec)
	}
	for i, x := range list { // after other records, as what a page loads is archived first
		if x.document == "" {
			continue
		}
		c := archive.Capture{Exchange: crawl.Exchange{Kind: crawl.ExchangeOpened, URL: x.url, Started: epoch, MIME: "text/html; charset=utf-8"}, Response: of(x.document), Body: of(x.document)}
		if err := s.Show(c, recorded[i].ID); err != nil {
			r.t.Fatal(err)
		}
		view := archive.Capture{Exchange: crawl.Exchange{Kind: crawl.ExchangeView, URL: x.url, Started: epoch, MIME: "image/jpeg"}, Response: of("\xff\xd8"), Body: of("\xff\xd8")}
		if err := s.Show(view, recorded[i].ID); err != nil {
			r.t.Fatal(err)
		}
	}
	m, err := s.Commit(r.t.Context(), r.Store)
	if err != nil {
		r.t.Fatal(err)
	}
	return m, recorded
}

func (r *rig) capture(x exchange, started time.Time) archive.Capture {
	if x.status == 0 {
		x.status = 200
	}
	head := fmt.Sprintf("HTTP/1.1 %d X\r\nContent-Type: %s\r\n%s\r\n", x.status, x.mime, x.head)
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: x.url, Started: started, Status: x.status, HeaderBytes: int64(len(head)), MIME: x.mime, IP: "192.0.2.1", Path: "SLL", Via: "http://via.example/",
			Outcome: crawl.Outcome{URL: x.url, Kind: crawl.OutcomeDone, Status: x.status},
		},
		Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + x.body), Header: of(head), Body: of(x.body),
	}
	if strings.HasSuffix(x.url, "/robots.txt") {
		c.Kind = crawl.ExchangeRobots
	}
	if x.unparsed || x.status != 200 {
		return c
	}
	shown := x.body
	if x.document != "" {
		shown = x.document
	}
	d := page.Parse(page.Input{URL: x.url, MIME: x.mime, Body: []byte(shown)}, page.DefaultLimits())
	c.Page = &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page, Findings: r.helper.Apply(d, aah.Input{})}, Verdict: crawl.Verdict{Score: 0.5, Links: make([]crawl.LinkVerdict, len(d.Links))}}
	if x.title != "" {
		c.Page.Title = x.title
	}
	return c
}

// derived derives a segment and reads what is there.
func (r *rig) derived(segment string) (derive.Result, []derive.Document) {
	r.t.Helper()
	result, err := r.Segment(r.t.Context(), at, segment, derive.Text)
	if err != nil {
		r.t.Fatal(err)
	}
	return result, r.lines(segment)
}

func (r *rig) lines(segment string) (list []derive.Document) {
	r.t.Helper()
	err := derive.Read(r.t.Context(), r.Store, at, derive.Text, segment, func(d *derive.Document) error {
		list = append(list, *d)
		return nil
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return list
}

// files are the files of a folder of the archive, with their contents.
func (r *rig) files(folder string) map[string]string {
	r.t.Helper()
	files := map[string]string{}
	list, err := filepath.Glob(filepath.Join(r.dir, filepath.FromSlash(folder), "*"))
	if err != nil {
		r.t.Fatal(err)
	}
	for _, name := range list {
		raw, err := os.ReadFile(name)
		if err != nil {
			r.t.Fatal(err)
		}
		files[filepath.Base(name)] = string(raw)
	}
	return files
}

func names(files map[string]string) []string { return slices.Sorted(maps.Keys(files)) }

// put puts an object.
func (r *rig) put(key, text string) archive.Stored {
	r.t.Helper()
	if err := r.Store.Put(r.t.Context(), key, strings.NewReader(text), int64(len(text))); err != nil {
		r.t.Fatal(err)
	}
	return archive.Stored{Key: key, Bytes: int64(len(text)), SHA256: fmt.Sprintf("%x", sha256.Sum256([]byte(text)))}
}
