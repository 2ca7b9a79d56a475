package memento

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// cite sends the capture whose record a citation names, not another one of its URL and second: CRAWL/SEGMENT/OFFSET, where CRAWL is the crawl with its prefix in the archive. Such a URL stays the same
// as long as the archive does: a segment never changes.
func (s *server) cite(w http.ResponseWriter, r *http.Request, rest string) {
	name, offset, err := parseCitation(rest)
	if err != nil {
		say(w, http.StatusBadRequest, err.Error())
		return
	}
	segment, err := s.catalogue.Segment(r.Context(), name)
	if errors.Is(err, catalogue.ErrNoSegment) {
		say(w, http.StatusNotFound, "the archive has no such segment")
		return
	}
	if err != nil {
		failed(w, err)
		return
	}
	e, ok, err := s.cited(r.Context(), segment, offset)
	switch {
	case err != nil:
		failed(w, err)
	case !ok:
		say(w, http.StatusNotFound, "no capture begins there: the segment has no record of a response at this offset")
	default:
		s.memento(w, r, &e, e.URL)
	}
}

// CitationOf is the path of a citation of a capture.
func CitationOf(e *catalogue.Entry) string {
	return Cite + citation(e.Name(), e.Offset)
}

var errCitation = fmt.Errorf("a citation is %sCRAWL/SEGMENT/OFFSET", Cite)

// citation is what stands behind Cite.
func citation(name catalogue.SegmentName, offset int64) string {
	var parts []string
	if name.Crawl.Prefix != "" {
		parts = strings.Split(name.Crawl.Prefix, "/")
	}
	parts = append(parts, name.Crawl.Name, name.Name, strconv.FormatInt(offset, 10))
	for i := range parts {
		parts[i] = url.PathEscape(parts[i])
	}
	return strings.Join(parts, "/")
}

// parseCitation reads what citation has written.
func parseCitation(text string) (name catalogue.SegmentName, offset int64, err error) {
	parts := strings.Split(text, "/")
	if len(parts) < 3 {
		return name, 0, errCitation
	}
	for i := range parts {
		if parts[i], err = url.PathUnescape(parts[i]); err != nil || parts[i] == "" {
			return name, 0, errCitation
		}
	}
	last := len(parts) - 1
	offset, err = strconv.ParseInt(parts[last], 10, 64)
	if err != nil || offset < 0 {
		return name, 0, errCitation
	}
	crawl := archive.CrawlAt{Prefix: strings.Join(parts[:last-2], "/"), Name: parts[last-2]}
	return catalogue.SegmentName{Crawl: crawl, Name: parts[last-1]}, offset, nil
}

// cited is the capture whose record begins at an offset of a segment: the record says its URL, the catalogue the rest. So a citation finds nothing that the catalogue does
// not have.
func (s *server) cited(ctx context.Context, segment catalogue.Segment, offset int64) (e catalogue.Entry, ok bool, err error) {
	if segment.WARC == "" {
		return e, false, nil
	}
	target, err := s.targetAt(ctx, segment.WARC, offset)
	if err != nil || target == "" {
		return e, false, err
	}
	err = s.catalogue.Query(ctx, catalogue.Query{URL: target}, func(found catalogue.Entry) error {
		if found.Name() == segment.SegmentName && found.Offset == offset {
			e, ok = found, true
			return errFound
		}
		return nil
	})
	if ok || wrongURL(err) {
		err = nil
	}
	return e, ok, err
}

// targetAt is the URL of the record at an offset of an object; empty if no record begins there, which is what an offset that somebody made up looks like.
func (s *server) targetAt(ctx context.Context, key string, offset int64) (target string, err error) {
	part, err := s.store.GetRange(ctx, key, offset, maxCited)
	if errors.Is(err, archive.ErrRange) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	defer func() { _ = part.Close() }()
	err = archive.ReadRecords(part, func(rec archive.Captured) (bool, error) {
		target = rec.URL
		return false, nil
	})
	var fault *archive.StoreError
	if !errors.As(err, &fault) && ctx.Err() == nil {
		err = nil
	}
	return target, err
}

// maxCited bounds what is read of a record for its header fields, in bytes.
const maxCited = 128 << 10
