package activities

import (
	"errors"
	"time"
)

// errStuck says that a probe has not come back.
var errStuck = errors.New("its frontier does not answer")

// prober asks a probe for a sign that the process does work, one at a time: one that does not come back may never do so.
type prober struct {
	probe   func() error // nil: nothing is asked
	pending chan error   // of the probe that is in progress; nil if there is none
}

// fault is why the process does no work, nil if it does: the probe fails, or does not come back within a time.
func (p *prober) fault(within time.Duration) error {
	if p.probe == nil {
		return nil
	}
	if p.pending == nil {
		answer := make(chan error, 1)
		p.pending = answer
		go func() { answer <- p.probe() }()
	}
	select {
	case err := <-p.pending:
		p.pending = nil
		return err
	case <-time.After(within):
		return errStuck
	}
}
