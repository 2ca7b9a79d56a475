package starter

import (
	"context"
	"errors"
	"log/slog"
	"sync"

	"go.temporal.io/sdk/temporal"
)

// trouble remembers the last error that a worker logged, so that `run` can show it: a full disk, an
// archive that does not answer. Steps are tried again meanwhile.
type trouble struct {
	mu   sync.Mutex
	last string
}

// take returns the last error, once.
func (t *trouble) take() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last
	t.last = ""
	return last
}

// troubled is a log handler that hands errors to its trouble.
type troubled struct {
	slog.Handler
	*trouble
}

// Handle logs the record and remembers the error of it.
func (h troubled) Handle(ctx context.Context, r slog.Record) error {
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

// message is what an error says, once: Temporal's name their cause again.
func message(v slog.Value) string {
	var app *temporal.ApplicationError
	if err, is := v.Any().(error); is && errors.As(err, &app) {
		return app.Message()
	}
	return v.String()
}

// WithAttrs keeps the trouble.
func (h troubled) WithAttrs(attrs []slog.Attr) slog.Handler {
	return troubled{h.Handler.WithAttrs(attrs), h.trouble}
}

// WithGroup keeps the trouble.
func (h troubled) WithGroup(name string) slog.Handler {
	return troubled{h.Handler.WithGroup(name), h.trouble}
}
