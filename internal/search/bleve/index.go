package bleve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// Index is the full-text index in a folder:
//
//	FOLDER/CRAWL/2025-03.bleve    documents of captures of a month
//	FOLDER/CRAWL/anchors.bleve    anchor texts, and the names of the segments that are indexed whole
//
// It implements search.Index.
type Index struct {
	dir string

	mu     sync.RWMutex
	crawls map[string]*crawl
	closed bool

	columns *columns
}

// crawl is the index of a crawl.
type crawl struct {
	name     string
	dir      string
	adding   sync.Mutex      // one segment at a time
	analyser *terms.Analyser // of the segment that is added

	mu      sync.RWMutex
	months  []*part // in the order of time
	anchors *part
}

const (
	partSuffix  = ".bleve"
	anchorsName = "anchors"
	noMonth     = "0000-00" // of captures without a date
)

var _ search.Index = (*Index)(nil)

// Open opens the index in a folder, which it makes if there is none.
func Open(dir string) (*Index, error) {
	x := &Index{dir: dir, crawls: map[string]*crawl{}, columns: newColumns()}
	folders, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the search index: %w", err)
	}
	for _, f := range folders {
		name, err := url.PathUnescape(f.Name())
		if err != nil || !f.IsDir() {
			continue
		}
		if err := x.openCrawl(name); err != nil {
			return nil, errors.Join(err, x.Close())
		}
	}
	return x, nil
}

func (x *Index) openCrawl(name string) error {
	c := &crawl{name: name, dir: filepath.Join(x.dir, folderOf(name)), analyser: terms.New()}
	x.crawls[name] = c
	files, err := os.ReadDir(c.dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("open the search index: %w", err)
	}
	for _, f := range files {
		month, is := strings.CutSuffix(f.Name(), partSuffix)
		if !is || month == anchorsName {
			continue
		}
		if _, err := c.month(month); err != nil {
			return err
		}
	}
	c.anchors, err = openPart(filepath.Join(c.dir, anchorsName+partSuffix), "")
	return err
}

// folderOf is the name of a crawl's folder. A name of dots alone would be another folder.
func folderOf(crawl string) string {
	name := url.PathEscape(crawl)
	if strings.Trim(name, ".") == "" {
		return strings.ReplaceAll(name, ".", "%2E")
	}
	return name
}

// month is the part of a month, which it makes if there is none.
func (c *crawl) month(month string) (*part, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, found := slices.BinarySearchFunc(c.months, month, func(p *part, m string) int { return strings.Compare(p.month, m) })
	if found {
		return c.months[at], nil
	}
	p, err := openPart(filepath.Join(c.dir, month+partSuffix), month)
	if err == nil {
		c.months = slices.Insert(slices.Clone(c.months), at, p)
	}
	return p, err
}

// ErrClosed is the error of an index that is closed.
var ErrClosed = errors.New("the search index is closed")

// crawl is that of a name; nil if the index has none. With create it makes one.
func (x *Index) crawl(name string, create bool) (*crawl, error) {
	x.mu.RLock()
	c, closed := x.crawls[name], x.closed
	x.mu.RUnlock()
	if closed {
		return nil, ErrClosed
	}
	if c != nil || !create {
		return c, nil
	}
	if name == "" {
		return nil, errors.New("a segment has no crawl: name it")
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil, ErrClosed
	}
	if c := x.crawls[name]; c != nil {
		return c, nil
	}
	if err := x.openCrawl(name); err != nil {
		err = errors.Join(err, x.crawls[name].close())
		delete(x.crawls, name)
		return nil, err
	}
	return x.crawls[name], nil
}

// HasSegment implements search.Index.
func (x *Index) HasSegment(_ context.Context, name search.SegmentName) (bool, error) {
	c, err := x.crawl(name.Crawl, false)
	if c == nil || err != nil {
		return false, err
	}
	return c.anchors.has(keyDone + name.Name)
}

// Close implements search.Index. Searches that run end first.
func (x *Index) Close() (err error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closed {
		return nil
	}
	x.closed = true
	for _, c := range x.crawls {
		err = errors.Join(err, c.close())
	}
	return err
}

func (c *crawl) close() (err error) {
	for _, p := range c.months {
		err = errors.Join(err, p.close())
	}
	if c.anchors != nil {
		err = errors.Join(err, c.anchors.close())
	}
	return err
}
