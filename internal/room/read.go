package room

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/derive"
	"github.com/muninn-archive/muninn/internal/page"
)

// find is the capture that a request names by its URL, a time (the nearest one is taken), and its crawl, if it is given.
func (r *Room) find(ctx context.Context, address, at, crawlName string) (Entry, error) {
	if address == "" {
		return Entry{}, wrong("url is missing")
	}
	when, err := timeOf(at)
	if err != nil {
		return Entry{}, err
	}
	l := Lookup{URL: address, Near: when}
	if when.IsZero() {
		l.Near, l.Newest = time.Time{}, true
	}
	var found Entry
	err = r.Door.Captures(ctx, l, func(e Entry) error {
		if crawlName != "" && e.Crawl != crawlName {
			return nil
		}
		found = e
		return errEnough
	})
	if err := unlessEnough(err); err != nil {
		return Entry{}, err
	}
	if found.URL == "" {
		return Entry{}, missing("there is no capture of %s here", oneLine(address, urlBytes))
	}
	return found, nil
}

// timeOf reads a time of 4 to 14 digits, or an RFC 3339 one, of a year that the catalogue knows; without any it is the zero time.
func timeOf(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	t, _, errDigits := catalogue.ParseTime(text)
	if errDigits == nil {
		return t, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil && catalogue.Dated(t) {
		return t.UTC(), nil
	}
	return time.Time{}, wrong("%q is no time of a year from 0002 on: write its digits, such as 20260131 or 20260131235959", oneLine(text, 40))
}

// store is that of a capture's crawl.
func (r *Room) store(e *Entry) (Crawl, error) {
	list := r.Crawls()
	at := slices.IndexFunc(list, func(c Crawl) bool { return c.Name == e.Crawl })
	if at < 0 {
		return Crawl{}, missing("crawl %s is not served now", e.Crawl)
	}
	return list[at], nil
}

// original is the capture that has the payload of a capture: itself, or what a revisit refers to.
func (r *Room) original(ctx context.Context, e Entry) (Entry, error) {
	if !e.Revisit {
		return e, nil
	}
	o, err := r.Door.Original(ctx, &e)
	if errors.Is(err, catalogue.ErrNoOriginal) {
		return o, missing("the capture that this revisit refers to is not here")
	}
	return o, err
}

// record calls fn with the record of a capture. It is valid until fn returns.
func (r *Room) record(ctx context.Context, e *Entry, fn func(archive.Captured) error) error {
	of, err := r.store(e)
	if err != nil {
		return err
	}
	packed, err := of.Store.GetRange(ctx, e.WARC, e.Offset, e.Length)
	if err != nil {
		return fmt.Errorf("read the record of %s: %w", e.URL, err)
	}
	defer func() { _ = packed.Close() }()
	found := false
	var failed error
	err = archive.ReadRecords(io.LimitReader(packed, e.Length), func(rec archive.Captured) (bool, error) {
		found = true
		failed = fn(rec)
		return false, failed
	})
	if failed != nil {
		return failed
	}
	if err == nil && !found {
		err = errors.New("there is none at the offset that the index gives")
	}
	if err != nil {
		return fmt.Errorf("read the record of %s: %w", e.URL, err)
	}
	return nil
}

// answer calls fn with the HTTP response of a capture, its body without content codings; of a record without a header, of one that
// stands for it.
func (r *Room) answer(ctx context.Context, e *Entry, fn func(*http.Response) error) error {
	return r.record(ctx, e, func(rec archive.Captured) error {
		if rec.Kind != "response" && rec.Kind != "revisit" {
			return fn(&http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {rec.Type}}, Body: io.NopCloser(rec.Block)})
		}
		answer, err := rec.Answer()
		if err != nil {
			return missing("the record of this capture has no HTTP response that can be read")
		}
		defer func() { _ = answer.Body.Close() }()
		return fn(answer)
	})
}

// maxBehind is how much behind the record of a capture is searched for its metadata record, in bytes: its request stands between.
const maxBehind = 1 << 20

// metadata is what the metadata record of a capture says; the zero value if it has none.
func (r *Room) metadata(ctx context.Context, e *Entry) (m archive.MetadataOf, err error) {
	of, err := r.store(e)
	if err != nil {
		return m, err
	}
	packed, err := of.Store.GetRange(ctx, e.WARC, e.Offset+e.Length, maxBehind)
	if errors.Is(err, archive.ErrRange) {
		return m, nil
	}
	if err != nil {
		return m, err
	}
	defer func() { _ = packed.Close() }()
	raw, err := io.ReadAll(io.LimitReader(packed, maxBehind))
	if err != nil {
		return m, err
	}
	err = archive.ReadMembers(bytes.NewReader(raw), 0, int64(len(raw)), func(rec archive.Member) (bool, error) {
		if rec.Kind == "metadata" && rec.URL == e.URL {
			m, err = archive.ReadMetadata(rec.Block, nil)
			return false, err
		}
		return rec.Kind == "request", nil
	})
	var damaged *archive.DamagedError
	if err != nil && (len(raw) == maxBehind || errors.As(err, &damaged)) { // the window may end within a record
		return m, nil
	}
	return m, err
}

// wanted names the documents of a segment that are asked for.
type wanted struct {
	url  string
	date int64
}

// documents are what was derived of captures of one segment; those of which nothing was derived are missing.
func (r *Room) documents(ctx context.Context, of Crawl, segment string, list map[wanted]bool) (map[wanted]*derive.Document, error) {
	out := map[wanted]*derive.Document{}
	err := derive.Read(ctx, of.Store, of.CrawlAt, derive.Text, segment, func(d *derive.Document) error {
		key := wanted{d.URL, d.Date.Unix()}
		if !list[key] {
			return nil
		}
		out[key] = d
		if len(out) == len(list) {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, archive.ErrNotFound) {
		return out, nil
	}
	return out, unlessEnough(err)
}

// document is what a capture says: as it was derived, else read from its record, without its web objects then.
func (r *Room) document(ctx context.Context, e Entry) (*derive.Document, error) {
	of, err := r.store(&e)
	if err != nil {
		return nil, err
	}
	key := wanted{e.URL, e.Date.Unix()}
	list, err := r.documents(ctx, of, e.Segment, map[wanted]bool{key: true})
	if err != nil {
		return nil, err
	}
	if d := list[key]; d != nil {
		return d, nil
	}
	if e.Revisit {
		o, err := r.original(ctx, e)
		if err != nil {
			return nil, err
		}
		d, err := r.document(ctx, o)
		return d, err
	}
	return r.parsed(ctx, &e)
}

// maxParsed bounds the bytes of a page that is parsed for its text.
const maxParsed = 8 << 20

// parsed reads a page that nothing was derived of. It is nil if it has no text.
func (r *Room) parsed(ctx context.Context, e *Entry) (*derive.Document, error) {
	if !readable(e.MIME) {
		return nil, nil
	}
	var d *derive.Document
	err := r.answer(ctx, e, func(a *http.Response) error {
		body, _ := io.ReadAll(io.LimitReader(a.Body, maxParsed)) // what breaks off is read up to there
		in := page.Input{URL: e.URL, MIME: a.Header.Get("Content-Type"), Body: body}
		if r.PDF != nil {
			in.PDF = func(file []byte, n int) (page.Paper, error) { return r.PDF(ctx, file, n) }
		}
		p := page.Parse(in, page.DefaultLimits())
		d = &derive.Document{URL: e.URL, Date: e.Date, Title: p.Title, Language: p.Language, Text: strings.Join(p.Blocks, "\n")}
		for i := range p.Links {
			if len(d.Anchors) < derive.MaxAnchors {
				d.Anchors = append(d.Anchors, derive.Anchor{URL: p.Links[i].URL, Text: p.Links[i].Anchor})
			}
		}
		return nil
	})
	return d, err
}

// readable reports whether a page of a media type may have a text.
func readable(mime string) bool {
	return strings.HasPrefix(mime, "text/") && mime != "text/css" && mime != "text/javascript" || strings.Contains(mime, "html") || strings.Contains(mime, "xml") || mime == "application/pdf"
}
