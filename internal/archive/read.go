package archive

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"
	"github.com/nlnwa/gowarc/v2"

	"github.com/muninn-archive/muninn/internal/coding"
)

// Captured is a record of a WARC file, of whatever crawler.
type Captured struct {
	Kind  string    // as the field WARC-Type: response, revisit, …
	URL   string    // WARC-Target-URI
	ID    string    // WARC-Record-ID, without brackets, as the IDs below
	Of    string    // WARC-Concurrent-To, the last one: the record that this one goes with
	Type  string    // Content-Type, of the block
	Date  time.Time // WARC-Date; zero if there is none that can be read
	Block io.Reader // of a response to HTTP: header block and body; io.ErrUnexpectedEOF where the file is cut off

	RefersTo     string    // of a revisit, WARC-Refers-To-Target-URI
	RefersToDate time.Time // … and WARC-Refers-To-Date; zero if there is none that can be read
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

// ErrCutOff means that a WARC file ends within a record, as a crawler leaves it that was killed.
var ErrCutOff = errors.New("the file ends within a record")

// The bounds of what is read of a record before its block, in bytes.
const (
	maxHeader = 64 << 10 // header fields
	maxGap    = 64       // line ends between two records: four bytes by the standard
)

// ReadWARC calls fn with the records of a WARC file from an offset on, until it returns false. The file may be compressed by gzip,
// record by record or as a whole. An error says which record cannot be read, counted from 1; that of a file that is cut off is
// [ErrCutOff], and fn has got all records before that one, and the part that is there of its block.
func ReadWARC(file string, offset int64, fn func(Captured) (more bool, err error)) error {
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(offset, io.SeekStart); err != nil {
		return err
	}
	if err := readRecords(f, fn); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// readRecords reads a WARC file from where one of its records begins.
func readRecords(file io.Reader, fn func(Captured) (more bool, err error)) error {
	text, err := unpacked(bufio.NewReaderSize(file, 64<<10))
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		more, err := readRecord(text, fn)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return fmt.Errorf("record %d: %w", n, ErrCutOff)
		case err == io.EOF:
			return nil
		case err != nil:
			return fmt.Errorf("record %d: %w", n, err)
		case !more:
			return nil
		}
	}
}

// unpacked is the text of a WARC file. A file of another format that archives are kept in is an error that says so.
func unpacked(file *bufio.Reader) (*bufio.Reader, error) {
	text := file
	if magic, _ := file.Peek(2); string(magic) == "\x1f\x8b" {
		zip, err := gzip.NewReader(file)
		switch {
		case err == io.EOF || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, fmt.Errorf("record 1: %w", ErrCutOff)
		case err != nil:
			return nil, err
		}
		text = bufio.NewReader(zip)
	}
	magic, _ := text.Peek(len(versionStart))
	for _, other := range []struct{ magic, what string }{
		{"PK\x03\x04", "a ZIP or WACZ file: extract its WARC files"},
		{"\x28\xb5\x2f\xfd", "a file compressed by zstd: decompress it"},
		{"filed", "an ARC file: convert it, for example with warcio recompress"}, // of filedesc://
	} {
		if strings.HasPrefix(string(magic), other.magic) {
			return nil, fmt.Errorf("it is no WARC file but %s", other.what)
		}
	}
	return text, nil
}

// versionStart is what each record begins with.
const versionStart = "WARC/"

// readRecord reads the next record; io.EOF if there is none.
func readRecord(text *bufio.Reader, fn func(Captured) (more bool, err error)) (more bool, err error) {
	rec, err := beginRecord(text)
	if err != nil {
		return false, err
	}
	if more, err = fn(rec); err != nil || !more {
		return false, err
	}
	_, err = io.Copy(io.Discard, rec.Block)
	return true, err
}

// beginRecord reads the next record to where its block begins; io.EOF if there is none.
func beginRecord(text *bufio.Reader) (rec Captured, err error) {
	if err := skipGap(text); err != nil {
		return rec, err
	}
	rec, length, err := readHeader(text)
	rec.Block = &wholeBlock{&io.LimitedReader{R: text, N: length}}
	return rec, err
}

// skipGap skips the line ends behind a record.
func skipGap(text *bufio.Reader) error {
	for range maxGap {
		c, err := text.ReadByte()
		if err != nil {
			return err
		}
		if c != '\r' && c != '\n' {
			return text.UnreadByte()
		}
	}
	return fmt.Errorf("more than %d bytes of line ends precede it", maxGap)
}

// readHeader reads the version line and the fields of a record, to the empty line. Lines may end in LF alone, as some crawlers write them.
func readHeader(text *bufio.Reader) (rec Captured, length int64, err error) {
	start, err := text.Peek(len(versionStart))
	switch {
	case !strings.HasPrefix(versionStart, string(start)):
		start, _ = text.Peek(40)
		return rec, 0, fmt.Errorf("it begins with %q, not with a WARC version", start)
	case err == io.EOF:
		return rec, 0, io.ErrUnexpectedEOF
	case err != nil:
		return rec, 0, err
	}
	left, number, length := maxHeader, 0, int64(-1)
	for {
		line, err := headerLine(text, &left)
		if err != nil {
			return rec, 0, err
		}
		number++
		name, value, isField := strings.Cut(line, ":")
		value = strings.TrimSpace(value)
		switch {
		case number == 1: // the version: what is read here is the same in all
		case line == "" && length < 0:
			return rec, 0, errors.New("it has no Content-Length")
		case line == "":
			return rec, length, nil
		case line[0] == ' ' || line[0] == '\t': // continues a field that is not one of ours
		case !isField:
			return rec, 0, fmt.Errorf("line %d of its header is no field: %.40q", number, line)
		case strings.EqualFold(name, gowarc.WarcType):
			rec.Kind = strings.ToLower(value)
		case strings.EqualFold(name, gowarc.WarcTargetURI):
			rec.URL = unbracketed(value) // WARC/1.0 has it in angle brackets, and GNU wget writes them
		case strings.EqualFold(name, gowarc.WarcRecordID):
			rec.ID = unbracketed(value)
		case strings.EqualFold(name, gowarc.WarcConcurrentTo):
			rec.Of = unbracketed(value)
		case strings.EqualFold(name, gowarc.ContentType):
			rec.Type = value
		case strings.EqualFold(name, gowarc.WarcDate):
			rec.Date, _ = time.Parse(time.RFC3339, value)
		case strings.EqualFold(name, gowarc.WarcRefersToTargetURI):
			rec.RefersTo = unbracketed(value)
		case strings.EqualFold(name, gowarc.WarcRefersToDate):
			rec.RefersToDate, _ = time.Parse(time.RFC3339, value)
		case strings.EqualFold(name, gowarc.ContentLength):
			n, err := strconv.ParseUint(value, 10, 62)
			if err != nil || length >= 0 && length != int64(n) {
				return rec, 0, fmt.Errorf("Content-Length %.40q is no number, or another than before", value)
			}
			length = int64(n)
		}
	}
}

func unbracketed(value string) string {
	return strings.TrimSuffix(strings.TrimPrefix(value, "<"), ">")
}

// headerLine reads a line of a header without its end. left is how many bytes the header may still have.
func headerLine(text *bufio.Reader, left *int) (string, error) {
	var line []byte
	for {
		part, err := text.ReadSlice('\n')
		if *left -= len(part); *left < 0 {
			return "", fmt.Errorf("its header has more than %d bytes", maxHeader)
		}
		if err == nil && line == nil { // most lines
			return strings.TrimRight(string(part), "\r\n"), nil
		}
		line = append(line, part...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			return "", io.ErrUnexpectedEOF
		case err != nil:
			return "", err
		default:
			return strings.TrimRight(string(line), "\r\n"), nil
		}
	}
}

// wholeBlock is a block whose end before its length is io.ErrUnexpectedEOF.
type wholeBlock struct{ rest *io.LimitedReader }

func (b *wholeBlock) Read(p []byte) (int, error) {
	n, err := b.rest.Read(p)
	if err == io.EOF && b.rest.N > 0 {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// ReadRecords calls fn with the records of a part of a WARC file, from where one of them begins, until it returns false; as ReadWARC.
func ReadRecords(r io.Reader, fn func(Captured) (more bool, err error)) error {
	return readRecords(r, fn)
}
