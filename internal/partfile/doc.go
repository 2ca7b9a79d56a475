// Package partfile keeps a partition of a frontier as one object of an archive's store: what one worker hands over to another, and what
// a checkpoint has.
//
// The object is compressed by zstd. Numbers are unsigned varints, texts are their length and their bytes:
//
//	"muninn-p"                                    8 bytes
//	header                                        a text: Header as CBOR
//	entry, for each                               crawl, kind (1 byte), key (text), value (text)
//	end                                           0
//	entries                                       their number
//	checksum                                      8 bytes, big-endian: xxHash64 of all before it
//
// The crawl of an entry is 1 for what all crawls share, and 2, 3 … for those of the header. Entries stand in the order of crawl, kind and key.
// What is in keys and values is the frontier's, see docs/architecture/frontier.md.
//
// Who reads or writes one has an entry of it in memory, and the windows of zstd: a megabyte or two, however many entries there are.
package partfile

import (
	"errors"
	"slices"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
)

// Version is that of the form. It covers the frontier's keys and values too.
const Version = 1

// Header is what an object says of itself.
type Header struct {
	Version   int                       `cbor:"1,keyasint"`
	Partition frontier.Partition        `cbor:"2,keyasint"`
	Epoch     uint64                    `cbor:"3,keyasint"` // of the ring, in which it was written; 0: there was none
	Worker    string                    `cbor:"4,keyasint"` // that wrote it
	Created   time.Time                 `cbor:"5,keyasint"`
	Crawls    []frontier.PartitionCrawl `cbor:"6,keyasint,omitempty"` // that have entries
	// Ahead is by how much the clock of the worker was ahead of Temporal's, negative if it was behind; nil if it did not know, as a worker of an earlier version. The times in the
	// entries are by the worker's clock.
	Ahead *time.Duration `cbor:"7,keyasint,omitempty"`
}

// The errors of a reader of an object. Each says that nothing of it may be used.
var (
	ErrVersion   = errors.New("another version of Muninn has written it")
	ErrPartition = errors.New("it is of another partition")
	ErrTruncated = errors.New("it is cut off")
	ErrDamaged   = errors.New("it is damaged")
)

// Unreadable reports whether an error says that an object is lost, or that no attempt reads it.
func Unreadable(err error) bool {
	var store *archive.StoreError
	if errors.As(err, &store) { // it was not read to its end
		return false
	}
	return slices.ContainsFunc([]error{frontier.ErrEntry, ErrVersion, ErrPartition, ErrTruncated, ErrDamaged, archive.ErrNotFound}, func(kind error) bool {
		return errors.Is(err, kind)
	})
}

// The smallest difference of two clocks for which times are changed: how long a task took to a worker is in what it knows of its clock. To be asked too early is worse than too late.
const (
	leastShift   = time.Second     // of times that become later
	leastEarlier = 5 * time.Second // of times that become earlier
)

const (
	magic = "muninn-p"
	// window is that of zstd, in bytes: keys and values are much like those next to them.
	window = 1 << 20
	// Bounds of what is read, in bytes: a transaction of the frontier, in which entries are written, has less than five megabytes.
	maxHeader = 64 << 20
	maxKey    = 4 << 10
	maxValue  = 8 << 20
)
