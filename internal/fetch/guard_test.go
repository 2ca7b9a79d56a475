package fetch

import (
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func TestGuard(t *testing.T) {
	tests := []struct {
		addr string
		ok   bool
	}{
		{"93.184.216.34", true}, {"1.1.1.1", true}, {"172.15.255.255", true}, {"172.32.0.1", true}, {"11.0.0.1", true},
		{"100.63.255.255", true}, {"100.128.0.1", true}, {"2606:4700::1111", true}, {"2a00:1450:4001::1", true},
		{"0.0.0.0", false}, {"0.1.2.3", false}, {"127.0.0.1", false}, {"127.255.255.254", false},
		{"10.0.0.1", false}, {"10.255.255.255", false}, {"172.16.0.1", false}, {"172.31.255.255", false}, {"192.168.0.1", false},
		{"169.254.169.254", false}, {"169.254.0.1", false}, {"100.64.0.1", false}, {"100.100.100.200", false},
		{"192.0.0.192", false}, {"192.0.2.1", false}, {"198.18.0.1", false}, {"198.51.100.1", false}, {"203.0.113.9", false},
		{"224.0.0.1", false}, {"239.255.255.255", false}, {"240.0.0.1", false}, {"255.255.255.255", false}, {"192.88.99.1", false},
		{"::", false}, {"::1", false}, {"fe80::1", false}, {"fe80::1%eth0", false}, {"febf::1", false}, {"fc00::1", false},
		{"fd00::1", false}, {"fd00:ec2::254", false}, {"fec0::1", false}, {"ff02::1", false}, {"ff0e::1", false},
		{"::ffff:127.0.0.1", false}, {"::ffff:10.0.0.1", false}, {"::ffff:169.254.169.254", false}, {"::ffff:1.1.1.1", true},
		{"::127.0.0.1", false}, {"::10.0.0.1", false},
		{"64:ff9b::10.0.0.1", false}, {"64:ff9b::127.0.0.1", false}, {"64:ff9b::169.254.169.254", false}, {"64:ff9b::1.1.1.1", true},
		{"64:ff9b:1::1", false}, {"2002:7f00:1::", false}, {"2001::1", false}, {"2001:db8::1", false}, {"3fff::1", false}, {"100::1", false},
	}
	g := guard(t)
	for _, test := range tests {
		if err := g.Check(netip.MustParseAddr(test.addr)); (err == nil) != test.ok {
			t.Errorf("%s: %v, allowed should be %v", test.addr, err, test.ok)
		}
	}
	if g.Check(netip.Addr{}) == nil {
		t.Error("no address at all is allowed")
	}
}

func TestGuardAllowList(t *testing.T) {
	g := guard(t, "10.1.0.0/16", "192.168.7.7", "fd12::/16", "127.77.3.9/8")
	tests := map[string]bool{
		"10.1.2.3": true, "::ffff:10.1.2.3": true, "64:ff9b::10.1.2.3": true, "10.2.0.1": false, "192.168.7.7": true,
		"192.168.7.8": false, "fd12::1": true, "fd12::1%eth0": true, "fd13::1": false, "127.0.0.1": true, "1.1.1.1": true,
	}
	for addr, ok := range tests {
		if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != ok {
			t.Errorf("%s: %v, allowed should be %v", addr, err, ok)
		}
	}
	for _, bad := range []string{"", "ten", "10.0.0.0/99", "10.0.0", "10.0.0.0/8 "} {
		if _, err := NewGuard([]string{bad}, nil); err == nil {
			t.Errorf("%q is taken for a network", bad)
		}
	}
}

func TestGuardDenyList(t *testing.T) {
	g, err := NewGuard([]string{"10.0.0.0/8"}, []string{"10.1.0.0/16", "93.184.216.34", "2606:4700::/32"})
	if err != nil {
		t.Fatal(err)
	}
	for addr, ok := range map[string]bool{
		"10.2.0.1": true, "10.1.0.1": false, "::ffff:10.1.0.1": false, "64:ff9b::10.1.0.1": false, "93.184.216.34": false, "93.184.216.35": true,
		"2606:4700::1": false, "2a00:1450:4001::1": true,
	} {
		if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != ok {
			t.Errorf("%s: %v, allowed should be %v", addr, err, ok)
		}
	}
	if _, err := NewGuard(nil, []string{"ten"}); err == nil || !strings.Contains(err.Error(), "deny-network") {
		t.Errorf("a network that is none: %v", err)
	}
}

// TestGuardOwn: the public addresses of the machine itself are refused, unless they are named.
func TestGuardOwn(t *testing.T) {
	mine := netip.MustParseAddr("93.184.216.34")
	for _, allowed := range []bool{false, true} {
		g := guard(t)
		if allowed {
			g = guard(t, "93.184.216.34/32")
		}
		g.machine = func() []netip.Addr { return []netip.Addr{mine} }
		for _, addr := range []string{"93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::93.184.216.34"} {
			if err := g.Check(netip.MustParseAddr(addr)); (err == nil) != allowed {
				t.Errorf("%s: %v, allowed should be %v", addr, err, allowed)
			}
		}
		if err := g.Check(netip.MustParseAddr("93.184.216.35")); err != nil {
			t.Error(err)
		}
	}
	if !slices.Contains(interfaceAddrs(), netip.MustParseAddr("127.0.0.1")) {
		t.Skip("the addresses of the system are not known")
	}
}

func TestBadPorts(t *testing.T) {
	g := guard(t)
	for _, port := range []int{22, 25, 53, 110, 6000, 6667, 10080} {
		if err := g.CheckPort(port); !errors.As(err, new(*RefusedError)) {
			t.Errorf("port %d: %v", port, err)
		}
	}
	for _, port := range []int{80, 443, 8080, 8443, 3000, 5000, 24, 65535} {
		if err := g.CheckPort(port); err != nil {
			t.Error(err)
		}
	}
}

// TestBadPortIsNotDialled: neither for a page nor for the robots.txt of another.
func TestBadPortIsNotDialled(t *testing.T) {
	h := newHost(t, func(s seen) answer {
		if s.path == "/robots.txt" {
			return answer{wire: page("302 Found", "", "Location: http://127.0.0.1:25/robots.txt")}
		}
		return answer{wire: page("200 OK", "page")}
	})
	c := newClient(t, h.clock, nil)
	before := h.clock.now()
	r := h.run(t, c, nil, targets("http://127.0.0.1:25/a", "http://127.0.0.1:6667/b")...)
	for _, u := range []string{"http://127.0.0.1:25/a", "http://127.0.0.1:6667/b"} {
		if o := r.outcome(t, u); o.Kind != crawl.OutcomeRefused || !strings.Contains(o.Reason, "port ") {
			t.Errorf("%s: %+v", u, o)
		}
	}
	if rested := h.clock.now().Sub(before); rested > time.Second {
		t.Errorf("the lane rested %s for requests that were not made", rested)
	}
	if o := h.fetch(t, c, "/c").outcome(t, h.url("/c")); o.Kind != crawl.OutcomeRetry || !strings.Contains(o.Reason, "port 25") {
		t.Errorf("robots.txt on a port of another service: %+v", o)
	}
}
