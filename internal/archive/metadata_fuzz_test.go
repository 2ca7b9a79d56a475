package archive

import (
	"bytes"
	"crypto/sha1"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// preparedRecord is a record as gowarc's marshaler takes it.
type preparedRecord struct {
	gowarc.WarcRecord // the methods that the marshaler does not call
	headers           *gowarc.WarcFields
	block             block
}

func (b preparedRecord) Version() *gowarc.WarcVersion   { return gowarc.V1_1 }
func (b preparedRecord) WarcHeader() *gowarc.WarcFields { return b.headers }
func (b preparedRecord) Block() gowarc.Block            { return b.block }

type block struct {
	gowarc.Block
	text string
}

func (b block) RawBytes() (io.Reader, error) { return strings.NewReader(b.text), nil }

// TestRecordsAsGowarc: a record has the bytes that gowarc's marshaler writes.
func TestRecordsAsGowarc(t *testing.T) {
	w, err := newWARC(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.free()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600))
	text := "HTTP/1.1 200 OK\r\n\r\nraven"
	for _, info := range []string{"", newID()} {
		w.info = info
		for _, r := range []record{
			{kind: gowarc.Warcinfo, contentType: gowarc.ApplicationWarcFields, level: levelText},
			{kind: gowarc.Response, target: "http://a.example/ü?a=b", contentType: "application/http; msgtype=response", level: levelPacked, headers: [][2]string{
				{gowarc.WarcIPAddress, "192.0.2.1"}, {gowarc.WarcPayloadDigest, emptyDigest}, {gowarc.WarcTruncated, ""}, {gowarc.WarcConcurrentTo, "<x>"},
				{gowarc.WarcProfile, gowarc.ProfileServerNotModifiedV1_1}, {gowarc.WarcRefersToTargetURI, "http://b.example/"}, {gowarc.WarcRefersToDate, "2026-01-02T03:04:05Z"},
			}},
			{kind: gowarc.Metadata, target: "http://a.example/", level: levelText},
		} {
			r.id, r.date, r.block = newID(), at, strings.NewReader(text)
			got, err := w.write(r)
			if err != nil {
				t.Fatal(err)
			}
			want := preparedRecord{headers: &gowarc.WarcFields{}, block: block{text: text}}
			add := func(name, value string) {
				if value != "" {
					want.headers.Add(name, value)
				}
			}
			add(gowarc.WarcType, r.kind.String())
			add(gowarc.WarcRecordID, "<"+r.id+">")
			add(gowarc.WarcDate, "2026-01-02T02:04:05Z")
			add(gowarc.WarcTargetURI, r.target)
			if info != "" {
				add(gowarc.WarcWarcinfoID, "<"+info+">")
			}
			for _, h := range r.headers {
				add(h[0], h[1])
			}
			sum := sha1.Sum([]byte(text))
			add(gowarc.WarcBlockDigest, sha1Text(sum[:]))
			add(gowarc.ContentType, r.contentType)
			add(gowarc.ContentLength, fmt.Sprint(len(text)))
			var marshaled bytes.Buffer
			if _, _, err := gowarc.NewMarshaler().Marshal(&marshaled, want, 0); err != nil {
				t.Fatal(err)
			}
			if err := w.out.Flush(); err != nil {
				t.Fatal(err)
			}
			zip, err := gzip.NewReader(io.NewSectionReader(w.file, got.offset, got.length))
			if err != nil {
				t.Fatal(err)
			}
			if written, err := io.ReadAll(zip); err != nil || string(written) != marshaled.String() {
				t.Errorf("%s: %v\n%s\nwant\n%s", r.kind, err, written, marshaled.String())
			}
		}
	}
}

// FuzzMetadata: a metadata record has the fields of a page, each on a line, those that are empty left out.
func FuzzMetadata(f *testing.F) {
	f.Add("http://a.example/", "SLL", "A\r\ntitle", "wordpress", "rule", 0.5, "http://b.example/", "a/@href")
	f.Add("", "S", "\r", "\n", " ", -1.0, "http://b.example/x y\r\nz", "")
	f.Fuzz(func(t *testing.T, via, path, title, application, rule string, score float64, url, context string) {
		if strings.ContainsAny(url+context, " \t\r\n\v\f\u0085\u00a0") {
			url, context = "http://b.example/", "a/@href"
		}
		c := Capture{Exchange: crawl.Exchange{Via: via, Path: path, Elapsed: 1234 * time.Microsecond, Fault: rule}}
		c.Outcome.Kind, c.Outcome.Reason = crawl.OutcomeRetry, title
		p := &crawl.Judged{Verdict: crawl.Verdict{Score: score}}
		p.Title, p.Application, p.Rule, p.LevelRule, p.Confidence, p.Base = title, application, rule, context, score, via
		p.Objects = []crawl.Object{{Type: application, Rule: rule}}
		p.Links = []crawl.Outlink{{URL: url, Hop: crawl.HopLink, Context: context}, {URL: url, Hop: crawl.HopEmbed}}
		c.Page = p
		list := [][2]string{
			{"via", via}, {"hopsFromSeed", strings.TrimPrefix(path, crawl.HopSeed.String())}, {"fetchTimeMs", "1"}, {"muninn-http-fault", rule},
			{"muninn-outcome", crawl.OutcomeRetry + ": " + title},
		}
		if score >= 0 {
			list = append(list, [2]string{"muninn-score", fmt.Sprintf("%.4f", score)})
		}
		list = append(list, [2]string{"title", title}, [2]string{"muninn-application", application}, [2]string{"muninn-rule", strings.TrimSpace(rule + " " + context)})
		if application != "" {
			list = append(list, [2]string{"muninn-confidence", fmt.Sprintf("%.2f", score)}, [2]string{"muninn-kb", via})
		}
		list = append(list, [2]string{"muninn-object", object(&p.Objects[0])}, [2]string{"outlink", url + " L " + context}, [2]string{"outlink", url + " E "})
		var want strings.Builder
		for _, l := range list {
			if value := oneLine(l[1]); value != "" {
				want.WriteString(l[0] + ": " + value + "\r\n")
			}
		}
		if got := string(appendMetadata(nil, c)); got != want.String() {
			t.Errorf("%q, want %q", got, want.String())
		}
	})
}
