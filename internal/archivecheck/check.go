package archivecheck

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// ErrNoCrawl means that the directory holds no crawl: nothing directly below it has segments/ or data/.
var ErrNoCrawl = errors.New("no crawl in the directory")

// checker carries what must be known across segments and crawls.
type checker struct {
	dir    string
	report Report
	named  map[string]string // object key → the manifest that names it
	ids    map[recordID]place
	origins
}

// place is where a record lies.
type place struct {
	file   string
	offset int64
	typ    string
}

// CheckDir checks every crawl directly below dir, and what holds between them: record IDs are unique
// and revisits find what they refer to. It returns [ErrNoCrawl], or an error of the file system; what
// is wrong with the archive is in the report. Memory grows by about a kilobyte a record.
func CheckDir(dir string) (Report, error) {
	c := &checker{
		dir:     dir,
		report:  Report{Pages: map[string]int{}, Robots: map[string]int{}},
		named:   map[string]string{},
		ids:     map[recordID]place{},
		origins: newOrigins(),
	}
	crawls, err := findCrawls(dir)
	if err != nil {
		return c.report, fmt.Errorf("check archive: %w", err)
	}
	for _, crawl := range crawls {
		if err := c.checkCrawl(crawl); err != nil {
			return c.report, fmt.Errorf("check crawl %s: %w", crawl, err)
		}
	}
	c.checkRevisits()
	return c.report, nil
}

// findCrawls lists the directories directly below dir that look like a crawl.
func findCrawls(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var crawls []string
	for _, e := range entries {
		if isDir(filepath.Join(dir, e.Name(), "segments")) || isDir(filepath.Join(dir, e.Name(), "data")) {
			crawls = append(crawls, e.Name())
		}
	}
	if len(crawls) == 0 {
		return nil, fmt.Errorf("%s: %w", dir, ErrNoCrawl)
	}
	return crawls, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

func (c *checker) checkCrawl(crawl string) error {
	files, err := c.list(crawl + "/segments")
	if err != nil {
		return err
	}
	for _, key := range files {
		if !strings.HasSuffix(key, ".json") || strings.HasPrefix(path.Base(key), ".") {
			c.report.Orphans = append(c.report.Orphans, key)
			continue
		}
		if err := c.checkSegment(crawl, key); err != nil {
			return err
		}
	}
	files, err = c.list(crawl + "/data")
	if err != nil {
		return err
	}
	for _, key := range files {
		if _, ok := c.named[key]; !ok {
			c.report.Orphans = append(c.report.Orphans, key)
		}
	}
	return nil
}

// list returns the keys of all files below the folder, sorted; none if there is no such folder.
func (c *checker) list(folder string) ([]string, error) {
	var keys []string
	err := fs.WalkDir(os.DirFS(c.dir), folder, func(key string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		keys = append(keys, key)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	slices.Sort(keys)
	return keys, err
}

// file returns the path of a key on disk.
func (c *checker) file(key string) string {
	return filepath.Join(c.dir, filepath.FromSlash(key))
}

// fault records one sentence about the byte at offset in the file.
func (c *checker) fault(file string, offset int64, format string, args ...any) {
	c.report.Faults = append(c.report.Faults, fmt.Sprintf("%s at %d: %s.", file, offset, fmt.Sprintf(format, args...)))
}
