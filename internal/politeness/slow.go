package politeness

import (
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// Limits of a slow-down.
const (
	// MaxSlow bounds how long a slow-down makes a host rest at a time.
	MaxSlow = 24 * time.Hour
	// ForgiveAfter is how long after its last rest a host must have made no trouble for its slow-down to be forgotten.
	ForgiveAfter = 30 * time.Minute
	// leastSlow is the shortest rest that is doubled: a host may ask for none.
	leastSlow = time.Second
	// slowJitter is the part of a rest that a slow-down may leave out, as 1/slowJitter: hosts that fell over together do not come
	// back together.
	slowJitter = 4
)

// Trouble is why a host is slowed down.
type Trouble string

// The reasons for a slow-down.
const (
	TroubleBusy        Trouble = "429"
	TroubleUnavailable Trouble = "503"
	TroubleTimeOut     Trouble = "no answer"
	TroubleConnection  Trouble = "no connection" // at no port of the site: it is refused, or nothing answers
)

// refuses reports whether the host has answered that it is asked too often, or cannot answer.
func (t Trouble) refuses() bool { return t == TroubleBusy || t == TroubleUnavailable }

// SlowDown is how a host is slowed down that answered 429 or 503, or did not answer: it rests as long as it asked for, or its
// lane chose, the first time, and at least twice as long as before each further time.
type SlowDown struct {
	Until time.Time     `json:"until"` // it is not to be asked before
	Rest  time.Duration `json:"rest"`  // the last one, without jitter
	Steps int           `json:"steps"` // troubles since it was last forgiven
	At    int64         `json:"at"`    // number of the last grant before the last trouble was known
	Why   Trouble       `json:"why"`
}

// forgiven reports whether a host has been quiet for long enough, or there never was any trouble.
func (d SlowDown) forgiven(now time.Time) bool { return !d.Until.Add(ForgiveAfter).After(now) }

// after is the slow-down of a host after a trouble that was met under a grant. A trouble that was met under a grant that is
// not newer than the last trouble is a part of that one, or the same message once more, and changes nothing.
func (d SlowDown) after(r Release, now time.Time, last int64) SlowDown {
	if r.Trouble == "" || r.Number <= d.At {
		return d
	}
	rest := min(max(r.HostRest, leastSlow), MaxSlow)
	next := SlowDown{Rest: rest, Steps: 1, At: max(now.UnixMicro(), last), Why: r.Trouble}
	if !d.forgiven(now) {
		next.Steps, next.Rest = d.Steps+1, min(max(rest, 2*d.Rest), MaxSlow)
	}
	random := time.Duration(fnv.Sum32(r.Host + strconv.FormatInt(next.At, 10)))
	jitter := next.Rest / slowJitter * (random % 1024) / 1024
	next.Until = ceilMillis(now.Add(max(next.Rest-jitter, rest)))
	return next
}
