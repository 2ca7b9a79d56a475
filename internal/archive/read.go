package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/coding"
)

// Captured is a record of a WARC file, of whatever crawler.
type Captured struct {
	Kind  string    // as the field WARC-Type: response, revisit, …
	URL   string    // WARC-Target-URI
	Block io.Reader // of a response to HTTP: header block and body
}

// Answer reads the HTTP response of a record. Its Body comes without the codings that its header names: the caller bounds how much
// of it is read, and closes it. A coding that is not known is a coding.Error.
func (c Captured) Answer() (*http.Response, error) {
	answer, err := http.ReadResponse(bufio.NewReader(c.Block), nil)
	if err != nil {
		return nil, err
	}
	plain, err := coding.NewReader(answer.Body, answer.Header.Get("Content-Encoding"))
	if err != nil {
		return nil, errors.Join(err, answer.Body.Close())
	}
	answer.Body = &decoded{plain, answer.Body}
	return answer, nil
}

// decoded is a body without its codings.
type decoded struct {
	io.ReadCloser
	packed io.Closer
}

func (d *decoded) Close() error { return errors.Join(d.ReadCloser.Close(), d.packed.Close()) }

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
		more, err := captured(rec, file, at, fn)
		if err := errors.Join(err, rec.Close()); err != nil {
			return fmt.Errorf("%s: the record at %d: %w", file, at, err)
		}
		if !more {
			return nil
		}
	}
}

func captured(rec gowarc.WarcRecord, file string, at int64, fn func(Captured) (bool, error)) (more bool, err error) {
	block, err := rec.Block().RawBytes()
	if err != nil {
		return false, err
	}
	target := rec.WarcHeader().Get(gowarc.WarcTargetURI)
	if target == "" && rec.WarcHeader().Has(gowarc.WarcTargetURI) {
		target = bracketed(file, at)
	}
	return fn(Captured{rec.Type().String(), target, block})
}

// maxHeader bounds what is read of a record's header by hand, in bytes.
const maxHeader = 64 << 10

// bracketed is the target of the record at an offset, if it stands in angle brackets: the grammar of WARC/1.0 has it so, GNU wget
// writes it, and gowarc leaves it out. Else it is empty.
func bracketed(file string, offset int64) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return ""
	}
	raw := bufio.NewReader(f)
	var text io.Reader = raw
	if magic, err := raw.Peek(2); err == nil && magic[0] == 0x1f && magic[1] == 0x8b {
		if text, err = gzip.NewReader(raw); err != nil {
			return ""
		}
	}
	for lines := bufio.NewScanner(io.LimitReader(text, maxHeader)); lines.Scan() && lines.Text() != ""; {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimSpace(value)
		if strings.EqualFold(name, gowarc.WarcTargetURI) && strings.HasPrefix(value, "<") && strings.HasSuffix(value, ">") {
			return value[1 : len(value)-1]
		}
	}
	return ""
}
