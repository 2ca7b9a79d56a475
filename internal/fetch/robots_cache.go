package fetch

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/robots"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of the cache of rules. One robots.txt may hold a megabyte, and one page may link to any number of origins.
const (
	maxRobots      = 100_000
	maxRobotsBytes = 64 << 20
	entryBytes     = 512 // of an entry beside its rules
)

type rulesEntry struct {
	rules       robots.Rules
	expires     time.Time
	unavailable string // why robots.txt could not be fetched; the rules then disallow everything
	givenUp     bool   // its host or address was busy too often; of a lane, never in the cache

	origins []string // origins whose answers it is made of
	chain   *chain   // of redirects, which was not followed to its end: there are no rules yet; nil: there are
}

func (e rulesEntry) size(key string) int {
	size := e.rules.Size() + len(key) + len(e.unavailable) + entryBytes
	for _, origin := range e.origins {
		size += len(origin)
	}
	if e.chain != nil {
		size += len(e.chain.next.String())
	}
	return size
}

// robotsKey is what the cache knows the rules of an origin by. Each archive has the robots.txt by which its pages were fetched, so crawls share
// none.
func (l *Lane) robotsKey(of urls.URL) string { return l.Archive + " " + l.Agent + " " + of.Origin() }

// robotsCache keeps the rules of origins, for one archive and user agent each. Beyond its bounds, the least recently used are evicted.
type robotsCache struct {
	mu      sync.Mutex
	entries *cache.LRU[string, rulesEntry]
	bytes   int
}

func newRobotsCache() *robotsCache {
	c := &robotsCache{}
	c.entries = cache.NewLRU(maxRobots, func(key string, e rulesEntry) { c.bytes -= e.size(key) })
	return c
}

func (c *robotsCache) get(key string, now time.Time) (rulesEntry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(key)
	return e, ok && e.chain == nil && now.Before(e.expires)
}

// unfinishedChain returns how far the redirects of an origin's robots.txt have been followed by a lane that ended on the way.
func (c *robotsCache) unfinishedChain(key string, now time.Time) (chain, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries.Get(key)
	if !ok || e.chain == nil || !now.Before(e.expires) {
		return chain{}, false
	}
	return *e.chain, true
}

// forget drops what origins have answered to the lanes of an archive, for all user agents, in one walk through the cache.
func (c *robotsCache) forget(archive string, origins map[string]bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, key := range c.entries.Keys() {
		if !strings.HasPrefix(key, archive+" ") {
			continue
		}
		e, _ := c.entries.Peek(key)
		of := func(origin string) bool { return origins[origin] }
		if of(key[strings.LastIndexByte(key, ' ')+1:]) || slices.ContainsFunc(e.origins, of) {
			c.entries.Remove(key)
		}
	}
}

func (c *robotsCache) put(key string, e rulesEntry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries.Remove(key) // its bytes no longer count
	c.entries.Put(key, e)
	c.bytes += e.size(key)
	for c.bytes > maxRobotsBytes && c.entries.Len() > 1 {
		c.entries.RemoveOldest()
	}
}
