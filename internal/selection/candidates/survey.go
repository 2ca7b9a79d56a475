package candidates

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
)

// survey is what is known of the crawls before a record is read.
type survey struct {
	anchors   map[string][]string // texts of links to captures, by URL
	originals map[string]located  // by digest: what revisits refer to
	answers   map[answered]answer // of the originals of 304s, which have neither status nor score
}

// answered names what a 304 says is unmodified.
type answered struct{ url, digest string }

// answer is what the index says of an original.
type answer struct {
	known  bool
	status int
	score  float64 // below 0: none
}

// located is the place of a record.
type located struct {
	warc           string // key
	offset, length int64
}

func (a Archive) survey(ctx context.Context) (*survey, error) {
	s := &survey{anchors: map[string][]string{}, originals: map[string]located{}, answers: map[answered]answer{}}
	none := func(error) {} // who reads the captures complains of the same
	for _, pass := range []func(context.Context, archive.Manifest) error{
		func(ctx context.Context, m archive.Manifest) error { return s.pages(ctx, a.Store, &m) },
		func(ctx context.Context, m archive.Manifest) error { return s.locate(ctx, a.Store, &m) },
		func(ctx context.Context, m archive.Manifest) error {
			err := s.links(ctx, a.Store, &m)
			if err != nil && archive.Damaged(err) && ctx.Err() == nil {
				a.complain(fmt.Errorf("segment %s: texts of links: %w", m.Segment(), err))
				return nil
			}
			return err
		},
	} {
		for _, at := range a.Crawls {
			err := a.segments(ctx, at, none, func(m archive.Manifest) error { return pass(ctx, m) })
			if err != nil {
				return nil, fmt.Errorf("read the indexes and links of %s: %w", at.Name, err)
			}
		}
	}
	return s, nil
}

// pages notes the URLs of pages, and what revisits refer to.
func (s *survey) pages(ctx context.Context, store archive.Store, m *archive.Manifest) error {
	return archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
		if isPage(&i) {
			s.anchors[i.URL] = nil
			if i.Revisit {
				s.originals[i.Digest] = located{}
				if i.Status == 0 {
					s.answers[answered{i.URL, i.Digest}] = answer{score: -1}
				}
			}
		}
		return nil
	})
}

// locate finds what revisits refer to.
func (s *survey) locate(ctx context.Context, store archive.Store, m *archive.Manifest) error {
	if len(s.originals) == 0 {
		return nil
	}
	return archive.ReadIndex(ctx, store, m.CDXJ.Key, func(i archive.Indexed) error {
		if at, wanted := s.originals[i.Digest]; wanted && at.warc == "" && !i.Revisit {
			s.originals[i.Digest] = located{m.WARC.Key, i.Offset, i.Length}
		}
		if of, wanted := s.answers[answered{i.URL, i.Digest}]; wanted && !of.known && !i.Revisit {
			s.answers[answered{i.URL, i.Digest}] = answer{true, i.Status, i.Score}
		}
		return nil
	})
}

// links notes the texts of links to pages.
func (s *survey) links(ctx context.Context, store archive.Store, m *archive.Manifest) error {
	return archive.ReadLinks(ctx, store, m.Links.Key, func(l archive.Link) error {
		text := strings.TrimSpace(l.Anchor)
		list, wanted := s.anchors[l.URL]
		if wanted && text != "" && len(text) <= maxAnchor && len(list) < maxAnchors && !slices.Contains(list, text) {
			s.anchors[l.URL] = append(list, text)
		}
		return nil
	})
}

// original finds the record that a revisit refers to, by its digest.
func (s *survey) original(digest string) (warc string, offset, length int64) {
	at := s.originals[digest]
	return at.warc, at.offset, at.length
}
