package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"time"

	"go.temporal.io/api/serviceerror"
)

// startPause is the pause between two looks of a starting worker for a service that does not answer.
const startPause = 2 * time.Second

// starting says what a worker that starts waits for, until it is up.
type starting struct {
	log  *slog.Logger
	what *atomic.Pointer[string] // nil: the worker is up
}

func newStarting(log *slog.Logger) starting {
	s := starting{log, &atomic.Pointer[string]{}}
	opens := "its frontier is opened"
	s.what.Store(&opens)
	return s
}

// says reports what the worker waits for; the empty string once it is up.
func (s starting) says() string {
	if what := s.what.Load(); what != nil {
		return *what
	}
	return ""
}

// note notes what the worker waits for, unless it is up.
func (s starting) note(what string) {
	if before := s.what.Load(); before != nil {
		s.what.CompareAndSwap(before, &what)
	}
}

func (s starting) done() { s.what.Store(nil) }

// await tries again and again what fails because a service is away, for some time. It returns other errors at once.
func (s starting) await(ctx context.Context, what string, patience time.Duration, away func(error) bool, try func() error) error {
	for until := time.Now().Add(patience); ; {
		err := try()
		if err == nil || !away(err) || ctx.Err() != nil || !time.Now().Before(until) {
			return err
		}
		s.log.Warn("the worker waits: it starts when this answers", "for", what, "until", until.Round(time.Second), "error", err)
		s.note(what + ": " + err.Error())
		select {
		case <-time.After(startPause):
		case <-ctx.Done():
		}
	}
}

// patience is how long the worker waits for a service at its start; 0 if it cannot start anyway.
func (w *Worker) patience(patient bool) time.Duration {
	if patient {
		return w.conf.StartWait
	}
	return 0
}

// temporalAway reports whether a connection failed because no Temporal service answers.
func temporalAway(err error) bool {
	var unavailable *serviceerror.Unavailable
	var late *serviceerror.DeadlineExceeded
	return errors.As(err, &unavailable) || errors.As(err, &late) || errors.Is(err, context.DeadlineExceeded)
}
