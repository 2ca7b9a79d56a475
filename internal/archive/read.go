package archive

import (
	"errors"
	"fmt"
	"io"

	"github.com/nlnwa/gowarc/v2"
)

// Captured is a record of a WARC file, of whatever crawler.
type Captured struct {
	Kind  string    // as the field WARC-Type: response, revisit, …
	URL   string    // WARC-Target-URI
	Block io.Reader // of a response to HTTP: header block and body
}

// ReadWARC calls fn with the records of a WARC file from an offset on, until it returns false. A file that is cut off, as a
// crawler leaves it that was killed, ends there. It must not be compressed as a whole.
func ReadWARC(file string, offset int64, fn func(Captured) (more bool, err error)) error {
	// with less than ErrWarn the reader drops what is not read yet of a record
	r, err := gowarc.NewWarcFileReader(file, offset, gowarc.WithSpecViolationPolicy(gowarc.ErrWarn), gowarc.WithSyntaxErrorPolicy(gowarc.ErrIgnore), gowarc.WithSkipParseBlock())
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	defer func() { _ = r.Close() }()
	for {
		rec, at, _, err := r.Next()
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: the record at %d cannot be read: %w", file, at, err)
		}
		more, err := captured(rec, fn)
		if err := errors.Join(err, rec.Close()); err != nil {
			return fmt.Errorf("%s: the record at %d: %w", file, at, err)
		}
		if !more {
			return nil
		}
	}
}

func captured(rec gowarc.WarcRecord, fn func(Captured) (bool, error)) (more bool, err error) {
	block, err := rec.Block().RawBytes()
	if err != nil {
		return false, err
	}
	return fn(Captured{rec.Type().String(), rec.WarcHeader().Get(gowarc.WarcTargetURI), block})
}
