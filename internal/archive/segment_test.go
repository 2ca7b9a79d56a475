package archive_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/archivecheck"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// check reads a directory with the independent reader.
func check(t *testing.T, dir string) archivecheck.Report {
	t.Helper()
	report, err := archivecheck.CheckDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Faults {
		t.Error(f)
	}
	for _, o := range report.Orphans {
		t.Errorf("%s is named by no manifest", o)
	}
	return report
}

// commitEverything archives a batch with a capture of every kind, and the earlier crawl that one of
// them is a revisit of.
func commitEverything(t *testing.T) (dir string, m archive.Manifest, recorded []archive.Recorded) {
	t.Helper()
	dir = t.TempDir()
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	earlier := plain("http://a.example/ancient", "<p>known from an earlier crawl")
	earlier.Started = epoch.AddDate(-1, 0, 0)
	before, originals := segment(t, "earlier", unknown, earlier)
	if _, err := before.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	pages, dns := everything(t)
	s, _ := segment(t, "b-1", func(_, digest string) (crawl.Visit, bool) {
		return originals[0].Visit, digest == originals[0].Digest
	})
	if err := s.Resource(dns); err != nil {
		t.Fatal(err)
	}
	for _, c := range pages {
		if c.Outcome.Kind == crawl.OutcomeUnmodified { // of "first", which came before
			c.Outcome.Visit.Digest = recorded[4].Digest
		}
		r, err := s.Add(c)
		if err != nil {
			t.Fatal(err)
		}
		recorded = append(recorded, r)
	}
	if m, err = s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	return dir, m, recorded
}

func TestSegmentIsSound(t *testing.T) {
	dir, m, recorded := commitEverything(t)
	report := check(t, dir)
	pages, _ := everything(t)
	if report.Segments != 2 || report.Responses != 1+13 || report.Revisits != 3 || report.Requests != 17 || report.Metadata != 17 ||
		report.Resources != 1 || report.Warcinfo != 2 || report.ChunkedRaw+report.ChunkedDecoded != 1 || len(report.Robots) != 2 {
		t.Errorf("%+v", report)
	}
	for i, c := range pages {
		revisit := strings.Contains("http://a.example/second http://a.example/old http://a.example/304", c.URL)
		if recorded[i].Revisit != revisit {
			t.Errorf("%s: revisit %v", c.URL, recorded[i].Revisit)
		}
		if seen := report.Pages[c.URL] + report.Robots[c.URL]; seen != 1 {
			t.Errorf("%s is archived %d times", c.URL, seen)
		}
	}
	if v := recorded[5].Visit; v.URL != "http://a.example/first" || !v.Date.Equal(epoch.Truncate(1e9)) {
		t.Errorf("the second of two is a revisit of %+v", v)
	}
	if v := recorded[6].Visit; v.URL != "http://a.example/ancient" {
		t.Errorf("the known one is a revisit of %+v", v)
	}
	if v := recorded[7].Visit; v.ETag != "\"new\"" || v.LastModified == "" || v.URL != "http://a.example/first" {
		t.Errorf("after 304 remembered: %+v", v)
	}
	payload := int64(0)
	for _, c := range pages {
		n, _ := io.Copy(io.Discard, c.Response())
		payload += n
	}
	want := archive.Counts{Pages: 14, Responses: 13, Revisits: 3, Robots: 2, DNS: 1, Links: 3, Objects: 1, Payload: payload}
	if m.Counts != want || m.Records != 1+1+3*16 {
		t.Errorf("counts %+v, not %+v; %d records", m.Counts, want, m.Records)
	}
	store, _ := archive.OpenDir(dir)
	read, err := archive.ReadManifest(t.Context(), store, label("b-1"))
	if err != nil || read.WARC != m.WARC || read.Counts != m.Counts || !read.Created.Equal(epoch) {
		t.Errorf("read back %+v, %v", read, err)
	}
}

// The WARC library's own reader, with all its validation on, finds the same records.
func TestSegmentReadByGowarc(t *testing.T) {
	dir, m, _ := commitEverything(t)
	r, err := gowarc.NewWarcFileReader(filepath.Join(dir, m.WARC.Key), 0, gowarc.WithSyntaxErrorPolicy(gowarc.ErrFail), gowarc.WithSpecViolationPolicy(gowarc.ErrFail))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	kinds := map[string]int{}
	for {
		rec, offset, validation, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("at %d: %v", offset, err)
		}
		if err := rec.Block().Cache(); err != nil {
			t.Fatal(err)
		}
		if err := rec.ValidateDigest(validation); err != nil || !validation.Valid() {
			t.Errorf("at %d: %v %v", offset, err, validation)
		}
		kinds[rec.Type().String()]++
		if rec.WarcHeader().Get(gowarc.WarcTargetURI) == "http://a.example/cut" && rec.Type() == gowarc.Response &&
			rec.WarcHeader().Get(gowarc.WarcTruncated) != "length" {
			t.Error("the truncated response does not say so")
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]int{"warcinfo": 1, "resource": 1, "response": 13, "revisit": 3, "request": 16, "metadata": 16}
	if fmt.Sprint(kinds) != fmt.Sprint(want) {
		t.Errorf("%v, not %v", kinds, want)
	}
}

func TestIndexAndSidecar(t *testing.T) {
	dir, m, _ := commitEverything(t)
	raw, err := os.ReadFile(filepath.Join(dir, m.CDXJ.Key))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(raw), "\n"), "\n")
	if len(lines) != 16 || !slices.IsSorted(lines) {
		t.Errorf("%d lines, sorted %v", len(lines), slices.IsSorted(lines))
	}
	for _, line := range lines {
		_, fields, _ := strings.Cut(line[strings.Index(line, " ")+1:], " ")
		var f map[string]string
		if err := json.Unmarshal([]byte(fields), &f); err != nil || f["filename"] != filepath.Base(m.WARC.Key) {
			t.Errorf("%s: %v", line, err)
		}
		revisit := strings.HasSuffix(f["url"], "/304") || strings.HasSuffix(f["url"], "/old") || strings.HasSuffix(f["url"], "/second")
		if revisit != (f["mime"] == "warc/revisit") {
			t.Error(line)
		}
	}
	store, err := archive.OpenDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var links []archive.Link
	err = archive.ReadLinks(t.Context(), store, m.Links.Key, func(l archive.Link) error {
		links = append(links, l)
		return nil
	})
	if err != nil || len(links) != 3 || links[0].Hop != 'L' || links[0].Source != "http://a.example/page" || links[0].URL != "http://a.example/next" ||
		links[0].Anchor != "next" || links[0].Paragraph != "the paragraph\nof the link" || links[0].Path != "SL" || links[0].Score != 0.5 ||
		links[1].Hop != 'E' || links[1].Paragraph != "" || links[2].Anchor != "\u2028 odd \x00 text" {
		t.Errorf("%+v, %v", links, err)
	}
	var objects []archive.WebObject
	if m.Objects == nil {
		t.Fatal("the manifest names no objects")
	}
	err = archive.ReadObjects(t.Context(), store, m.Objects.Key, func(o archive.WebObject) error {
		objects = append(objects, o)
		return nil
	})
	if err != nil || len(objects) != 1 || objects[0].Type != "post" || objects[0].URL != "http://a.example/page" || objects[0].Application != "wordpress" ||
		objects[0].Properties.Get("body") != "two\n\nlines  and: a colon" || objects[0].Date.IsZero() {
		t.Errorf("objects %+v, %v", objects, err)
	}
}

// TestFaultyAnswers: responses with a faulty header, or with none, are archived without faults, and their metadata says what is wrong.
func TestFaultyAnswers(t *testing.T) {
	odd := capture("http://a.example/odd", "HTTP/1.1 200 OK\nno colon here\n: x\nContent-Length: 7\n", "<p>page")
	odd.Fault = "a header line without a colon"
	refused := capture("http://a.example/nul", "HTTP/1.1 200 OK\nX: a\x00b\nContent-Length: 7\n", "<p>pa")
	refused.Fault, refused.Truncated, refused.Outcome.Kind = "a NUL in the header", "unspecified", crawl.OutcomeFailed
	bare := capture("http://a.example/bare", "", "<html><p>no header at all")
	bare.Response, bare.Header = bare.Body, func() io.Reader { return strings.NewReader("") }
	bare.HeaderBytes, bare.MIME, bare.Fault, bare.Status = 0, "", "no header at all (HTTP/0.9)", 200
	dir, store := newDir(t)
	s, recorded := segment(t, "faulty", unknown, odd, refused, bare)
	if _, err := s.Commit(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	report := check(t, dir)
	if report.Resources != 1 || report.Responses != 2 || report.Metadata != 3 || report.Requests != 3 {
		t.Errorf("%+v", report)
	}
	for i, r := range recorded {
		if r.Revisit {
			t.Errorf("capture %d is a revisit", i)
		}
	}
}

// TestShow: the document and the picture that a browser made of a page are resource records beside its response, and say what was cut off.
func TestShow(t *testing.T) {
	dir, store := newDir(t)
	s, recorded := segment(t, "shown", unknown, plain("http://a.example/app", "<div id=app>"))
	show := func(kind crawl.ExchangeKind, url, mime, body, truncated, of string) {
		c := capture(url, "", body)
		c.Kind, c.MIME, c.Truncated, c.Response = kind, mime, truncated, c.Body
		if err := s.Show(c, of); err != nil {
			t.Fatal(err)
		}
	}
	show(crawl.ExchangeView, "http://a.example/app", "image/jpeg", "\xff\xd8", "length", recorded[0].ID)
	show(crawl.ExchangeOpened, "http://a.example/app", "text/html; charset=utf-8", "<p>rendered", "time", recorded[0].ID)
	show(crawl.ExchangeOpened, "http://a.example/whole", "text/html; charset=utf-8", "<p>whole", "", "")
	m, err := s.Commit(t.Context(), store)
	if err != nil || m.Shown != 3 {
		t.Fatalf("%+v, %v", m.Counts, err)
	}
	if report := check(t, dir); report.Resources != 3 || report.Responses != 1 {
		t.Errorf("%+v", report)
	}
	r, err := gowarc.NewWarcFileReader(filepath.Join(dir, m.WARC.Key), 0, gowarc.WithSyntaxErrorPolicy(gowarc.ErrFail), gowarc.WithSpecViolationPolicy(gowarc.ErrFail))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	var got []string
	for {
		rec, _, _, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() == gowarc.Resource {
			h := rec.WarcHeader()
			raw, err := rec.Block().RawBytes()
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(raw)
			got = append(got, fmt.Sprintf("%s %s %q %q of %t %q %v", h.Get(gowarc.WarcTargetURI), h.Get(gowarc.ContentType), body, h.Get(gowarc.WarcTruncated), h.Get(gowarc.WarcConcurrentTo) == "<"+recorded[0].ID+">", h.Get(gowarc.WarcConcurrentTo)[:min(1, len(h.Get(gowarc.WarcConcurrentTo)))], err))
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
	}
	want := []string{
		`urn:view:http://a.example/app image/jpeg "\xff\xd8" "length" of true "<" <nil>`,
		`urn:dom:http://a.example/app text/html; charset=utf-8 "<p>rendered" "time" of true "<" <nil>`,
		`urn:dom:http://a.example/whole text/html; charset=utf-8 "<p>whole" "" of false "" <nil>`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
