package candidates

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/selection"
)

var epoch = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)

// exchange is a response to archive.
type exchange struct {
	url, mime, path, body string
	status                int
	revisit               *crawl.Visit
	unmodified            bool // the revisit is a 304
}

func archived(t *testing.T, store archive.Store, batch string, list ...exchange) (recorded []archive.Recorded) {
	t.Helper()
	var seen *crawl.Visit
	s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: batch, Nonce: "0123456789abcdef", Run: 1, Worker: "w"}, epoch, func(string, string) (crawl.Visit, bool) {
		if seen == nil {
			return crawl.Visit{}, false
		}
		return *seen, true
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	for i, x := range list {
		seen = x.revisit
		head := "HTTP/1.1 200 OK\r\nContent-Type: " + x.mime + "\r\n\r\n"
		at := epoch.Add(time.Duration(i) * time.Second)
		if x.revisit != nil {
			at = at.Add(time.Hour)
		}
		c := archive.Capture{
			Exchange: crawl.Exchange{
				Kind: crawl.ExchangePage, URL: x.url, Started: at, Status: max(x.status, 200), HeaderBytes: int64(len(head)), MIME: x.mime, IP: "192.0.2.1", Path: x.path,
				Outcome: crawl.Outcome{URL: x.url, Kind: crawl.OutcomeDone, Status: max(x.status, 200)},
			},
			Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + x.body), Header: of(head), Body: of(x.body),
		}
		if x.unmodified {
			c.Outcome.Kind, c.Outcome.Visit, c.Status, c.Outcome.Status = crawl.OutcomeUnmodified, *x.revisit, 304, 304
		} else if strings.Contains(x.mime, "html") {
			d := page.Parse(page.Input{URL: x.url, MIME: x.mime, Body: []byte(x.body)}, page.DefaultLimits())
			c.Page = &crawl.Judged{Parsed: crawl.Parsed{Page: d.Page}, Verdict: crawl.Verdict{Score: 0.5, Links: make([]crawl.LinkVerdict, len(d.Links))}}
			c.Page.Application, c.Page.Level = "phpBB", "thread"
			c.Page.Objects = []crawl.Object{{Type: "post", Properties: crawl.Properties{{Name: "author", Value: "ann"}}}, {Type: "post"}}
		}
		r, err := s.Add(c)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, r)
	}
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return recorded
}

const ravens = "<title>Ravens</title><p>The raven flew over the hills, and came back with the news of the day and of the night, to all who wanted to hear it there.</p><a href=/other>the other one</a>"

func read(t *testing.T, store archive.Store) (list []selection.Facts) {
	t.Helper()
	crawls, err := Of(t.Context(), store, selection.Creation{})
	if err != nil {
		t.Fatal(err)
	}
	a := Archive{Store: store, Crawls: crawls, Complain: func(err error) { t.Error(err) }}
	if err := a.Each(t.Context(), func(f selection.Facts) error { list = append(list, f); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(list, func(a, b selection.Facts) int { return strings.Compare(a.URL+a.Date.String(), b.URL+b.Date.String()) })
	return list
}

// TestEach: pages are candidates, with what is known of them; a revisit says what its original says. Requisites, robots.txt and what is
// not found are none. With texts that were derived it is the same.
func TestEach(t *testing.T) {
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	first := archived(t, store, "a",
		exchange{url: "http://a.example/", mime: "text/html", path: "S", body: ravens},
		exchange{url: "http://a.example/other", mime: "text/html", path: "SL", body: "<p>other"},
		exchange{url: "http://a.example/x.png", mime: "image/png", path: "SE", body: "png"},
		exchange{url: "http://a.example/robots.txt", mime: "text/plain", path: "SP", body: "User-agent: *"},
		exchange{url: "http://a.example/gone", mime: "text/html", path: "SL", body: "<p>gone", status: 404},
	)
	archived(t, store, "b", exchange{url: "http://a.example/", mime: "text/html", path: "S", body: ravens, revisit: &first[0].Visit})
	check := func(list []selection.Facts) {
		t.Helper()
		if len(list) != 3 {
			t.Fatalf("%+v", list)
		}
		for i, url := range []string{"http://a.example/", "http://a.example/", "http://a.example/other"} {
			if list[i].URL != url {
				t.Errorf("candidate %d is %s, want %s", i, list[i].URL, url)
			}
		}
		f := list[0]
		if f.Title != "Ravens" || !strings.Contains(f.Text, "The raven flew") || f.Host != "a.example" || f.Site != "a.example" || f.Crawl != "c" || f.Score != 0.5 ||
			f.Application != "phpBB" || f.Level != "thread" || f.Status != 200 || f.MIME != "text/html" || !slices.Equal(f.Types, []string{"post"}) || f.Author != "ann" || f.Print == 0 {
			t.Errorf("%+v", f)
		}
		if r := list[1]; r.Text != f.Text || r.Print != f.Print || !r.Date.After(f.Date) || r.MIME != "text/html" {
			t.Errorf("revisit: %+v", r)
		}
		if o := list[2]; !slices.Equal(o.Anchors, []string{"the other one"}) || o.Print != 0 {
			t.Errorf("%+v", o)
		}
	}
	plain := read(t, store)
	check(plain)
	d := derive.Deriver{Store: store, Dir: t.TempDir(), Now: func() time.Time { return epoch }}
	for _, batch := range []string{"a", "b"} {
		if _, err := d.Segment(t.Context(), archive.CrawlAt{Name: "c"}, archive.SegmentName(batch, "0123456789abcdef"), derive.Text); err != nil {
			t.Fatal(err)
		}
	}
	derived := read(t, store)
	check(derived)
	for i := range plain {
		if plain[i].Text != derived[i].Text || plain[i].Print != derived[i].Print {
			t.Errorf("%s has another text or print if it was derived:\n%q\n%q", plain[i].URL, plain[i].Text, derived[i].Text)
		}
	}
}

// TestOf: crawls that a selection names must be there.
func TestOf(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Of(t.Context(), store, selection.Creation{}); err == nil || !strings.Contains(err.Error(), "no crawl") {
		t.Error(err)
	}
	archived(t, store, "a", exchange{url: "http://a.example/", mime: "text/html", path: "S", body: ravens})
	if list, err := Of(t.Context(), store, selection.Creation{Crawls: []string{"c"}}); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
	if _, err := Of(t.Context(), store, selection.Creation{Crawls: []string{"c", "d"}}); err == nil || !strings.Contains(err.Error(), `"d"`) {
		t.Error(err)
	}
}

// TestDamaged: of a segment that cannot be read it is said once, and the others are read. What a damaged derivation would say, the pages do.
func TestDamaged(t *testing.T) {
	for _, test := range []struct {
		damage string // a pattern
		pages  int
	}{
		{"c/segments/a-*.json", 1}, {"c/data/a-*.cdxj", 1}, {"c/data/a-*.warc.gz", 1}, {"c/data/a-*.objects.zst", 1}, {"c/data/a-*.links.zst", 2}, {"c/derived/text-*/a-*.zst", 2},
	} {
		t.Run(test.damage, func(t *testing.T) {
			dir := t.TempDir()
			store, err := archive.OpenDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"a", "b"} {
				archived(t, store, name, exchange{url: "http://" + name + ".example/", mime: "text/html", path: "S", body: ravens})
			}
			d := derive.Deriver{Store: store, Dir: t.TempDir(), Now: func() time.Time { return epoch }}
			if _, err := d.Segment(t.Context(), archive.CrawlAt{Name: "c"}, archive.SegmentName("a", "0123456789abcdef"), derive.Text); err != nil {
				t.Fatal(err)
			}
			found, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(test.damage)))
			if err != nil || len(found) != 1 {
				t.Fatalf("%q, %v", found, err)
			}
			if err := os.WriteFile(found[0], []byte("x"), 0o600); err != nil {
				t.Fatal(err)
			}
			var said []error
			a := Archive{Store: store, Crawls: []archive.CrawlAt{{Name: "c"}}, Complain: func(err error) { said = append(said, err) }}
			pages := 0
			err = a.Each(t.Context(), func(f selection.Facts) error {
				if pages++; f.Title != "Ravens" || f.Text == "" {
					t.Errorf("%+v", f)
				}
				return nil
			})
			if err != nil || pages != test.pages || len(said) != 1 {
				t.Errorf("%d pages, %v, %v", pages, said, err)
			}
			if err := a.Each(t.Context(), func(selection.Facts) error { return archive.ErrNotFound }); !errors.Is(err, archive.ErrNotFound) {
				t.Errorf("the error of who takes candidates is %v", err)
			}
		})
	}
}

// TestUnmodified: a 304 has the status and the score of its original, so that rules that ask for them match both.
func TestUnmodified(t *testing.T) {
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	first := archived(t, store, "a", exchange{url: "http://a.example/", mime: "text/html", path: "S", body: ravens})
	archived(t, store, "b", exchange{url: "http://a.example/", path: "S", revisit: &first[0].Visit, unmodified: true})
	list := read(t, store)
	if len(list) != 2 || list[1].Status != 200 || list[1].Score != 0.5 || list[1].Text != list[0].Text {
		t.Errorf("%+v", list)
	}
}
