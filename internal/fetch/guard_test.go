package fetch

import (
	"net/netip"
	"testing"
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
		if _, err := NewGuard([]string{bad}); err == nil {
			t.Errorf("%q is taken for a network", bad)
		}
	}
}
