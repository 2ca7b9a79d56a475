package webworld

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// RawAnswer writes a response that net/http would not write. It calls x.End before the last byte; otherwise
// the exchange counts as cut by the client.
type RawAnswer func(x *Exchange, w http.ResponseWriter, r *http.Request)

// handler serves all sites.
type handler struct {
	sites   map[string]*Host
	rec     *recorder
	latency *atomic.Int64
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := connOf(r.Context())
	s := h.sites[hostname(r.Host)]
	if s == nil || s.IP != c.ip {
		h.rec.stranger(r.Host)
		http.Error(w, "no such host on this address", http.StatusMisdirectedRequest)
		return
	}
	uri := r.URL.RequestURI()
	res := s.answer(r)
	x := h.rec.begin(c, s.Host, "http://"+r.Host+uri, res.robots, s.Rules.Allows(uri))
	defer func() {
		if x.abandon() {
			panic(http.ErrAbortHandler) // or net/http would make a complete response of it
		}
	}()
	if !Pause(r.Context(), time.Duration(h.latency.Load())) {
		return
	}
	if res.Raw != nil {
		res.Raw(x, w, r)
		return
	}
	s.SetHeader(w.Header(), res)
	if s.ETag && unchanged(r, res) {
		w.Header().Del("Content-Type")
		x.End(http.StatusNotModified)
		w.WriteHeader(http.StatusNotModified)
		return
	}
	Send(x, w, r, res)
}

// answer finds the resource for a request, or the site's hiccup, or its 404.
func (s *Host) answer(r *http.Request) *Resource {
	res := s.Find(r.URL)
	if res == nil {
		res = s.Missing(r.URL.RequestURI())
	}
	if s.hiccup != nil && !res.robots {
		if hic, ok := s.hiccup(int(s.asked.Add(1))); ok {
			return hic
		}
	}
	return res
}

// SetHeader sets the header fields of a response: those of the host, then those of the resource.
func (s *Host) SetHeader(h http.Header, res *Resource) {
	for k, v := range s.defaults {
		h[k] = v
	}
	for k, v := range res.Header {
		h[k] = v
	}
}

// Send writes the response, the last byte apart, so that end comes before the client can have it all.
func Send(x *Exchange, w http.ResponseWriter, r *http.Request, res *Resource) {
	pieces := res.Body
	if res.gz != nil || res.Zip != nil {
		w.Header().Set("Vary", "Accept-Encoding")
		if acceptsGzip(r) {
			w.Header().Set("Content-Encoding", "gzip")
			pieces = res.Compressed()
		}
	}
	body := Join(pieces)
	if !res.chunked {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	if len(body) == 0 || r.Method == http.MethodHead {
		x.End(res.Status)
		w.WriteHeader(res.Status)
		return
	}
	w.WriteHeader(res.Status)
	last := len(body) - 1
	if err := writeBody(w, body[:last], res.chunked); err != nil || r.Context().Err() != nil {
		return
	}
	if res.Slow > 0 && (http.NewResponseController(w).Flush() != nil || !Pause(r.Context(), res.Slow)) {
		return
	}
	x.End(res.Status)
	if _, err := w.Write(body[last:]); err != nil {
		x.retract(res.Status)
	} else if err := http.NewResponseController(w).Flush(); err != nil {
		x.retract(res.Status)
	}
}

// writeBody writes the body, in several chunks if it is to be chunked.
func writeBody(w http.ResponseWriter, body []byte, chunked bool) error {
	const chunk = 1500
	for chunked && len(body) > chunk {
		if _, err := w.Write(body[:chunk]); err != nil {
			return err
		}
		if err := http.NewResponseController(w).Flush(); err != nil {
			return err
		}
		body = body[chunk:]
	}
	_, err := w.Write(body)
	return err
}

// Join concatenates the pieces of a body.
func Join(pieces [][]byte) []byte {
	if len(pieces) == 1 {
		return pieces[0]
	}
	n := 0
	for _, p := range pieces {
		n += len(p)
	}
	all := make([]byte, 0, n)
	for _, p := range pieces {
		all = append(all, p...)
	}
	return all
}

// unchanged reports whether the client's copy is good (RFC 9110 §13.2.2: If-None-Match goes first).
func unchanged(r *http.Request, res *Resource) bool {
	tag, modified := res.Header.Get("ETag"), res.Header.Get("Last-Modified")
	if match := r.Header.Get("If-None-Match"); match != "" {
		return tag != "" && strings.Contains(match, tag)
	}
	since, err := http.ParseTime(r.Header.Get("If-Modified-Since"))
	if err != nil {
		return false
	}
	at, err := http.ParseTime(modified)
	return err == nil && !at.After(since)
}

func acceptsGzip(r *http.Request) bool {
	for _, v := range r.Header.Values("Accept-Encoding") {
		for part := range strings.SplitSeq(v, ",") {
			name, q, _ := strings.Cut(strings.TrimSpace(part), ";")
			if (name == "gzip" || name == "*") && strings.ReplaceAll(q, " ", "") != "q=0" {
				return true
			}
		}
	}
	return false
}

// Pause waits for d; it is false if ctx ended first.
func Pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func hostname(hostport string) string {
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		return strings.ToLower(h)
	}
	return strings.ToLower(hostport)
}
