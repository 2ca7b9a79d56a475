package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// nameServer answers from a zone of records over UDP and TCP on one port, and counts the questions.
type nameServer struct {
	addr string
	mu   sync.Mutex
	zone map[string][]string // "host A" to records
	udp  map[string]int
	tcp  map[string]int
}

func newNameServer(t *testing.T, zone map[string][]string) *nameServer {
	t.Helper()
	n := &nameServer{zone: zone, udp: map[string]int{}, tcp: map[string]int{}}
	pc, err := new(net.ListenConfig).ListenPacket(t.Context(), "udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n.addr = pc.LocalAddr().String()
	ln, err := new(net.ListenConfig).Listen(t.Context(), "tcp", n.addr)
	if err != nil {
		t.Skipf("the TCP port beside the UDP port is taken: %v", err)
	}
	for _, s := range []*dns.Server{
		{PacketConn: pc, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { n.serve(w, q, n.udp, true) })},
		{Listener: ln, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) { n.serve(w, q, n.tcp, false) })},
	} {
		started := make(chan struct{})
		s.NotifyStartedFunc = func() { close(started) }
		go func() { _ = s.ActivateAndServe() }()
		<-started
		t.Cleanup(func() { _ = s.Shutdown() })
	}
	return n
}

func (n *nameServer) serve(w dns.ResponseWriter, q *dns.Msg, count map[string]int, udp bool) {
	host := strings.TrimSuffix(q.Question[0].Name, ".")
	kind := dns.TypeToString[q.Question[0].Qtype]
	n.mu.Lock()
	count[host]++
	n.mu.Unlock()
	reply := new(dns.Msg).SetReply(q)
	known := false
	for key := range n.zone {
		known = known || strings.HasPrefix(key, host+" ")
	}
	if !known {
		reply.Rcode = dns.RcodeNameError
	}
	for _, text := range n.zone[host+" "+kind] {
		rr, err := dns.NewRR(text)
		if err != nil {
			panic(err)
		}
		reply.Answer = append(reply.Answer, rr)
	}
	if udp && strings.HasPrefix(host, "long.") && kind == "A" {
		reply.Answer, reply.Truncated = nil, true
	}
	_ = w.WriteMsg(reply)
}

func (n *nameServer) asked(host string) (udp, tcp int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.udp[host], n.tcp[host]
}

var zone = map[string][]string{
	"four.test A":       {"four.test. 300 IN A 192.0.2.4", "four.test. 300 IN A 192.0.2.5"},
	"six.test AAAA":     {"six.test. 300 IN AAAA 2001:db8::6"},
	"both.test A":       {"both.test. 300 IN A 192.0.2.6"},
	"both.test AAAA":    {"both.test. 300 IN AAAA 2001:db8::7"},
	"alias.test A":      {"alias.test. 300 IN CNAME four.test.", "four.test. 300 IN A 192.0.2.4"},
	"long.test A":       {"long.test. 300 IN A 192.0.2.9"},
	"short.test A":      {"short.test. 1 IN A 192.0.2.10"},
	"eternal.test A":    {"eternal.test. 999999999 IN A 192.0.2.11"},
	"nat64.test AAAA":   {"nat64.test. 300 IN AAAA 64:ff9b::192.0.2.77"},
	"wrapped.test AAAA": {"wrapped.test. 300 IN AAAA ::ffff:192.0.2.78"},
	"mailonly.test A":   {},
}

func TestResolve(t *testing.T) {
	n := newNameServer(t, zone)
	r, err := NewResolver(map[string]netip.Addr{"Fixed.test": netip.MustParseAddr("127.0.0.9"), "mapped.test": netip.MustParseAddr("::ffff:127.0.0.8")}, n.addr)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ host, want, fail string }{
		{"four.test", "192.0.2.4", ""}, {"six.test", "2001:db8::6", ""}, {"both.test", "192.0.2.6", ""},
		{"alias.test", "192.0.2.4", ""}, {"long.test", "192.0.2.9", ""}, {"fixed.test", "127.0.0.9", ""},
		{"10.0.0.1", "10.0.0.1", ""}, {"[::1]", "::1", ""},
		// one machine has one address, and so one lease
		{"[::ffff:7f00:1]", "127.0.0.1", ""}, {"[64:ff9b::7f00:1]", "127.0.0.1", ""}, {"mapped.test", "127.0.0.8", ""},
		{"nat64.test", "192.0.2.77", ""}, {"wrapped.test", "192.0.2.78", ""},
		{"nowhere.test", "", "NXDOMAIN"}, {"mailonly.test", "", "without an address"},
	}
	for _, test := range tests {
		addr, err := r.Resolve(t.Context(), test.host)
		switch {
		case test.fail != "" && (err == nil || !strings.Contains(err.Error(), test.fail)):
			t.Errorf("%s: %s, %v; want an error with %q", test.host, addr, err, test.fail)
		case test.fail == "" && (err != nil || addr.String() != test.want):
			t.Errorf("%s: %s, %v; want %s", test.host, addr, err, test.want)
		}
	}
	if udp, tcp := n.asked("long.test"); udp != 1 || tcp != 1 {
		t.Errorf("truncated answer: %d questions over UDP, %d over TCP", udp, tcp)
	}
	if udp, _ := n.asked("fixed.test"); udp != 0 {
		t.Error("a name resolved by hand was asked for")
	}
}

func TestResolverCache(t *testing.T) {
	n := newNameServer(t, zone)
	r, err := NewResolver(nil, n.addr)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	r.now = func() time.Time { return now }
	tests := []struct {
		host  string
		after time.Duration // since the question before
		asked bool
	}{
		{"four.test", 0, true}, {"four.test", 299 * time.Second, false}, {"four.test", time.Second, true},
		{"short.test", 0, true}, {"short.test", 59 * time.Second, false}, {"short.test", time.Second, true}, // at least a minute
		{"eternal.test", 0, true}, {"eternal.test", 59 * time.Minute, false}, {"eternal.test", time.Minute, true}, // at most an hour
		{"nowhere.test", 0, true}, {"nowhere.test", 49 * time.Second, false}, {"nowhere.test", time.Second, true},
	}
	for i, test := range tests {
		now = now.Add(test.after)
		before, _ := n.asked(test.host)
		_, _ = r.Resolve(t.Context(), test.host)
		if after, _ := n.asked(test.host); (after > before) != test.asked {
			t.Errorf("step %d: %s: asked %v, want %v", i, test.host, after > before, test.asked)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Resolve(ctx, "six.test"); err == nil {
		t.Error("resolved after the context's end")
	}
	if _, err := r.Resolve(t.Context(), "six.test"); err != nil {
		t.Errorf("the cancelled question was kept as a failure: %v", err)
	}
}

func TestDNSRecord(t *testing.T) {
	n := newNameServer(t, zone)
	r, err := NewResolver(nil, n.addr)
	if err != nil {
		t.Fatal(err)
	}
	r.now = func() time.Time { return time.Date(2026, 11, 21, 8, 0, 1, 0, time.UTC) }
	if _, err := r.Resolve(t.Context(), "alias.test"); err != nil {
		t.Fatal(err)
	}
	a, ok := r.Unsaved("archive", "alias.test")
	want := "20261121080001\nalias.test.\t300\tIN\tCNAME\tfour.test.\nfour.test.\t300\tIN\tA\t192.0.2.4\n"
	if !ok || a.Text != want || a.Server != n.addr {
		t.Errorf("%v %+v\nwant %q", ok, a, want)
	}
	if _, again := r.Unsaved("archive", "alias.test"); again {
		t.Error("the record is to be archived twice")
	}
	if _, ok := r.Unsaved("archive", "127.0.0.1"); ok {
		t.Error("a record of an address")
	}
}

// namedHost is a host without robots.txt that a DNS server knows by a name, with a client that asks that server.
func namedHost(t *testing.T) (h *host, c *Client, base string) {
	t.Helper()
	n := newNameServer(t, map[string][]string{"raven.test A": {"raven.test. 300 IN A 127.0.0.1"}})
	h = newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{}
		}
		return answer{wire: page("200 OK", "")}
	})
	r, err := NewResolver(nil, n.addr)
	if err != nil {
		t.Fatal(err)
	}
	c = newClient(t, h.clock, func(o *Options) { o.Resolver = r })
	return h, c, strings.Replace(h.url(""), "127.0.0.1", "raven.test", 1)
}

// TestLaneKeepsDNS: the answer is emitted once, before the host's first request.
func TestLaneKeepsDNS(t *testing.T) {
	h, c, base := namedHost(t)
	got := h.run(t, c, nil, targets(base+"/a", base+"/b")...)
	var kinds []string
	for _, x := range got.all {
		kinds = append(kinds, string(x.Kind))
	}
	if strings.Join(kinds, " ") != "dns robots page page" {
		t.Errorf("exchanges %v", kinds)
	}
	if x := got.all[0]; x.URL != "dns:raven.test" || x.MIME != "text/dns" || !strings.HasSuffix(x.response, "A\t127.0.0.1\n") || x.Path != crawl.HopPrereq.String() {
		t.Errorf("%+v", x)
	}
}

// TestResolverSilence: if DNS servers that have answered before do not answer, the fault is on the worker's
// side; for servers that never answered this is not known.
func TestResolverSilence(t *testing.T) {
	for _, spoke := range []bool{true, false} {
		n := newNameServer(t, zone)
		r, err := NewResolver(nil, n.addr)
		if err != nil {
			t.Fatal(err)
		}
		if spoke {
			if _, err := r.Resolve(t.Context(), "four.test"); err != nil {
				t.Fatal(err)
			}
		}
		r.servers = []string{"127.0.0.1:9"} // nobody listens there
		for i := range 2 * maxUnanswered {
			_, err := r.Resolve(t.Context(), fmt.Sprintf("h%d.test", i))
			if want := spoke && i+1 >= maxUnanswered; err == nil || errors.Is(err, ErrSilent) != want {
				t.Errorf("spoke %v, look-up %d: %v", spoke, i+1, err)
			}
		}
		r.servers = []string{n.addr}
		if _, err := r.Resolve(t.Context(), "nowhere.test"); errors.Is(err, ErrSilent) {
			t.Errorf("an answer of NXDOMAIN counts as silence: %v", err)
		}
	}
}

// TestForget: a robots.txt that was not archived after all is fetched and archived by the next lane; other origins are not affected.
func TestForget(t *testing.T) {
	h, c, base := namedHost(t)
	fetch := func(at string) (all []kept, kinds string) {
		all = h.run(t, c, nil, targets(at+"/a")...).all
		for _, x := range all {
			kinds += string(x.Kind) + " "
		}
		return all, kinds
	}
	fetch(h.url(""))
	first, kinds := fetch(base)
	if kinds != "dns robots page " {
		t.Fatalf("at first %s", kinds)
	}
	for _, step := range []struct {
		forget int // of the first exchanges
		want   string
	}{{0, "page "}, {1, "dns page "}, {3, "dns robots page "}, {0, "page "}} {
		for _, x := range first[:step.forget] {
			c.Forget("", []crawl.Exchange{x.Exchange})
		}
		if _, kinds := fetch(base); kinds != step.want {
			t.Errorf("%d forgotten: %s, want %s", step.forget, kinds, step.want)
		}
		if _, kinds := fetch(h.url("")); kinds != "page " {
			t.Errorf("%d forgotten: another origin asks for %s", step.forget, kinds)
		}
	}
}

// TestArchivesHaveTheirOwn: each archive gets the robots.txt and the DNS answer by which its pages were fetched, once. What one forgets, the other keeps.
func TestArchivesHaveTheirOwn(t *testing.T) {
	h, c, base := namedHost(t)
	fetch := func(archive string) (all []kept, kinds string) {
		all = h.run(t, c, func(l *Lane) { l.Archive = archive }, targets(base+"/a")...).all
		for _, x := range all {
			kinds += string(x.Kind) + " "
		}
		return all, kinds
	}
	var first []kept
	for _, archive := range []string{"one", "one two"} {
		all, kinds := fetch(archive)
		if kinds != "dns robots page " {
			t.Errorf("%s has at first %s", archive, kinds)
		}
		if first == nil {
			first = all
		}
		if _, kinds := fetch(archive); kinds != "page " {
			t.Errorf("%s has later %s", archive, kinds)
		}
	}
	c.Forget("one two", []crawl.Exchange{first[0].Exchange, first[1].Exchange})
	if _, kinds := fetch("one"); kinds != "page " {
		t.Errorf("one has %s after two has forgotten", kinds)
	}
	if _, kinds := fetch("one two"); kinds != "dns robots page " {
		t.Errorf("two has %s after it has forgotten", kinds)
	}
}
