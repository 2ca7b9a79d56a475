package archivecheck

import (
	"bytes"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
)

// contentTypes are the media types of the blocks that have a fixed one, white space removed.
var contentTypes = map[string]string{
	"warcinfo": "application/warc-fields",
	"request":  "application/http;msgtype=request",
	"response": "application/http;msgtype=response",
	"revisit":  "application/http;msgtype=response",
	"metadata": "application/warc-fields",
}

// truncations are the reasons of WARC-Truncated (ISO 28500:2017 §5.13).
var truncations = []string{"length", "time", "disconnect", "unspecified"}

// checkFields checks the named fields and fills the entry's id, date and concurrent.
func (w *warcFile) checkFields(rec Record, e *entry) {
	if rec.Version != "WARC/1.1" {
		w.fault(e.offset, "the record is %s, not WARC/1.1", rec.Version)
	}
	seen := map[string]bool{}
	for _, f := range rec.Headers {
		name := strings.ToLower(f.Name)
		if seen[name] && name != "warc-concurrent-to" {
			w.fault(e.offset, "the field %s is repeated", f.Name)
		}
		seen[name] = true
	}
	w.checkID(rec, e)
	w.checkDate(rec, e)
	w.checkType(rec, e)
	for _, v := range rec.Headers.All("WARC-Concurrent-To") {
		id, err := parseRecordID(v)
		if err != nil {
			w.fault(e.offset, "WARC-Concurrent-To %v", err)
			continue
		}
		e.concurrent = append(e.concurrent, id)
	}
	if v := rec.Headers.Get("WARC-Truncated"); seen["warc-truncated"] && !slices.Contains(truncations, v) {
		w.fault(e.offset, "WARC-Truncated %q is none of %s", v, strings.Join(truncations, ", "))
	}
	ip := rec.Headers.Get("WARC-IP-Address")
	if _, err := netip.ParseAddr(ip); err != nil && (ip != "" || e.typ == "response" && e.isHTTP()) {
		w.fault(e.offset, "WARC-IP-Address %q of the %s is not an IP address", ip, e.typ)
	}
}

func (w *warcFile) checkID(rec Record, e *entry) {
	id, err := parseRecordID(rec.Headers.Get("WARC-Record-ID"))
	if err != nil {
		w.fault(e.offset, "WARC-Record-ID %v", err)
		return
	}
	if at, ok := w.ids[id]; ok {
		w.fault(e.offset, "WARC-Record-ID %s is also that of the record in %s at %d", id, at.file, at.offset)
		return
	}
	e.id = id
	w.ids[id] = place{w.key, e.offset, e.typ}
	w.byID[id] = e
}

func (w *warcFile) checkDate(rec Record, e *entry) {
	v := rec.Headers.Get("WARC-Date")
	date, err := parseDate(v)
	if err != nil {
		w.fault(e.offset, "WARC-Date %q is not RFC 3339 in UTC", v)
	}
	e.date = date
}

// parseDate reads a date of ISO 28500:2017 §5.4: in UTC, with Z, and up to nine digits of a second.
func parseDate(v string) (time.Time, error) {
	return time.Parse("2006-01-02T15:04:05.999999999Z", v)
}

// checkType checks the type and what it asks of other fields.
func (w *warcFile) checkType(rec Record, e *entry) {
	switch e.typ {
	case "response", "revisit", "request", "resource", "metadata":
		if u, err := url.Parse(e.uri); err != nil || u.Scheme == "" {
			w.fault(e.offset, "WARC-Target-URI %q of the %s is not an absolute URI", e.uri, e.typ)
		}
	case "warcinfo":
		if name := rec.Headers.Get("WARC-Filename"); name != "" && !strings.HasSuffix("/"+w.key, "/"+name) {
			w.fault(e.offset, "WARC-Filename is %q", name)
		}
	default:
		w.fault(e.offset, "the record is of type %q, which no part of Muninn writes", e.typ)
	}
	want, got := contentTypes[e.typ], rec.Headers.Get("Content-Type")
	if e.uri != "" && !e.isHTTP() && e.isCapture() {
		want = "" // a DNS answer is text/dns (ISO 28500:2017 §6.3)
	}
	if want != "" && len(rec.Block) > 0 && strings.ToLower(strings.ReplaceAll(got, " ", "")) != want {
		w.fault(e.offset, "Content-Type of the %s is %q, not %s", e.typ, got, want)
	}
}

// checkWarcFields checks a block of application/warc-fields: lines "name: value" that end with CRLF.
func (w *warcFile) checkWarcFields(rec Record, e *entry) {
	for line := range bytes.Lines(rec.Block) {
		text, ok := bytes.CutSuffix(line, []byte("\r\n"))
		var fields Headers
		if len(text) == 0 && ok {
			continue
		}
		if !ok || fields.add(text) != nil && text[0] != ' ' && text[0] != '\t' {
			w.fault(e.offset, "the line %q of the %s is not a named field that ends with CRLF", clip(line), e.typ)
			return
		}
	}
}
