package derive

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/page"
)

// Reader reads the captures of segments. It holds one WARC object in a working file, the index of its segment, and the objects and the body of one capture. It reads one segment at a time; Close
// frees the file.
type Reader struct {
	Store  archive.Store
	Dir    string      // of the working file; empty: that of the system
	Limits page.Limits // of pages; zero: page.DefaultLimits
	// PDF reads PDF files; nil: none is read.
	PDF func(ctx context.Context, file []byte, textBytes int) (page.Paper, error)
	// Originals finds the record that has the payload of a digest, of whatever segment: the key of its WARC object, and where its member begins and how long it is; an empty key if it is not
	// known. nil: revisits have no bodies.
	Originals func(digest string) (warc string, offset, length int64)
	// Stray is called with objects that are of no capture of the index; nil: they are left out.
	Stray func(archive.WebObject) error

	file *os.File
	key  string // of the WARC object in file
}

// Close frees the working file.
func (r *Reader) Close() {
	if r.file != nil {
		_ = r.file.Close()
		r.file = nil
	}
}

func (r *Reader) limits() page.Limits {
	if r.Limits == (page.Limits{}) {
		return page.DefaultLimits()
	}
	return r.Limits
}

// Each calls fn with each capture of a segment: the lines of its index, in the order of their records. What is not what the manifest says is an archive.DamagedError, which names the
// object; no capture has been read of a WARC object then.
func (r *Reader) Each(ctx context.Context, m archive.Manifest, fn func(*Capture) error) error {
	if m.GivenBack || m.WARC.Key == "" {
		return nil
	}
	s := segment{Reader: r, m: m, store: archive.Verified(r.Store, m.Stored()...)}
	if err := s.open(ctx); err != nil {
		return fmt.Errorf("read segment %s: %w", m.Segment(), err)
	}
	next, stop := iter.Pull2(s.sidecar(ctx))
	defer stop()
	s.objects.next = next
	for i := range s.index {
		c := s.capture(i)
		err := s.complete(c, i)
		if err == nil {
			c.objects, err = s.objects.of(i)
		}
		if err != nil {
			return fmt.Errorf("read segment %s: %w", m.Segment(), err)
		}
		if err := fn(c); err != nil {
			return err
		}
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	if _, err := s.objects.of(len(s.index)); err != nil {
		return fmt.Errorf("read segment %s: %w", m.Segment(), err)
	}
	return nil
}

// segment is a segment that is read.
type segment struct {
	*Reader
	m         archive.Manifest
	store     archive.Store     // that compares what is read with the manifest
	index     []archive.Indexed // in the order of their records
	documents map[string]shown  // of pages that were opened, by URL
	objects   objects
}

// shown is the final document of a page.
type shown struct {
	member
	of string // ID of the record of the page
}

// open reads the index, copies the WARC object into the working file, and finds the documents.
func (s *segment) open(ctx context.Context) error {
	err := archive.ReadIndexOf(ctx, s.store, &s.m, func(i archive.Indexed) error {
		s.index = append(s.index, i)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortStableFunc(s.index, func(a, b archive.Indexed) int { return cmp.Compare(a.Offset, b.Offset) })
	s.objects = newObjects(s.index, s.Stray)
	if err := s.fetch(ctx); err != nil {
		return err
	}
	if s.m.Shown == 0 {
		return nil
	}
	return s.findDocuments()
}

// fetch copies the WARC object into the working file.
func (s *segment) fetch(ctx context.Context) (err error) {
	s.key = ""
	if s.file == nil {
		if s.file, err = os.CreateTemp(s.Dir, "derive-*.warc.gz"); err != nil {
			return err
		}
		_ = os.Remove(s.file.Name()) // the open file stays until it is closed
	}
	from, err := s.store.Get(ctx, s.m.WARC.Key)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	if err = s.file.Truncate(0); err == nil {
		_, err = s.file.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = io.Copy(s.file, from)
	}
	if err == nil {
		s.Reader.key = s.m.WARC.Key
	}
	return err
}

// DocumentURN is what the target URI of the document begins with that a browser has made of a page; the URL of the page follows.
const DocumentURN = "urn:dom:"

// findDocuments finds the documents that browsers have made of pages. They stand behind the records of their pages, and are not in the index.
func (s *segment) findDocuments() error {
	s.documents = map[string]shown{}
	for i := range s.index {
		from, to := s.behind(i)
		url, open := "", (*shown)(nil)
		end := func(at int64) {
			if open != nil {
				open.length = at - open.offset
				s.documents[url], open = *open, nil
			}
		}
		err := archive.ReadMembers(s.file, from, to, func(rec archive.Member) (bool, error) {
			end(rec.Offset)
			if of, is := strings.CutPrefix(rec.URL, DocumentURN); is && rec.Kind == "resource" {
				url, open = of, &shown{member: member{key: s.m.WARC.Key, offset: rec.Offset}, of: rec.Of}
			}
			return true, nil
		})
		if err != nil {
			return err
		}
		end(to)
	}
	return nil
}

// behind is where the records begin and end that stand behind the one of a line of the index: its request, its metadata, and what is in no index.
func (s *segment) behind(i int) (from, to int64) {
	from, to = s.index[i].Offset+s.index[i].Length, s.m.WARC.Bytes
	if i+1 < len(s.index) {
		to = s.index[i+1].Offset
	}
	return from, to
}

// capture makes a capture of a line of the index.
func (s *segment) capture(i int) *Capture {
	line := s.index[i]
	return &Capture{
		Crawl: s.m.Crawl, Run: s.m.Run, Segment: s.m.Segment(), Indexed: line, reader: s.Reader,
		body: member{s.m.WARC.Key, line.Offset, line.Length},
	}
}

// complete adds what the records of a capture say of it, its document, and its objects.
func (s *segment) complete(c *Capture, i int) error {
	id := ""
	document, opened := s.documents[c.URL]
	if c.Revisit || opened {
		err := archive.ReadMembers(s.file, c.Offset, c.Offset+c.Length, func(rec archive.Member) (bool, error) {
			if id = rec.ID; c.Revisit {
				c.Original = &Original{rec.RefersTo, rec.RefersToDate}
			}
			return false, nil
		})
		if err != nil {
			return err
		}
	}
	if opened && (document.of == "" || document.of == id) {
		c.Shown, c.body = true, document.member
	}
	from, to := s.behind(i)
	err := archive.ReadMembers(s.file, from, to, func(rec archive.Member) (bool, error) {
		if rec.Kind != "metadata" {
			return rec.Kind == "request", nil
		}
		m, err := archive.ReadMetadata(rec.Block, nil)
		c.Title, c.Language, c.Level, c.Path, c.Via = m.Title, m.Language, m.Level, m.Path, m.Via
		return false, err
	})
	return err
}

// sidecar are the objects of the segment, in the order of their captures.
func (s *segment) sidecar(ctx context.Context) iter.Seq2[*archive.WebObject, error] {
	return func(yield func(*archive.WebObject, error) bool) {
		if s.m.Objects == nil {
			return
		}
		err := archive.ReadObjects(ctx, s.store, s.m.Objects.Key, func(o archive.WebObject) error {
			if !yield(&o, nil) {
				return errEnough
			}
			return nil
		})
		if err != nil && !errors.Is(err, errEnough) {
			yield(nil, err)
		}
	}
}

var errEnough = errors.New("nobody wants more")
