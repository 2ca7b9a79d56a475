package politeness

import (
	"slices"
	"time"
)

// Limits of a line, which is the asks of one crawl that wait for one address.
const (
	// keptPlaces bounds for how many workers of a crawl an address keeps places in the line.
	keptPlaces = 2
	// KeepPlace is for how long a place is kept: an asker that was answered busy, and still wants the address, asks again within it.
	KeepPlace = 90 * time.Second
)

// refusedWorker is a worker whose ask was answered busy, and which has neither a lease nor an ask of the crawl at the address.
type refusedWorker struct {
	Crawl  string `json:"crawl,omitempty"`
	Worker string `json:"worker"`
	At     int64  `json:"at"` // when it asked last, by Temporal's time in microseconds
}

// refusedBytes is what the JSON form of a refusedWorker takes beside the strings in it, at most.
const refusedBytes = 72

// admits reports whether an ask may wait for its address. If not, it is answered busy: its worker asks for other addresses, and for
// this one some time later.
//
// Invariant: the asks of a crawl that wait for an address are at most Ask.Line for each lease that it has, beside those for which a lease is free
// when they come. No crawl is answered busy because of another one, so that crawls take turns whatever their lines; and within a crawl a worker that
// asks again and again gets into the line: places are kept for the first workers that were answered busy and have nothing there. The first place of a
// line is kept for nobody, so that the address does not wait for one that does not come.
func (s *State) admits(now time.Time, a *address, ask Ask) bool {
	if !s.Lines || ask.Line <= 0 {
		return true
	}
	stand, present := 0, false
	for _, w := range a.waiters {
		if w.Crawl == ask.Crawl {
			stand++
			present = present || w.Worker == ask.Worker
		}
	}
	for _, h := range a.holders {
		present = present || h.Crawl == ask.Crawl && h.Worker == ask.Worker
	}
	perIP := max(ask.PerIP, 1)
	length := ask.Line*perIP + max(perIP-len(a.holders)-(len(a.waiters)-stand), 0)
	if stand < length && (stand == 0 || stand+s.keptBefore(now, a, ask) < length) {
		if len(a.refused) > 0 {
			s.setRefused(a, slices.DeleteFunc(slices.Clone(a.refused), func(r refusedWorker) bool { return r.is(ask) }))
		}
		return true
	}
	if !present {
		s.noteRefused(now, a, ask)
	}
	return false
}

// is reports whether an ask is of the worker and crawl.
func (r refusedWorker) is(ask Ask) bool { return r.Crawl == ask.Crawl && r.Worker == ask.Worker }

// kept reports whether a place is still kept.
func (r refusedWorker) kept(now time.Time) bool {
	return r.At+KeepPlace.Microseconds() > now.UnixMicro()
}

// keptBefore counts the places that are kept for other workers that were refused before the asker's.
func (s *State) keptBefore(now time.Time, a *address, ask Ask) (n int) {
	for _, r := range a.refused {
		if r.is(ask) {
			break
		}
		if r.Crawl == ask.Crawl && r.kept(now) {
			n++
		}
	}
	return n
}

// noteRefused keeps a place for a worker, if not too many are kept for its crawl.
func (s *State) noteRefused(now time.Time, a *address, ask Ask) {
	refused := slices.DeleteFunc(slices.Clone(a.refused), func(r refusedWorker) bool { return !r.kept(now) && !r.is(ask) })
	n := 0
	for i := range refused {
		if refused[i].is(ask) {
			refused[i].At = now.UnixMicro()
			s.setRefused(a, refused)
			return
		}
		if refused[i].Crawl == ask.Crawl {
			n++
		}
	}
	size := refusedBytes + len(ask.Crawl) + len(ask.Worker)
	if n < keptPlaces && s.makeRoom(now, size) {
		refused = append(refused, refusedWorker{ask.Crawl, ask.Worker, now.UnixMicro()})
	}
	s.setRefused(a, refused)
}

// setRefused sets for whom an address keeps places.
func (s *State) setRefused(a *address, refused []refusedWorker) {
	for _, r := range a.refused {
		s.bytes -= refusedBytes + len(r.Crawl) + len(r.Worker)
	}
	for _, r := range refused {
		s.bytes += refusedBytes + len(r.Crawl) + len(r.Worker)
	}
	a.refused = refused
}
