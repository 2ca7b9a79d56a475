package export

import (
	"errors"

	"github.com/muninn-archive/muninn/internal/archive"
)

// The errors of an export.
var (
	// ErrNoCrawl says that an archive has no segment of a crawl.
	ErrNoCrawl = errors.New("there is no crawl")
	// ErrSource says that a record of the archive is not what its segment's manifest and index say.
	ErrSource = errors.New("the source is damaged")
	// ErrForeign says that a file of an export is not one that this order writes.
	ErrForeign = errors.New("is not of this export")
)

// isFault reports whether an error is of a store, and not of what is stored.
func isFault(err error) bool {
	var fault *archive.StoreError
	return errors.As(err, &fault)
}
