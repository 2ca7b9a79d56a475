package partfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// small is how many bytes an object may have to be put in one request: most partitions have less.
const small = 1 << 20

// Put exports a partition into a store, under a key. It returns the number of entries.
func Put(ctx context.Context, store archive.Store, key string, h Header, e *frontier.Export) (entries uint64, err error) {
	r, w := io.Pipe()
	written := make(chan error, 1)
	go func() {
		var err error
		entries, err = Write(w, h, e)
		_ = w.CloseWithError(err)
		written <- err
	}()
	head, err := io.ReadAll(io.LimitReader(r, small))
	if err == nil && len(head) < small {
		err = store.Put(ctx, key, bytes.NewReader(head), int64(len(head)))
	} else if err == nil {
		err = store.Put(ctx, key, io.MultiReader(bytes.NewReader(head), r), archive.UnknownSize)
	}
	_ = r.CloseWithError(errStopped)
	if wrote := <-written; wrote != nil && !errors.Is(wrote, errStopped) {
		err = errors.Join(wrote, err)
	}
	if err != nil {
		return 0, fmt.Errorf("export partition %d: %w", h.Partition, err)
	}
	return entries, nil
}

var errStopped = errors.New("the object is not put")

// Write writes a partition as an object.
func Write(to io.Writer, h Header, e *frontier.Export) (entries uint64, err error) {
	var w *Writer
	each := func(head func([]*frontier.PartitionCrawl) error, fn func(frontier.PartitionEntry) error) error {
		return e.Partition(h.Partition, head, fn)
	}
	if h.Partition == frontier.NoPartition {
		each = e.Crawls
	}
	err = each(func(crawls []*frontier.PartitionCrawl) (err error) {
		w, err = NewWriter(to, h, crawls)
		return err
	}, func(e frontier.PartitionEntry) error { return w.Add(e) })
	if err != nil {
		return 0, err
	}
	return w.entries, w.Close()
}

// Import puts an object of a store in place of what some crawls have of a partition in a frontier. check, which may be nil, is asked before whether it
// may be, by the header. ahead is by how much the clock of this worker is ahead of Temporal's, nil if it is not known: if both are, the times in the entries become those of this clock.
func Import(
	ctx context.Context, store archive.Store, key string, p frontier.Partition, of frontier.Choice, into *frontier.Frontier, ahead *time.Duration, check func(Header) error,
) (out frontier.Imported, err error) {
	err = read(ctx, store, key, p, func(r *Reader) (err error) {
		if check != nil {
			err = check(r.Header)
		}
		if err == nil {
			out, err = into.Import(p, of, frontier.Shift(until(ctx, r.Entries()), r.shift(ahead)))
		}
		return err
	})
	return out, err
}

// shift is what a clock shows more than that of the worker that has written the object; 0 if that is not known, or too little to count.
func (h Header) shift(ahead *time.Duration) time.Duration {
	if ahead == nil || h.Ahead == nil {
		return 0
	}
	if by := *ahead - *h.Ahead; by >= leastShift || by <= -leastEarlier {
		return by
	}
	return 0
}

// ImportCrawls makes the crawls known of an object of frontier.NoPartition (frontier.Frontier.ImportCrawls). It returns the number of entries.
func ImportCrawls(ctx context.Context, store archive.Store, key string, into *frontier.Frontier) (entries int, err error) {
	err = read(ctx, store, key, frontier.NoPartition, func(r *Reader) (err error) {
		entries, err = into.ImportCrawls(until(ctx, r.Entries()))
		return err
	})
	return entries, err
}

// read opens an object.
func read(ctx context.Context, store archive.Store, key string, p frontier.Partition, use func(*Reader) error) error {
	object, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = object.Close() }()
	r, err := NewReader(object)
	if err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	defer r.Close()
	if err := r.Is(p); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	if err := use(r); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// until ends a sequence with the context.
func until(ctx context.Context, list iter.Seq2[frontier.PartitionEntry, error]) iter.Seq2[frontier.PartitionEntry, error] {
	return func(yield func(frontier.PartitionEntry, error) bool) {
		for e, err := range list {
			if err == nil {
				err = ctx.Err()
			}
			if !yield(e, err) {
				return
			}
		}
	}
}
