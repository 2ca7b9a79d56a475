package activities

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// maxSlow bounds the answers that are read at a time from one address by lanes that have given its lease back: what an
// address bears beside per_ip requests.
const maxSlow = 4

// addresses keeps apart the lanes of this process that use one address, or one host group of networks. Leases do that already; this is the last check, by which a
// lease that was granted, started or opened twice does no harm.
//
// Invariant: no more than per_ip lanes of this process ask an address at a time, the least per_ip of those that ask
// it, and one that comes after another comes after its pause.
type addresses struct {
	mu    sync.Mutex
	at    map[string]*occupiedAddress
	swept int // addresses that the last sweep left
}

// minAddresses is the number of addresses below which those that have rested are not swept.
const minAddresses = 64

// occupiedAddress is an address that lanes ask.
type occupiedAddress struct {
	limits  []int // per_ip of the lanes that ask it
	slow    int   // lanes that have given its lease back and read on
	waiting int
	next    time.Time     // not before: the pause of the lane that left it last
	changed chan struct{} // closed and made again when a lane leaves
}

func (o *occupiedAddress) free(perIP int) bool {
	for _, limit := range o.limits {
		perIP = min(perIP, limit)
	}
	return len(o.limits) < max(perIP, 1)
}

// addressSlot is a lane's right to ask an address.
type addressSlot struct {
	from  *addresses
	addr  string
	perIP int
	slow  bool // given up, but a response is still read
}

// enter waits until a lane may use an address; next is the time of its first request.
func (a *addresses) enter(ctx context.Context, addr string, perIP int) (p *addressSlot, next time.Time, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.at == nil {
		a.at = map[string]*occupiedAddress{}
	}
	o := a.at[addr]
	if o == nil {
		a.sweep(time.Now())
		o = &occupiedAddress{changed: make(chan struct{})}
		a.at[addr] = o
	}
	o.waiting++
	defer func() { o.waiting-- }()
	for !o.free(perIP) {
		changed := o.changed
		a.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
		}
		a.mu.Lock()
		if ctx.Err() != nil {
			return nil, next, ctx.Err()
		}
	}
	o.limits = append(o.limits, perIP)
	return &addressSlot{from: a, addr: addr, perIP: perIP}, o.next, nil
}

// yield gives the address up while a response is still read, once release has given the lease back: a lane whose lease is not given
// back makes further requests and needs its slot. It returns false if release fails, or too many responses are read already.
func (p *addressSlot) yield(next time.Time, release func() bool) bool {
	if p.slow || !p.countReader() {
		return false
	}
	released := release()
	p.from.mu.Lock()
	defer p.from.mu.Unlock()
	if !released {
		p.from.at[p.addr].slow--
		return false
	}
	p.slow = true
	p.from.quit(p, next)
	return true
}

// countReader counts one more response that is read from the address without a slot; false if too many are.
func (p *addressSlot) countReader() bool {
	p.from.mu.Lock()
	defer p.from.mu.Unlock()
	o := p.from.at[p.addr]
	if o.slow >= maxSlow {
		return false
	}
	o.slow++
	return true
}

// leave ends the lane; next is when the address may be asked again, as far as the lane knows.
func (p *addressSlot) leave(next time.Time) {
	p.from.mu.Lock()
	defer p.from.mu.Unlock()
	o := p.from.at[p.addr]
	if p.slow {
		o.slow--
	} else {
		p.from.quit(p, next)
	}
	if o.empty() && !o.next.After(time.Now()) {
		delete(p.from.at, p.addr)
	}
}

func (o *occupiedAddress) empty() bool { return len(o.limits)+o.slow+o.waiting == 0 }

// sweep forgets addresses that nobody asks and that have rested, once there are twice as many as it left before.
func (a *addresses) sweep(now time.Time) {
	if len(a.at) < 2*a.swept+minAddresses {
		return
	}
	maps.DeleteFunc(a.at, func(_ string, o *occupiedAddress) bool { return o.empty() && !o.next.After(now) })
	a.swept = len(a.at)
}

// quit makes room for another lane.
func (a *addresses) quit(p *addressSlot, next time.Time) {
	o := a.at[p.addr]
	for i, limit := range o.limits {
		if limit == p.perIP {
			o.limits = append(o.limits[:i], o.limits[i+1:]...)
			break
		}
	}
	if next.After(o.next) {
		o.next = next
	}
	close(o.changed)
	o.changed = make(chan struct{})
}

// mergeLanes merges lanes of one claim. An old batch may name a claim twice, and two lanes would make requests to its host at once.
func mergeLanes(lanes []lane) []lane {
	var out []lane
	at := map[string]int{}
	for _, l := range lanes {
		i, known := at[l.Claim.ID]
		if !known {
			i = len(out)
			at[l.Claim.ID], out = i, append(out, lane{Claim: l.Claim})
		}
		out[i].Targets = append(out[i].Targets, l.Targets...)
	}
	for i := range out {
		out[i].Targets = distinctTargets(out[i].Targets)
	}
	return out
}

// distinctTargets leaves out targets that were listed before.
func distinctTargets(targets []crawl.Target) (out []crawl.Target) {
	seen := make(map[string]bool, len(targets))
	for _, t := range targets {
		if !seen[t.URL] {
			out = append(out, t)
		}
		seen[t.URL] = true
	}
	return out
}
