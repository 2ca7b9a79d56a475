package activities

import (
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/times"
)

// Bounds of what is sent to politeness shards that do not answer. Temporal keeps a signal until a worker runs the shard, and refuses more after 10,000.
const (
	// silentEvery is the least time between two signals to such a shard.
	silentEvery = 30 * time.Second
	// silentWait is how long a round waits for the answer of a shard that has not answered the last one within roundWait.
	silentWait = 2 * time.Second
	// maxUnheard is how many signals a shard is sent that has answered none of this worker's rounds since, because it was asked none, before it is asked to take a notice.
	maxUnheard = 100
)

// silence is what a worker knows of shards that have not answered since they were sent signals. The zero value knows of none.
type silence struct {
	mu     sync.Mutex
	shards map[int]unheard
	owed   map[owedNotice][]int // the shards that have not been sent the notice of a release
}

// unheard is what has happened to a shard since it has answered last.
type unheard struct {
	silent  bool // it has not answered a round within roundWait
	refused bool // Temporal has not taken a signal
	signals int
	last    time.Time // when the last signal was sent, or is about to be
	answers int       // how often it has answered until then
}

// answering reports whether a shard may be sent notices whatever it was sent before. The last of these it is asked to take.
func (u unheard) answering() bool { return !u.silent && !u.refused && u.signals <= maxUnheard }

// sendsAt is from when on a shard may be sent notices; zero if at once.
func (u unheard) sendsAt() time.Time {
	if u.answering() {
		return time.Time{}
	}
	return u.last.Add(silentEvery)
}

// owedNotice is a release of a crawl whose notice a shard has not been sent.
type owedNotice struct {
	crawl   string
	release politeness.Key
}

// turn is what a round was let to send a shard.
type turn struct {
	may     bool
	alone   bool // no other round sends it anything for silentEvery
	asks    bool // it is not known whether it answers: it is to be asked to take notices
	answers int  // how often it has answered until now

	at, was time.Time // of what is sent alone: when it was let to, and when the signal before was sent
}

// heard notes that a shard has answered.
func (s *silence) heard(shard int) {
	s.change(shard, func(u *unheard) { *u = unheard{answers: u.answers + 1} })
}

// unanswered notes that a shard has not answered a round within roundWait. If it has answered another one meanwhile, it is not silent.
func (s *silence) unanswered(shard int, t turn) {
	s.change(shard, func(u *unheard) { u.silent = u.silent || u.answers == t.answers })
}

// change changes what is known of a shard.
func (s *silence) change(shard int, do func(u *unheard)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u := s.shards[shard]
	do(&u)
	if s.shards == nil {
		s.shards = map[int]unheard{}
	}
	s.shards[shard] = u
}

// signalled notes that a shard was sent a signal, and whether Temporal has taken it.
func (s *silence) signalled(shard int, now time.Time, err error) {
	s.change(shard, func(u *unheard) { u.signals, u.refused, u.last = u.signals+1, err != nil, now })
}

// ask lets a round ask a shard, or not. One that does not answer the caller has alone then: rounds of other crawls that come meanwhile wait. What must arrive is sent whatever is known.
func (s *silence) ask(shard int, now time.Time, must bool) (t turn) {
	s.change(shard, func(u *unheard) { t = u.turn(now, must, !u.silent) })
	return t
}

// notify lets a round send a shard notices in the same way.
func (s *silence) notify(shard int, now time.Time, must bool) (t turn) {
	s.change(shard, func(u *unheard) {
		t = u.turn(now, must, u.answering())
		t.asks = t.alone || !must && u.signals == maxUnheard
	})
	return t
}

// turn is what a round may send now to a shard that may be sent something in any case, or not.
func (u *unheard) turn(now time.Time, must, answers bool) turn {
	t := turn{may: must || answers, answers: u.answers}
	if !t.may && !now.Before(u.last.Add(silentEvery)) {
		t.may, t.alone, t.at, t.was = true, true, now, u.last
		u.last = now
	}
	return t
}

// unsent gives back what a round was let to send and has not sent, because it was ended.
func (s *silence) unsent(shard int, t turn) {
	s.change(shard, func(u *unheard) {
		if t.alone && u.last.Equal(t.at) {
			u.last = t.was
		}
	})
}

// asksAt is from when on a shard may be asked; zero if it answers.
func (s *silence) asksAt(shard int) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.shards[shard]; u.silent {
		return u.last.Add(silentEvery)
	}
	return time.Time{}
}

// owe notes which shards have not been sent the notices of releases of a crawl. What may be sent now is forgotten: it comes with the next round.
func (s *silence) owe(crawl string, owed map[politeness.Key][]int, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, shards := range s.owed {
		if !s.sendsAt(shards).After(now) {
			delete(s.owed, k)
		}
	}
	for k, shards := range owed {
		if s.owed == nil {
			s.owed = map[owedNotice][]int{}
		}
		s.owed[owedNotice{crawl, k}] = shards
	}
}

// sendsAt is from when on all of some shards may be sent notices. The caller holds mu.
func (s *silence) sendsAt(shards []int) (at time.Time) {
	for _, n := range shards {
		at = times.Latest(at, s.shards[n].sendsAt())
	}
	return at
}

// owing is until when a release is not sent once more: until all shards that have not been sent its notice may be sent it. So all that is owed to a shard comes due at the same moment, and one
// round takes it along.
func (s *silence) owing(crawl string, release politeness.Key) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sendsAt(s.owed[owedNotice{crawl, release}])
}

// later is until when a release, or the renewals if its key is empty, of an address waits, see frontier.Want.
func (a *Activities) later(crawl string) func(ip string, release politeness.Key) time.Time {
	return func(ip string, release politeness.Key) time.Time {
		if at := a.silence.asksAt(a.shardOf(ip)); !at.IsZero() {
			return at
		}
		return a.silence.owing(crawl, release)
	}
}
