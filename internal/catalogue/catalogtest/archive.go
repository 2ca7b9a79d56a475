package catalogtest

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Archive is an archive in a temporary folder.
type Archive struct {
	t     testing.TB
	Store archive.Store
	Dir   string
	seen  map[string]crawl.Visit // originals, by digest
}

// NewArchive makes an empty archive.
func NewArchive(t testing.TB) *Archive {
	t.Helper()
	a := &Archive{t: t, Dir: t.TempDir(), seen: map[string]crawl.Visit{}}
	store, err := archive.OpenDir(a.Dir)
	if err != nil {
		t.Fatal(err)
	}
	a.Store = archive.Faults(store)
	return a
}

// Response is a response to archive. Its zero fields are those of a small page.
type Response struct {
	URL   string
	Date  time.Time
	Head  string // status line and fields, a line feed after each; empty: 200 with a type
	Body  string
	MIME  string
	Title string
	Unmodified, Robots,
	Headerless, Chunked bool
	DNS string // in place of all but URL and Date: lines of an answer
}

// Segment commits a segment of the crawl "ravens" with responses. Whole pages whose payload was archived before become revisits.
func (a *Archive) Segment(batch string, list ...Response) archive.Manifest {
	return a.SegmentOf(archive.Label{Crawl: "ravens", Batch: batch, Nonce: "0123456789abcdef", Run: 2, Worker: "w"}, list...)
}

// SegmentOf commits a segment with a label.
func (a *Archive) SegmentOf(label archive.Label, list ...Response) archive.Manifest {
	a.t.Helper()
	original := func(_, digest string) (crawl.Visit, bool) {
		v, ok := a.seen[digest]
		return v, ok
	}
	s, err := archive.NewSegment(a.t.TempDir(), label, epoch, original)
	if err != nil {
		a.t.Fatal(err)
	}
	defer s.Close()
	for i := range list {
		if err := a.add(s, &list[i]); err != nil {
			a.t.Fatal(err)
		}
	}
	m, err := s.Commit(a.t.Context(), a.Store)
	if err != nil {
		a.t.Fatal(err)
	}
	return m
}

func (a *Archive) add(s *archive.Segment, r *Response) error {
	if r.Date.IsZero() {
		r.Date = epoch
	}
	of := func(text string) func() io.Reader { return func() io.Reader { return strings.NewReader(text) } }
	if r.DNS != "" {
		text := r.Date.UTC().Format("20060102150405") + "\n" + r.DNS
		return s.Resource(archive.Capture{Exchange: crawl.Exchange{Kind: crawl.ExchangeDNS, URL: r.URL, Started: r.Date, MIME: "text/dns"}, Response: of(text)})
	}
	if r.MIME == "" {
		r.MIME = "text/html"
	}
	if r.Head == "" {
		r.Head = fmt.Sprintf("HTTP/1.1 200 OK\nContent-Type: %s\n", r.MIME)
	}
	head := strings.ReplaceAll(r.Head, "\n", "\r\n") + "\r\n"
	fault := ""
	if r.Headerless {
		head, fault = "", "it has no header"
	}
	c := archive.Capture{
		Exchange: crawl.Exchange{
			Kind: crawl.ExchangePage, URL: r.URL, Started: r.Date, HeaderBytes: int64(len(head)), MIME: r.MIME, Path: "SL", Via: "http://via.example/", Chunked: r.Chunked, Fault: fault,
			Outcome: crawl.Outcome{URL: r.URL, Kind: crawl.OutcomeDone},
		},
		Request: strings.NewReader("GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"), Response: of(head + r.Body), Header: of(head), Body: of(r.Body),
	}
	if !r.Headerless {
		if _, err := fmt.Sscanf(r.Head, "HTTP/1.1 %d", &c.Status); err != nil {
			return err
		}
	}
	c.Outcome.Status = c.Status
	if r.Robots {
		c.Kind = crawl.ExchangeRobots
	}
	if r.Unmodified {
		c.Outcome.Kind = crawl.OutcomeUnmodified
		for _, v := range a.seen {
			if v.URL == r.URL {
				c.Outcome.Visit = v
			}
		}
	}
	if r.Title != "" {
		c.Page = &crawl.Judged{Verdict: crawl.Verdict{Score: 0.5}}
		c.Page.Title, c.Page.Language, c.Page.Application = r.Title, "en", "wordpress"
		c.Page.Links = []crawl.Outlink{{URL: "http://a.example/next", Hop: crawl.HopLink, Context: "a/@href", Block: -1}}
		c.Page.Verdict.Links = []crawl.LinkVerdict{{Score: 0.5}}
	}
	out, err := s.Add(c)
	if out.Original {
		a.seen[out.Digest] = out.Visit
	}
	return err
}
