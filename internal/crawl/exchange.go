package crawl

import (
	"net/http"
	"time"
)

// ExchangeKind says what an exchange was made for.
type ExchangeKind string

const (
	ExchangePage   ExchangeKind = "page"
	ExchangeRobots ExchangeKind = "robots"
	ExchangeDNS    ExchangeKind = "dns"
	// ExchangeIntent is written before a request, so that a worker that is killed knows on its return
	// that the host may just have been asked.
	ExchangeIntent ExchangeKind = "intent"
	// ExchangeLoaded is what a page has loaded while it was open in a browser; Via is the page.
	ExchangeLoaded ExchangeKind = "loaded"
	// ExchangeView is a picture of a page as a browser showed it.
	ExchangeView ExchangeKind = "view"
	// ExchangeOpened is the document that a browser made of a page. It is written after all else of its page; Outcome.Reason says why there is none.
	ExchangeOpened ExchangeKind = "opened"
)

// Exchange describes one request and its response on the wire, or why there was none.
type Exchange struct {
	Kind        ExchangeKind  `json:"kind"`
	URL         string        `json:"url"`
	Claim       string        `json:"claim"` // the lane: one claim of the batch
	IP          string        `json:"ip,omitempty"`
	Started     time.Time     `json:"started"`
	FirstByte   time.Duration `json:"first_byte,omitempty"` // from Started
	Elapsed     time.Duration `json:"elapsed,omitempty"`    // from Started to the last byte
	Status      int           `json:"status,omitempty"`
	HeaderBytes int64         `json:"header_bytes,omitempty"` // of the response: status line, header, blank line; 0 if it has no header, or not the end of one
	Chunked     bool          `json:"chunked,omitempty"`
	Encoding    string        `json:"encoding,omitempty"` // Content-Encoding in lower case, several fields joined by commas
	MIME        string        `json:"mime,omitempty"`     // Content-Type as it came
	Location    string        `json:"location,omitempty"`
	Fault       string        `json:"fault,omitempty"`      // what is wrong with the response's header
	Refresh     string        `json:"refresh,omitempty"`    // Refresh
	RobotsTag   string        `json:"robots_tag,omitempty"` // X-Robots-Tag, a line for each field
	Disallowed  bool          `json:"disallowed,omitempty"` // by robots.txt, and fetched by the crawl's policy
	Truncated   string        `json:"truncated,omitempty"`  // length, time, disconnect or unspecified (WARC-Truncated); of a document or picture as well
	TLS         string        `json:"tls,omitempty"`        // version and cipher suite
	Pause       time.Duration `json:"pause,omitempty"`      // owed to the host from this entry on
	Delay       time.Duration `json:"delay,omitempty"`      // the longest Crawl-delay that is known of the host
	Via         string        `json:"via,omitempty"`
	Path        string        `json:"path,omitempty"`
	Frame       bool          `json:"frame,omitempty"`  // of ExchangeLoaded: it is the document of a frame
	Left        []string      `json:"left,omitempty"`   // URLs that a page that was opened wanted to go to by itself
	Outcome     Outcome       `json:"outcome,omitzero"` // of a page
}

// Headerless reports whether the response came without a header (HTTP/0.9), or without the end of one.
func (x *Exchange) Headerless() bool { return x.HeaderBytes == 0 && x.Fault != "" }

// Original reports whether a later capture may refer to the exchange: its response is a whole page (2xx). What was cut off, a part (206) and any other answer, also a
// redirect, is asked for again without conditions: a host ignores them unless it would answer 2xx (RFC 9110 §13.2.1), so that a 304 never speaks of such an answer,
// and would be taken for it. Browsers do alike.
func (x *Exchange) Original() bool {
	return isPage(x.Status) && x.Status != http.StatusPartialContent && x.Truncated == "" && !x.Headerless() && x.Outcome.Kind != OutcomeFailed
}

// Partial reports whether the response is a page, and no Original.
func (x *Exchange) Partial() bool { return isPage(x.Status) && !x.Original() }

func isPage(status int) bool { return status >= 200 && status < 300 }
