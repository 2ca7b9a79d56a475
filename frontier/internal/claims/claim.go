package claims

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// Claim holds URLs of one queue that a batch will fetch from one address.
type Claim struct {
	ID            string    `json:"id" cbor:"1,keyasint"` // also of its lease
	PLD           string    `json:"pld" cbor:"2,keyasint"`
	Queue         uint64    `json:"-" cbor:"3,keyasint"`
	URLs          []uint64  `json:"-" cbor:"4,keyasint"`
	IP            string    `json:"ip" cbor:"5,keyasint"`
	Batch         string    `json:"batch,omitempty" cbor:"6,keyasint"` // once started
	Deadline      time.Time `json:"deadline" cbor:"7,keyasint"`
	Asked         time.Time `json:"asked" cbor:"8,keyasint"`          // when the lease was asked for
	Lease         time.Time `json:"lease,omitzero" cbor:"9,keyasint"` // until when it lasts; zero: none
	NotBefore     time.Time `json:"earliest,omitzero" cbor:"10,keyasint"`
	Ended         bool      `json:"ended,omitempty" cbor:"11,keyasint"` // fetching has ended, the lease is released
	Fails         int       `json:"fails,omitempty" cbor:"12,keyasint"`
	Round         int64     `json:"-" cbor:"13,keyasint"` // of claiming
	HostNotBefore time.Time `json:"-" cbor:"14,keyasint"` // before it the host is not asked again: fetching was cut off
	// Of the batch's present life, see Set.Life.
	Nonce   string `json:"-" cbor:"15,keyasint,omitempty"`
	Archive int    `json:"-" cbor:"16,keyasint,omitempty"`
	Opened  bool   `json:"-" cbor:"17,keyasint,omitempty"`

	Delay   time.Duration `json:"-" cbor:"18,keyasint,omitempty"` // the longest Crawl-delay that is known of its hosts
	Reading time.Time     `json:"-" cbor:"19,keyasint,omitzero"`  // the lease is released; an answer may be read until then

	Grant int64 `json:"-" cbor:"20,keyasint,omitempty"` // number of the grant that the lease goes by; 0: none yet

	// Borrowed are hosts beside its own that it may ask now, or could when it was killed.
	Borrowed []Borrowed `json:"-" cbor:"22,keyasint,omitempty"`

	// Addresses are those beside its own whose leases it has asked for, for a robots.txt, and not given back yet.
	Addresses []string `json:"-" cbor:"24,keyasint,omitempty"`

	// Epoch is that of the view of the ring by which it was made; 0 in a crawl that is bound to its worker.
	Epoch uint64 `json:"-" cbor:"25,keyasint,omitempty"`

	// Version is that of the definition by which it was made; 0 until the definition of a crawl that is spread has changed.
	Version int `json:"-" cbor:"26,keyasint,omitempty"`

	// Requisites counts those of its URLs that are no pages: requisites, and what is probably one.
	Requisites int `json:"-" cbor:"27,keyasint,omitempty"`

	// Unread counts, by origin, the earlier batches in a row that could not ask for its robots.txt. (21 was their number.)
	Unread map[string]int `json:"-" cbor:"23,keyasint,omitempty"`
}

// Borrowed is the right of a claim to ask another host than its own, for a robots.txt that lies there.
type Borrowed struct {
	Queue uint64        `cbor:"1,keyasint"`
	Until time.Time     `cbor:"2,keyasint"`
	Delay time.Duration `cbor:"3,keyasint,omitempty"` // the longest Crawl-delay that is known of the host
}

// Asks lists the PLDs of the hosts that a claim may ask: its own, and those that it has borrowed.
func (c *Claim) Asks() []uint64 {
	plds := []uint64{c.Queue}
	for _, b := range c.Borrowed {
		plds = append(plds, b.Queue)
	}
	return plds
}

// Leased reports whether the claim's lease is still its own: neither has its fetching ended, nor was it given up.
func (c *Claim) Leased() bool { return !c.Ended && c.Reading.IsZero() }

// Waits reports whether a claim has no lease and will fetch: its batch was not started yet, or was started again.
func (c *Claim) Waits(now time.Time) bool {
	return c.Batch == "" || c.Leased() && !c.Lease.After(now)
}

// Terms are what the claims of a crawl depend on beside themselves.
type Terms struct {
	Now      time.Time
	MaxDelay time.Duration // politeness.max_delay of the crawl: the longest pause after a request
	// MaxDelayOf is that of a PLD, whose hosts may have delays of their own; nil: MaxDelay.
	MaxDelayOf func(pld string) time.Duration
	ClaimTTL   time.Duration // how long a claim lasts that is not renewed
	LeaseWait  time.Duration // how long a claim waits for its lease
	// Unwanted says that nothing is to be fetched of a PLD any more, or for some time: its claims do not wait; nil: of none.
	Unwanted func(pld string) bool
}

func (t Terms) maxDelay(pld string) time.Duration {
	if t.MaxDelayOf == nil {
		return t.MaxDelay
	}
	return t.MaxDelayOf(pld)
}

// late reports whether a claim that waits for its first lease is to be withdrawn.
func (t Terms) late(c *Claim) bool {
	return c.Batch == "" && (t.Now.Sub(c.Asked) > t.LeaseWait || t.unwanted(c))
}

func (t Terms) unwanted(c *Claim) bool { return t.Unwanted != nil && t.Unwanted(c.PLD) }

// Keeps is until when a claim keeps others from a host. One that waits for its lease does so no longer than it
// may wait; one whose lease ran out without a release, for the longest pause after that: its lane may have made a
// request at the last moment. So a crawl that was terminated keeps no host for longer. The same goes for a host that it
// has borrowed.
func (c *Claim) Keeps(pld uint64, t Terms) (until time.Time) {
	switch {
	case c.Ended:
		return time.Time{}
	case c.Queue != pld:
		for _, b := range c.Borrowed {
			if b.Queue == pld {
				until = b.Until.Add(c.pauseOf(b, t))
			}
		}
		return until
	case c.Batch == "":
		return c.Asked.Add(t.LeaseWait)
	}
	return times.Latest(c.Lease, c.Reading).Add(c.longestPause(t))
}

// longestPause is the longest pause that may be due after a request of a claim, but for those that its host has
// asked for by Retry-After, which are written down at once.
func (c *Claim) longestPause(t Terms) time.Duration { return max(t.maxDelay(c.PLD), c.Delay) }

// pauseOf is the longest pause that may be due after a request to a host that a claim has borrowed.
func (c *Claim) pauseOf(b Borrowed, t Terms) time.Duration { return max(c.longestPause(t), b.Delay) }

// withoutHost is what a claim has borrowed beside one host.
func (c *Claim) withoutHost(pld uint64) []Borrowed {
	return slices.DeleteFunc(slices.Clone(c.Borrowed), func(b Borrowed) bool { return b.Queue == pld })
}

// RaiseDelay is the claim with a Crawl-delay of a host that it has borrowed, unless a longer one is known.
func (c *Claim) RaiseDelay(pld uint64, delay time.Duration) Claim {
	changed := *c
	changed.Borrowed = slices.Clone(c.Borrowed)
	for i := range changed.Borrowed {
		if b := &changed.Borrowed[i]; b.Queue == pld {
			b.Delay = max(b.Delay, delay)
		}
	}
	return changed
}
