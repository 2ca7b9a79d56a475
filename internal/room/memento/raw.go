package memento

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/catalogue"
	"github.com/muninn-archive/muninn/internal/urls"
)

// origPrefix stands before the names of archived fields that must not act on a browser.
const origPrefix = "X-Archive-Orig-"

// passed are the archived fields that describe the bytes, and are sent as they are. All others, such as cookies, policies and redirects by other means than
// Location, would act for the origin of the archive.
var passed = map[string]bool{"Content-Type": true, "Content-Encoding": true, "Content-Language": true}

// hopByHop are the fields of one connection (RFC 9110 §7.6.1), which are not kept in any form.
var hopByHop = map[string]bool{
	"Connection": true, "Keep-Alive": true, "Proxy-Connection": true, "Proxy-Authenticate": true, "Proxy-Authorization": true, "Te": true, "Trailer": true, "Transfer-Encoding": true, "Upgrade": true,
}

// memento sends a capture as it came, for a URL that was asked for: its own, or one with its key.
func (s *server) memento(w http.ResponseWriter, r *http.Request, e *catalogue.Entry, asked string) {
	first, last, _, err := s.ends(r.Context(), e.URL)
	if err != nil {
		failed(w, err)
		return
	}
	w.Header().Set("Link", s.related(r, e.URL, around(&first, e, &last)))
	w.Header().Set("Memento-Datetime", httpTime(e.Date))
	if !e.Revisit {
		err = s.record(r.Context(), e, func(rec archive.Captured) error {
			m, err := readMessage(rec, e)
			if err == nil {
				err = s.send(w, r, e, asked, m.header, m)
			}
			return err
		})
	} else {
		err = s.sendRevisit(w, r, e, asked)
	}
	s.ended(w, err)
}

// ended answers what could not be sent.
func (s *server) ended(w http.ResponseWriter, err error) {
	var cut *cutError
	switch {
	case err == nil:
	case errors.As(err, &cut):
		panic(http.ErrAbortHandler) // the client sees that it has not all
	default:
		w.Header().Del("Memento-Datetime") // this is no memento
		for _, known := range []error{catalogue.ErrNoOriginal, errRedirect} {
			if errors.Is(err, known) {
				say(w, http.StatusNotFound, known.Error())
				return
			}
		}
		say(w, http.StatusServiceUnavailable, "the record of this capture cannot be read")
	}
}

// sendRevisit sends the payload of a revisit's original with the header of the revisit, or of the original if the revisit has none, as after a 304.
func (s *server) sendRevisit(w http.ResponseWriter, r *http.Request, e *catalogue.Entry, asked string) error {
	own := message{}
	err := s.record(r.Context(), e, func(rec archive.Captured) (err error) {
		own, err = readMessage(rec, e)
		return err
	})
	if err != nil {
		return err
	}
	original, err := catalogue.OriginalOf(r.Context(), s.catalogue, e)
	if err != nil {
		return err
	}
	return s.record(r.Context(), &original, func(rec archive.Captured) error {
		m, err := readMessage(rec, &original)
		if err != nil {
			return err
		}
		header := m.header
		if own.whole {
			header = own.header
			header["Content-Encoding"] = m.header["Content-Encoding"] // of the bytes that are sent
			m.status = own.status
		}
		return s.send(w, r, e, asked, header, m)
	})
}

// errRedirect says that only a redirect to a URL is in the archive, which has the key of its target.
var errRedirect = errors.New("there is no capture of this URL, only a redirect to it")

// cutError is why a part of a capture was not sent.
type cutError struct{ err error }

func (e *cutError) Error() string { return "send capture: " + e.err.Error() }
func (e *cutError) Unwrap() error { return e.err }

// send sends a capture with an archived header. Its bytes are as they came, with content codings and without transfer codings. The status is that of the capture, unless
// it would mean something else here.
func (s *server) send(w http.ResponseWriter, r *http.Request, e *catalogue.Entry, asked string, header http.Header, m message) error {
	h, to := w.Header(), ""
	if location := header.Get("Location"); location != "" {
		to, _ = resolved(e.URL, location)
	}
	own := m.status >= 300 && m.status <= 399 && urls.Same(to, asked)
	if own && !urls.Same(e.URL, asked) {
		return errRedirect
	}
	setHeader(h, header)
	if to != "" && !own { // a page that leads to itself would be asked for again and again
		h.Set("Location", s.base(r)+Prefix+e.Date.UTC().Format(catalogue.Timestamp)+raw+"/"+to)
	}
	status := m.status
	if status < 200 || status > 599 || status == http.StatusPartialContent || status == http.StatusNotModified || status == http.StatusProxyAuthRequired {
		h.Set(origPrefix+"Status", strconv.Itoa(status))
		status = http.StatusOK
	}
	guard(h)
	w.WriteHeader(status)
	if r.Method == http.MethodHead || status == http.StatusNoContent || status == http.StatusResetContent {
		return nil
	}
	if _, err := io.Copy(w, &body{r: m.body}); err != nil {
		return &cutError{err}
	}
	return nil
}

// body is that of an archived response. One that ends before the length that its header gave is what was archived: its record says so.
type body struct{ r io.Reader }

func (b *body) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = io.EOF
	}
	return n, err
}

// maxHeader bounds the fields of an archived header that are sent, in bytes: clients and proxies refuse answers with larger ones.
const maxHeader = 16 << 10

// leftOut has the number of fields that were not sent.
const leftOut = "X-Archive-Left-Out"

// setHeader takes over the fields of an archived header: those that describe the bytes, then the others by their names, as far as there is room.
func setHeader(h, archived http.Header) {
	drop := map[string]bool{}
	for _, list := range archived["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			drop[textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name))] = true
		}
	}
	names := slices.SortedFunc(maps.Keys(archived), func(a, b string) int {
		return cmp.Or(cmp.Compare(lateness(a), lateness(b)), strings.Compare(a, b))
	})
	room, left := maxHeader, 0
	for _, from := range names {
		name := textproto.CanonicalMIMEHeaderKey(from)
		if hopByHop[name] || drop[name] && !passed[name] {
			continue
		}
		if !passed[name] {
			name = origPrefix + name
		}
		for _, v := range archived[from] {
			if size := len(name) + len(v) + len(": \r\n"); size <= room {
				room -= size
				h.Add(name, clean(v))
			} else {
				left++
			}
		}
	}
	if left > 0 {
		h.Set(leftOut, strconv.Itoa(left))
	}
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/octet-stream")
	}
}

// lateness orders fields: those that are sent as they are stand before the others, the type and the coding first.
func lateness(name string) int {
	switch name = textproto.CanonicalMIMEHeaderKey(name); {
	case name == "Content-Type" || name == "Content-Encoding":
		return 0
	case passed[name]:
		return 1
	}
	return 2
}

// clean takes out of the value of a field what would end it.
func clean(value string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' || r == 0x7f {
			return ' '
		}
		return r
	}, value)
}

// resolved is the URL that an archived Location names.
func resolved(base, location string) (string, bool) {
	r, err := urls.NewResolver(base)
	if err != nil {
		return "", false
	}
	u, err := r.Resolve(location)
	return u.String(), err == nil
}
