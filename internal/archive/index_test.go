package archive_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// indexed commits captures and reads their index, by URL.
func indexed(t *testing.T, captures ...archive.Capture) map[string]archive.Indexed {
	t.Helper()
	_, store := newDir(t)
	s, _ := segment(t, "b-1", unknown, captures...)
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return readIndex(t, store, m.CDXJ.Key)
}

func readIndex(t *testing.T, store archive.Store, key string) map[string]archive.Indexed {
	t.Helper()
	all := map[string]archive.Indexed{}
	err := archive.ReadIndex(t.Context(), store, key, func(i archive.Indexed) error {
		if _, twice := all[i.URL]; twice {
			t.Errorf("%s is indexed twice", i.URL)
		}
		all[i.URL] = i
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// judged is a capture of a page with a score and an application.
func judged(url string, score float64, application string) archive.Capture {
	c := plain(url, "<p>"+url)
	c.Page = &crawl.Judged{Verdict: crawl.Verdict{Score: score}}
	c.Page.Page, c.Page.Application = crawl.Page{URL: url, Status: 200}, application
	return c
}

// The index has the score of a page, to four digits, and its application; neither for captures that were not parsed or judged.
func TestIndexKeepsScores(t *testing.T) {
	for i, c := range []struct {
		score       float64
		application string
		want        float64
	}{
		{0.75, "wordpress", 0.75}, {0.75, "", 0.75}, {-1, "mediawiki", -1}, {-1, "", -1},
		{0, "", 0}, {1, "", 1}, {1.0 / 3, "", 0.3333}, {0.99996, "", 1}, {1e-9, "", 0}, {math.NaN(), "", -1}, {math.Inf(1), "", 1}, {1.001, "", 1},
		{0.5, "a \"name\" with <signs> & Ümläüte\u2028", 0.5},
	} {
		url := fmt.Sprintf("http://a.example/%d", i)
		got := indexed(t, judged(url, c.score, c.application))[url]
		if math.Abs(got.Score-c.want) > 1e-12 || got.Application != c.application {
			t.Errorf("%v and %q come back as %v and %q, want %v", c.score, c.application, got.Score, got.Application, c.want)
		}
	}
	if got := indexed(t, plain("http://a.example/", "nobody looked at it"))["http://a.example/"]; got.Score != -1 || got.Application != "" {
		t.Errorf("a page that nobody looked at has %v and %q", got.Score, got.Application)
	}
}

// All other fields of a line are read back, including the position of the record.
func TestIndexRoundTrip(t *testing.T) {
	pages, _ := everything(t)
	dir, store := newDir(t)
	s, recorded := segment(t, "b-1", unknown, pages...)
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	warc, err := os.ReadFile(filepath.Join(dir, m.WARC.Key))
	if err != nil {
		t.Fatal(err)
	}
	all := readIndex(t, store, m.CDXJ.Key)
	if len(all) != len(pages) {
		t.Errorf("%d lines of %d captures", len(all), len(pages))
	}
	for n, c := range pages {
		i := all[c.URL]
		status, mime := c.Status, strings.Split(c.MIME, ";")[0]
		if recorded[n].Revisit {
			mime = "warc/revisit"
		}
		if status == 304 {
			status = 0
		}
		if mime == "" {
			mime = "unk"
		}
		score, application := -1.0, ""
		if c.Page != nil {
			score, application = c.Page.Verdict.Score, c.Page.Application
		}
		if i.Status != status || i.MIME != mime || i.Revisit != recorded[n].Revisit || i.Digest != recorded[n].Digest ||
			!i.Date.Equal(c.Started.UTC().Truncate(1e9)) || i.Score != score || i.Application != application {
			t.Errorf("%s: %+v", c.URL, i)
		}
		if end := i.Offset + i.Length; i.Offset <= 0 || i.Length <= 0 || end > int64(len(warc)) || warc[i.Offset] != 0x1f || warc[i.Offset+1] != 0x8b ||
			end < int64(len(warc)) && warc[end] != 0x1f {
			t.Errorf("%s: no record lies at %d, %d bytes long, of %d", c.URL, i.Offset, i.Length, len(warc))
		}
	}
}

// Lines of earlier versions have neither score nor application.
func TestIndexOfFormerVersions(t *testing.T) {
	const line = `example,a)/%d 20260304050607 {"url":"http://a.example/%d","mime":"text/html","status":"200","digest":"3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ","length":"123","offset":"456","filename":"x.warc.gz"%s}` + "\n"
	for _, c := range []struct {
		more        string
		score       float64
		application string
	}{
		{"", -1, ""},
		{`,"score":""`, -1, ""},
		{`,"score":"0.0000"`, 0, ""},
		{`,"score":"0.2500","application":"wordpress"`, 0.25, "wordpress"},
		{`,"application":"wordpress"`, -1, "wordpress"},
		{`,"something":"else","score":"0.5"`, 0.5, ""},
	} {
		dir, store := newDir(t)
		if err := os.WriteFile(filepath.Join(dir, "x.cdxj"), fmt.Appendf(nil, line, 1, 1, c.more), 0o600); err != nil {
			t.Fatal(err)
		}
		got := readIndex(t, store, "x.cdxj")["http://a.example/1"]
		want := archive.Indexed{
			URL: "http://a.example/1", Date: epoch.Truncate(1e9), Status: 200, Digest: "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ", MIME: "text/html",
			Length: 123, Offset: 456, Score: c.score, Application: c.application,
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", c.more, got, want)
		}
	}
}

// placed is a line of a CDXJ of a record at a place.
func placed(offset, length string) string {
	return fmt.Sprintf(`example,a)/ 20260304050607 {"url":"http://a.example/","mime":"text/html","status":"200","digest":"A","length":"%s","offset":"%s","filename":"x.warc.gz"}`+"\n", length, offset)
}

// A record must lie where a file can have one: what readers compute of its place stays in an int64.
func TestIndexPlaces(t *testing.T) {
	for _, c := range []struct {
		offset, length string
		good           bool
	}{
		{"0", "1", true},
		{"9223372036854775806", "1", true},
		{"9223372036854775807", "1", false},
		{"9223372036854775800", "9223372036854775800", false},
		{"1", "9223372036854775807", false},
		{"-1", "5", false},
		{"-9223372036854775808", "5", false},
		{"9223372036854775808", "1", false},
		{"5", "0", false},
		{"5", "-1", false},
		{"", "5", false},
		{"5", "", false},
		{"five", "5", false},
	} {
		dir, store := newDir(t)
		if err := os.WriteFile(filepath.Join(dir, "x.cdxj"), []byte(placed(c.offset, c.length)), 0o600); err != nil {
			t.Fatal(err)
		}
		err := archive.ReadIndex(t.Context(), store, "x.cdxj", func(archive.Indexed) error { return nil })
		if c.good != (err == nil) || err != nil && (!archive.Damaged(err) || !strings.Contains(err.Error(), "x.cdxj")) {
			t.Errorf("offset %q, length %q: %v", c.offset, c.length, err)
		}
	}
}

// A status and a score that no capture has make a line damaged: databases refuse them, and one line would keep all segments of a crawl out.
func TestIndexNumbers(t *testing.T) {
	const line = `example,a)/ 20260304050607 {"url":"http://a.example/","mime":"text/html","status":"%s","digest":"A","length":"1","offset":"2","filename":"x.warc.gz"%s}` + "\n"
	for _, c := range []struct {
		status, score string
		good          bool
	}{
		{"200", "0.5000", true}, {"0", "0.0000", true}, {"999", "1.0000", true}, {"", "", true}, {"-", "", true},
		{"1000", "", false}, {"-1", "", false}, {"99999999999", "", false}, {"9999999999999999999999", "", false}, {"OK", "", false}, {"200.0", "", false},
		{"200", "NaN", false}, {"200", "nan", false}, {"200", "Inf", false}, {"200", "-Inf", false}, {"200", "1.0001", false}, {"200", "-0.1", false},
		{"200", "-1", false}, {"200", "1e400", false}, {"200", "good", false},
	} {
		score := ""
		if c.score != "" {
			score = `,"score":"` + c.score + `"`
		}
		dir, store := newDir(t)
		if err := os.WriteFile(filepath.Join(dir, "x.cdxj"), fmt.Appendf(nil, line, c.status, score), 0o600); err != nil {
			t.Fatal(err)
		}
		err := archive.ReadIndex(t.Context(), store, "x.cdxj", func(archive.Indexed) error { return nil })
		if c.good != (err == nil) || err != nil && (!archive.Damaged(err) || !strings.Contains(err.Error(), "x.cdxj")) {
			t.Errorf("status %q, score %q: %v", c.status, c.score, err)
		}
	}
}

// With its manifest, an index is the one that was written, and of records within the WARC object.
func TestIndexOfManifest(t *testing.T) {
	dir, store := newDir(t)
	text := []byte(placed("10", "6"))
	if err := os.WriteFile(filepath.Join(dir, "x.cdxj"), text, 0o600); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	right := archive.Manifest{WARC: archive.Stored{Key: "x.warc.gz", Bytes: 16}, CDXJ: archive.Stored{Key: "x.cdxj", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:])}}
	for name, change := range map[string]func(*archive.Manifest){
		"":                        func(*archive.Manifest) {},
		"behind the end":          func(m *archive.Manifest) { m.WARC.Bytes-- },
		"another index":           func(m *archive.Manifest) { m.CDXJ.SHA256 = strings.Repeat("0", 64) },
		"an index that is longer": func(m *archive.Manifest) { m.CDXJ.Bytes-- },
		"one that is cut off":     func(m *archive.Manifest) { m.CDXJ.Bytes++ },
	} {
		m := right
		change(&m)
		err := archive.ReadIndexOf(t.Context(), store, &m, func(archive.Indexed) error { return nil })
		if damaged := (*archive.DamagedError)(nil); (name == "") != (err == nil) || err != nil && !errors.As(err, &damaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := archive.ReadIndexOf(t.Context(), store, &archive.Manifest{}, nil); err != nil {
		t.Errorf("of a segment without responses: %v", err)
	}
}

// A malformed line is an error that names the object. An error of the callback ends the reading and is returned.
func TestIndexFaults(t *testing.T) {
	for _, text := range []string{"nonsense\n", "a)/ 2026 {}\n", "a)/ 20260304050607 {\n", `a)/ 20260304050607 {"score":0.5}` + "\n", "\n"} {
		dir, store := newDir(t)
		if err := os.WriteFile(filepath.Join(dir, "x.cdxj"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		err := archive.ReadIndex(t.Context(), store, "x.cdxj", func(archive.Indexed) error { return nil })
		if err == nil || !strings.Contains(err.Error(), "x.cdxj") {
			t.Errorf("%q: %v", text, err)
		}
	}
	_, store := newDir(t)
	s, _ := segment(t, "b-1", unknown, judged("http://a.example/1", 0.5, ""), judged("http://a.example/2", 0.5, ""))
	m, err := s.Commit(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	enough, n := errors.New("enough"), 0
	err = archive.ReadIndex(t.Context(), store, m.CDXJ.Key, func(archive.Indexed) error { n++; return enough })
	if !errors.Is(err, enough) || n != 1 {
		t.Errorf("%d lines, %v", n, err)
	}
	if err := archive.ReadIndex(t.Context(), store, "none.cdxj", nil); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("%v", err)
	}
}
