package views

import (
	"context"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
)

// GetRange reads an object of the crawls that are shown, from the archive that has it, for handlers that read records of the catalogue.
func (v *Views) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	for _, c := range v.Crawls() {
		if strings.HasPrefix(key, c.Layout().Data()) {
			return c.Store.GetRange(ctx, key, offset, length)
		}
	}
	return nil, archive.ErrNotFound
}
