package build

import (
	"context"
	"fmt"
	"io"
	"net/netip"
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
	captures, err := archive.ReadCaptures(ctx, b.Store, &m, func(rec archive.Captured) (err error) {
		if name, is := strings.CutPrefix(rec.URL, "dns:"); is && rec.Kind == "resource" {
			err = answers(&s, name, rec.Block)
		}
		return err
	})
	if err != nil {
		return s, err
	}
	s.Entries = make([]catalogue.Entry, len(captures))
	for i := range captures {
		c := &captures[i]
		if _, err := catalogue.KeyOf(c.URL); err != nil {
			return s, &archive.DamagedError{Err: fmt.Errorf("read %s: %.200q %w", m.CDXJ.Key, c.URL, err)}
		}
		s.Entries[i] = catalogue.Entry{Indexed: c.Indexed, Title: c.Title, Language: c.Language, Original: catalogue.Original{URL: c.RefersTo, Date: c.RefersToDate}}
	}
	if b.Read != nil {
		b.Read(s.SegmentName, captures)
	}
	if b.Describe != nil {
		err = b.Describe(ctx, s.SegmentName, s.Entries)
	}
	return s, err
}

// answers takes up the addresses of a DNS answer, as Heritrix writes it: a 14-digit time, and a line for each resource record.
func answers(s *catalogue.Segment, name string, block io.Reader) error {
	raw, err := io.ReadAll(io.LimitReader(block, maxAnswer))
	if err == nil {
		s.Answers = append(s.Answers, parseAnswer(name, string(raw))...)
	}
	return err
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
