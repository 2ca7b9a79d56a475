package room_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/room"
)

const (
	home     = "url=http%3A%2F%2Fa.example%2F"
	policyOf = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

// pages are the pages of the archive of ravens: what they say, and what their JSON says.
var pages = []struct {
	target string
	status int
	says   []string // in the HTML
	not    []string
	json   []string // in the JSON
}{
	{"/", 200, []string{"Reading room", `href="/crawl?name=c"`, `for="q"`, "Skip to content"}, nil, []string{`"name": "d"`}},
	{"/crawls", 200, []string{`href="/crawl?name=d"`}, nil, []string{`"viewed": 3`}},
	{"/search?q=raven", 200, []string{"1 to 4 of 4", "<mark>Raven</mark>", `href="/capture?at=20260304050607`, "2026-03", "relevance 0.750", "date%3A2026-03"}, []string{"Wings carry"},
		[]string{`"total": 4`, `"marked": true`, `"histogram"`}},
	{"/search?q=wings", 200, []string{"On wings", "by <bdi>Munin</bdi>", `href="/object?at=20260304050607`}, nil, []string{`"object": 1`, `"type": "post"`}},
	{"/search?q=raven+site%3Ab.example", 200, []string{"1 to 1 of 1", "Raven elsewhere"}, []string{"diary"}, []string{`"total": 1`}},
	{"/search?q=nothingofthekind", 200, []string{"Nothing was found."}, nil, []string{`"total": 0`}},
	{"/search?q=raven+foo%3Abar", 400, []string{"there is no field foo", "raven <mark>▸</mark>foo:bar"}, nil, []string{`"at": 6`, `"hits": []`}},
	{"/search?q=raven&page=600", 400, []string{"only the first"}, nil, []string{`"status": 400`}},
	{"/search?q=raven&page=999999", 400, []string{"only the first"}, nil, []string{`"status": 400`}},
	{"/search?q=raven&page=99999999999999999999", 400, []string{"only the first"}, nil, []string{`"status": 400`}},
	{"/capture?" + home + "&at=20260304050607", 200, []string{"A raven&#39;s diary", "The raven flew over the hills.\nIt came back.", "run 1", "On beaks", "http://via.example/from", "seed → link", "phpBB", "thread",
		"Later: 2026-03-05", `rel="noopener noreferrer nofollow external"`, "elsewhere", "c/data/a.example-1@w.1-", `href="/cite/c/a.example-1@w.1-`}, []string{"Earlier"}, []string{`"via": "http://via.example/from"`, `"hop_path": "L"`, `"level": "thread"`}},
	{"/capture?" + home, 200, []string{"The page was unchanged since", "The raven flew over the hills.", "Earlier: 2026-03-04", "Changes since"}, nil, []string{`"revisit": true`, `"revisit_of"`}},
	{"/capture?url=http%3A%2F%2Fa.example%2Fpicture.png", 200, []string{"has no text", "image/png"}, nil, []string{`"mime": "image/png"`}},
	{"/capture?url=http%3A%2F%2Fnone.example%2F", 404, []string{"there is no capture of http://none.example/"}, nil, []string{`"status": 404`}},
	{"/capture", 400, []string{"url is missing"}, nil, []string{`"error": "url is missing"`}},
	{"/capture?" + home + "&at=yesterday", 400, []string{"is no time"}, nil, []string{`"status": 400`}},
	{"/capture?" + home + "&at=0001", 400, []string{"is no time of a year from 0002 on"}, nil, []string{`"status": 400`}},
	{"/capture?" + home + "&at=0001-01-01T00%3A00%3A00Z", 400, []string{"is no time of a year from 0002 on"}, nil, []string{`"status": 400`}},
	{"/capture?" + home + "&at=2026-03-04T06%3A06%3A07%2B01%3A00", 200, []string{"A raven&#39;s diary", "Later: 2026-03-05"}, nil, []string{`"date": "2026-03-04T05:06:07Z"`}},
	{"/object?" + home + "&n=0", 200, []string{"A beak is a tool.", "Next object", "Hugin"}, []string{"Previous"}, []string{`"author": "Hugin"`}},
	{"/object?" + home + "&n=7", 404, []string{"no web object 7"}, nil, []string{`"status": 404`}},
	{"/calendar?" + home, 200, []string{"2 captures", "March 2026", "unchanged", "05:06:07"}, nil, []string{`"unchanged": true`, `"year": 2026`}},
	{"/calendar?url=http%3A%2F%2Fa.example%2Fsecond", 200, []string{"April 2026", "/compare?"}, nil, []string{`"changes"`}},
	{"/compare?url=http%3A%2F%2Fa.example%2Fsecond&before=2026030405&after=202604", 200, []string{"1 lines were added, 1 removed", "<del>", "A crow is no raven.", "A crow is a raven&#39;s cousin."}, nil, []string{`"change": "added"`}},
	{"/compare?" + home + "&before=2026030405&after=202605", 200, []string{"Both have the same bytes."}, nil, []string{`"same_payload": true`}},
	{"/host?host=a.example", 200, []string{"6 captures, 1 of them unchanged", "phpBB", "2026-04", "0.500", `href="/host?host=b.example"`}, nil, []string{`"mean_score": 0.5`}},
	{"/host?host=none.example", 404, []string{"no capture"}, nil, []string{`"status": 404`}},
	{"/host?host=a%2Fb", 400, []string{"no name of a host"}, nil, []string{`"status": 400`}},
	{"/crawl?name=c", 200, []string{"ravens in letters", "raven, <bdi>crow</bdi>", "Run 2", "robots.txt disallows it", "connection refused", "http://a.example/down", "<bdi>corvid</bdi>", "kb/run-1/a.example@w.xml", "reports/run-1"}, nil,
		[]string{`"keywords": [`, `"learned_rules"`, `"attempts": 2`}},
	{"/crawl?name=none", 404, []string{"there is no crawl"}, nil, []string{`"status": 404`}},
	{"/replay?" + home + "&at=20260304050607", 200, []string{"2026-03-04 05:06:07 UTC", "archived by crawl", `src="http://127.0.0.1:8481/room/frame?at=20260304050607`, `sandbox="allow-scripts allow-same-origin allow-forms"`}, nil, []string{`"crawl": "c"`}},
	{"/nowhere", 404, []string{"there is no such page"}, nil, []string{`"status": 404`}},
}

// TestPages: each page and its JSON says what is in the archive, under the policies of the room.
func TestPages(t *testing.T) {
	r := ravens(t)
	_, h := r.open()
	for _, p := range pages {
		t.Run(p.target, func(t *testing.T) {
			w := ask(t, h, p.target)
			body := strings.ReplaceAll(w.Body.String(), "</bdi>, <bdi>", ", <bdi>")
			body = strings.ReplaceAll(body, "<bdi>raven, ", "raven, ")
			if w.Code != p.status {
				t.Errorf("status %d, want %d: %s", w.Code, p.status, body)
			}
			for _, s := range p.says {
				if !strings.Contains(body, s) {
					t.Errorf("it does not say %q:\n%s", s, body)
				}
			}
			for _, s := range p.not {
				if strings.Contains(body, s) {
					t.Errorf("it says %q", s)
				}
			}
			headers(t, w.Header(), "text/html; charset=utf-8", strings.HasPrefix(p.target, "/replay"))
			sep := "?"
			if strings.Contains(p.target, "?") {
				sep = "&"
			}
			twin := ask(t, h, p.target+sep+"format=json")
			if twin.Code != p.status || !json.Valid(twin.Body.Bytes()) {
				t.Errorf("JSON: status %d: %s", twin.Code, twin.Body)
			}
			for _, s := range p.json {
				if !strings.Contains(twin.Body.String(), s) {
					t.Errorf("JSON does not say %s:\n%s", s, twin.Body)
				}
			}
			headers(t, twin.Header(), "application/json; charset=utf-8", false)
			accepts := ask(t, h, p.target, func(req *http.Request) { req.Header.Set("Accept", "application/json") })
			if !json.Valid(accepts.Body.Bytes()) {
				t.Error("Accept: application/json is not obeyed")
			}
		})
	}
}

func headers(t *testing.T, h http.Header, kind string, framed bool) {
	t.Helper()
	want := policyOf
	if framed {
		want += "; script-src 'self'; connect-src 'self'; frame-src http://127.0.0.1:8481"
	}
	for name, value := range map[string]string{
		"Content-Type": kind, "Content-Security-Policy": want, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "X-Frame-Options": "DENY",
	} {
		if got := h.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}
}

// TestRaw: bodies, headers, records and files are given as bytes that nothing runs.
func TestRaw(t *testing.T) {
	_, h := ravens(t).open()
	const attachment = `attachment; filename="capture-20260304050607.bin"`
	for _, c := range []struct {
		target, kind, disposition, says string
		status                          int
	}{
		{"/raw?" + home + "&at=2026030405", "application/octet-stream", attachment, "<p>The raven flew", 200},
		{"/raw?" + home, "application/octet-stream", `attachment; filename="capture-20260305050607.bin"`, "<p>The raven flew", 200}, // a revisit
		{"/raw?url=http%3A%2F%2Fa.example%2Fpicture.png", "image/png", "", "\x89PNG\r\n\x1a\n", 200},
		{"/raw?" + home + "&at=2026030405&part=header", "text/plain; charset=utf-8", "", "HTTP/1.1 200 X\r\nContent-Type: text/html", 200},
		{"/raw?" + home + "&at=2026030405&part=record", "application/warc", `attachment; filename="capture-20260304050607.warc.gz"`, "\x1f\x8b", 200},
		{"/raw?" + home + "&part=x", "text/html; charset=utf-8", "", "part is record", 400},
		{"/file?crawl=c&name=reports%2Frun-1-20260304050607.000@w.html", "text/html; charset=utf-8", "", "<title>report</title>", 200},
		{"/file?crawl=c&name=definitions%2Frun-1.json", "text/plain; charset=utf-8", "", "ravens in letters", 200},
		{"/file?crawl=c&name=kb%2Frun-1%2Fa.example@w.xml", "text/plain; charset=utf-8", "", `<site name`, 200},
		{"/file?crawl=c&name=definitions%2F..%2F..%2Fd%2Fdefinitions%2Frun-1.json", "text/html; charset=utf-8", "", "no such file", 404},
		{"/file?crawl=c&name=segments%2Fa.example-1@w.1-0123456789abcdef.json", "text/html; charset=utf-8", "", "no such file", 404},
		{"/file?crawl=c&name=topic%2Fx.html", "text/html; charset=utf-8", "", "no such file", 404},
		{"/file?crawl=c&name=reports%2Fnone.html", "text/html; charset=utf-8", "", "no such file", 404},
	} {
		w := ask(t, h, c.target)
		if w.Code != c.status || w.Header().Get("Content-Type") != c.kind || w.Header().Get("Content-Disposition") != c.disposition || !strings.Contains(w.Body.String(), c.says) {
			t.Errorf("%s: %d %v %.80q", c.target, w.Code, w.Header(), w.Body)
		}
		if c.status == 200 && !strings.HasPrefix(w.Header().Get("Content-Security-Policy"), "sandbox; default-src 'none';") {
			t.Errorf("%s is not sealed: %s", c.target, w.Header().Get("Content-Security-Policy"))
		}
	}
}

// TestUnchangedHits: a hit says in which later captures the page was unchanged, as far as readers may see them.
func TestUnchangedHits(t *testing.T) {
	r := newRig(t)
	list := []exchange{{url: "http://a.example/", body: "<p>The raven stays."}, {url: "http://a.example/else", body: "<p>The crow."}}
	for i := range 3 {
		r.segment("c", fmt.Sprintf("a.example-%d@w.1", i), uint32(i+1), list...)
		for j := range list {
			list[j].at += 24 * time.Hour
		}
	}
	_, h := r.open()
	w := ask(t, h, "/search?q=raven&format=json")
	var p struct {
		Total int
		Hits  []struct {
			Date      time.Time
			Unchanged *struct {
				Captures int
				More     bool
				Last     time.Time
				Address  string
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil {
		t.Fatal(err)
	}
	last := epoch.Add(48 * time.Hour)
	if p.Total != 1 || len(p.Hits) != 1 || !p.Hits[0].Date.Equal(epoch) {
		t.Fatalf("%s", w.Body)
	}
	if u := p.Hits[0].Unchanged; u == nil || u.Captures != 2 || u.More || !u.Last.Equal(last) || !strings.Contains(u.Address, "at="+last.Format("20060102150405")) {
		t.Errorf("%s", w.Body)
	}
	if text := ask(t, h, "/search?q=raven").Body.String(); !strings.Contains(text, "unchanged in 2 later captures, last") {
		t.Errorf("%s", text)
	}
	r.now = last // the last one is not open yet
	var err error
	if r.rules, err = room.ReadRules([]byte("rules:\n  - crawl: c\n    embargo: 1d\n")); err != nil {
		t.Fatal(err)
	}
	_, h = r.open()
	if text := ask(t, h, "/search?q=raven").Body.String(); strings.Contains(text, "unchanged in") || !strings.Contains(text, "1 of 1") {
		t.Errorf("an embargo: %s", text)
	}
}
