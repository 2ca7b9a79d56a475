package archivecheck

import (
	"encoding/hex"
	"fmt"
	"io"
	"net/url"
	"strings"
	"time"
)

// warcFile is what is kept of a WARC file while its segment is checked.
type warcFile struct {
	*checker
	key      string
	records  int
	warcinfo recordID // of the first record
	entries  []*entry
	byID     map[recordID]*entry
	byOffset map[int64]*entry
}

// entry is one record of a WARC file.
type entry struct {
	offset, length int64
	typ            string
	id             recordID
	uri            string
	date           time.Time
	digest         string // WARC-Payload-Digest as it stands
	status         int    // HTTP status, 0 if the record has none
	concurrent     []recordID
	requests       int // request records that are concurrent to this one
	lines          int // CDXJ lines that point here
}

// isCapture reports whether the record is what replay shows: a response or a revisit.
func (e *entry) isCapture() bool { return e.typ == "response" || e.typ == "revisit" }

// isHTTP reports whether the record is of an http or https URI.
func (e *entry) isHTTP() bool {
	return strings.HasPrefix(e.uri, "http://") || strings.HasPrefix(e.uri, "https://")
}

// fault records a fault of the record that begins at offset.
func (w *warcFile) fault(offset int64, format string, args ...any) {
	w.checker.fault(w.key, offset, format, args...)
}

// readWARC checks each record of the file and then what must hold between them.
func (c *checker) readWARC(key string, r io.Reader) (*warcFile, error) {
	w := &warcFile{checker: c, key: key, byID: map[recordID]*entry{}, byOffset: map[int64]*entry{}}
	err := readMembers(r, func(m member) error {
		w.records++
		c.report.Records++
		if m.err != nil {
			w.fault(m.offset, "%v", m.err)
			return nil
		}
		rec, err := parseRecord(m.data)
		if err != nil {
			w.fault(m.offset, "%v", err)
			return nil
		}
		rec.Offset, rec.Length = m.offset, m.length
		w.checkRecord(rec)
		return nil
	})
	if err != nil {
		c.fault(key, 0, "the rest of the file cannot be read: %v", err)
	}
	if w.records == 0 {
		w.fault(0, "the file holds no record")
	}
	for _, e := range w.entries {
		w.checkConcurrent(e)
	}
	for _, e := range w.entries {
		if e.isCapture() && e.isHTTP() && e.requests != 1 {
			w.fault(e.offset, "%s of %s has %d request records, not one", e.typ, e.uri, e.requests)
		}
	}
	return w, nil
}

// checkRecord checks one record by itself and remembers it.
func (w *warcFile) checkRecord(rec Record) {
	e := &entry{
		offset: rec.Offset, length: rec.Length,
		typ:    rec.Headers.Get("WARC-Type"),
		uri:    rec.Headers.Get("WARC-Target-URI"),
		digest: rec.Headers.Get("WARC-Payload-Digest"),
	}
	w.entries = append(w.entries, e)
	w.byOffset[e.offset] = e
	w.checkFields(rec, e)
	switch {
	case w.records == 1 && e.typ != "warcinfo":
		w.fault(e.offset, "the first record is of type %q, not warcinfo", e.typ)
	case w.records == 1:
		w.warcinfo = e.id
	case e.typ == "warcinfo" && !w.exported:
		w.fault(e.offset, "a warcinfo record that is not the first")
	}
	if v := rec.Headers.Get("WARC-Warcinfo-ID"); v != "" {
		id, err := parseRecordID(v)
		if err == nil && w.exported {
			w.infos = append(w.infos, infoOf{w.key, e.offset, id})
		} else if err != nil || id != w.warcinfo {
			w.fault(e.offset, "WARC-Warcinfo-ID %s is not that of the file's warcinfo", v)
		}
	}
	w.checkBlock(rec, e)
	w.count(e)
	w.remember(w.key, e, rec)
}

// count adds the record to the report.
func (w *warcFile) count(e *entry) {
	if n := map[string]*int{
		"warcinfo": &w.report.Warcinfo,
		"response": &w.report.Responses,
		"revisit":  &w.report.Revisits,
		"request":  &w.report.Requests,
		"metadata": &w.report.Metadata,
		"resource": &w.report.Resources,
	}[e.typ]; n != nil {
		*n++
	}
	if !e.isCapture() || !e.isHTTP() {
		return
	}
	if u, err := url.Parse(e.uri); err == nil && u.Path == "/robots.txt" {
		w.report.Robots[e.uri]++
	} else {
		w.report.Pages[e.uri]++
	}
}

// checkConcurrent checks what the record is concurrent to (ISO 28500:2017 §5.7): always a record of
// the same file; for a request exactly one capture, for metadata at least one, of the same URI.
func (w *warcFile) checkConcurrent(e *entry) {
	captures := 0
	for _, id := range e.concurrent {
		other := w.byID[id]
		switch {
		case other == nil:
			w.fault(e.offset, "WARC-Concurrent-To of the %s names %s, which is not in the file", e.typ, id)
		case e.typ != "request" && e.typ != "metadata" || !other.isCapture() && other.typ != "resource": // of HTTP/0.9
		case other.uri != e.uri:
			w.fault(e.offset, "the %s of %s is concurrent to a %s of %s", e.typ, e.uri, other.typ, other.uri)
		default:
			captures++
			if e.typ == "request" {
				other.requests++
			}
		}
	}
	switch {
	case e.typ == "request" && captures != 1:
		w.fault(e.offset, "the request of %s is concurrent to %d responses or revisits of that URI, not one", e.uri, captures)
	case e.typ == "metadata" && captures == 0:
		w.fault(e.offset, "the metadata of %s is concurrent to no response or revisit of that URI", e.uri)
	}
}

// recordID is the UUID of a WARC-Record-ID.
type recordID [16]byte

func (id recordID) String() string {
	return fmt.Sprintf("<urn:uuid:%x-%x-%x-%x-%x>", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// parseRecordID reads "<urn:uuid:…>" with the UUID in its usual form (RFC 9562 §4).
func parseRecordID(s string) (recordID, error) {
	var id recordID
	text, ok := strings.CutPrefix(s, "<urn:uuid:")
	if !ok || len(text) != 37 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' || text[36] != '>' {
		return id, fmt.Errorf("%q is not of the form <urn:uuid:UUID>", s)
	}
	digits := strings.ReplaceAll(text[:36], "-", "")
	if n, err := hex.Decode(id[:], []byte(digits)); err != nil || n != len(id) {
		return recordID{}, fmt.Errorf("%q holds no UUID", s)
	}
	return id, nil
}
