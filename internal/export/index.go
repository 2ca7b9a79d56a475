package export

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sort"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Source is a segment that records are copied from.
type Source struct {
	Crawl archive.CrawlAt
	archive.Manifest
}

// Capture is a line of the index of a segment.
type Capture struct {
	archive.Indexed
	Source int32 // of Index.Sources
	key    string
}

// Index knows the captures of some crawls. It takes about 500 bytes of memory a capture.
type Index struct {
	Sources  []Source
	Captures []Capture // in the order of SURT key, time, segment and position
	Damaged  []string  // what says that a segment cannot be read; nothing of it is exported
	of       [][]int32 // the captures of each source, in the order of the file
	newest   time.Time // when the last of the segments was committed
	digests  map[string]int32
}

// loadedIndex is the index of a segment.
type loadedIndex struct{ captures []Capture }

// ReadIndex reads the indexes of some crawls of a store. A crawl without segments is an error.
func ReadIndex(ctx context.Context, store archive.Store, crawls []archive.CrawlAt) (*Index, error) {
	x := &Index{}
	for _, at := range distinct(crawls) {
		if err := x.add(ctx, store, at); err != nil {
			return nil, fmt.Errorf("read the index of crawl %s: %w", at.Name, err)
		}
	}
	x.sort()
	return x, nil
}

// distinct sorts crawls by their names and leaves out those that are named twice: the order of the command line does not count.
func distinct(crawls []archive.CrawlAt) []archive.CrawlAt {
	crawls = slices.Clone(crawls)
	slices.SortFunc(crawls, func(a, b archive.CrawlAt) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Prefix, b.Prefix))
	})
	return slices.Compact(crawls)
}

func (x *Index) add(ctx context.Context, store archive.Store, at archive.CrawlAt) error {
	segments := 0
	walk := archive.Walk[loadedIndex]{
		Of: archive.Layout{Prefix: at.Prefix, Crawl: at.Name},
		Load: func(ctx context.Context, m archive.Manifest) (l loadedIndex, err error) {
			err = archive.ReadIndexOf(ctx, store, &m, func(i archive.Indexed) error {
				u, err := urls.Trusted(i.URL)
				if err != nil { // it stands in lines of the exported index, and in cells of tables
					return &archive.DamagedError{Err: fmt.Errorf("read %s: %.200q %w", m.CDXJ.Key, i.URL, err)}
				}
				l.captures = append(l.captures, Capture{Indexed: i, key: u.Key()})
				return nil
			})
			return l, err
		},
		Damaged: func(err error) error {
			x.Damaged = append(x.Damaged, err.Error())
			return nil
		},
	}
	err := walk.Each(ctx, store, func(m archive.Manifest, l loadedIndex) error {
		segments++
		if m.WARC.Key == "" { // no URL of the batch had a response
			return nil
		}
		source := int32(len(x.Sources))
		x.Sources = append(x.Sources, Source{at, m})
		if m.Created.After(x.newest) {
			x.newest = m.Created
		}
		for _, c := range l.captures {
			c.Source = source
			x.Captures = append(x.Captures, c)
		}
		return nil
	})
	if err == nil && segments == 0 && len(x.Damaged) == 0 {
		return fmt.Errorf("%w %q in %s: give the folder or prefix that contains the crawl's folder", ErrNoCrawl, at.Name, store)
	}
	return err
}

// keyOf is the SURT key of a URL; the URL itself if it has none.
func keyOf(url string) string {
	u, err := urls.Trusted(url)
	if err != nil {
		return url
	}
	return u.Key()
}

func (x *Index) sort() {
	slices.SortFunc(x.Captures, func(a, b Capture) int {
		return cmp.Or(cmp.Compare(a.key, b.key), a.Date.Compare(b.Date), cmp.Compare(a.Source, b.Source), cmp.Compare(a.Offset, b.Offset))
	})
	x.of = make([][]int32, len(x.Sources))
	for i := range x.Captures {
		source := x.Captures[i].Source
		x.of[source] = append(x.of[source], int32(i))
	}
	for _, of := range x.of {
		slices.SortFunc(of, func(a, b int32) int { return cmp.Compare(x.Captures[a].Offset, x.Captures[b].Offset) })
	}
}

// none is the number of no capture.
const none int32 = -1

// nearest finds the capture of a URL that is nearest in time and passes a test; of two as near, the earlier one. URLs that differ but have one SURT
// key count if there is none of the URL itself, as in replay.
func (x *Index) nearest(url string, at time.Time, test func(*Capture) bool) int32 {
	key := keyOf(url)
	first := sort.Search(len(x.Captures), func(i int) bool { return x.Captures[i].key >= key })
	best, alike := none, none
	for i := first; i < len(x.Captures) && x.Captures[i].key == key; i++ {
		c := &x.Captures[i]
		if test != nil && !test(c) {
			continue
		}
		if c.URL == url && x.nearer(int32(i), best, at) {
			best = int32(i)
		}
		if x.nearer(int32(i), alike, at) {
			alike = int32(i)
		}
	}
	if best == none {
		return alike
	}
	return best
}

// nearer reports whether a capture is nearer to a time than another one, which is before it in the index.
func (x *Index) nearer(i, than int32, at time.Time) bool {
	return than == none || x.Captures[i].Date.Sub(at).Abs() < x.Captures[than].Date.Sub(at).Abs()
}

// originalOf finds the capture that a revisit refers to: by URL, second and digest, as replay does.
func (x *Index) originalOf(revisit *Capture, url string, date time.Time) int32 {
	second := date.Truncate(time.Second)
	return x.nearest(url, second, func(c *Capture) bool {
		return !c.Revisit && c.URL == url && c.Digest == revisit.Digest && c.Date.Equal(second)
	})
}

// ofHost calls fn with the captures of a host.
func (x *Index) ofHost(host string, fn func(*Capture)) {
	key := keyOf("http://" + host + "/") // com,example)/
	begin := key[:max(len(key)-2, 0)]
	first := sort.Search(len(x.Captures), func(i int) bool { return x.Captures[i].key >= begin })
	for i := first; i < len(x.Captures) && len(x.Captures[i].key) >= len(begin) && x.Captures[i].key[:len(begin)] == begin; i++ {
		if urls.HostOf(x.Captures[i].URL) == host {
			fn(&x.Captures[i])
		}
	}
}

// byDigest are the captures with the payloads that revisits refer to.
func (x *Index) byDigest() map[string]int32 {
	if x.digests != nil {
		return x.digests
	}
	x.digests = map[string]int32{}
	for i := range x.Captures {
		if c := &x.Captures[i]; c.Revisit {
			x.digests[c.Digest] = none
		}
	}
	for i := range x.Captures {
		c := &x.Captures[i]
		if first, wanted := x.digests[c.Digest]; wanted && first == none && !c.Revisit {
			x.digests[c.Digest] = int32(i)
		}
	}
	maps.DeleteFunc(x.digests, func(_ string, i int32) bool { return i == none })
	return x.digests
}
