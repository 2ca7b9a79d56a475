package memento

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
)

// maxHead bounds the header block of an archived response that is read, in bytes.
const maxHead = 1 << 20

// errRecord says that a record is not what the index says.
var errRecord = errors.New("the record cannot be read")

// record reads the record of a capture and calls use with it. It is read while use runs.
func (s *server) record(ctx context.Context, e *catalogue.Entry, use func(archive.Captured) error) error {
	if e.Length <= 0 {
		return fmt.Errorf("%w: the index gives it %d bytes", errRecord, e.Length)
	}
	part, err := s.store.GetRange(ctx, e.WARC, e.Offset, e.Length)
	if err != nil {
		return err
	}
	defer func() { _ = part.Close() }()
	found := false
	err = archive.ReadRecords(part, func(rec archive.Captured) (bool, error) {
		found = true
		return false, use(rec)
	})
	if err == nil && !found {
		err = errRecord
	}
	return err
}

// errFound ends a query.
var errFound = errors.New("found")

func wrongURL(err error) bool {
	var wrong *catalogue.QueryError
	return errors.As(err, &wrong)
}

// message is an archived HTTP response.
type message struct {
	status int
	header http.Header
	body   io.Reader // without transfer codings
	whole  bool      // there is a header, to its empty line
}

// readMessage reads the response of a record. One whose header cannot be read as that of HTTP is all body, of the type that the index has.
func readMessage(rec archive.Captured, e *catalogue.Entry) (message, error) {
	from := &block{rec.Block}
	plain := message{http.StatusOK, http.Header{"Content-Type": {e.MIME}}, from, false}
	if rec.Kind == "resource" {
		return plain, nil
	}
	lines := bufio.NewReaderSize(from, 16<<10)
	head, whole, err := readHead(lines)
	if err != nil {
		return plain, err
	}
	if !whole {
		plain.body = io.MultiReader(bytes.NewReader(head), lines)
		return plain, nil
	}
	answer, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(head), lines)), nil)
	if err != nil { // a header that net/http does not take, as some servers send
		return faulty(head, lines, e), nil
	}
	if fields := fieldsOf(head); fields["Connection"] != nil {
		answer.Header["Connection"] = fields["Connection"] // which net/http takes out
	}
	return message{answer.StatusCode, answer.Header, answer.Body, true}, nil
}

// block is that of a record. One that is cut off is an error of its own: a body that is shorter than its header says is none.
type block struct{ r io.Reader }

func (b *block) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = errRecord
	}
	return n, err
}

// readHead reads a header block to its empty line; whole is false if there is none.
func readHead(lines *bufio.Reader) (head []byte, whole bool, err error) {
	for {
		line, err := lines.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case len(head) > maxHead:
			return head, false, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF:
			return head, false, nil
		case err != nil:
			return head, false, err
		case len(bytes.TrimRight(line, "\r\n")) == 0 && len(head) > len(line):
			return head, true, nil
		}
	}
}

// faulty is a response whose header is not as HTTP wants it: of its fields those are kept that can be read.
func faulty(head []byte, body io.Reader, e *catalogue.Entry) message {
	m := message{e.Status, fieldsOf(head), body, true}
	if m.header.Get("Content-Type") == "" {
		m.header.Set("Content-Type", e.MIME)
	}
	return m
}

// fieldsOf are the fields of a header block that can be read.
func fieldsOf(head []byte) http.Header {
	h := http.Header{}
	for line := range strings.Lines(string(head)) {
		name, value, ok := strings.Cut(strings.TrimRight(line, "\r\n"), ":")
		if ok && token(name) {
			h.Add(name, strings.TrimSpace(value))
		}
	}
	return h
}

// token reports whether a text is the name of a field (RFC 9110 §5.6.2).
func token(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return name != ""
}
