package fetch

import (
	"errors"
	"io"
	"strings"
	"time"
)

// hostDown tells whether the error speaks of the host as a whole.
func hostDown(err error) bool { return errors.Is(err, errConnect) }

// isFatal tells whether the error is our own: nothing can be kept any more.
func isFatal(err error) bool {
	var disk *storeError
	return errors.As(err, &disk)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func sooner(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func textReader(s string) io.Reader { return strings.NewReader(s) }
