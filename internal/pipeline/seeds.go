package pipeline

import (
	"errors"
	"fmt"
	"os"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Seeds lists what a definition starts from: its seeds, which may bound the scope, and the example pages
// and paths that it names by URL.
func Seeds(d crawl.Definition) (found []crawl.Discovery, bounding []string, err error) {
	shown := func(raw, where string) string { return fmt.Sprintf("%s: %q", where, crawl.HideUser(raw)) }
	add := func(raw, where string, hop crawl.Hop, score float64) error {
		u, err := urls.ParseSeed(raw)
		if err != nil {
			return &crawl.InputError{Message: fmt.Sprintf("%s is not a URL to crawl: %v", where, Reason(err))}
		}
		found = append(found, crawl.Discovery{URL: u.String(), Path: hop.String(), Score: score})
		return nil
	}
	for i, s := range d.Seeds {
		where := fmt.Sprintf("seeds[%d]", i)
		switch {
		case s.URL != "":
			err = add(s.URL, shown(s.URL, where), crawl.HopSeed, 1)
		case s.Sitemap != "":
			err = add(s.Sitemap, shown(s.Sitemap, where), crawl.HopSeed, 1)
		default:
			err = seedFile(s.File, func(line int, url string) error {
				return add(url, fmt.Sprintf("%s, line %d", s.File, line), crawl.HopSeed, 1)
			})
		}
		if err != nil {
			return nil, nil, err
		}
	}
	for _, s := range found {
		bounding = append(bounding, s.URL)
	}
	for _, n := range d.Topic.Named() {
		if err := add(n.URL, shown(n.URL, n.Field), crawl.HopSeed, 1); err != nil {
			return nil, nil, err
		}
	}
	return found, bounding, nil
}

func seedFile(name string, add func(line int, url string) error) error {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() { // a pipe would be waited for without end, and has nothing for a second attempt
		return &crawl.InputError{Message: fmt.Sprintf("seeds: %s is a folder, a pipe or a device, not a regular file", name)}
	}
	f, err := os.Open(name)
	if err != nil {
		return &crawl.InputError{Message: fmt.Sprintf("seeds: the file is read by the worker: %v", err)}
	}
	defer func() { _ = f.Close() }()
	list, err := urls.ReadList(name, f)
	if err != nil {
		return &crawl.InputError{Message: err.Error()}
	}
	for _, l := range list {
		if err := add(l.Number, l.Text); err != nil {
			return err
		}
	}
	return nil
}

// Reason reports what is wrong with a URL without the URL itself: a file that was named by mistake may hold
// what must not get into a log.
func Reason(err error) error {
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err
}
