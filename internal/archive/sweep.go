package archive

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"
	"time"
)

// MinSweepAge is the least age of what is swept. An attempt of ARCHIVE, from its first object to its manifest, is cut off after
// half an hour: what is older and named by no manifest will never be named.
const MinSweepAge = time.Hour

// Swept is what a sweep found.
type Swept struct {
	Objects    []Object // in data/ of a crawl, named by no manifest
	Bytes      int64    // of them
	Unfinished []string // what puts that were cut off have left: files half written, uploads in parts
}

// Sweep finds the objects of crawls that no manifest names and that were put before a time, and what puts have left that were
// cut off before it. With remove it deletes them.
func Sweep(ctx context.Context, store Store, before time.Time, remove bool) (found Swept, err error) {
	candidates := map[string][]Object{} // by crawl, with its prefix
	err = store.List(ctx, "", func(o Object) error {
		folder := path.Dir(o.Key)
		if crawl := path.Dir(folder); path.Base(folder) == "data" && crawl != "." && o.Changed.Before(before) {
			candidates[crawl] = append(candidates[crawl], o)
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("sweep: %w", err)
	}
	for crawl, objects := range candidates { // the manifests are read after the listing: what was put meanwhile is named
		named, err := namedBy(ctx, store, path.Dir(crawl), path.Base(crawl))
		if err != nil {
			return found, fmt.Errorf("sweep %s: %w", crawl, err)
		}
		for _, o := range objects {
			if named[o.Key] {
				continue
			}
			if remove {
				if err := store.Delete(ctx, o.Key); err != nil {
					return found, fmt.Errorf("sweep: %w", err)
				}
			}
			found.Objects, found.Bytes = append(found.Objects, o), found.Bytes+o.Size
		}
	}
	found.Unfinished, err = store.Unfinished(ctx, before, remove)
	return found, err
}

// namedBy lists what the manifests of a crawl name.
func namedBy(ctx context.Context, store Store, prefix, crawl string) (map[string]bool, error) {
	if prefix == "." {
		prefix = ""
	}
	named := map[string]bool{}
	err := Manifests(ctx, store, prefix, crawl, func(m Manifest) error {
		for _, o := range m.Stored() {
			named[o.Key] = true
		}
		return nil
	})
	return named, err
}

// Tidy deletes what attempts of a segment have left that did not come to its manifest; m is the manifest that stands, or nil
// if the segment was given back. No attempt of the segment may be under way.
func Tidy(ctx context.Context, store Store, label Label, m *Manifest) error {
	named := map[string]bool{}
	if m != nil {
		for _, o := range m.Stored() {
			named[o.Key] = true
		}
	}
	var left []string
	prefix := path.Join(label.Prefix, label.Crawl, "data", label.Segment()+"-")
	err := store.List(ctx, prefix, func(o Object) error {
		hash, _, _ := strings.Cut(strings.TrimPrefix(o.Key, prefix), ".")
		if len(hash) == hashLength && !named[o.Key] { // else it is of another batch whose name begins alike
			left = append(left, o.Key)
		}
		return nil
	})
	errs := []error{err}
	for _, key := range left {
		errs = append(errs, store.Delete(ctx, key))
	}
	return errors.Join(errs...)
}

// hashLength is the length of the hash in the names of objects, in hexadecimal digits.
const hashLength = 16
