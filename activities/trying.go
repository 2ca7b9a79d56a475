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
)

// A step of a batch is tried without bound by Temporal; what counts is decided here. Faults of the batch itself are
// bounded by Settings.Attempts. A store that cannot be written, a full disk, an attempt that Temporal or a worker's
// end has cut off say nothing about the batch: it keeps its claims and its exchanges, and is tried again. Only a step
// in which the worker dies again and again is given up, for it may be the batch that kills it.
const (
	DefaultAttempts = 8  // faults of a batch in one step before it fails: some two minutes
	maxCutOff       = 50 // attempts of one step that ended without a word
)

// The names of steps, as errors tell them to people.
const (
	nameFetch   = "FETCH"
	nameAnalyse = "AAH"
	nameScore   = "SCORE"
	nameArchive = "ARCHIVE"
)

// fileTries is where a batch keeps the ends of its attempts; there is none as long as nothing fails.
const fileTries = "tries.json"

// tries are the attempts of one step that ended with an error, in one run of the batch's workflow.
type tries struct {
	Run    string `json:"run"`
	Step   string `json:"step"`
	Faults int    `json:"faults"` // of the batch
	Others int    `json:"others"` // of the store, of the disk, of a worker that was stopped
}

// cutOff is how many attempts before the present one, the nth, ended without a word.
func (t tries) cutOff(n int) int { return max(n-1-t.Faults-t.Others, 0) }

// end judges the error of an attempt: final is what ends the step for good, else it is tried again.
func (t *tries) end(err error, stopped bool, limit int) (final error) {
	var store *archive.StoreError
	var told *temporal.ApplicationError
	switch {
	case stopped, errors.As(err, &store), disk.Full(err):
		t.Others++
	case errors.As(err, &told) && told.NonRetryable():
		return err
	default:
		if t.Faults++; t.Faults >= limit {
			text := fmt.Sprintf("%s failed %d times, the last time because: %v", t.Step, t.Faults, err)
			return temporal.NewNonRetryableApplicationError(text, ErrorStep, err)
		}
	}
	return nil
}

// trying runs an attempt of a step.
func trying[T any](ctx context.Context, a *Activities, in BatchInput, step string, do func(context.Context, BatchInput) (T, error)) (T, error) {
	info, b := activity.GetInfo(ctx), a.Spool.Batch(in.Crawl, in.Batch)
	t := tries{Run: info.WorkflowExecution.RunID, Step: step}
	if info.Attempt > 1 {
		var before tries
		if err := b.Read(fileTries, &before); err == nil && before.Run == t.Run && before.Step == step {
			t = before
		}
		if n := t.cutOff(int(info.Attempt)); n >= maxCutOff {
			var none T
			text := fmt.Sprintf("the worker went away %d times during %s, or Temporal did: the batch itself may be the cause", n, step)
			return none, temporal.NewNonRetryableApplicationError(text, ErrorStep, nil)
		}
	}
	a.unwritable.begin(in.Crawl, in.Batch)
	out, err := safely(ctx, in, do)
	a.unwritable.tell(in.Crawl, in.Batch, err, a.Now())
	if err == nil {
		return out, nil
	}
	var fell *panicError
	if errors.As(err, &fell) {
		activity.GetLogger(ctx).Error("a step panicked", "step", step, "panic", fell.value, "stack", string(fell.stack))
	}
	if final := t.end(err, ctx.Err() != nil, cmp.Or(in.Attempts, DefaultAttempts)); final != nil {
		return out, final
	}
	if errWrite := b.Write(fileTries, t); errWrite != nil { // then the attempt counts as cut off
		activity.GetLogger(ctx).Warn("the end of an attempt is not noted", "error", errWrite)
	}
	return out, err
}

type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string { return fmt.Sprintf("a fault of the program: panic: %v", e.value) }

// safely makes a panic an error: it is a fault of the batch, not an attempt that was cut off.
func safely[T any](ctx context.Context, in BatchInput, do func(context.Context, BatchInput) (T, error)) (out T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return do(ctx, in)
}
