package crawl

import "time"

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
	RobotsTag   string        `json:"robots_tag,omitempty"` // X-Robots-Tag
	Disallowed  bool          `json:"disallowed,omitempty"` // by robots.txt, and fetched by the crawl's policy
	Truncated   string        `json:"truncated,omitempty"`  // length, time, disconnect or unspecified (WARC-Truncated)
	TLS         string        `json:"tls,omitempty"`        // version and cipher suite
	Pause       time.Duration `json:"pause,omitempty"`      // owed to the host from this entry on
	Delay       time.Duration `json:"delay,omitempty"`      // the longest Crawl-delay that is known of the host
	Via         string        `json:"via,omitempty"`
	Path        string        `json:"path,omitempty"`
	Left        []string      `json:"left,omitempty"`   // URLs that a page that was opened wanted to go to by itself
	Outcome     Outcome       `json:"outcome,omitzero"` // of a page
}
