package export

import (
	"context"
	"fmt"
	"io"
	"sync"

	"github.com/muninn-archive/muninn/internal/archive"
)

// How records are read: what touches comes by one call of the store, but at most so much; and so many calls run at a time.
const (
	maxRead     = 4 << 20
	readsAtOnce = 8
)

// chunk is a range of a file of the archive.
type chunk struct {
	source         int
	offset, length int64
}

// chunks are the ranges of a part's records, in the order of the export.
func (p *Part) chunks(each func(chunk) bool) {
	var now chunk
	flush := func() bool {
		for now.length > 0 {
			n := min(now.length, maxRead)
			if !each(chunk{now.source, now.offset, n}) {
				return false
			}
			now.offset, now.length = now.offset+n, now.length-n
		}
		return true
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		for _, r := range g.Runs {
			if now.length > 0 && now.source == g.Source && now.offset+now.length == r[0] {
				now.length += r.length()
				continue
			}
			if !flush() {
				return
			}
			now = chunk{g.Source, r[0], r.length()}
		}
	}
	flush()
}

// buffers hold what was read and not yet written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// fetched is a chunk that was read, or why it was not.
type fetched struct {
	data *[]byte
	err  error
}

// copyRecords writes the records of a part to w, as they are.
func (p *Part) copyRecords(ctx context.Context, store archive.Store, w io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	pending := make(chan chan fetched, readsAtOnce-2) // one more is being written, and one waits to be sent
	running.Go(func() {
		defer close(pending)
		p.chunks(func(c chunk) bool {
			mine := make(chan fetched, 1)
			select {
			case pending <- mine:
			case <-ctx.Done():
				return false
			}
			running.Go(func() { mine <- p.fetch(ctx, store, c) })
			return true
		})
	})
	for mine := range pending {
		f := <-mine
		if f.err != nil {
			return f.err
		}
		if _, err := w.Write(*f.data); err != nil {
			return err
		}
		buffers.Put(f.data)
	}
	return ctx.Err()
}

// fetch reads a chunk.
func (p *Part) fetch(ctx context.Context, store archive.Store, c chunk) fetched {
	data := buffers.Get().(*[]byte)
	if int64(cap(*data)) < c.length {
		*data = make([]byte, c.length)
	}
	*data = (*data)[:c.length]
	key := p.Sources[c.source].WARC.Key
	r, err := store.GetRange(ctx, key, c.offset, c.length)
	if err != nil {
		return fetched{err: err}
	}
	defer func() { _ = r.Close() }()
	if _, err := io.ReadFull(r, *data); err != nil {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = &archive.DamagedError{Err: fmt.Errorf("read %s: %w: it ends before %d, and its manifest says %d bytes", key, ErrSource, c.offset+c.length, p.Sources[c.source].WARC.Bytes)}
		}
		return fetched{err: err}
	}
	return fetched{data: data}
}
