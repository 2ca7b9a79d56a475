package catalogue

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxText bounds the texts of a capture that pages choose: title, language and the like, in bytes.
const maxText = 1000

// Normal is the segment in the form in which catalogues keep it: entries in their order, with keys and the names of the segment; whole seconds; texts that every
// database takes.
// Entries whose URL has no key are an error.
func (s Segment) Normal() (Segment, error) {
	entries := make([]Entry, len(s.Entries))
	for i, e := range s.Entries {
		key, err := KeyOf(e.URL)
		if err != nil {
			return s, fmt.Errorf("add segment %s of %s: %.200q %w", s.Name, s.Crawl.Name, e.URL, err)
		}
		e.Key, e.Crawl, e.Run, e.Segment, e.WARC = key, s.Crawl, s.Run, s.Name, s.WARC
		e.Date, e.Original.Date = seconds(e.Date), seconds(e.Original.Date)
		for _, text := range []*string{&e.URL, &e.Digest, &e.Original.URL} {
			*text = clean(*text)
		}
		for _, text := range []*string{&e.MIME, &e.Application, &e.Title, &e.Language} {
			*text = cut(clean(*text))
		}
		entries[i] = e
	}
	slices.SortStableFunc(entries, func(a, b Entry) int { return a.Position().Compare(b.Position()) })
	s.Entries = slices.CompactFunc(entries, func(a, b Entry) bool { return a.Position() == b.Position() })
	answers := make([]Answer, 0, len(s.Answers))
	for _, a := range s.Answers {
		a.Name, a.Address, a.Date, a.Segment = NormalName(a.Name), a.Address.Unmap().WithZone(""), seconds(a.Date), s.SegmentName
		if a.Name == "" || !a.Address.IsValid() || len(a.Name) > maxText {
			continue
		}
		answers = append(answers, a)
	}
	s.Answers = answers
	return s, nil
}

// NormalName is the name of a host as catalogues keep it.
func NormalName(name string) string {
	return strings.ToLower(strings.TrimSuffix(clean(strings.TrimSpace(name)), "."))
}

func seconds(t time.Time) time.Time {
	if t.IsZero() {
		return time.Time{}
	}
	return time.Unix(t.Unix(), 0).UTC()
}

// clean takes off what PostgreSQL does not store: NUL, and bytes that are no UTF-8.
func clean(text string) string {
	if strings.IndexByte(text, 0) >= 0 {
		text = strings.ReplaceAll(text, "\x00", "")
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

func cut(text string) string {
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "")
	}
	return text
}
