package archive

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Logged is a line of the crawl log: one attempt at a URL, and its outcome. Every outcome has one, with or without a
// response.
type Logged struct {
	Time    time.Time  `json:"time"` // when the try began; of a URL that was not asked for, when that was decided
	URL     string     `json:"url"`
	Kind    LoggedKind `json:"kind"`
	Status  int        `json:"status,omitempty"`  // of HTTP; 0: there was no response
	Reason  string     `json:"reason,omitempty"`  // why there is no page, or why it is tried again
	Via     string     `json:"via,omitempty"`     // the page it was found on
	Path    string     `json:"path,omitempty"`    // hop letters
	Attempt int        `json:"attempt,omitempty"` // of the URL in its run, from 1
	Bytes   int64      `json:"bytes,omitempty"`   // on the wire
	Millis  int64      `json:"ms,omitempty"`      // from the start to the last byte
	IP      string     `json:"ip,omitempty"`
	Claim   string     `json:"claim,omitempty"` // the lane
	// Undecoded is crawl.Page.Undecoded.
	Undecoded string `json:"undecoded,omitempty"`
	// Partial is crawl.Exchange.Partial: a frontier that is rebuilt takes it for no original. Missing in segments of earlier versions.
	Partial bool `json:"partial,omitempty"`
	// Print says what the page reads like: a frontier that is rebuilt finds traps by it. Missing in segments of earlier versions.
	Print *crawl.Print `json:"print,omitempty"`
	// Shown is crawl.Page.Shown of a page that was opened in a browser: the next run compares it.
	Shown uint64 `json:"shown,omitempty"`
	// Became is what became of the page since an earlier run; empty of requisites, and in segments of versions that did not write it.
	Became crawl.Became `json:"became,omitempty"`
}

// LoggedKind is an outcome (crawl.OutcomeKind), LoggedRobots or LoggedDNS.
type LoggedKind string

// The kinds of lines that are of no outcome.
const (
	LoggedRobots LoggedKind = "robots.txt" // a robots.txt was asked for
	LoggedDNS    LoggedKind = "dns"        // a name was resolved
	LoggedLoaded LoggedKind = "loaded"     // a page asked for it while it was open in a browser; Reason says why it did not get it
	LoggedOpened LoggedKind = "opened"     // a page was opened in a browser
)

// WithoutPage reports whether the URL ended without a page, or could not be loaded by one that was open.
func (l *Logged) WithoutPage() bool {
	switch crawl.OutcomeKind(l.Kind) {
	case crawl.OutcomeRobots, crawl.OutcomeRefused, crawl.OutcomeFailed:
		return true
	case crawl.OutcomeDone:
		return l.Status >= 400
	case crawl.OutcomeKind(LoggedLoaded):
		return l.Reason != "" || l.Status >= 400
	}
	return false
}

// LoggedExchange is the line of an exchange; attempt counts the tries of its URL from 1.
func LoggedExchange(x *crawl.Exchange, attempt int) Logged {
	l := Logged{
		Time: x.Started, URL: x.URL, Kind: LoggedKind(x.Outcome.Kind), Status: x.Status, Reason: x.Outcome.Reason, Via: x.Via, Path: x.Path,
		Attempt: attempt, Bytes: x.Outcome.Bytes, Millis: x.Elapsed.Milliseconds(), IP: x.IP, Claim: x.Claim, Partial: x.Partial(),
	}
	switch x.Kind {
	case crawl.ExchangeRobots:
		l.Kind, l.Attempt = LoggedRobots, 0
	case crawl.ExchangeDNS:
		l.Kind, l.Attempt = LoggedDNS, 0
	case crawl.ExchangeLoaded:
		l.Kind, l.Attempt = LoggedLoaded, 0
	case crawl.ExchangeOpened:
		l.Kind, l.Attempt, l.Status = LoggedOpened, 0, 0
	}
	return l
}

// Log writes a line into the crawl log.
func (s *Segment) Log(l Logged) error {
	s.log.line = l.append(s.log.line[:0])
	if err := s.log.put(); err != nil {
		return fmt.Errorf("write log of %s: %w", l.URL, err)
	}
	s.counts.Logged++
	return nil
}

// append appends the line as encoding/json would write it.
func (l *Logged) append(b []byte) []byte {
	b = l.Time.UTC().AppendFormat(append(b, "{\"time\":\""...), time.RFC3339Nano)
	b = appendText(b, "\",\"url\":", l.URL)
	b = appendText(b, ",\"kind\":", string(l.Kind))
	number := func(name string, n int64) {
		if n != 0 {
			b = strconv.AppendInt(append(b, name...), n, 10)
		}
	}
	number(",\"status\":", int64(l.Status))
	b = appendSome(b, ",\"reason\":", l.Reason)
	b = appendSome(b, ",\"via\":", l.Via)
	b = appendSome(b, ",\"path\":", l.Path)
	number(",\"attempt\":", int64(l.Attempt))
	number(",\"bytes\":", l.Bytes)
	number(",\"ms\":", l.Millis)
	b = appendSome(b, ",\"ip\":", l.IP)
	b = appendSome(b, ",\"claim\":", l.Claim)
	b = appendSome(b, ",\"undecoded\":", l.Undecoded)
	if l.Partial {
		b = append(b, ",\"partial\":true"...)
	}
	if l.Print != nil {
		b = appendPrint(append(b, ",\"print\":"...), l.Print)
	}
	if l.Shown != 0 {
		b = strconv.AppendUint(append(b, ",\"shown\":"...), l.Shown, 10)
	}
	b = appendSome(b, ",\"became\":", string(l.Became))
	return append(b, '}', '\n')
}

// appendPrint appends a print as encoding/json would write it.
func appendPrint(b []byte, p *crawl.Print) []byte {
	from := len(b)
	number := func(name string, n uint64) {
		if n != 0 {
			b = strconv.AppendUint(append(b, name...), n, 10)
		}
	}
	number(",\"all\":", p.All)
	number(",\"own\":", p.Own)
	number(",\"words\":", uint64(p.Words))
	number(",\"own_words\":", uint64(p.OwnWords))
	number(",\"requisites\":", p.Requisites)
	if len(b) == from {
		return append(b, "{}"...)
	}
	b[from] = '{'
	return append(b, '}')
}

// ReadLog calls fn with each line of a segment's crawl log; of segments without one, with none.
func ReadLog(ctx context.Context, store Store, m *Manifest, fn func(Logged) error) error {
	if m.Log == nil {
		return nil
	}
	return readSidecar(ctx, store, m.Log.Key, func(l *Logged) error { return fn(*l) })
}
