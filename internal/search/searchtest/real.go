package searchtest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	parser "github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Real reads pages with real texts from the folder of test data: those of WebKB (universities, 1997, English) and those of the applications
// that the helper knows (blogs, forums and wikis of several languages). Their segments have 500 pages each.
func Real(data string) ([]search.Segment, error) {
	web, err := recorded.Open(filepath.Join(data, "webkb"))
	if err != nil {
		return nil, err
	}
	r := real{}
	for _, p := range web.Pages {
		r.add("webkb", p.URL, "", "", p.Body)
	}
	f, err := os.Open(filepath.Join(data, "aah", "index.jsonl"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var line struct{ File, CMS, Level, URL string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			return nil, err
		}
		body, err := os.ReadFile(filepath.Join(data, "aah", filepath.FromSlash(line.File)))
		if err != nil {
			return nil, err
		}
		r.add("applications", line.URL, line.CMS, line.Level, body)
	}
	return r.segments, lines.Err()
}

type real struct{ segments []search.Segment }

func (r *real) add(crawl, url, application, level string, body []byte) {
	last := len(r.segments) - 1
	if last < 0 || r.segments[last].Crawl != crawl || len(r.segments[last].Documents) >= 500 {
		last++
		r.segments = append(r.segments, search.Segment{SegmentName: search.SegmentName{Crawl: crawl, Name: fmt.Sprint(last)}})
	}
	s := &r.segments[last]
	d := parser.Parse(parser.Input{URL: url, MIME: "text/html", Body: body}, parser.DefaultLimits())
	p := search.Page{Facts: query.Facts{
		Crawl: crawl, URL: url, Date: time.Date(2025, time.Month(1+len(s.Documents)%3), 1, 0, 0, 0, 0, time.UTC), Status: 200, MIME: "text/html", Score: -1,
		Application: application, Level: level, Language: d.Language, Title: d.Title, Text: strings.Join(d.Blocks, "\n"),
	}}
	s.Documents = append(s.Documents, p.Documents()...)
	for _, l := range d.Links {
		if l.Anchor != "" {
			s.Anchors = append(s.Anchors, search.Anchor{URL: l.URL, Text: l.Anchor, Language: d.Language})
		}
	}
}
