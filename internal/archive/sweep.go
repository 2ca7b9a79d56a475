package archive

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"
)

// MinSweepAge is the least age of what is swept. An attempt of ARCHIVE, from its first object to its manifest, is cut off after
// half an hour: what is older and named by no manifest will never be named.
const MinSweepAge = time.Hour

// Swept is what a sweep found.
type Swept struct {
	Objects    []Object // of segments, named by no manifest
	Bytes      int64    // of them
	Unfinished []string // what puts that were cut off have left: files half written, uploads in parts
}

// The names of what a crawl keeps: objects of segments in data/, as Segment.manifest names them, and files half written, as a
// folder's put does. The store may be another program's too: nothing is swept whose name is not one of these.
var (
	segmentObject = regexp.MustCompile(`^.+-[0-9a-f]{16}\.(warc\.gz|cdxj|links\.zst|objects\.zst|log\.zst)$`)
	halfWritten   = regexp.MustCompile("^" + regexp.QuoteMeta(tempPrefix) + "[0-9]+$")
)

// crawlFolders are the folders of a crawl in its archive.
var crawlFolders = []string{"data", "segments", "definitions", "learned", "reports"}

// split takes a key apart: the crawl with its prefix, the folder, the name; crawl is "." if there is none.
func split(key string) (crawl, folder, name string) {
	dir := path.Dir(key)
	return path.Dir(dir), path.Base(dir), path.Base(key)
}

// Sweep finds the objects of crawls that no manifest names and that were put before a time, and what puts have left that were
// cut off before it. With remove it deletes them. A crawl is where segments/ or definitions/ is; what else is in the store is
// left alone.
func Sweep(ctx context.Context, store Store, before time.Time, remove bool) (found Swept, err error) {
	crawls := map[string]bool{}         // with their prefixes
	candidates := map[string][]Object{} // by crawl
	err = store.List(ctx, "", func(o Object) error {
		crawl, folder, name := split(o.Key)
		switch {
		case crawl == ".":
		case folder == "segments", folder == "definitions":
			crawls[crawl] = true
		case folder == "data" && segmentObject.MatchString(name) && o.Changed.Before(before):
			candidates[crawl] = append(candidates[crawl], o)
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("sweep: %w", err)
	}
	for crawl, objects := range candidates { // the manifests are read after the listing: what was put meanwhile is named
		if !crawls[crawl] {
			continue
		}
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
	found.Unfinished, err = store.Unfinished(ctx, before, remove, func(key string) bool {
		crawl, folder, name := split(key)
		return crawls[crawl] && (folder == "data" && segmentObject.MatchString(name) ||
			slices.Contains(crawlFolders, folder) && halfWritten.MatchString(name))
	})
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
