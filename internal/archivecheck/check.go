package archivecheck

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// ErrNoCrawl means that the archive holds no crawl: nothing in it lies in segments/ or data/ of one.
var ErrNoCrawl = errors.New("no crawl in the archive")

// checker carries what must be known across segments and crawls.
type checker struct {
	ctx    context.Context // of the check, which the checker does not outlive
	source Source
	report Report
	named  map[string]string // object key → the manifest that names it
	ids    map[recordID]place
	origins
	exported bool     // the files are those of an export
	infos    []infoOf // of its records
}

// place is where a record lies.
type place struct {
	file   string
	offset int64
	typ    string
}

// CheckDir checks an archive in a directory, as Check does.
func CheckDir(dir string) (Report, error) { return Check(context.Background(), folder(dir)) }

// Check checks every crawl of an archive, and what holds between them: record IDs are unique and revisits find what they
// refer to. It returns [ErrNoCrawl], or an error of the source; what is wrong with the archive is in the report. Memory
// grows by about a kilobyte a record.
func Check(ctx context.Context, source Source) (Report, error) {
	c := &checker{
		ctx: ctx, source: source,
		report:  Report{Pages: map[string]int{}, Robots: map[string]int{}},
		named:   map[string]string{},
		ids:     map[recordID]place{},
		origins: newOrigins(),
	}
	keys, err := source.Keys(ctx)
	if err != nil {
		return c.report, fmt.Errorf("check archive: %w", err)
	}
	crawls := findCrawls(keys)
	if len(crawls) == 0 {
		return c.report, fmt.Errorf("check archive: %w", ErrNoCrawl)
	}
	for _, crawl := range slices.Sorted(maps.Keys(crawls)) {
		if err := c.checkCrawl(crawl, crawls[crawl]); err != nil {
			return c.report, fmt.Errorf("check crawl %s: %w", crawl, err)
		}
	}
	c.checkRevisits()
	return c.report, nil
}

// objects are the keys of a crawl.
type objects struct{ segments, data, derived []string }

// findCrawls finds the crawls among keys: a crawl is what segments/ and data/ lie in, at any depth.
func findCrawls(keys []string) map[string]*objects {
	crawls, derived := map[string]*objects{}, map[string][]string{}
	for _, key := range keys {
		folder := path.Dir(key)
		crawl, kind := path.Dir(folder), path.Base(folder)
		if step := derivedFolder.FindStringSubmatch(folder); step != nil {
			derived[step[1]] = append(derived[step[1]], key)
			continue
		}
		if crawl == "." || kind != "segments" && kind != "data" {
			continue
		}
		if crawls[crawl] == nil {
			crawls[crawl] = &objects{}
		}
		if kind == "segments" {
			crawls[crawl].segments = append(crawls[crawl].segments, key)
		} else {
			crawls[crawl].data = append(crawls[crawl].data, key)
		}
	}
	for crawl, list := range derived { // what lies in no crawl is not ours
		if crawls[crawl] != nil {
			crawls[crawl].derived = list
		}
	}
	return crawls
}

func (c *checker) checkCrawl(crawl string, of *objects) error {
	for _, key := range of.segments {
		if !strings.HasSuffix(key, ".json") || strings.HasPrefix(path.Base(key), ".") {
			c.report.Orphans = append(c.report.Orphans, key)
			continue
		}
		if err := c.checkSegment(crawl, key); err != nil {
			return err
		}
	}
	for _, key := range of.data {
		if _, ok := c.named[key]; !ok {
			c.report.Orphans = append(c.report.Orphans, key)
		}
	}
	return c.checkDerived(crawl, of.derived, of.segments)
}

// fault records one sentence about the byte at offset in the file.
func (c *checker) fault(file string, offset int64, format string, args ...any) {
	c.report.Faults = append(c.report.Faults, fmt.Sprintf("%s at %d: %s.", file, offset, fmt.Sprintf(format, args...)))
}
