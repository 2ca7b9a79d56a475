package starter

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"go.temporal.io/sdk/temporal"
)

// errorMemory remembers the last error that a worker logged, so that `run` can show it while steps are tried again: a full disk, an
// archive that does not answer.
type errorMemory struct {
	mu   sync.Mutex
	last string
}

// takeLast returns the last error, once.
func (t *errorMemory) takeLast() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last
	t.last = ""
	return last
}

// errorRecorder is a log handler that also stores errors in its errorMemory.
type errorRecorder struct {
	slog.Handler
	*errorMemory
}

// Handle logs the record and remembers its error.
func (h errorRecorder) Handle(ctx context.Context, r slog.Record) error {
	if r.Level >= slog.LevelError {
		text := r.Message
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "Error" || a.Key == "error" {
				text = message(a.Value)
			}
			return true
		})
		h.mu.Lock()
		h.last = text
		h.mu.Unlock()
	}
	return h.Handler.Handle(ctx, r)
}

// message is the text of an error without repetition: errors of Temporal repeat the text of their cause.
func message(v slog.Value) string {
	var app *temporal.ApplicationError
	if err, is := v.Any().(error); is && errors.As(err, &app) {
		return app.Message()
	}
	return v.String()
}

// WithAttrs returns a handler with the same memory of errors.
func (h errorRecorder) WithAttrs(attrs []slog.Attr) slog.Handler {
	return errorRecorder{h.Handler.WithAttrs(attrs), h.errorMemory}
}

// WithGroup returns a handler with the same memory of errors.
func (h errorRecorder) WithGroup(name string) slog.Handler {
	return errorRecorder{h.Handler.WithGroup(name), h.errorMemory}
}
