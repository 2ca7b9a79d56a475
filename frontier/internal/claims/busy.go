package claims

import (
	"maps"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// BusyAddress is for how long a crawl makes no claim for an address after a shard has answered that its line there is full. It is less than
// politeness.KeepPlace: a place that is kept for the crawl's worker must be kept until it asks again.
const BusyAddress = 30 * time.Second

// minBusy is the number of busy addresses below which those whose time has passed are not swept.
const minBusy = 64

// Busy are the addresses for which a crawl makes no claims until a time, because a shard has answered that its line there is full. The zero
// value has none.
type Busy struct {
	until map[string]time.Time
	swept int // addresses that the last sweep left
}

// Note notes that an address is busy until a time.
func (b *Busy) Note(address string, until, now time.Time) {
	if b.until == nil {
		b.until = map[string]time.Time{}
	}
	b.until[address] = times.Latest(b.until[address], until)
	if len(b.until) >= 2*b.swept+minBusy {
		maps.DeleteFunc(b.until, func(_ string, until time.Time) bool { return !until.After(now) })
		b.swept = len(b.until)
	}
}

// Until is until when an address is busy; it may have passed.
func (b *Busy) Until(address string) time.Time { return b.until[address] }
