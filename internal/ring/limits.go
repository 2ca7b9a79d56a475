package ring

import (
	"errors"
	"time"
)

// Defaults of Limits.
const (
	// DefaultHeartbeat is longer than a collection of garbage, a restart of Temporal's frontend or a short loss of the network.
	DefaultHeartbeat = 20 * time.Second
	// DefaultPermit is three heartbeats: a worker that misses one or two continues to claim.
	DefaultPermit = time.Minute
	// DefaultGrace is enough to start a worker, or its machine, again.
	DefaultGrace = 5 * time.Minute
	// DefaultCloseWithin lets most batches end: a bundle has 750 URLs at most.
	DefaultCloseWithin = 5 * time.Minute
)

// Margin is how much later than its permit a worker is held for silent: for clocks that run at different speeds, and for the
// time between the check of a permit and the act.
const Margin = 30 * time.Second

// Bounds of what a registration and a report hold: they are part of the state of a workflow, which Temporal bounds to 2 MB.
const (
	MaxName   = 200 // bytes of a name, of the identity of a data folder or a process, and of a queue
	MaxObject = 500 // bytes of the key of an export
)

// Limits are the durations of a ring.
type Limits struct {
	Heartbeat   time.Duration `json:"heartbeat"`    // without one for so long, a worker is lost
	Permit      time.Duration `json:"permit"`       // for so long after an answered heartbeat a worker may claim
	Grace       time.Duration `json:"grace"`        // for so long a lost worker keeps what it owns
	CloseWithin time.Duration `json:"close_within"` // after so long the batches of a partition that closes are given back
}

// DefaultLimits are the limits of a ring that nobody has set.
func DefaultLimits() Limits {
	return Limits{Heartbeat: DefaultHeartbeat, Permit: DefaultPermit, Grace: DefaultGrace, CloseWithin: DefaultCloseWithin}
}

// Validate reports what is wrong with the limits.
func (l Limits) Validate() error {
	var errs []error
	if l.Heartbeat <= 0 || l.CloseWithin <= 0 {
		errs = append(errs, errors.New("heartbeat and close_within must be above 0"))
	}
	if l.Permit < l.Heartbeat {
		errs = append(errs, errors.New("permit must be at least heartbeat: a worker would stop claiming between two heartbeats"))
	}
	if l.Grace < l.fence() {
		errs = append(errs, errors.New("grace must be at least permit and "+Margin.String()+": a lost worker may claim until then"))
	}
	return errors.Join(errs...)
}

// fence is how long after its loss a worker that lives, but is cut off, may think that it may claim, at most.
func (l Limits) fence() time.Duration { return l.Permit + Margin }
