package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
)

// rowGroup is how many rows of a Parquet file stand together: so many are in memory.
const rowGroup = 50_000

// CaptureRow is a row of the table of captures.
type CaptureRow struct {
	Crawl       string    `parquet:"crawl,dict"`
	Run         int32     `parquet:"run"` // 0: not known
	Segment     string    `parquet:"segment,dict"`
	SURT        string    `parquet:"surt"`
	URL         string    `parquet:"url"`
	Date        time.Time `parquet:"date,timestamp(millisecond)"`
	Status      int32     `parquet:"status"` // of HTTP; 0 of a revisit of a 304
	MIME        string    `parquet:"mime,dict"`
	Digest      string    `parquet:"digest"`
	Revisit     bool      `parquet:"revisit"`
	Score       *float64  `parquet:"score,optional"`
	Application string    `parquet:"application,dict"`
	Level       string    `parquet:"level,dict"`
	Title       string    `parquet:"title"`
	Language    string    `parquet:"language,dict"`
	Via         string    `parquet:"via"`
	Hops        string    `parquet:"hops"` // hop letters from the seed, without S
	WARC        string    `parquet:"warc,dict"`
	Offset      int64     `parquet:"offset"`
	Length      int64     `parquet:"length"`
	Keep        bool      `parquet:"keep"`
	By          string    `parquet:"by,dict"`
	Why         string    `parquet:"why,dict"`
}

// ObjectRow is a row of the table of web objects.
type ObjectRow struct {
	Crawl       string    `parquet:"crawl,dict"`
	Segment     string    `parquet:"segment,dict"`
	URL         string    `parquet:"url"`
	Date        time.Time `parquet:"date,timestamp(millisecond)"` // of the capture
	N           int32     `parquet:"n"`                           // its position on the page, from 0
	Type        string    `parquet:"type,dict"`
	Application string    `parquet:"application,dict"`
	Version     string    `parquet:"version,dict"`
	Level       string    `parquet:"level,dict"`
	Rule        string    `parquet:"rule,dict"`
	Confidence  float64   `parquet:"confidence"`
	Title       string    `parquet:"title"`
	Author      string    `parquet:"author"`
	Text        string    `parquet:"text"`       // of its body
	Properties  string    `parquet:"properties"` // all, as JSON
}

// WriteCaptures writes a Parquet file with a row for each capture of some crawls, in the order of segments and positions.
func WriteCaptures(ctx context.Context, from, to archive.Store, o Order) (Tabled, error) {
	from = faulty(from)
	index, err := ReadIndex(ctx, from, o.Crawls)
	if err != nil {
		return Tabled{}, fmt.Errorf("export captures: %w", err)
	}
	decide := index.decider(&o)
	return index.table(ctx, to, o, suffixCaptures, func(ctx context.Context, out io.Writer, bad *damage) (int, error) {
		return rows(ctx, out, index, func(source int32, add func(CaptureRow) error) (err error) {
			var s *structure // of a damaged segment there are the rows of its index
			if name := index.Sources[source].name(); !bad.has(name) {
				s, err = index.readStructure(ctx, from, source)
				err = bad.take(ctx, name, err)
			}
			if err != nil || bad.found { // the table is written again
				return err
			}
			for _, i := range index.of[source] {
				if err := add(index.captureRow(s, i, decide)); err != nil {
					return err
				}
			}
			return nil
		})
	})
}

func (x *Index) captureRow(s *structure, i int32, decide func(*Capture) Decision) CaptureRow {
	c := &x.Captures[i]
	of := &x.Sources[c.Source]
	d := decide(c)
	row := CaptureRow{
		Crawl: of.Crawl.Name, Run: int32(of.Run), Segment: of.Segment(), SURT: c.key, URL: c.URL, Date: c.Date.UTC(), Status: int32(c.Status), MIME: c.MIME, Digest: c.Digest,
		Revisit: c.Revisit, Application: c.Application, WARC: of.WARC.Key, Offset: c.Offset, Length: c.Length, Keep: d.Keep, By: d.By, Why: d.Why,
	}
	if c.Score >= 0 {
		row.Score = &c.Score
	}
	if s == nil {
		return row
	}
	if m := s.of[i].meta; m != nil {
		row.Level, row.Title, row.Language, row.Via, row.Hops = m.Level, m.Title, m.Language, m.Via, m.Path
	}
	return row
}

// rows writes a Parquet file of what a function adds for each source.
func rows[R any](ctx context.Context, out io.Writer, index *Index, of func(source int32, add func(R) error) error) (n int, err error) {
	w := parquet.NewGenericWriter[R](out, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("Muninn", "", ""))
	one := make([]R, 1)
	add := func(r R) error {
		one[0] = r
		_, err := w.Write(one)
		if n++; err == nil && n%rowGroup == 0 {
			err = w.Flush()
		}
		return err
	}
	for source := range index.Sources {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		if err := of(int32(source), add); err != nil {
			return n, err
		}
	}
	return n, w.Close()
}

// PDF reads the text of a PDF file, with so many bytes of text at most.
type PDF func(ctx context.Context, file []byte, textBytes int) (page.Paper, error)

// WriteObjects writes a Parquet file with a row for each web object of some crawls, with its text, in the order of segments and captures. A page that a browser has opened is read as the
// browser has shown it. pdf reads PDF files; nil: objects of these have no texts.
func WriteObjects(ctx context.Context, from, to archive.Store, o Order, pdf PDF) (Tabled, error) {
	from = faulty(from)
	index, err := ReadIndex(ctx, from, o.Crawls)
	if err != nil {
		return Tabled{}, fmt.Errorf("export web objects: %w", err)
	}
	return index.table(ctx, to, o, suffixObjects, func(ctx context.Context, out io.Writer, bad *damage) (int, error) {
		r := &derive.Reader{Store: from, Originals: index.payload, PDF: pdf}
		defer r.Close()
		return rows(ctx, out, index, func(source int32, add func(ObjectRow) error) error {
			return index.Sources[source].objects(ctx, r, bad, add)
		})
	})
}

// payload is where the record lies that has the payload of a digest.
func (x *Index) payload(digest string) (warc string, offset, length int64) {
	i, known := x.byDigest()[digest]
	if !known {
		return "", 0, 0
	}
	c := &x.Captures[i]
	return x.Sources[c.Source].WARC.Key, c.Offset, c.Length
}

// objects adds the web objects of a source; of a damaged segment there are none. A text that the page does not have stays a position.
func (s *Source) objects(ctx context.Context, r *derive.Reader, bad *damage, add func(ObjectRow) error) error {
	if s.Objects == nil || bad.has(s.name()) {
		return nil
	}
	one := func(o archive.WebObject) error {
		properties, err := json.Marshal(o.Properties)
		if err != nil {
			return err
		}
		text := func(name string) string { return o.Properties.Get(name) }
		return add(ObjectRow{
			Crawl: s.Crawl.Name, Segment: s.Segment(), URL: o.URL, Date: o.Date.UTC(), N: int32(o.N), Type: o.Type, Application: o.Application, Version: o.Version, Level: o.Level,
			Rule: o.Rule, Confidence: o.Confidence, Title: text("title"), Author: text("author"), Text: text("body"), Properties: string(properties),
		})
	}
	r.Stray = one
	err := r.Each(ctx, s.Manifest, func(c *derive.Capture) error {
		if !c.HasObjects() {
			return nil
		}
		var unread error // why there is no page: of a revisit, its original may be damaged
		list, err := c.Objects(ctx, func(_ archive.WebObject, err error) {
			if name := s.name() + " " + c.URL + " " + c.Date.UTC().Format(time.RFC3339); isFault(err) || archive.Damaged(err) && !bad.has(name) {
				unread = cmp.Or(unread, bad.take(ctx, name, fmt.Errorf("read the original of %s: %w", c.URL, err)))
			}
		})
		err = cmp.Or(err, unread)
		for i := 0; err == nil && i < len(list); i++ {
			err = one(list[i])
		}
		return err
	})
	return bad.take(ctx, s.name(), err)
}
