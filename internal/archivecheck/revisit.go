package archivecheck

import (
	"fmt"
	"regexp"
	"time"
)

// indexTime is the format of the timestamps that indexes use: to the second, in UTC.
const indexTime = "20060102150405"

// profile is the form of WARC-Profile that ISO 28500:2017 §6.7 and its predecessor give.
var profile = regexp.MustCompile(`^http://netpreserve\.org/warc/1\.[01]/revisit/(identical-payload-digest|server-not-modified)$`)

// origins is what revisits may refer to, of the whole archive.
type origins struct {
	captures map[capture]struct{}
	payloads map[digest]time.Time // payload digest → the earliest response that has it
	revisits []revisit
}

// capture is a response by URI and second; with a digest, and once more without.
type capture struct {
	uri, second string
	digest      digest
}

// revisit is a revisit record whose original must be looked for when all files are read.
type revisit struct {
	file      string
	offset    int64
	date      time.Time
	identical bool // by payload digest; otherwise not modified
	digest    digest
	refersTo  recordID
	uri       string // WARC-Refers-To-Target-URI
	second    string // WARC-Refers-To-Date
}

func newOrigins() origins {
	return origins{captures: map[capture]struct{}{}, payloads: map[digest]time.Time{}}
}

// remember keeps what a revisit may refer to.
func (o *origins) remember(file string, e *entry, rec Record) {
	if e.typ != "response" {
		return
	}
	second := e.date.Format(indexTime)
	o.captures[capture{e.uri, second, ""}] = struct{}{}
	d, err := parseDigest(e.digest)
	if err != nil {
		return
	}
	o.captures[capture{e.uri, second, d}] = struct{}{}
	if first, ok := o.payloads[d]; !ok || e.date.Before(first) {
		o.payloads[d] = e.date
	}
}

// checkRevisit checks a revisit by itself and queues it for [checker.checkRevisits]. Its block is an
// HTTP header or nothing; its payload is that of the original and is not here to be digested.
func (w *warcFile) checkRevisit(rec Record, e *entry) {
	if len(rec.Block) > 0 {
		m, err := parseResponse(rec.Block)
		if err != nil {
			w.fault(e.offset, "%v", err)
		} else if !m.whole {
			w.fault(e.offset, "the HTTP header of the revisit has no end")
		}
		e.status = m.status
	}
	match := profile.FindStringSubmatch(rec.Headers.Get("WARC-Profile"))
	if match == nil {
		w.fault(e.offset, "WARC-Profile %q is none of a revisit", rec.Headers.Get("WARC-Profile"))
		return
	}
	v := revisit{
		file: w.key, offset: e.offset, date: e.date,
		identical: match[1] == "identical-payload-digest",
		uri:       rec.Headers.Get("WARC-Refers-To-Target-URI"),
	}
	if err := v.readReference(rec, e); err != nil {
		w.fault(e.offset, "%v", err)
		return
	}
	w.revisits = append(w.revisits, v)
}

// readReference reads the digest and what the revisit refers to.
func (v *revisit) readReference(rec Record, e *entry) (err error) {
	if v.identical || e.digest != "" {
		if v.digest, err = parseDigest(e.digest); err != nil {
			return fmt.Errorf("WARC-Payload-Digest of the revisit: %w", err)
		}
	}
	id, date := rec.Headers.Get("WARC-Refers-To"), rec.Headers.Get("WARC-Refers-To-Date")
	if id == "" && (v.uri == "" || date == "") {
		return fmt.Errorf("the revisit has neither WARC-Refers-To nor both WARC-Refers-To-Target-URI and WARC-Refers-To-Date")
	}
	if id != "" {
		if v.refersTo, err = parseRecordID(id); err != nil {
			return fmt.Errorf("WARC-Refers-To %w", err)
		}
	}
	if date != "" {
		at, err := parseDate(date)
		if err != nil {
			return fmt.Errorf("WARC-Refers-To-Date %q is not RFC 3339 in UTC", date)
		}
		v.second = at.Format(indexTime)
	}
	return nil
}

// checkRevisits looks for the original of each revisit: a response, not later, with the payload digest
// if the revisit has one. Replay finds originals by URI, time to the second and digest, so that is how
// they are looked for here.
func (c *checker) checkRevisits() {
	for _, v := range c.revisits {
		if v.identical {
			first, ok := c.payloads[v.digest]
			switch {
			case !ok:
				c.fault(v.file, v.offset, "no response in the archive has the payload digest of the revisit")
				continue
			case first.After(v.date):
				c.fault(v.file, v.offset, "every response with the payload digest of the revisit is later than it")
				continue
			}
		}
		if v.uri != "" && v.second != "" {
			if _, ok := c.captures[capture{v.uri, v.second, v.digest}]; !ok {
				c.fault(v.file, v.offset, "the revisit refers to %s at %s, but the archive has no such response with its payload digest", v.uri, v.second)
			}
		}
		if v.refersTo != (recordID{}) && c.ids[v.refersTo].typ != "response" {
			c.fault(v.file, v.offset, "the revisit refers to %s, which is not a response in the archive", v.refersTo)
		}
	}
}
