package fetch

import (
	"errors"
	"io"
	"strings"
)

// hostDown reports whether the error speaks of the host as a whole.
func hostDown(err error) bool { return errors.Is(err, errConnect) }

// isFatal reports whether the error is our own: nothing can be kept any more.
func isFatal(err error) bool {
	var disk *storeError
	return errors.As(err, &disk)
}

func textReader(s string) io.Reader { return strings.NewReader(s) }
