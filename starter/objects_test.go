package starter

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/kb"
)

// TestObjects: the texts of objects are read from the records of their pages, and for revisits from the records that they refer to. A
// missing record is reported.
func TestObjects(t *testing.T) {
	base, err := kb.Shipped()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
	text := `<title>Ravens</title><article><h1>Ravens</h1>` + strings.Repeat("<p>The raven flew over the hills, and came back with the news of the day.</p>", 30) + `</article>`
	d := page.Parse(page.Input{URL: "http://a.example/", MIME: "text/html; charset=utf-8", Body: []byte(text)}, page.DefaultLimits())
	read := crawl.Judged{Parsed: crawl.Parsed{Page: d.Page, Findings: aah.New(base, aah.DefaultLimits()).Apply(d, aah.Input{})}}
	if len(read.Objects) != 1 || read.Objects[0].Properties.Get("body") == "" {
		t.Fatalf("%+v", read.Objects)
	}
	chunked := func(s string) string {
		return "5\r\n" + s[:5] + "\r\n" + strconv.FormatInt(int64(len(s)-5), 16) + "\r\n" + s[5:] + "\r\n0\r\n\r\n"
	}
	put := func(batch, url, text string, at time.Time, seen *crawl.Visit) archive.Recorded {
		t.Helper()
		original := func(string, string) (crawl.Visit, bool) {
			if seen == nil {
				return crawl.Visit{}, false
			}
			return *seen, true
		}
		s, err := archive.NewSegment(t.TempDir(), archive.Label{Crawl: "c", Batch: batch, Nonce: "0123456789abcdef", Worker: "w"}, at, original)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
		body := chunked(text)
		rec, err := s.Add(archive.Capture{
			Exchange: crawl.Exchange{
				Kind: crawl.ExchangePage, URL: url, Started: at, Status: 200, HeaderBytes: int64(len(head)), MIME: "text/html", IP: "192.0.2.1", Path: "S", Chunked: true,
				Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200},
			},
			Page: &read, Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + body), Header: of(head), Body: of(body),
		})
		if err == nil {
			_, err = s.Commit(t.Context(), store)
		}
		if err != nil {
			t.Fatal(err)
		}
		return rec
	}
	at := time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)
	first := put("b", "http://a.example/", text, at, nil)
	if again := put("a", "http://a.example/again", text, at.Add(time.Hour), &first.Visit); !again.Revisit {
		t.Fatalf("%+v", again)
	}
	run := func(args ...string) (list []archive.WebObject, said string, err error) {
		cmd := objectsCommand()
		var out, complaints bytes.Buffer
		cmd.SetOut(&out)
		cmd.SetErr(&complaints)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		cmd.SetArgs(args)
		err = cmd.ExecuteContext(t.Context())
		for dec := json.NewDecoder(&out); dec.More(); {
			var o archive.WebObject
			if err := dec.Decode(&o); err != nil {
				t.Fatal(err)
			}
			list = append(list, o)
		}
		return list, complaints.String(), err
	}
	list, complaints, err := run(dir, "c")
	if err != nil || len(list) != 2 || complaints != "" {
		t.Fatalf("%+v, %q, %v", list, complaints, err)
	}
	for _, o := range list {
		if body, markup := o.Properties.Get("body"), o.Properties.Get(crawl.Markup); body != read.Objects[0].Properties.Get("body") || !strings.Contains(markup, "<p>The raven") {
			t.Errorf("%s: %q %q", o.URL, body, markup)
		}
	}
	put("c", "http://a.example/other", strings.Replace(text, "raven", "crow", 1), at, nil) // not the page that the object is of
	if list, complaints, err = run(dir, "c"); err == nil || len(list) != 3 || !strings.Contains(complaints, "http://a.example/other") || list[2].Properties[1].Place == nil {
		t.Errorf("%+v, %q, %v", list, complaints, err)
	}
	for _, wrong := range [][]string{{dir}, {dir, "none"}, {filepath.Join(dir, "none"), "c"}} {
		if list, _, err := run(wrong...); err == nil {
			t.Errorf("%q says %+v", wrong, list)
		}
	}
}
