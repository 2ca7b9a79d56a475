package archive

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"regexp"
	"strings"
	"time"
)

// MinSweepAge is the least age of what is swept: an attempt to commit a segment has ended by then, also by a clock that differs. What is older
// and named by no manifest will never be named.
const MinSweepAge = 2 * commitTimeout

// Swept is what a sweep found.
type Swept struct {
	Objects    []Object // of segments, named by no manifest
	Bytes      int64    // of them
	Unfinished []string // what puts that were cut off have left: files half written, uploads in parts
}

// halfWritten is the name of a file that a folder's put was cut off in. Nothing is swept that is named neither so nor as an object
// of a segment.
var halfWritten = regexp.MustCompile("^" + regexp.QuoteMeta(tempPrefix) + "[0-9]+$")

// Sweep finds the objects of crawls that no manifest names and that were put before a time, data of derivations whose manifests name other data, and what puts have left that were
// cut off before it. With remove it deletes them. A crawl is where segments/ or definitions/ is; what else is in the store is
// left alone.
func Sweep(ctx context.Context, store Store, before time.Time, remove bool) (found Swept, err error) {
	crawls := map[Layout]bool{}
	candidates := map[Layout][]Object{}
	var derived []Object
	err = store.List(ctx, "", func(o Object) error {
		crawl, folder, name := split(o.Key)
		switch {
		case folder == folderSegments, folder == folderDefinitions:
			crawls[crawl] = true
		case folder == folderData && segmentObject.MatchString(name) && o.Changed.Before(before):
			candidates[crawl] = append(candidates[crawl], o)
		case folder == folderDerived && derivedData.MatchString(name) && o.Changed.Before(before):
			derived = append(derived, o)
		}
		return nil
	})
	if err != nil {
		return found, fmt.Errorf("sweep: %w", err)
	}
	sweep := func(o Object) error {
		if remove {
			if err := store.Delete(ctx, o.Key); err != nil {
				return fmt.Errorf("sweep: %w", err)
			}
		}
		found.Objects, found.Bytes = append(found.Objects, o), found.Bytes+o.Size
		return nil
	}
	for crawl, objects := range candidates { // the manifests are read after the listing: what was put meanwhile is named
		if !crawls[crawl] {
			continue
		}
		named, err := namedBy(ctx, store, crawl)
		if err != nil {
			return found, fmt.Errorf("sweep %s: %w", path.Join(crawl.Prefix, crawl.Crawl), err)
		}
		for _, o := range objects {
			if named[o.Key] {
				continue
			}
			if err := sweep(o); err != nil {
				return found, err
			}
		}
	}
	for _, o := range derived {
		other, err := derivedElsewhere(ctx, store, o.Key)
		if err == nil && other {
			err = sweep(o)
		}
		if err != nil {
			return found, err
		}
	}
	found.Unfinished, err = store.Unfinished(ctx, before, remove, func(key string) bool {
		crawl, folder, name := split(key)
		return crawls[crawl] && (folder == folderData && segmentObject.MatchString(name) || halfWritten.MatchString(name))
	})
	return found, err
}

// namedBy lists what the manifests of a crawl name.
func namedBy(ctx context.Context, store Store, crawl Layout) (map[string]bool, error) {
	named := map[string]bool{}
	err := Manifests(ctx, store, crawl.Prefix, crawl.Crawl, func(m Manifest) error {
		for _, o := range m.Stored() {
			named[o.Key] = true
		}
		return nil
	})
	return named, err
}

// derivedElsewhere reports whether the manifest of a derivation names other data than that under a key. Without a manifest, the next attempt makes the same data, and puts the manifest: to delete
// it meanwhile would take it from under that manifest.
func derivedElsewhere(ctx context.Context, store Store, key string) (bool, error) {
	parts := derivedData.FindStringSubmatch(path.Base(key))
	raw, err := ReadAll(ctx, store, path.Dir(key)+"/"+parts[1]+manifestSuffix, maxManifest)
	if errors.Is(err, ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("sweep: %w", err)
	}
	var m struct {
		Data *Stored `json:"data"`
	}
	if json.Unmarshal(raw, &m) != nil || m.Data == nil || path.Dir(m.Data.Key) != path.Dir(key) { // it is damaged, or another program's
		return false, nil
	}
	return m.Data.Key != key, nil
}

// Tidy deletes what attempts of a segment have left that did not come to its manifest; m is the manifest that stands, or nil
// if the segment was given back. No attempt of the segment may be in progress.
func Tidy(ctx context.Context, store Store, label Label, m *Manifest) error {
	named := map[string]bool{}
	if m != nil {
		for _, o := range m.Stored() {
			named[o.Key] = true
		}
	}
	var left []string
	prefix := label.Layout().objects(label.Segment())
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
