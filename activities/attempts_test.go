package activities

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/spool"
)

// Only faults of the batch itself count as its attempts.
func TestTries(t *testing.T) {
	fault, store, full := errors.New("a fault"), toApplicationError(&archive.StoreError{Err: errNoAnswer}), toApplicationError(syscall.ENOSPC)
	late := toApplicationError(fmt.Errorf("archive: %w", context.DeadlineExceeded))
	gone := temporal.NewNonRetryableApplicationError("gone", ErrorClaim, nil)
	for _, test := range []struct {
		name   string
		errs   []error
		ended  error  // of the context
		final  string // of the last; empty: it is tried again
		faults int
		others int
	}{
		{"faults below the limit", []error{fault, fault}, nil, "", 2, 0},
		{"faults", []error{fault, fault, fault}, nil, "ARCHIVE failed 3 times, the last time because: a fault", 3, 0},
		{"the store is away", []error{store, store, store, store, store, full, full, full}, nil, "", 0, 8},
		{"faults between outages", []error{store, fault, store, fault, store, fault}, nil, "ARCHIVE failed 3 times", 3, 3},
		{"the worker is stopped", []error{fault, fault, fault, fault}, context.Canceled, "", 0, 4},
		{"the step is never done in its time", []error{late, late, late}, context.DeadlineExceeded,
			"ARCHIVE failed 3 times, the last time because: the step was not done in its time: archive: context deadline exceeded", 3, 0},
		{"the store does not answer in the step's time", []error{store, store, store, store}, context.DeadlineExceeded, "", 0, 4},
		{"what can never succeed", []error{gone}, nil, "gone", 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			tries := attempts{Step: nameArchive}
			var final error
			for i, err := range test.errs {
				if final = tries.end(err, test.ended, 3); final != nil && i < len(test.errs)-1 {
					t.Fatalf("attempt %d of %d is the last: %v", i+1, len(test.errs), final)
				}
			}
			var fault *temporal.ApplicationError
			switch {
			case test.final == "" && final != nil, test.final != "" && (final == nil || !strings.Contains(final.Error(), test.final)):
				t.Errorf("ends with %v, want %q", final, test.final)
			case final != nil && (!errors.As(final, &fault) || !fault.NonRetryable()):
				t.Errorf("%v is tried again", final)
			}
			if tries.Faults != test.faults || tries.Others != test.others {
				t.Errorf("%+v", tries)
			}
		})
	}
	if n := (attempts{Faults: 2, Others: 3}).cutOff(10); n != 4 {
		t.Errorf("the tenth attempt, after 2 faults and 3 outages, follows %d that were cut off, not 4", n)
	}
}

// A step whose last fault was not reported to Temporal, because of a timeout, ends with the next attempt. A step of another run
// starts with no faults.
func TestLastFaultIsKept(t *testing.T) {
	files, err := spool.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := files.Batch("c", "b")
	noted := attempts{Run: "run", Step: nameArchive}
	for range 3 {
		_ = noted.end(context.DeadlineExceeded, context.DeadlineExceeded, 3)
	}
	if err := b.Write(fileAttempts, noted); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		run, step string
		attempt   int
		spent     bool
	}{
		{"run", nameArchive, 4, true},
		{"run", nameArchive, 1, false},
		{"another run", nameArchive, 4, false},
		{"run", nameScore, 4, false},
	} {
		tries := attemptsBefore(b, test.run, test.step, test.attempt)
		if final := tries.exhausted(3, nil); (final != nil) != test.spent || test.spent && !strings.Contains(final.Error(), "not done in its time") {
			t.Errorf("%+v: %v", test, final)
		}
	}
}

// A step that panics fails like any other; it does not look like the loss of a worker.
func TestPanicIsAFault(t *testing.T) {
	_, err := catchPanic(t.Context(), func(context.Context) (any, error) { panic("no raven") })
	if err == nil || !strings.Contains(err.Error(), "panic: no raven") {
		t.Errorf("%v", err)
	}
	tries := attempts{Step: nameAnalyse}
	if final := tries.end(err, nil, 1); final == nil || !strings.Contains(final.Error(), "AAH failed 1 times") {
		t.Errorf("%v", final)
	}
}
