package fetch

import (
	"crypto/tls"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits bound one request; each has a place in the worker's configuration.
type Limits struct {
	HeaderBytes    crawl.Bytes    `json:"header_bytes"`    // response header block
	BodyBytes      crawl.Bytes    `json:"body_bytes"`      // response body on the wire; more is cut off (WARC-Truncated: length)
	MemoryBytes    crawl.Bytes    `json:"memory_bytes"`    // of a response held in memory; more goes to a temporary file
	Connect        crawl.Duration `json:"connect_timeout"` // TCP, and again for TLS
	FirstByte      crawl.Duration `json:"first_byte"`      // from the request's end to the response's first byte
	Idle           crawl.Duration `json:"idle_timeout"`    // between two reads of a body
	Total          crawl.Duration `json:"total_timeout"`   // a whole exchange; more is cut off (WARC-Truncated: time)
	AddressHold    crawl.Duration `json:"address_hold"`    // of an exchange, after which others may ask its address; 0: never
	RetryAfter     crawl.Duration `json:"retry_after_max"` // the longest Retry-After that is obeyed
	RobotsTimeout  crawl.Duration `json:"robots_timeout"`  // a whole robots.txt exchange
	HostFailures   int            `json:"host_failures"`   // batches in a row that could not reach a host before its URLs fail
	MaxAttempts    int            `json:"max_attempts"`    // tries of a URL before it fails for good
	RetryBase      crawl.Duration `json:"retry_base"`      // back-off after the first failure; doubles with each
	RetryMax       crawl.Duration `json:"retry_max"`       // the longest back-off
	RobotsRetry    crawl.Duration `json:"robots_retry"`    // how long an unreachable robots.txt disallows before it is asked for again
	ConnectionIdle crawl.Duration `json:"connection_idle"` // a pause beyond which a kept-alive connection is not used again
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits {
	d := func(t time.Duration) crawl.Duration { return crawl.Duration(t) }
	return Limits{
		HeaderBytes: 256 << 10, BodyBytes: 64 << 20, MemoryBytes: 1 << 20,
		Connect: d(15 * time.Second), FirstByte: d(30 * time.Second), Idle: d(30 * time.Second),
		Total: d(5 * time.Minute), AddressHold: d(30 * time.Second), RetryAfter: d(time.Hour), RobotsTimeout: d(time.Minute),
		HostFailures: 4, MaxAttempts: 4, RetryBase: d(time.Minute), RetryMax: d(6 * time.Hour),
		RobotsRetry: d(10 * time.Minute), ConnectionIdle: d(30 * time.Second),
	}
}

// Backoff is the wait before a URL's next try after so many failed ones (at least one).
func (l Limits) Backoff(failures int) time.Duration {
	wait := l.RetryBase.D() << min(max(failures-1, 0), 20)
	if wait <= 0 || wait > l.RetryMax.D() {
		return l.RetryMax.D()
	}
	return wait
}

// Options make a Client.
type Options struct {
	Limits   Limits
	Guard    *Guard
	Resolver *Resolver
	// VerifyTLS refuses hosts whose certificate is not valid. Archives keep what the web shows, so
	// the default is to take them.
	VerifyTLS bool
	TempDir   string // for large bodies
	Dial      Dialer // nil: the network
	Now       func() time.Time
	Sleep     Sleeper
}

func (o Options) tls() *tls.Config {
	return &tls.Config{InsecureSkipVerify: !o.VerifyTLS, NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS10}
}
