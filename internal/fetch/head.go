package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// head is a response's header block, read as browsers read it (Chromium's HttpResponseHeaders), because pages that browsers show
// must be archived. A strict reader such as net/http refuses faulty headers that thousands of pages have.
type head struct {
	status   int
	header   http.Header
	http10   bool  // HTTP/1.0 or older: a connection for each response
	framing  int64 // bytes of the body, or one of the values below
	faults   []string
	refused  string // why it is not a page: header and body cannot be distinguished, its status is unknown, or it was cut off
	complete bool   // … but it is known where it ends
}

// errNoHTTP says that the answer does not begin like HTTP/1.
var errNoHTTP = errors.New("it does not begin with HTTP/")

// lenience says which answers without a complete header block are accepted, as in Chromium (HttpStreamParser).
type lenience struct {
	bare bool // a text without any header (HTTP/0.9)
	icy  bool // SHOUTcast: "ICY 200 OK" and the like, header and all as a body of HTTP/0.9
	cut  bool // a header that the end of the connection cuts off, or whose lines end in CR alone, so that it has no end
}

// readHead reads up to the end of the final response's header block and returns where it starts, in bytes of the wire. Interim
// responses (RFC 9110 §15.2) are skipped.
func readHead(br *bufio.Reader, w *wire, take lenience) (h head, start int64, err error) {
	for {
		start = w.size - int64(br.Buffered())
		begin, err := br.Peek(len("HTTP/"))
		var block []byte
		if err == nil && string(begin) != "HTTP/" {
			some, _ := br.Peek(br.Buffered())
			switch {
			case take.icy && strings.EqualFold(string(begin[:len("ICY")]), "ICY"):
				return bareHead("a header of SHOUTcast (ICY), taken for a part of the body"), start, nil
			case take.bare && strings.HasPrefix(http.DetectContentType(some), "text/"):
				return bareHead("no header at all (HTTP/0.9)"), start, nil
			}
			return h, 0, fmt.Errorf("%w: %w", errProtocol, errNoHTTP)
		}
		if err == nil {
			block, err = readBlock(br)
		}
		if take.cut && errors.Is(err, io.EOF) && bytes.ContainsAny(block, "\r\n") {
			if h, err = parseCut(block); err == nil && h.status >= 200 {
				return h, start, nil
			}
			err = io.EOF
		}
		switch {
		case err != nil && errors.Is(w.err, errTooMuch):
			return h, 0, fmt.Errorf("the response header is longer than header_bytes (%s)", crawl.Bytes(w.limit))
		case err != nil && w.err != nil:
			return h, 0, fmt.Errorf("read the response: %w", w.err)
		case err != nil:
			return h, 0, fmt.Errorf("read the response: %w", err)
		}
		if h, err = parseHead(block); err != nil {
			return h, 0, fmt.Errorf("%w: %w", errProtocol, err)
		}
		if h.status < 100 || h.status >= 200 || h.status == http.StatusSwitchingProtocols {
			return h, start, nil
		}
	}
}

// bareHead is the head of an HTTP/0.9 answer, which has no header.
func bareHead(fault string) head {
	return head{status: http.StatusOK, header: http.Header{}, http10: true, framing: untilClose, faults: []string{fault}}
}

// parseCut parses the lines of a header block without an end, up to its last line break. A CR ends a line, too: Chromium and the
// archive count what follows such lines as part of the header. There is no page: Chromium shows an empty one.
func parseCut(block []byte) (head, error) {
	lines := block[:bytes.LastIndexAny(block, "\r\n")+1]
	h, err := parseHead(bytes.ReplaceAll(lines, []byte("\r"), []byte("\n")))
	h.framing, h.complete = cutOff, true
	h.refused = "the connection ended within the header"
	if !bytes.Contains(lines, []byte("\n")) {
		h.refused += ": its lines end in CR alone"
	}
	return h, err
}

// readBlock reads lines up to the first empty one, or to the end of the connection. The wire bounds them.
func readBlock(br *bufio.Reader) ([]byte, error) {
	var block []byte
	for {
		line, err := br.ReadSlice('\n')
		block = append(block, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil:
			return block, err
		case len(trimLineEnd(line)) == 0 && (len(block) == len(line) || block[len(block)-len(line)-1] == '\n'):
			return block, nil
		}
	}
}

// trimLineEnd returns a line without its line break.
func trimLineEnd(line []byte) []byte {
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r"))
}

// parseHead parses a header block. The error says that it is not one of HTTP/1.
func parseHead(block []byte) (head, error) {
	line, rest, _ := bytes.Cut(block, []byte("\n"))
	h := head{header: http.Header{}}
	if err := h.statusLine(string(trimLineEnd(line))); err != nil {
		return h, err
	}
	if bytes.IndexByte(block, 0) >= 0 {
		h.refused, h.complete = "a NUL in the header", false
	}
	for _, f := range h.unfold(rest) {
		h.field(f)
	}
	h.frame()
	return h, nil
}

// statusLine parses "HTTP/1.1 200 OK"; the reason may be missing. An answer with a status that HTTP does not have is not a page:
// Chromium shows it, but it counts as a server error (RFC 9110 §15).
func (h *head) statusLine(line string) error {
	version, after, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(after, " "), " ")
	number := version[min(len("HTTP/"), len(version)):]
	major, minor, dotted := strings.Cut(number, ".")
	if !digit(major) || dotted && !digit(minor) {
		return fmt.Errorf("the status line is %.80q", line)
	}
	if !dotted {
		h.fault("a version without a minor number")
	}
	if strings.Contains(line, "\r") {
		h.fault("a CR within the status line")
	}
	status, err := strconv.ParseUint(code, 10, 64)
	if err != nil || len(code) > 3 {
		status = 0
	}
	if len(code) != 3 || status < 100 {
		h.refused, h.complete = fmt.Sprintf("%.40q is not a status of HTTP", code), true
	}
	h.status, h.http10 = int(status), major == "0" || !dotted || number == "1.0"
	return nil
}

func digit(s string) bool { return len(s) == 1 && s[0] >= '0' && s[0] <= '9' }

// unfold splits the fields. A line that begins with a blank is part of the field before it (RFC 9112 §5.2).
func (h *head) unfold(rest []byte) (fields []string) {
	for line := range bytes.Lines(rest) {
		text := string(trimLineEnd(line))
		switch {
		case text == "":
		case text[0] != ' ' && text[0] != '\t':
			fields = append(fields, text)
		case len(fields) > 0:
			fields[len(fields)-1] += " " + strings.TrimLeft(text, " \t")
		default:
			h.fault("a first header line that begins with a blank")
			fields = append(fields, strings.TrimLeft(text, " \t"))
		}
	}
	return fields
}

// field adds one field; it skips a line that is not a field.
func (h *head) field(text string) {
	name, value, ok := strings.Cut(text, ":")
	name, value = strings.TrimRight(name, " \t"), strings.Trim(value, " \t")
	switch {
	case !ok:
		h.fault("a header line without a colon")
		return
	case name == "":
		h.fault("a header line without a name")
		return
	case strings.IndexFunc(name, notInNames) >= 0:
		h.fault("a header name with characters that names do not have")
	}
	if strings.IndexFunc(value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) >= 0 {
		h.fault("control characters in " + cut(textproto.CanonicalMIMEHeaderKey(name), 40))
	}
	key := textproto.CanonicalMIMEHeaderKey(name)
	h.header[key] = append(h.header[key], value)
}

// notInNames reports whether a character is not allowed in the name of a field (RFC 9110 §5.6.2).
func notInNames(c rune) bool {
	return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || strings.ContainsRune("!#$%&'*+-.^_`|~", c))
}

func cut(s string, n int) string { return strings.ToValidUTF8(s[:min(len(s), n)], "") }

// fault adds a fault, unless it was added before.
func (h *head) fault(what string) {
	if !slices.Contains(h.faults, what) {
		h.faults = append(h.faults, what)
	}
}
