package catalogue

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

var entry = Entry{
	Key: "com,example)/a", WARC: "p/c/data/s-0011.warc.gz", Segment: "s", Run: 3, Title: "Ravens", Language: "en",
	Indexed: archive.Indexed{
		URL: "http://example.com/a", Date: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Status: 200, MIME: "text/html", Digest: "sha1:ABC", Length: 12, Offset: 345, Score: 0.5,
		Application: "wordpress",
	},
	Crawl: archive.CrawlAt{Prefix: "p", Name: "c"},
}

// TestFilters: pywb's documented filters, and what is wrong with others.
func TestFilters(t *testing.T) {
	for _, test := range []struct {
		filter string
		fits   bool
	}{
		{"mime:html", true}, {"=mime:text/html", true}, {"=mime:html", false}, {"~mime:.*/html$", true}, {"~mime:html", false},
		{"!mime:html", false}, {"!=mime:text/html", false}, {"!=mime:text/plain", true}, {"!~mime:.*/html", false}, {"!~mime:image/", true},
		{"mimetype:html", true}, {"=statuscode:200", true}, {"=status:200", true}, {"!=status:200", false}, {"original:example", true},
		{"urlkey:example)", true}, {"~url:.*\\.php$", false}, {"~url:.*/a$", true}, {"=url:http://example.com/a", true},
		{"/a 20260304050607", true}, {"/a 20260304050608", false}, {"=digest:ABC", true}, {"score:0.5", true}, {"=application:wordpress", true},
		{"=language:en", true}, {"title:Rav", true}, {"=crawl:c", true}, {"=run:3", true}, {"=segment:s", true}, {"=filename:s-0011.warc.gz", true},
		{"http://example.com/a", true}, {"=http://example.com/a", false}, {"!https://", true}, {"url://example", true}, {"=url://example", false}, {"a.example:80", false}, {"!a.example:80", true},
		{"~com,example\\)/a (?:x|[0-9]{14}) http://", true}, {"~com,example:80\\)", false}, {"/a:1", false}, {"=timestamp:20260304050607", true}, {"=length:12", true}, {"=offset:345", true}, {"~timestamp:2026", true}, {"", true}, {"!", false},
	} {
		f, err := ParseFilter(test.filter)
		if err != nil {
			t.Errorf("%s: %v", test.filter, err)
			continue
		}
		if got := f.Fits(&entry); got != test.fits {
			t.Errorf("%s: %v", test.filter, got)
		}
	}
	for _, bad := range []string{"blah:200", "~mime:(", "~mime:" + strings.Repeat("a{1000}", 20), "mime:" + strings.Repeat("x", maxFilter), ":x", "redirect:x", "localhost:80", "time_stamp:x"} {
		var wrong *QueryError
		if _, err := ParseFilter(bad); !errors.As(err, &wrong) || wrong.Field != "filter" {
			t.Errorf("%.40s: %v", bad, err)
		}
	}
}

// TestTimes: a time names its first and its last second. Year 1 is none: a zero time means that there is none.
func TestTimes(t *testing.T) {
	for text, want := range map[string]string{
		"2026": "20260101000000 20261231235959", "202602": "20260201000000 20260228235959", "20260304050607": "20260304050607 20260304050607", "0002": "00020101000000 00021231235959",
		"9999": "99990101000000 99991231235959", "0001": "", "00010101000000": "", "00011231235959": "", "0000": "", "20260": "", "202613": "", "": "", "202603040506071": "", "2O26": "",
	} {
		got := ""
		first, last, err := ParseTime(text)
		if err == nil {
			got = first.Format(Timestamp) + " " + last.Format(Timestamp)
		}
		if got != want {
			t.Errorf("%s: %q, want %q (%v)", text, got, want, err)
		}
	}
}

func TestPLDOf(t *testing.T) {
	for key, want := range map[string]string{
		"com,example)/": "example.com", "com,example,a,b)/x,y": "example.com", "uk,co,example,a:8080)/": "example.co.uk", "1,0,0,127)/": "127.0.0.1",
		"1,0,0,127:80)/": "127.0.0.1", "2001:db8::1)/": "2001:db8::1", "localhost)/": "localhost", "com)/": "com", "": "",
	} {
		if got := PLDOf(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// TestKeys: keys that are too long differ where their URLs do, and keep their beginning.
func TestKeys(t *testing.T) {
	long := "http://example.com/" + strings.Repeat("x", 5000)
	a, errA := KeyOf(long)
	b, errB := KeyOf(long + "y")
	if errA != nil || errB != nil || a == b || len(a) != maxKey || !strings.HasPrefix(a, "com,example)/xxx") || checkKey(a) != nil {
		t.Errorf("%d bytes, %v, %v", len(a), errA, errB)
	}
	if _, err := KeyOf("dns:example.com"); err == nil {
		t.Error("a URL of another scheme has a key")
	}
}

// TestNumbers: the number of a segment is that of all its names, and never changes: catalogues are ordered by it.
func TestNumbers(t *testing.T) {
	names := []SegmentName{
		{archive.CrawlAt{Prefix: "a", Name: "b"}, "c"}, {archive.CrawlAt{Prefix: "ab", Name: ""}, "c"}, {archive.CrawlAt{Prefix: "", Name: "ab"}, "c"}, {archive.CrawlAt{Prefix: "a", Name: "bc"}, ""},
	}
	var seen []int64
	for _, n := range names {
		if slices.Contains(seen, n.Number()) || n.Number() < 0 {
			t.Errorf("%v: %d", n, n.Number())
		}
		seen = append(seen, n.Number())
	}
	if got := names[0].Number(); got != 6211526928385920863 {
		t.Errorf("%v: %d", names[0], got)
	}
}

func FuzzCursor(f *testing.F) {
	f.Add(entry.Cursor())
	f.Add("")
	f.Add("MSAyIDMgeA")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParseCursor(text)
		if err != nil {
			return
		}
		again, err := ParseCursor(p.Cursor())
		if err != nil || again != p {
			t.Errorf("%q: %+v, then %+v, %v", text, p, again, err)
		}
	})
}

func FuzzFilter(f *testing.F) {
	f.Add("!~mime:.*/html$")
	f.Add("=status:200")
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := ParseFilter(text)
		if err != nil {
			return
		}
		e := entry
		opposite, err := ParseFilter("!" + text)
		if !strings.HasPrefix(text, "!") && (err != nil && len(text) < maxFilter || err == nil && opposite.Fits(&e) == filter.Fits(&e)) {
			t.Errorf("%q and its opposite: %v", text, err)
		}
	})
}

// FuzzSpans: whatever URL is asked for, the keys of its spans are in order, and its own key is in each match type's.
func FuzzSpans(f *testing.F) {
	f.Add("http://www.example.com/a/?b=c")
	f.Add("[2001:db8::1]:81/x")
	f.Add("com")
	f.Fuzz(func(t *testing.T, url string) {
		for m := Exact; m <= Range && url != ""; m++ {
			q := Query{URL: url, Match: m}
			spans, err := q.spans()
			if err != nil {
				continue
			}
			key, err := keyAsWritten("url", url)
			if err != nil {
				t.Fatal(err)
			}
			found, end := false, ""
			for _, s := range spans {
				if s.Exact {
					found = found || s.From == key
					continue
				}
				if s.From < end || s.Until <= s.From {
					t.Errorf("%q, match %d: span %+v after %q", url, m, s, end)
				}
				end = s.Until
				found = found || key >= s.From && key < s.Until || m == Prefix && key+"/" == s.From
			}
			if !found {
				t.Errorf("%q, match %d: %q is not in %+v", url, m, key, spans)
			}
		}
	})
}
