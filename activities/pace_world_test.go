package activities

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"
)

// paceHost is a host of a paceWorld.
type paceHost struct {
	name   string
	pld    string
	delay  time.Duration // that its robots.txt asks for
	robots string        // file, none, elsewhere, busy (once), broken (once, and each time after it was read)
	to     string        // where robots.txt lies, if elsewhere
	served int           // answers for robots.txt
}

// asked is the last request to a host, or one in progress.
type asked struct {
	line   string
	origin string
	addr   netip.Addr
	start  time.Time
	end    time.Time     // zero: in progress
	wait   time.Duration // that it asks for by Retry-After
}

// paceWorld is a web that checks the timing of requests. Its connections are pipes, so that it runs on a fake clock.
type paceWorld struct {
	t      *testing.T
	least  time.Duration // min_delay
	hold   time.Duration // address-hold
	longer time.Duration // max_delay: a Crawl-delay beyond it counts from when it was logged on

	mu       sync.Mutex
	random   *rand.Rand
	hosts    map[string]*paceHost
	last     map[string]*asked // by PLD
	under    map[netip.Addr][]*asked
	rested   map[netip.Addr]time.Time // end of the last exchange
	known    map[string]bool          // origins whose Crawl-delay the crawler knows
	seen     map[string]int
	requests int
	story    []string
}

func (w *paceWorld) number(n int) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.random.IntN(n)
}

// storyTime is the form of the times in the story.
const storyTime = "15:04:05.000"

// noteStory adds a line to the story.
func (w *paceWorld) noteStory(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.note(format, args...)
}

// note adds a line to the story; mu is held.
func (w *paceWorld) note(format string, args ...any) {
	w.story = append(w.story, time.Now().Format(storyTime+" ")+fmt.Sprintf(format, args...))
}

func (w *paceWorld) fail(format string, args ...any) {
	w.note("FAIL "+format, args...)
	if !w.t.Failed() {
		w.t.Errorf(format+"\n%s", append(args, strings.Join(w.story[max(0, len(w.story)-90):], "\n"))...)
	}
}

// logged is called with each robots.txt that the crawler has kept.
func (w *paceWorld) logged(origin string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.known[origin] = true
}

// hangUp is the client's end of a connection: the exchange in progress is over when that is closed.
type hangUp struct {
	net.Conn
	over func()
}

func (c *hangUp) Close() error {
	c.over()
	return c.Conn.Close()
}

func (w *paceWorld) dial(_ context.Context, _, address string) (net.Conn, error) {
	at := netip.MustParseAddrPort(address)
	here, there := net.Pipe()
	var mu sync.Mutex
	var now *asked
	go func() {
		defer there.Close()
		br := bufio.NewReader(there)
		for {
			r, err := http.ReadRequest(br)
			if err != nil {
				return
			}
			mu.Lock()
			x := w.begin(at, r)
			now = x
			mu.Unlock()
			if !w.answer(there, x, r) {
				w.end(x)
				return
			}
			w.end(x)
		}
	}()
	return &hangUp{here, func() {
		mu.Lock()
		defer mu.Unlock()
		if now != nil {
			w.end(now)
		}
	}}, nil
}

// begin checks a request against all that came before it.
func (w *paceWorld) begin(at netip.AddrPort, r *http.Request) *asked {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	name, _, _ := strings.Cut(r.Host, ":")
	h := w.hosts[name]
	x := &asked{line: r.Host + r.RequestURI, origin: r.Host, addr: at.Addr(), start: now}
	w.requests++
	w.seen[x.line]++
	w.note("%s asked at %s", x.line, at)
	if last := w.last[h.pld]; last != nil {
		need := max(w.least, last.wait)
		if before, _, _ := strings.Cut(last.origin, ":"); w.known[last.origin] {
			need = max(need, w.hosts[before].delay)
		}
		switch {
		case last.end.IsZero():
			w.fail("%s is asked while %s is in progress", x.line, last.line)
		case now.Sub(last.end) < need:
			w.fail("%s is asked %s after %s, want %s", x.line, now.Sub(last.end), last.line, need)
		}
	}
	slow := 0
	for _, other := range w.under[x.addr] {
		if now.Sub(other.start) < w.hold {
			w.fail("%s is asked while %s is in progress at %s", x.line, other.line, x.addr)
		}
		slow++
	}
	if slow > maxSlow {
		w.fail("%d slow answers are read from %s", slow, x.addr)
	}
	if rested := now.Sub(w.rested[x.addr]); rested < w.least {
		w.fail("%s is asked %s after another at %s", x.line, rested, x.addr)
	}
	w.last[h.pld] = x
	w.under[x.addr] = append(w.under[x.addr], x)
	return x
}

func (w *paceWorld) end(x *asked) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !x.end.IsZero() {
		return
	}
	x.end = time.Now()
	if x.end.Sub(x.start) < w.hold { // it has released its address, so that others may ask
		w.rested[x.addr] = x.end
	}
	for i, other := range w.under[x.addr] {
		if other == x {
			w.under[x.addr] = append(w.under[x.addr][:i:i], w.under[x.addr][i+1:]...)
			break
		}
	}
}

// answer writes an answer; false if the connection is over.
func (w *paceWorld) answer(c net.Conn, x *asked, r *http.Request) bool {
	time.Sleep(time.Duration(w.number(1500)) * time.Millisecond)
	head, body, retry, file := w.response(x, r)
	wire := fmt.Sprintf("HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n", head, len(body))
	if _, err := io.WriteString(c, wire); err != nil {
		return false
	}
	for i := range len(body) {
		if strings.HasPrefix(r.URL.Path, "/slow") {
			time.Sleep(10 * time.Second)
		}
		if i == len(body)-1 { // known from the last byte on
			w.delivered(x, retry, file)
		}
		if _, err := io.WriteString(c, body[i:i+1]); err != nil {
			return false
		}
	}
	return true
}

func (w *paceWorld) delivered(x *asked, retry time.Duration, file bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	x.wait = retry
	name, _, _ := strings.Cut(x.origin, ":")
	if file && w.hosts[name].delay <= w.longer {
		w.known[x.origin] = true
	}
}

// longRetry is a Retry-After, in seconds.
const longRetry = 25

func (w *paceWorld) response(x *asked, r *http.Request) (head, body string, retry time.Duration, rules bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	name, _, _ := strings.Cut(r.Host, ":")
	h := w.hosts[name]
	file := fmt.Sprintf("User-agent: *\nDisallow: /private\nCrawl-delay: %d\n", int(h.delay/time.Second))
	busy := fmt.Sprintf("503 Busy\r\nRetry-After: %d", longRetry)
	switch {
	case strings.HasPrefix(r.URL.Path, "/busy") && w.seen[x.line] == 1:
		return busy, "-", longRetry * time.Second, false
	case r.URL.Path != "/robots.txt":
		return "200 OK", "a page", 0, false
	}
	h.served++
	switch {
	case h.robots == "none":
		return "404 Not Found", "-", 0, false
	case h.robots == "elsewhere":
		return "301 Moved\r\nLocation: " + h.to, "-", 0, false
	case h.robots == "busy" && h.served == 1:
		return busy, "-", longRetry * time.Second, false
	case h.robots == "broken" && h.served%2 == 1:
		return "500 Oops", "-", 0, false
	}
	return "200 OK", file, 0, true
}
