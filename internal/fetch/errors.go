package fetch

import (
	"errors"
	"io"
	"strings"
)

// hostDown reports whether the error is one of the whole host, not of a URL.
func hostDown(err error) bool { return errors.Is(err, errConnect) }

// isFatal reports whether the error is the worker's own: nothing can be stored any more.
func isFatal(err error) bool {
	var disk *storeError
	return errors.As(err, &disk)
}

func textReader(s string) io.Reader { return strings.NewReader(s) }
