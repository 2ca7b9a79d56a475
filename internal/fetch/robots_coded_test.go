package fetch

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fixture"
)

func coded(t *testing.T, open func(io.Writer) io.WriteCloser, s string) string {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, s); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCodedRobots: a robots.txt is obeyed in any content coding, and disallows everything if it cannot be decoded.
func TestCodedRobots(t *testing.T) {
	const rules = "User-agent: *\nDisallow: /half\n"
	zip := fixture.Gzip(rules)
	br := coded(t, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }, rules)
	zl := coded(t, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) }, rules)
	raw := coded(t, func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z }, rules)
	zs := coded(t, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z }, rules)
	utf16 := func(s string, order int) string {
		var b strings.Builder
		for _, c := range []byte(s) {
			pair := []byte{0, 0}
			pair[order] = c
			b.Write(pair)
		}
		return b.String()
	}
	tests := []struct {
		name, field, body string
		broken            string // in the reason; empty: the rules are obeyed
	}{
		{"br", "br", br, ""},
		{"zlib", "deflate", zl, ""},
		{"deflate", "deflate", raw, ""},
		{"zstd", "zstd", zs, ""},
		{"gzip in capitals", "GZIP", zip, ""},
		{"x-gzip", "x-gzip", zip, ""},
		{"gzip twice", "gzip, gzip", fixture.Gzip(zip), ""},
		{"two fields", "gzip\r\nContent-Encoding: br", coded(t, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) }, zip), ""},
		{"identity, gzip", "identity, gzip", zip, ""},
		{"gzip that is plain", "gzip", rules, ""},
		{"br that is plain", "br", rules, ""},
		{"gzip without a header", "", zip, ""},
		{"UTF-16 LE with mark", "", "\xff\xfe" + utf16(rules, 0), ""},
		{"UTF-16 BE with mark", "", "\xfe\xff" + utf16(rules, 1), ""},
		{"UTF-16 LE", "", utf16(rules, 0), ""},
		{"UTF-16 BE", "", utf16(rules, 1), ""},
		{"UTF-16 in gzip", "gzip", fixture.Gzip("\xff\xfe" + utf16(rules, 0)), ""},
		{"gzip, cut off", "gzip", zip[:len(zip)-10], "the gzip stream is cut off"},
		{"gzip, damaged", "gzip", "\x1f\x8b\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "gzip"},
		{"br that is gzip", "br", zip, "br"},
		{"gzip that is br", "gzip", br, "another format"},
		{"compress", "compress", "\x1f\x9d\x90\x01\x02", "compress: not known"},
		{"six codings", "gzip,gzip,gzip,gzip,gzip,gzip", zip, "codings"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			h := robotsHost(t, fixed(page("200 OK", test.body, "Content-Encoding: "+test.field)))
			r := h.fetch(t, newClient(t, h.clock, nil), "/open", "/half")
			if r.err != nil {
				t.Fatal(r.err)
			}
			open, half := r.outcome(t, h.url("/open")), r.outcome(t, h.url("/half"))
			if test.broken == "" {
				if open.Kind != crawl.OutcomeDone || half.Kind != crawl.OutcomeRobots {
					t.Errorf("/open %+v\n/half %+v", open, half)
				}
				return
			}
			if open.Kind != crawl.OutcomeRetry || !strings.Contains(open.Reason, "cannot be decoded: ") || !strings.Contains(open.Reason, test.broken) {
				t.Errorf("/open: %+v, want a retry with %q", open, test.broken)
			}
			if n := len(r.robots()); n != 1 {
				t.Errorf("%d robots.txt kept, want 1", n)
			}
		})
	}
}

// TestForgedRobots: if a robots.txt redirects to a host without an address, the address of the redirecting host is
// not asked for it: its answer would be archived under the other host's name.
func TestForgedRobots(t *testing.T) {
	var h *host
	h = robotsHost(t, func(seen) answer {
		_, port, _ := strings.Cut(strings.TrimPrefix(h.url(""), "http://"), ":")
		return answer{wire: page("301 Moved", "", "Location: http://gone.test:"+port+"/robots.txt")}
	})
	r := h.fetch(t, newClient(t, h.clock, nil), "/open")
	if o := r.outcome(t, h.url("/open")); o.Kind != crawl.OutcomeRetry || !strings.Contains(o.Reason, "robots.txt") {
		t.Errorf("%+v", o)
	}
	for _, s := range h.log() {
		if strings.Contains(s.raw, "gone.test") {
			t.Errorf("asked the host for another's file: %q", s.raw)
		}
	}
	for _, x := range r.all {
		if strings.Contains(x.URL, "gone.test") {
			t.Errorf("kept: %s", x.URL)
		}
	}
}
