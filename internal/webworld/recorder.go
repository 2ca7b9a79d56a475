package webworld

import (
	"net/netip"
	"sync"
	"time"
)

// recorder measures the traffic of a world. mu guards all its state. It is never held during I/O, except for
// a non-blocking check of a socket.
type recorder struct {
	now func() time.Time

	mu         sync.Mutex
	ips        map[netip.Addr]*ipRecord
	hosts      map[string]int
	hostLast   map[string]time.Time // when the last request began
	hostGaps   map[string]time.Duration
	urls       map[string]int
	order      []string // of the responses in urls
	cutURLs    map[string]int
	disallowed map[string]int
	byStatus   map[int]int
	robotsDone map[string]bool // hosts whose robots.txt has been answered
	robotsLate map[string]string
	strangers  map[string]int
	opens      int // connections
	tracing    bool
	trace      []*Exchange
}

// ipRecord is the traffic of one IP.
type ipRecord struct {
	Traffic
	ip        netip.Addr
	conns     map[*Conn]struct{}
	live      map[*Exchange]struct{}
	last      ending // of any response
	lastPages ending // of a page, that is, anything but robots.txt
}

type ending struct {
	at  time.Time
	url string
}

// Exchange is one request in progress.
type Exchange struct {
	rec     *recorder
	ip      *ipRecord
	conn    *Conn
	host    string
	began   time.Time
	url     string
	robots  bool
	ended   time.Time
	over    bool // under rec.mu, as is counted
	counted bool // as complete
}

func newRecorder(now func() time.Time) *recorder {
	return &recorder{
		now: now, ips: map[netip.Addr]*ipRecord{}, hosts: map[string]int{}, hostLast: map[string]time.Time{}, hostGaps: map[string]time.Duration{}, urls: map[string]int{},
		cutURLs: map[string]int{}, disallowed: map[string]int{}, byStatus: map[int]int{},
		robotsDone: map[string]bool{}, robotsLate: map[string]string{}, strangers: map[string]int{},
	}
}

// know adds the site's IP to Stats before its first request.
func (rec *recorder) know(s *Host) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.at(s.IP)
}

func (rec *recorder) at(ip netip.Addr) *ipRecord {
	r := rec.ips[ip]
	if r == nil {
		r = &ipRecord{ip: ip, conns: map[*Conn]struct{}{}, live: map[*Exchange]struct{}{}}
		rec.ips[ip] = r
	}
	return r
}

// begin notes a request whose header has been read.
func (rec *recorder) begin(c *Conn, host, url string, robots, allowed bool) *Exchange {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	now, r := rec.now(), rec.at(c.ip)
	r.reap(rec)
	x := &Exchange{rec: rec, ip: r, conn: c, began: now, host: host, url: url, robots: robots}
	r.MinGap = shorter(r.MinGap, r.gap(x, now, true))
	if !robots {
		r.MinPageGap = shorter(r.MinPageGap, r.gap(x, now, false))
	}
	if rec.tracing {
		rec.trace = append(rec.trace, x)
	}
	r.live[x] = struct{}{}
	r.PeakRequests = max(r.PeakRequests, len(r.live))
	r.Requests++
	rec.hosts[host]++
	if last, asked := rec.hostLast[host]; asked {
		gap := now.Sub(last)
		if least, known := rec.hostGaps[host]; known {
			gap = min(gap, least)
		}
		rec.hostGaps[host] = gap
	}
	rec.hostLast[host] = now
	rec.judge(x, allowed)
	return x
}

// judge records whether robots.txt allows the request.
func (rec *recorder) judge(x *Exchange, allowed bool) {
	if x.robots {
		x.ip.Robots++
		return
	}
	if !allowed {
		rec.disallowed[x.url]++
	}
	if _, late := rec.robotsLate[x.host]; !late && !rec.robotsDone[x.host] {
		rec.robotsLate[x.host] = x.url
	}
}

// stranger records a request for a host that is not on the IP.
func (rec *recorder) stranger(host string) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	rec.strangers[host]++
}

// gap is the pause before x, 0 if it overlaps another request, nil if there was none before.
func (r *ipRecord) gap(x *Exchange, now time.Time, withRobots bool) *Gap {
	for y := range r.live {
		if withRobots || !y.robots {
			return &Gap{IP: r.ip, From: y.url, To: x.url}
		}
	}
	last := r.lastPages
	if withRobots {
		last = r.last
	}
	if last.at.IsZero() {
		return nil
	}
	return &Gap{IP: r.ip, Pause: now.Sub(last.at), From: last.url, To: x.url}
}

// reap ends the requests whose client has hung up, before the handler notices it.
func (r *ipRecord) reap(rec *recorder) {
	for x := range r.live {
		if x.conn.hungUp() {
			rec.cut(x)
		}
	}
}

// End records that the last byte of a response is about to be written. Only the first of End and abandon
// counts.
func (x *Exchange) End(status int) {
	rec := x.rec
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if x.over {
		return
	}
	rec.finish(x, rec.now())
	x.counted = true
	rec.byStatus[status]++
	if !x.robots {
		rec.urls[x.url]++
		rec.order = append(rec.order, x.url)
	}
}

// abandon records that the client left before the response was written; false if End was called before.
func (x *Exchange) abandon() bool {
	rec := x.rec
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if x.over {
		return false
	}
	rec.cut(x)
	return true
}

// retract turns an ended exchange into a cut one: its last byte could not be written.
func (x *Exchange) retract(status int) {
	rec := x.rec
	rec.mu.Lock()
	defer rec.mu.Unlock()
	if !x.counted {
		return
	}
	x.counted = false
	if rec.byStatus[status]--; rec.byStatus[status] == 0 {
		delete(rec.byStatus, status)
	}
	if !x.robots {
		rec.urls[x.url]--
		if rec.urls[x.url] == 0 {
			delete(rec.urls, x.url)
		}
	}
	rec.countCut(x)
}

// finish ends an exchange as of a time.
func (rec *recorder) finish(x *Exchange, at time.Time) {
	x.over, x.ended = true, at
	delete(x.ip.live, x)
	end := ending{at, x.url}
	x.ip.last = later(x.ip.last, end)
	if x.robots {
		rec.robotsDone[x.host] = true
	} else {
		x.ip.lastPages = later(x.ip.lastPages, end)
	}
}

// cut ends an exchange that the client left, with its start as its end: it is not known when the client left,
// and the gap after it must not look shorter than it was.
func (rec *recorder) cut(x *Exchange) {
	rec.finish(x, x.began)
	rec.countCut(x)
}

func later(a, b ending) ending {
	if b.at.After(a.at) {
		return b
	}
	return a
}

func (rec *recorder) countCut(x *Exchange) {
	x.ip.Cut++
	if !x.robots {
		rec.cutURLs[x.url]++
	}
}

// opened and closed follow the connections of an IP.
func (rec *recorder) opened(c *Conn) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	r := rec.at(c.ip)
	for old := range r.conns {
		if old.hungUp() {
			delete(r.conns, old)
		}
	}
	r.conns[c] = struct{}{}
	r.Connections++
	rec.opens++
	c.number = rec.opens
	r.PeakConnections = max(r.PeakConnections, len(r.conns))
}

func (rec *recorder) closed(c *Conn) {
	rec.mu.Lock()
	defer rec.mu.Unlock()
	delete(rec.at(c.ip).conns, c)
}

// closeConns closes hijacked connections, which http.Server does not know any more.
func (rec *recorder) closeConns() {
	rec.mu.Lock()
	var all []*Conn
	for _, r := range rec.ips {
		for c := range r.conns {
			all = append(all, c)
		}
	}
	rec.mu.Unlock()
	for _, c := range all {
		c.Close()
	}
}
