package activities

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/disk"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/spool"
)

// A step of a batch is tried without bound by Temporal; what counts is decided here. Faults of the batch itself are
// bounded by Settings.Attempts, and a step that is not done in its time is one. A store that cannot be written, a full disk,
// an attempt that was cancelled or that a worker's end has cut off say nothing about the batch: it keeps its claims and its exchanges, and is tried again. Only a step
// in which the worker dies again and again is given up, for it may be the batch that kills it.
const (
	DefaultAttempts = 8  // faults of a batch in FETCH, or in Process, before it fails: some two minutes
	maxCutOff       = 50 // attempts of one step whose process was killed
)

// The names of steps in messages to people.
const (
	nameFetch    = "FETCH"
	nameAnalyse  = "AAH"
	nameScore    = "SCORE"
	nameArchive  = "ARCHIVE"
	nameProcess  = "AAH, SCORE and ARCHIVE"
	nameGiveBack = "the give-back"
)

// fileAttempts is where a batch keeps the ends of its attempts; there is none as long as nothing fails.
const fileAttempts = "tries.json"

// attempts counts the attempts of one step that ended with an error, in one run of the batch's workflow.
type attempts struct {
	Run    string `json:"run"`
	Step   string `json:"step"`
	Faults int    `json:"faults"` // of the batch
	Others int    `json:"others"` // of the store, of the disk, of the ring, of a worker that was stopped
	Last   string `json:"last"`   // the last fault
}

// cutOff is how many attempts before the present one, the nth, ended without an error: their process was killed.
func (t attempts) cutOff(n int) int { return max(n-1-t.Faults-t.Others, 0) }

// end judges the error of an attempt: final is what ends the step for good, else it is tried again. ended is why the attempt's
// context has ended; nil if it has not. A deadline is the step's own: a batch that always takes longer would be tried forever.
func (t *attempts) end(err, ended error, limit int) (final error) {
	var store *archive.StoreError
	var appErr *temporal.ApplicationError
	switch {
	case errors.Is(ended, context.Canceled), errors.As(err, &store), disk.Full(err), errors.Is(err, ring.ErrNotNow):
		t.Others++
	case errors.As(err, &appErr) && appErr.NonRetryable():
		return err
	default:
		if errors.Is(ended, context.DeadlineExceeded) {
			err = fmt.Errorf("the step was not done in its time: %w", err)
		}
		t.Faults, t.Last = t.Faults+1, err.Error()
		return t.exhausted(limit, err)
	}
	return nil
}

// exhausted returns the error that ends the step for good once it had limit faults; nil before. An attempt whose time is over cannot
// report it to Temporal; the next attempt does, without running the step.
func (t *attempts) exhausted(limit int, cause error) error {
	if t.Faults < limit {
		return nil
	}
	text := fmt.Sprintf("%s failed %d times, the last time because: %s", t.Step, t.Faults, t.Last)
	return temporal.NewNonRetryableApplicationError(text, ErrorStep, cause)
}

// attemptsBefore reads what is known of the attempts before the nth of a step.
func attemptsBefore(b *spool.Batch, run, step string, n int) attempts {
	var t attempts
	if n > 1 {
		if err := b.Read(fileAttempts, &t); err == nil && t.Run == run && t.Step == step {
			return t
		}
	}
	return attempts{Run: run, Step: step}
}

// runAttempt runs an attempt of a step.
func (a *Activities) runAttempt(ctx context.Context, in BatchInput, step string, do func(context.Context) (any, error)) (any, error) {
	info, b := activity.GetInfo(ctx), a.Spool.Batch(in.Crawl, in.Batch)
	limit, run, attempt := cmp.Or(in.Attempts, DefaultAttempts), info.WorkflowExecution.RunID, int(info.Attempt)
	t := attemptsBefore(b, run, step, attempt)
	if final := t.exhausted(limit, nil); final != nil {
		return nil, final
	}
	if n := t.cutOff(attempt); n >= maxCutOff {
		text := fmt.Sprintf("the worker went away %d times during %s, or Temporal did: the batch itself may be the cause", n, step)
		return nil, temporal.NewNonRetryableApplicationError(text, ErrorStep, nil)
	}
	a.unwritable.begin(in.Crawl, in.Batch)
	out, err := catchPanic(ctx, do)
	a.unwritable.end(in.Crawl, in.Batch, err, a.Now())
	if err == nil {
		return out, nil
	}
	var fell *panicError
	if errors.As(err, &fell) {
		activity.GetLogger(ctx).Error("a step panicked", "step", step, "panic", fell.value, "stack", string(fell.stack))
	}
	t = attemptsBefore(b, run, step, attempt) // read again: an attempt whose time was over may have ended while this one waited for it
	was := t
	final := t.end(err, ctx.Err(), limit)
	if t != was { // else the batch may be gone
		if errWrite := b.Write(fileAttempts, t); errWrite != nil { // then the attempt counts as cut off
			activity.GetLogger(ctx).Warn("the end of an attempt could not be recorded", "error", errWrite)
		}
	}
	if final != nil {
		return out, final
	}
	return out, err
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("a fault of the program: panic: %v", e.value) }

// catchPanic makes a panic an error: it is a fault of the batch, not an attempt that was cut off.
func catchPanic(ctx context.Context, do func(context.Context) (any, error)) (out any, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return do(ctx)
}
