package activities

import (
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// Bounds of what is sent to politeness shards that do not answer. Temporal keeps a signal until a worker runs the shard, and refuses more after 10,000.
const (
	// silentEvery is the least time between two signals to such a shard.
	silentEvery = 30 * time.Second
	// silentWait is how long a round waits for the answer of a shard that has not answered the last one within roundWait.
	silentWait = 2 * time.Second
	// maxUnheard is how many signals a shard is sent that has answered none of this worker's rounds since, because it was asked none, before it counts as one that does not answer.
	maxUnheard = 100
)

// silence is what a worker knows of shards that have not answered since they were sent signals. The zero value knows of none.
type silence struct {
	mu     sync.Mutex
	shards map[int]unheard
	owed   map[owedNotice]time.Time // until when a release is not sent once more
}

// unheard is what has happened to a shard since it has answered last.
type unheard struct {
	silent  bool // it has not answered a round within roundWait
	refused bool // Temporal has not taken a signal
	signals int
	last    time.Time // when the last signal was sent, or is about to be
}

// owedNotice is a release of a crawl whose notice a shard has not been sent.
type owedNotice struct {
	crawl   string
	release politeness.Key
}

// heard notes that a shard has answered.
func (s *silence) heard(shard int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.shards, shard)
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

// mayAsk reports whether a shard may be asked now, and whether it has not answered the last round that it was asked. The caller has it alone then: rounds of other crawls that come
// meanwhile wait.
func (s *silence) mayAsk(shard int, now time.Time) (may, silent bool) {
	s.change(shard, func(u *unheard) {
		silent = u.silent
		may = !silent || u.take(now)
	})
	return may, silent
}

// mayNotify reports in the same way whether a shard may be sent notices now.
func (s *silence) mayNotify(shard int, now time.Time) (may bool) {
	s.change(shard, func(u *unheard) { may = !u.silent && !u.refused && u.signals < maxUnheard || u.take(now) })
	return may
}

// take reports whether another signal may be sent, and takes it.
func (u *unheard) take(now time.Time) bool {
	may := !now.Before(u.last.Add(silentEvery))
	if may {
		u.last = now
	}
	return may
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

// owe notes the releases whose notices shards have not been sent: they are not sent once more before silentEvery is over. What is over is forgotten.
func (s *silence) owe(crawl string, releases map[politeness.Key]bool, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, until := range s.owed {
		if !until.After(now) {
			delete(s.owed, k)
		}
	}
	for k := range releases {
		if s.owed == nil {
			s.owed = map[owedNotice]time.Time{}
		}
		s.owed[owedNotice{crawl, k}] = now.Add(silentEvery)
	}
}

// owing is until when a release is not sent once more.
func (s *silence) owing(crawl string, release politeness.Key) time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owed[owedNotice{crawl, release}]
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
