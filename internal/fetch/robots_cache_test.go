package fetch

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/robots"
)

// TestRobotsCache: the cache is bounded in bytes, and keeps rules that are used often.
func TestRobotsCache(t *testing.T) {
	c := newRobotsCache()
	now := time.Now()
	large := func() rulesEntry {
		rules := robots.Parse([]byte("User-agent: *\nDisallow: /"+strings.Repeat("\nDisallow: /"+strings.Repeat("x", 1000), 400)), "Muninn")
		return rulesEntry{rules: rules, expires: now.Add(time.Hour)}
	}
	size := large().rules.Size()
	c.put("often", large())
	for i := range 2 * maxRobotsBytes / size {
		c.put(strconv.Itoa(i), large())
		if _, ok := c.get("often", now); !ok {
			t.Fatalf("gone after %d more", i+1)
		}
	}
	if c.bytes > maxRobotsBytes || c.bytes < maxRobotsBytes/2 {
		t.Errorf("%d bytes held, at most %d wanted", c.bytes, maxRobotsBytes)
	}
	if _, ok := c.get("0", now); ok {
		t.Error("what was not asked for stays")
	}
	for range 3 { // the same again costs nothing more
		c.put("often", large())
	}
	total := 0
	for _, key := range c.entries.Keys() {
		e, _ := c.entries.Peek(key)
		total += e.size(key)
	}
	if total != c.bytes {
		t.Errorf("%d bytes counted, %d held", c.bytes, total)
	}
	if _, ok := c.get("often", now.Add(2*time.Hour)); ok {
		t.Error("rules do not expire")
	}
}
