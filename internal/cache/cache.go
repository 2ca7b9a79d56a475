// Package cache holds the two bounded memories of Muninn. LRU is for all but the hottest paths: it forgets what was not asked
// for the longest. Generations is for what is read at the same time by many and changed by one, and for what is stored.
// Neither locks. The owner of one has a lock: what it looks up it mostly changes under the same lock.
package cache

import "github.com/hashicorp/golang-lru/v2/simplelru"

// LRU holds a bounded number of entries. Beyond it, the one goes that was not asked for the longest. It is not safe for
// concurrent use, not even to read: Get changes the order.
type LRU[K comparable, V any] struct{ entries *simplelru.LRU[K, V] }

// NewLRU makes a cache of so many entries, at least 1. evicted, if it is not nil, is called with each entry that goes.
func NewLRU[K comparable, V any](entries int, evicted func(K, V)) *LRU[K, V] {
	list, err := simplelru.NewLRU(max(entries, 1), evicted)
	if err != nil {
		panic(err) // a bound below 1
	}
	return &LRU[K, V]{list}
}

// Get returns an entry, which is then the last that was asked for.
func (c *LRU[K, V]) Get(key K) (V, bool) { return c.entries.Get(key) }

// Peek returns an entry as if nobody had asked.
func (c *LRU[K, V]) Peek(key K) (V, bool) { return c.entries.Peek(key) }

// Put adds an entry, or replaces it.
func (c *LRU[K, V]) Put(key K, value V) { c.entries.Add(key, value) }

// Remove drops an entry.
func (c *LRU[K, V]) Remove(key K) { c.entries.Remove(key) }

// Oldest returns the entry that was not asked for the longest, as if nobody had asked; false if there is none.
func (c *LRU[K, V]) Oldest() (K, V, bool) { return c.entries.GetOldest() }

// RemoveOldest drops the entry that was not asked for the longest.
func (c *LRU[K, V]) RemoveOldest() { c.entries.RemoveOldest() }

// Len is the number of entries.
func (c *LRU[K, V]) Len() int { return c.entries.Len() }

// Keys are the keys of all entries, the least recently used first.
func (c *LRU[K, V]) Keys() []K { return c.entries.Keys() }
