package archivecheck

import (
	"bytes"
	"encoding/json"
	"io"
	"net/netip"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"
)

// cdxFields are the members of a line, each a JSON string as pywb and cdxj-indexer write them. Only
// status may be missing, of records that need none.
var cdxFields = []string{"url", "mime", "status", "digest", "length", "offset", "filename"}

// readCDXJ checks the index of a WARC file; warc is nil if that could not be read.
func (c *checker) readCDXJ(key string, r io.Reader, warc *warcFile) error {
	data, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	var offset int64
	var previous []byte
	lines := 0
	for line := range bytes.Lines(data) {
		text, ok := bytes.CutSuffix(line, []byte("\n"))
		if !ok {
			c.fault(key, offset, "the last line does not end with a line feed")
		}
		if bytes.Compare(previous, text) > 0 {
			c.fault(key, offset, "the line sorts before the one above it")
		}
		c.checkLine(key, offset, string(text), warc)
		previous = text
		offset += int64(len(line))
		lines++
	}
	if warc != nil {
		c.checkIndexed(key, lines, warc)
	}
	return nil
}

// checkIndexed checks that each capture has one line, and that there are no others but of resources
// and DNS answers, which an index may leave out.
func (c *checker) checkIndexed(key string, lines int, warc *warcFile) {
	want, optional := 0, 0
	for _, e := range warc.entries {
		switch {
		case e.isCapture() && e.isHTTP():
			want++
			if e.lines != 1 {
				warc.fault(e.offset, "the %s of %s has %d CDXJ lines, not one", e.typ, e.uri, e.lines)
			}
		case e.isCapture() || e.typ == "resource":
			optional++
			if e.lines > 1 {
				warc.fault(e.offset, "the %s of %s has %d CDXJ lines", e.typ, e.uri, e.lines)
			}
		}
	}
	if lines < want || lines > want+optional {
		c.fault(key, 0, "the index has %d lines for %d responses and revisits and %d other records that may have one", lines, want, optional)
	}
}

// checkLine checks one line: "<surt> <14 digits> <JSON object>".
func (c *checker) checkLine(key string, at int64, line string, warc *warcFile) {
	surt, rest, _ := strings.Cut(line, " ")
	second, block, _ := strings.Cut(rest, " ")
	var raw map[string]any
	if err := json.Unmarshal([]byte(block), &raw); err != nil || surt == "" || len(second) != 14 || !isDigits(second) {
		c.fault(key, at, "the line is not of the form SURT, 14 digits, JSON object")
		return
	}
	f := map[string]string{}
	for _, name := range cdxFields {
		v, there := raw[name]
		text, ok := v.(string)
		if !ok && (there || name != "status") {
			c.fault(key, at, "the member %q is not a JSON string", name)
			return
		}
		f[name] = text
	}
	if warc == nil {
		return
	}
	offset, err := strconv.ParseInt(f["offset"], 10, 64)
	e := warc.byOffset[offset]
	if err != nil || e == nil {
		c.fault(key, at, "offset %q is not the start of a record in %s", f["offset"], path.Base(warc.key))
		return
	}
	e.lines++
	if f["filename"] != path.Base(warc.key) {
		c.fault(key, at, "filename is %q, not %s", f["filename"], path.Base(warc.key))
	}
	if f["length"] != strconv.FormatInt(e.length, 10) {
		c.fault(key, at, "length is %q, but the member at %d has %d bytes", f["length"], offset, e.length)
	}
	c.compareLine(key, at, surt, second, f, e)
}

// compareLine compares a line with the record it points to.
func (c *checker) compareLine(key string, at int64, surt, second string, f map[string]string, e *entry) {
	if !e.isCapture() && e.typ != "resource" {
		c.fault(key, at, "the line points to a %s record", e.typ)
	}
	if f["url"] != e.uri {
		c.fault(key, at, "url is %q, but the record is of %s", f["url"], e.uri)
	}
	if want := e.date.Format(indexTime); second != want {
		c.fault(key, at, "the timestamp is %s, but the record's is %s", second, want)
	}
	if want := indexDigests(e.digest); !slices.Contains(want, f["digest"]) {
		c.fault(key, at, "digest is %q, but the record has %q", f["digest"], want[0])
	}
	// pywb's own indexer gives revisits no status, cdxj-indexer that of their HTTP header: both will do.
	unset := e.typ == "revisit" && (f["status"] == "" || f["status"] == "-")
	if e.status != 0 && !unset && f["status"] != strconv.Itoa(e.status) {
		c.fault(key, at, "status is %q, but the record has %d", f["status"], e.status)
	}
	if f["mime"] == "" || (f["mime"] == "warc/revisit") != (e.typ == "revisit") {
		c.fault(key, at, "mime is %q for a %s", f["mime"], e.typ)
	}
	if !surtFits(surt, f["url"]) {
		c.fault(key, at, "the key %q is not the SURT of %s", surt, f["url"])
	}
}

// indexDigests returns what may stand for the record's payload digest: sha1 without its prefix, other
// algorithms with or without; "-" or nothing if the record has none.
func indexDigests(value string) []string {
	alg, sum, ok := strings.Cut(value, ":")
	switch {
	case !ok:
		return []string{"-", ""}
	case strings.EqualFold(alg, "sha1"):
		return []string{sum}
	}
	return []string{value, sum}
}

// surtFits reports whether the key begins with the reversed host of the URL, with or without a leading
// www. Hosts that are addresses, other schemes and the path are not looked at: canonicalisers differ.
func surtFits(surt, target string) bool {
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return true
	}
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil {
		return true
	}
	labels := strings.Split(host, ".")
	slices.Reverse(labels)
	reversed, _, ok := strings.Cut(surt, ")")
	if i := strings.IndexByte(reversed, ':'); i >= 0 {
		reversed = reversed[:i]
	}
	full := strings.Join(labels, ",")
	short := strings.Join(labels[:len(labels)-1], ",")
	return ok && (reversed == full || reversed == short && strings.HasPrefix(labels[len(labels)-1], "www"))
}
