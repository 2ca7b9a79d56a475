package export

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/urls"
)

// run is where records lie in a file one behind the other: the offset of the first, and the length of each, in bytes.
type run []int64

func (r run) end() (end int64) {
	for _, n := range r {
		end += n
	}
	return end
}

func (r run) length() int64 { return r.end() - r[0] }

// runs are the places of the records of a group, in the order of the file.
type runs []run

// add appends a record that lies behind the others.
func (r *runs) add(offset, length int64) {
	if n := len(*r); n > 0 && (*r)[n-1].end() == offset {
		(*r)[n-1] = append((*r)[n-1], length)
		return
	}
	*r = append(*r, run{offset, length})
}

func (r runs) length() (sum int64) {
	for _, one := range r {
		sum += one.length()
	}
	return sum
}

func (r runs) records() (n int) {
	for _, one := range r {
		n += len(one) - 1
	}
	return n
}

// group is a record and those that belong to it: of a capture its request, its metadata, the document and the picture that a browser made of it.
type group struct {
	capture int32 // of the index; none of a DNS answer, warcinfo, and what no index lists
	kind    string
	runs    runs
	id, url string
	rec     record // of a revisit, or of what is no capture
	meta    *metadata
}

// host is the name that a DNS answer is of; empty of other groups.
func (g *group) dnsHost() string {
	if len(g.url) > 4 && g.url[:4] == "dns:" {
		return g.url[4:]
	}
	return ""
}

// structure is what a WARC file consists of.
type structure struct {
	groups []*group
	of     map[int32]*group // by capture
}

// maxPassed bounds the bytes that are read and passed over so that two parts of a file come by one call of the store.
const maxPassed = 256 << 10

// readStructure finds the records of a segment. It reads what lies between the responses that the index lists: how long those are, the index says, and how
// long the others are, only their ends say.
func (x *Index) readStructure(ctx context.Context, store archive.Store, source int32) (*structure, error) {
	s := &structure{of: map[int32]*group{}}
	b := &structureReader{structure: s, index: x, byID: map[string]*group{}, store: store, file: x.Sources[source].WARC}
	defer b.close()
	if err := b.read(ctx, x.of[source]); err != nil {
		return nil, err
	}
	return s, nil
}

// structureReader reads a structure.
type structureReader struct {
	*structure
	index *Index
	store archive.Store
	file  archive.Stored
	byID  map[string]*group
	last  *group // the capture whose ID is not known yet

	body io.ReadCloser
	in   recordReader
}

func (b *structureReader) close() {
	if b.body != nil {
		_ = b.body.Close()
	}
}

// read reads the file; captures are in its order.
func (b *structureReader) read(ctx context.Context, captures []int32) error {
	at := int64(0)
	for _, i := range captures {
		c := &b.index.Captures[i]
		if err := b.between(ctx, at, c.Offset); err != nil {
			return err
		}
		g := &group{capture: i, kind: "response", url: c.URL}
		if c.Revisit {
			if err := b.revisit(ctx, c, g); err != nil {
				return err
			}
		}
		g.runs.add(c.Offset, c.Length)
		b.groups = append(b.groups, g)
		b.of[i], b.last = g, g
		at = c.Offset + c.Length
	}
	return b.between(ctx, at, b.file.Bytes)
}

// revisit reads the record of a revisit, which says what it refers to.
func (b *structureReader) revisit(ctx context.Context, c *Capture, g *group) error {
	if err := b.seek(ctx, c.Offset); err != nil {
		return err
	}
	rec, err := b.in.next()
	if err == nil && (rec.kind != "revisit" || rec.length != c.Length) {
		err = fmt.Errorf("there is no revisit of %d bytes but a %s of %d", c.Length, rec.kind, rec.length)
	}
	if err != nil {
		return b.damaged(ctx, c.Offset, err)
	}
	g.kind, g.rec, g.id = rec.kind, rec, rec.id
	b.byID[rec.id] = g
	return nil
}

// between reads the records from an offset to another.
func (b *structureReader) between(ctx context.Context, from, to int64) error {
	if from > to {
		return b.damaged(ctx, to, fmt.Errorf("the index has a record that begins before the end of the one before it, at %d", from))
	}
	for from < to {
		if err := b.seek(ctx, from); err != nil {
			return err
		}
		rec, err := b.in.next()
		if err != nil {
			return b.damaged(ctx, from, noEOF(err))
		}
		if from += rec.length; from > to {
			return b.damaged(ctx, rec.offset, fmt.Errorf("a record ends at %d, but the index has the next one at %d", from, to))
		}
		b.place(rec)
	}
	return nil
}

// damaged says what cannot be read of the file; a fault of the store stays what it is.
func (b *structureReader) damaged(ctx context.Context, offset int64, err error) error {
	if ctx.Err() != nil || !archive.Damaged(err) && isFault(err) {
		return err
	}
	return &archive.DamagedError{Err: fmt.Errorf("read %s at %d: %w: %w", b.file.Key, offset, ErrSource, err)}
}

// seek brings the reader to an offset, which is not before where it is.
func (b *structureReader) seek(ctx context.Context, offset int64) error {
	if b.body != nil && offset-b.in.Offset() <= maxPassed {
		if err := b.in.Skip(offset - b.in.Offset()); err != nil {
			return b.damaged(ctx, offset, noEOF(err))
		}
		return nil
	}
	b.close()
	body, err := b.store.GetRange(ctx, b.file.Key, offset, b.file.Bytes-offset)
	if err != nil {
		b.body = nil
		return err
	}
	b.body = body
	if b.in.MemberReader == nil {
		b.in = newRecordReader(body, offset)
	} else {
		b.in.Reset(body, offset)
	}
	return nil
}

// place puts a record that the index does not list into its group.
func (b *structureReader) place(rec record) {
	meta := rec.meta
	rec.meta = nil
	g := b.byID[rec.concurrent]
	if g == nil && rec.concurrent != "" && b.last != nil && b.last.id == "" && b.last.url == rec.url {
		g = b.last // the first record that refers to a response, behind it, says its ID
		g.id = rec.concurrent
		b.byID[g.id] = g
	}
	if page, shown := shownOf(rec.url); g == nil && shown && b.last != nil && b.last.url == page {
		g = b.last
	}
	if g == nil {
		g = &group{capture: none, kind: rec.kind, url: rec.url, id: rec.id, rec: rec}
		b.groups = append(b.groups, g)
		b.byID[rec.id] = g
	}
	if meta != nil {
		g.meta = meta
	}
	g.runs.add(rec.offset, rec.length)
}

// shownOf is the page that a browser made a document or a picture of.
func shownOf(urn string) (page string, is bool) {
	for _, prefix := range []string{"urn:dom:", "urn:view:"} {
		if page, is = strings.CutPrefix(urn, prefix); is {
			return page, true
		}
	}
	return "", false
}

// hostOf is the host whose DNS answer a URL needs; empty of an address.
func hostOf(url string) string {
	u, err := urls.Trusted(url)
	if err != nil {
		return ""
	}
	if _, is := urls.Address(u.Host()); is {
		return ""
	}
	return u.Host()
}
