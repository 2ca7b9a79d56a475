package cdx_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/catalogue/sqlite"
	"github.com/muninn-archive/muninn/internal/room/cdx"
)

// iana are captures as pywb's own tests have them: time, URL, MIME, status, digest, length, offset.
const iana = `
20140126200624 http://www.iana.org/ text/html 200 OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB 2258 334
20140127171238 http://iana.org/ unk 302 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 343 1858
20140127171239 http://www.iana.org/ warc/revisit - OSSAPWJ23L56IYVRW3GFEAR4MCJMGPTB 536 2678
20140126200625 http://www.iana.org/_css/2013.1/screen.css text/css 200 BUAEPXZNN44AIX3NLXON4QDV6OY2H5QD 8754 41238
20140126200653 http://www.iana.org/_css/2013.1/screen.css warc/revisit - BUAEPXZNN44AIX3NLXON4QDV6OY2H5QD 533 328367
20140126201054 http://www.iana.org/_css/2013.1/screen.css warc/revisit - BUAEPXZNN44AIX3NLXON4QDV6OY2H5QD 543 706476
20140126201055 http://www.iana.org/_css/2013.1/screen.css warc/revisit - BUAEPXZNN44AIX3NLXON4QDV6OY2H5QD 543 706477
20140126200625 http://www.iana.org/f.ttf application/octet-stream 200 YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 117166 198285
20140126200654 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 548 482544
20140126200706 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 552 495230
20140126200805 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 552 495231
20140126200816 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 552 495232
20140126200826 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 552 495233
20140126200912 http://www.iana.org/f.ttf warc/revisit - YFUR5ALIWJMWV6FAAFRLVRQNXZQF5HRW 552 495234
20140126200825 http://www.iana.org/domains text/html 200 7UPSCLNWNZP33LGW6OJGSF2Y4CDG4ES7 2912 610534
20140126201248 http://www.iana.org/domains/arpa text/html 200 QOFZZRN6JIKAL2JRL6ZC2VVG42SPKGHT 2939 759039
20140126200927 http://www.iana.org/domains/root/db/ text/html 302 3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ 446 671278
20140126200928 http://www.iana.org/domains/root/db text/html 200 DHXA725IW5VJJFRTWBQT6BEZKRE7H57S 18365 672225
20140126200929 http://www.iana.org/domains/logo.png image/png 200 LOGO 10 672226
20130729195151 http://example.com/ warc/revisit - B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 591 355
20140127171200 http://example.com/ text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 1046 334
20140127171251 http://example.com/ warc/revisit - B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 553 11875
20140103030321 http://example.com/?example=1 text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 1043 333
20140103030341 http://example.com/?example=1 warc/revisit - B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 553 1864
20140103030350 http://example.com/?example=2 text/html 200 B2LTWWPUOYAH7UIPQ7ZUPQ4VMBSVC36A 553 1865
20140103030351 http://sub.example.com/x.php text/html 200 PHP 553 1866
20140103030352 http://example.org/ text/html 200 ORG 553 1867
`

// index is a catalogue with the captures of iana.
func index(t testing.TB) catalogue.Catalogue {
	t.Helper()
	c, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: archive.CrawlAt{Name: "c"}, Name: "s"}, WARC: "c/data/iana.warc.gz"}
	for line := range strings.Lines(strings.TrimSpace(iana)) {
		var stamp, status string
		e := catalogue.Entry{Indexed: archive.Indexed{Score: -1}}
		if _, err := fmt.Sscan(line, &stamp, &e.URL, &e.MIME, &status, &e.Digest, &e.Length, &e.Offset); err != nil {
			t.Fatal(line, err)
		}
		if e.Date, err = time.Parse(catalogue.Timestamp, stamp); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Sscan(status, &e.Status)
		e.Revisit, e.Digest = status == "-", "sha1:"+e.Digest
		s.Entries = append(s.Entries, e)
	}
	if err := c.AddSegments(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	return c
}

// get asks a handler.
func get(t testing.TB, h http.Handler, query string) (*http.Response, string) {
	t.Helper()
	server := httptest.NewServer(h)
	defer server.Close()
	answer, err := http.Get(server.URL + "/cdx?" + query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer, string(body)
}

// TestPywb: the cases that pywb documents for its server and tests it by. Lines are of output=text, unless a case asks for another.
func TestPywb(t *testing.T) {
	h := cdx.New(index(t))
	for _, test := range []struct {
		name, query string
		want        []string // times; in full where fl is given
	}{
		{"exact", "url=http://iana.org/", []string{"20140126200624", "20140127171238", "20140127171239"}},
		{"without a scheme", "url=iana.org", []string{"20140126200624", "20140127171238", "20140127171239"}},
		{"limit", "url=http://iana.org/f.ttf&limit=3", []string{"20140126200625", "20140126200654", "20140126200706"}},
		{"reverse", "url=http://iana.org/f.ttf&sort=reverse&limit=3", []string{"20140126200912", "20140126200826", "20140126200816"}},
		{"from and to a year", "url=http://example.com/&from=2013&to=2013", []string{"20130729195151"}},
		{"from", "url=http://example.com/&from=2014", []string{"20140127171200", "20140127171251"}},
		{"no result", "url=http://example.com/&to=2012", nil},
		{"not there", "url=http://iana.org/dont_have_this&sort=reverse&limit=2", nil},
		{"filter contains", "url=http://iana.org/domains&matchType=prefix&filter=mimetype:html", []string{"20140126200825", "20140126201248", "20140126200927", "20140126200928"}},
		{"filter regular expression", "url=http://iana.org/domains&matchType=prefix&filter=~mimetype:.*/html$", []string{"20140126200825", "20140126201248", "20140126200927", "20140126200928"}},
		{"filter exact", "url=http://iana.org/domains&matchType=prefix&filter==mimetype:text/html", []string{"20140126200825", "20140126201248", "20140126200927", "20140126200928"}},
		{"filter statuscode", "url=http://iana.org/_css/2013.1/screen.css&filter=statuscode:200", []string{"20140126200625"}},
		{"filter status", "url=http://iana.org/_css/2013.1/screen.css&filter=status:200", []string{"20140126200625"}},
		{"filter of the line", "url=http://iana.org/_css/2013.1/screen.css&filter=screen.css+20140126200625", []string{"20140126200625"}},
		{"filter, star", "url=http://example.com*&filter==urlkey:com,example)/?example=1", []string{"20140103030321", "20140103030341"}},
		{"filter exact invert", "url=http://example.com&matchType=prefix&filter=!=urlkey:com,example)/?example=1&filter=!=urlkey:com,example)/?example=2", []string{"20130729195151", "20140127171200", "20140127171251"}},
		{"filter contains, key", "url=http://example.com&matchType=prefix&filter=urlkey:example=1", []string{"20140103030321", "20140103030341"}},
		{"filter contains invert", "url=http://example.com&matchType=prefix&filter=!urlkey:example=", []string{"20130729195151", "20140127171200", "20140127171251"}},
		{"filter regex", "url=http://example.com&matchType=prefix&filter=~urlkey:.*example=1$", []string{"20140103030321", "20140103030341"}},
		{"filter regex invert", "url=http://example.com&matchType=prefix&filter=!~urlkey:.*example=[0-9]$", []string{"20130729195151", "20140127171200", "20140127171251"}},
		{"documented: mime and not status", "url=iana.org/*&filter==mime:text/html&filter=!=status:200", []string{"20140126200927"}},
		{"documented: regular expression of the URL", "url=example.com&matchType=domain&filter=~url:.*\\.php$", []string{"20140103030351"}},
		{"host", "url=http://example.com/any/path&matchType=host", []string{"20130729195151", "20140127171200", "20140127171251", "20140103030321", "20140103030341", "20140103030350"}},
		{"domain", "url=example.com&matchType=domain", []string{"20130729195151", "20140127171200", "20140127171251", "20140103030321", "20140103030341", "20140103030350", "20140103030351"}},
		{"*. is domain", "url=*.example.com", []string{"20130729195151", "20140127171200", "20140127171251", "20140103030321", "20140103030341", "20140103030350", "20140103030351"}},
		{"*. with a path", "url=*.example.com/*", []string{"20130729195151", "20140127171200", "20140127171251", "20140103030321", "20140103030341", "20140103030350", "20140103030351"}},
		{"* is prefix", "url=http://iana.org/domains/*", []string{"20140126201248", "20140126200929", "20140126200927", "20140126200928"}},
		{"prefix", "url=http://iana.org/domains/&matchType=prefix", []string{"20140126201248", "20140126200929", "20140126200927", "20140126200928"}},
		{"range", "url=http://iana.org/domains/a&matchType=range&urlTo=iana.org/domains/m", []string{"20140126201248", "20140126200929"}},
		{"collapse by time and status", "url=http://iana.org/_css/2013.1/screen.css&collapseTime=11", []string{"20140126200625", "20140126200653", "20140126201054"}},
		{"collapse by key", "url=http://iana.org/domains/root*&collapse=urlkey", []string{"20140126200927"}},
		{"collapse by the day, limit", "url=http://iana.org/&collapse=timestamp:8&limit=2", []string{"20140126200624", "20140127171238"}},
		{"closest", "url=http://iana.org/f.ttf&closest=20140126200826&limit=5", []string{"20140126200826", "20140126200816", "20140126200805", "20140126200912", "20140126200706"}},
		{"closest before reverse", "url=http://iana.org/f.ttf&closest=20140126200826&limit=3&sort=reverse", []string{"20140126200826", "20140126200816", "20140126200805"}},
		{"closest, as far: the earlier", "url=http://iana.org/f.ttf&closest=20140126200700&sort=closest&limit=2", []string{"20140126200654", "20140126200706"}},
		{"closest, a second before", "url=http://iana.org/f.ttf&closest=20140126200659&limit=2", []string{"20140126200654", "20140126200706"}},
		{"closest, a second after", "url=http://iana.org/f.ttf&closest=20140126200701&limit=2", []string{"20140126200706", "20140126200654"}},
		{"an empty closest, as pywb sends it", "url=http://iana.org/f.ttf&closest=&sort=closest&limit=1", []string{"20140126200625"}},
		{"key", "urlkey=org,iana)/domains", []string{"20140126200825"}},
		{"digest", "digest=ORG", []string{"20140103030352"}},
		{"everything of a day", "url=*&from=20130729&to=20130729", []string{"20130729195151"}},
		{"fields", "url=iana.org/domains&fl=mime,urlkey,statuscode", []string{"text/html org,iana)/domains 200"}},
		{"fields of pywb's other name", "url=iana.org/domains&fields=timestamp,crawl", []string{"20140126200825 c"}},
		{"text", "url=iana.org/domains&fl=", []string{"org,iana)/domains 20140126200825 http://www.iana.org/domains text/html 200 7UPSCLNWNZP33LGW6OJGSF2Y4CDG4ES7 2912 610534 iana.warc.gz"}},
		{"cdxj", "url=iana.org/domains&output=cdxj&fl=", []string{`org,iana)/domains 20140126200825 {"url": "http://www.iana.org/domains", "mime": "text/html", "status": "200", "digest": "7UPSCLNWNZP33LGW6OJGSF2Y4CDG4ES7", "length": "2912", "offset": "610534", "filename": "iana.warc.gz", "crawl": "c"}`}},
		{"json", "url=example.com/?example=2&output=json&fl=urlkey,url,status", []string{`{"urlkey": "com,example)/?example=2", "url": "http://example.com/?example=2", "status": "200"}`}},
		{"status that there is not", "url=example.com&from=2013&to=2013&fl=status,mime", []string{"- warc/revisit"}},
	} {
		query := test.query
		values, err := url.ParseQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		if !values.Has("fl") && !values.Has("fields") {
			query += "&fl=timestamp"
		}
		if !values.Has("output") {
			query += "&output=text"
		}
		answer, body := get(t, h, query)
		if got := slices.Collect(strings.Lines(body)); answer.StatusCode != 200 || strings.Join(got, "") != strings.Join(append(slices.Clone(test.want), ""), "\n") {
			t.Errorf("%s: %s: status %d\n got %s\nwant %s", test.name, query, answer.StatusCode, strings.Join(got, "     "), strings.Join(test.want, "\n     "))
		}
	}
}

// TestWrong: an error names the parameter.
func TestWrong(t *testing.T) {
	h := cdx.New(index(t))
	for _, test := range []struct{ query, parameter string }{
		{"", "url"}, {"url=", "url"}, {"url=http://", "url"}, {"url=ftp://a/", "url"}, {"url=a&urlkey=b", "urlkey"}, {"urlkey=a%00b", "urlkey"},
		{"url=a&limit=0", "limit"}, {"url=a&limit=-5", "limit"}, {"url=a&limit=x", "limit"}, {"url=a&limit=99999999999999999999", "limit"},
		{"url=a&from=19", "from"}, {"url=a&from=20141", "from"}, {"url=a&to=20141301", "to"}, {"url=a&to=tomorrow", "to"}, {"url=a&from=2015&to=2014", "to"},
		{"url=a&closest=x", "closest"}, {"url=a&sort=closest", "closest"}, {"url=a*&closest=2014", "sort"}, {"url=a&sort=up", "sort"},
		{"url=a&matchType=all", "matchType"}, {"url=a&output=xml", "output"}, {"url=a&fl=timestamp,foo", "fl"}, {"url=a&fields=foo", "fields"},
		{"url=a&filter=foo:x", "filter"}, {"url=a&filter=~mime:(", "filter"}, {"url=a" + strings.Repeat("&filter=mime:x", 21), "filter"},
		{"url=a&collapse=foo", "collapse"}, {"url=a&collapse=digest:0", "collapse"}, {"url=a&collapse=digest&collapseTime=4", "collapse"}, {"url=a&collapseTime=0", "collapseTime"},
		{"url=a&resumeKey=x", "resumeKey"}, {"url=a&showResumeKey=perhaps", "showResumeKey"}, {"url=a&showNumPages=true", "showNumPages"}, {"url=a&page=1", "page"},
		{"url=a&urlTo=b", "urlTo"}, {"url=a&matchType=range&urlTo=http://", "urlTo"}, {"url=%", ""}, {"url=a;b", ""},
	} {
		answer, body := get(t, h, test.query)
		var said struct{ Parameter, Message string }
		err := json.Unmarshal([]byte(body), &said)
		if answer.StatusCode != 400 || err != nil || said.Parameter != test.parameter || !strings.HasPrefix(said.Message, test.parameter) || answer.Header.Get("Content-Type") != "application/json" {
			t.Errorf("%s: status %d, %s", test.query, answer.StatusCode, body)
		}
	}
	request := httptest.NewRequest("POST", "/cdx?url=a", nil)
	answer := httptest.NewRecorder()
	if h.ServeHTTP(answer, request); answer.Code != 405 || answer.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST: %d", answer.Code)
	}
}

// TestResume: pages by resumeKey are the whole, in each output.
func TestResume(t *testing.T) {
	h := cdx.New(index(t))
	for _, output := range []string{"text", "cdxj", "json"} {
		_, whole := get(t, h, "url=*&output="+output)
		var got strings.Builder
		key, pages := "", 0
		for ; pages < 20; pages++ {
			_, body := get(t, h, "url=*&limit=5&showResumeKey=true&resumeKey="+key+"&output="+output)
			lines := slices.Collect(strings.Lines(body))
			end := len(lines)
			if key = ""; end > 5 {
				key, end = strings.TrimSpace(lines[len(lines)-1]), 5
			}
			if output == "json" && key != "" {
				var line struct{ ResumeKey string }
				if err := json.Unmarshal([]byte(key), &line); err != nil {
					t.Fatal(err)
				}
				key = line.ResumeKey
			}
			got.WriteString(strings.Join(lines[:end], ""))
			if key == "" {
				break
			}
		}
		if got.String() != whole || pages != 5 || strings.Count(whole, "\n") != 27 {
			t.Errorf("%s: %d pages\n got %s\nwant %s", output, pages, got.String(), whole)
		}
	}
}

// cutOff is a catalogue that fails after some captures.
type cutOff struct {
	catalogue.Catalogue
	after int
	err   error
}

func (c cutOff) Query(_ context.Context, _ catalogue.Query, fn func(catalogue.Entry) error) error {
	for range c.after {
		if err := fn(catalogue.Entry{Key: strings.Repeat("x", 100)}); err != nil {
			return err
		}
	}
	return c.err
}

// TestCutOff: a catalogue that fails is an error without its text; once a part of the answer is sent, the connection is cut off, so that no client takes it
// for the whole.
func TestCutOff(t *testing.T) {
	fault := errors.New("open /secret/path")
	for _, test := range []struct {
		after, status int
		err           error
	}{{0, 503, fault}, {5, 503, fault}, {0, 400, catalogue.ErrScan}} {
		answer, body := get(t, cdx.New(cutOff{after: test.after, err: test.err}), "url=a")
		if answer.StatusCode != test.status || strings.Contains(body, "secret") || strings.Contains(body, "xxx") {
			t.Errorf("after %d: %d, %.100s", test.after, answer.StatusCode, body)
		}
	}
	server := httptest.NewServer(cdx.New(cutOff{after: 5000, err: fault}))
	defer server.Close()
	answer, err := http.Get(server.URL + "/?url=a")
	if err == nil {
		defer func() { _ = answer.Body.Close() }()
		_, err = io.ReadAll(answer.Body)
	}
	if err == nil {
		t.Error("an answer that was cut off looks whole")
	}
}

// asked keeps what a catalogue is asked for.
type asked struct {
	catalogue.Catalogue
	q    catalogue.Query
	most int // MaxScan in place of the one that is given
	err  error
}

func (a *asked) Query(ctx context.Context, q catalogue.Query, fn func(catalogue.Entry) error) error {
	if a.q = q; a.most > 0 {
		q.MaxScan = a.most
	}
	a.err = a.Catalogue.Query(ctx, q, fn)
	return a.err
}

// TestBounded: each query is bounded in captures and in time, and its filters together in their regular expressions.
func TestBounded(t *testing.T) {
	c := &asked{Catalogue: index(t)}
	h := cdx.New(c)
	if answer, _ := get(t, h, "url=*"); answer.StatusCode != 200 || c.q.MaxScan <= 0 || c.q.MaxTime <= 0 {
		t.Errorf("%d, %+v", answer.StatusCode, c.q)
	}
	const filter = "&filter=!~url:.*(?:a.%3F){100}Z"
	if answer, body := get(t, h, "url=*"+filter); answer.StatusCode != 200 || strings.Count(body, "\n") != 27 {
		t.Errorf("a filter: %d, %s", answer.StatusCode, body)
	}
	if answer, body := get(t, h, "url=*"+strings.Repeat(filter, 20)); answer.StatusCode != 400 || !strings.Contains(body, `"parameter":"filter"`) {
		t.Errorf("20 filters: %d, %s", answer.StatusCode, body)
	}
}

// TestCollapsedBounded: captures that are one line with the one before count for the bounds of a query as those that do not fit.
func TestCollapsedBounded(t *testing.T) {
	for query, want := range map[string]error{"url=*": nil, "url=*&collapse=timestamp:14": nil, "url=*&collapse=length:0001": nil, "url=*&collapse=crawl": catalogue.ErrScan} {
		c := &asked{Catalogue: index(t), most: 10}
		_, _ = get(t, cdx.New(c), query)
		if !errors.Is(c.err, want) {
			t.Errorf("%s: %v, want %v", query, c.err, want)
		}
	}
}

func FuzzParameters(f *testing.F) {
	f.Add("url=*.example.com&filter=!~mime:x&from=2014&collapse=digest:3&sort=reverse&output=json")
	f.Add("urlkey=com,example)/&matchType=range&closest=2014&limit=1&resumeKey=MSAyIDMgeA")
	h := cdx.New(cutOff{after: 3})
	f.Fuzz(func(t *testing.T, query string) {
		request := httptest.NewRequest("GET", "/cdx", nil)
		request.URL.RawQuery = query
		answer := httptest.NewRecorder()
		if h.ServeHTTP(answer, request); answer.Code != 200 && answer.Code != 400 {
			t.Errorf("%q: %d", query, answer.Code)
		}
	})
}
