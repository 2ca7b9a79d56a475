package build

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// maxAnswer bounds the text of a DNS answer that is read, in bytes.
const maxAnswer = 64 << 10

// load reads what a segment adds to a catalogue.
func (b *Builder) load(ctx context.Context, of archive.CrawlAt, m archive.Manifest) (catalogue.Segment, error) {
	s := catalogue.Segment{SegmentName: catalogue.SegmentName{Crawl: of, Name: m.Segment()}, Run: m.Run, WARC: m.WARC.Key}
	err := archive.ReadIndexOf(ctx, b.Store, &m, func(i archive.Indexed) error {
		if _, err := catalogue.KeyOf(i.URL); err != nil {
			return &archive.DamagedError{Err: fmt.Errorf("read %s: %.200q %w", m.CDXJ.Key, i.URL, err)}
		}
		s.Entries = append(s.Entries, catalogue.Entry{Indexed: i})
		return nil
	})
	if err != nil || m.WARC.Key == "" {
		return s, err
	}
	slices.SortStableFunc(s.Entries, func(a, b catalogue.Entry) int { return cmp.Compare(a.Offset, b.Offset) })
	if err := readRecords(ctx, b.Store, &s); err != nil {
		return s, fmt.Errorf("read %s: %w", m.WARC.Key, err)
	}
	if b.Describe != nil {
		err = b.Describe(ctx, s.SegmentName, s.Entries)
	}
	return s, err
}

// readRecords reads from the WARC object of a segment, whose entries are in the order of their offsets, what the index does not say: titles
// and languages, what revisits refer to, DNS answers. Responses, which are most of the bytes, are passed over without being decompressed.
func readRecords(ctx context.Context, store archive.Store, s *catalogue.Segment) error {
	object, err := store.Get(ctx, s.WARC)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	rest := &between{r: bufio.NewReaderSize(object, 64<<10)}
	for i := range s.Entries {
		if e := &s.Entries[i]; !e.Revisit {
			rest.over = append(rest.over, part{e.Offset, e.Offset + e.Length})
		}
	}
	r := reader{s: s, revisits: map[string][]*catalogue.Entry{}}
	for i := range s.Entries {
		if e := &s.Entries[i]; e.Revisit {
			r.revisits[e.URL] = append(r.revisits[e.URL], e)
		}
	}
	err = archive.ReadRecords(rest, r.record)
	var fault *archive.StoreError
	if err == nil || errors.As(err, &fault) || ctx.Err() != nil {
		return err
	}
	return &archive.DamagedError{Err: err}
}

// part is a part of an object: its bytes from an offset on, before another.
type part struct{ from, to int64 }

// between reads an object without some parts of it, which are in order.
type between struct {
	r    *bufio.Reader
	at   int64
	over []part
}

func (b *between) Read(p []byte) (int, error) {
	for len(b.over) > 0 && b.at >= b.over[0].from {
		next := b.over[0]
		if next.to < next.from || b.at > next.from {
			return 0, fmt.Errorf("the index has a record at %d, within another", next.from)
		}
		for b.at < next.to { // in pieces of the type that Discard takes
			n, err := b.r.Discard(int(min(next.to-b.at, 1<<30)))
			b.at += int64(n)
			if err == io.EOF {
				err = io.ErrUnexpectedEOF
			}
			if err != nil {
				return 0, err
			}
		}
		b.over = b.over[1:]
	}
	if len(b.over) > 0 {
		p = p[:min(int64(len(p)), b.over[0].from-b.at)]
	}
	n, err := b.r.Read(p)
	b.at += int64(n)
	if err == io.EOF && len(b.over) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// reader takes up what records say.
type reader struct {
	s        *catalogue.Segment
	next     int                           // of the entries: the first one whose metadata record may still come
	revisits map[string][]*catalogue.Entry // whose record was not yet read, by URL
}

func (r *reader) record(rec archive.Captured) (more bool, err error) {
	switch {
	case rec.Kind == "metadata":
		return true, r.metadata(rec)
	case rec.Kind == "revisit":
		r.revisit(rec)
	case rec.Kind == "resource" && strings.HasPrefix(rec.URL, "dns:"):
		return true, r.answers(rec)
	}
	return true, nil
}

// metadata takes up title and language. Metadata records stand in the order of the responses that they are of.
func (r *reader) metadata(rec archive.Captured) error {
	for i := r.next; i < len(r.s.Entries); i++ {
		e := &r.s.Entries[i]
		if e.URL != rec.URL {
			continue
		}
		m, err := archive.ReadMetadata(rec.Block, nil)
		if err != nil {
			return err
		}
		e.Title, e.Language, r.next = m.Title, m.Language, i+1
		return nil
	}
	return nil // of a URL that the index does not take
}

// revisit takes up what a revisit refers to.
func (r *reader) revisit(rec archive.Captured) {
	waiting := r.revisits[rec.URL]
	if len(waiting) == 0 {
		return
	}
	waiting[0].Original = catalogue.Original{URL: rec.RefersTo, Date: rec.RefersToDate}
	r.revisits[rec.URL] = waiting[1:]
}

// answers takes up the addresses of a DNS answer, as Heritrix writes it: a 14-digit time, and a line for each resource record.
func (r *reader) answers(rec archive.Captured) error {
	raw, err := io.ReadAll(io.LimitReader(rec.Block, maxAnswer))
	if err != nil {
		return err
	}
	r.s.Answers = append(r.s.Answers, parseAnswer(strings.TrimPrefix(rec.URL, "dns:"), string(raw))...)
	return nil
}

func parseAnswer(name, text string) (list []catalogue.Answer) {
	first, rest, _ := strings.Cut(text, "\n")
	date, err := time.Parse(catalogue.Timestamp, strings.TrimSpace(first))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(rest) {
		fields := strings.Fields(line)
		if len(fields) < 5 || fields[3] != "A" && fields[3] != "AAAA" {
			continue
		}
		if address, err := netip.ParseAddr(fields[4]); err == nil {
			list = append(list, catalogue.Answer{Name: name, Address: address, Date: date})
		}
	}
	return list
}
