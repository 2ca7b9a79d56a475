package fetch

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Guard refuses addresses that a public crawl has no business with: private, loopback, link-local
// (with the cloud metadata addresses), multicast and reserved ones, and those of the machine itself; and ports of other
// services than HTTP.
type Guard struct {
	allowed, denied []netip.Prefix
	machine         func() []netip.Addr
}

// NewGuard takes the networks of the worker's configuration, in CIDR form: those that may be crawled though they are
// private, and those that may not be crawled in any case.
func NewGuard(allowed, denied []string) (*Guard, error) {
	g := &Guard{machine: newMachineAddrs(interfaceAddrs).addrs}
	var err error
	if g.allowed, err = prefixes("allow-network", allowed); err != nil {
		return nil, err
	}
	if g.denied, err = prefixes("deny-network", denied); err != nil {
		return nil, err
	}
	return g, nil
}

func prefixes(setting string, texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, errAddr := netip.ParseAddr(text)
			if errAddr != nil {
				return nil, fmt.Errorf("%s %q: write it as 10.0.0.0/8 or fd00::/8", setting, text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		list = append(list, p.Masked())
	}
	return list, nil
}

// RefusedError says why the guard refused an address or a port.
type RefusedError struct{ Reason string }

func (e *RefusedError) Error() string { return e.Reason }

// reserved are the networks that netip.Addr has no predicate for (RFC 6890, RFC 8215).
var reserved = func() (list []netip.Prefix) {
	for _, text := range []string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "64:ff9b:1::/48", "100::/64", "2001::/23",
		"2001:db8::/32", "2002::/16", "::/8", "3fff::/20", "5f00::/16", "fec0::/10",
		"168.63.129.16/32", // the platform address of a cloud, public in form
	} {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}()

// nat64 wraps IPv4 addresses (RFC 6052).
var nat64 = netip.MustParsePrefix("64:ff9b::/96")

// canonicalAddr returns the IPv4 address that an IPv6 address wraps (mapped, or by NAT64), and any other address as it is. Leases
// are granted by address: if one machine had two forms, it would be asked under two leases.
func canonicalAddr(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if nat64.Contains(addr.WithZone("")) {
		b := addr.As16()
		return netip.AddrFrom4([4]byte(b[12:]))
	}
	return addr
}

// Check returns a RefusedError if the address may not be dialled.
func (g *Guard) Check(addr netip.Addr) error {
	addr = canonicalAddr(addr).WithZone("")
	for _, p := range g.denied {
		if p.Contains(addr) {
			return &RefusedError{fmt.Sprintf("address %s is in a network that the worker's deny-network excludes", addr)}
		}
	}
	for _, p := range g.allowed {
		if p.Contains(addr) {
			return nil
		}
	}
	if slices.Contains(g.machine(), addr) {
		return &RefusedError{fmt.Sprintf("address %s is the worker's own; its allow-network permits it if it is meant", addr)}
	}
	bad := !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
	for _, p := range reserved {
		bad = bad || p.Contains(addr)
	}
	if bad {
		return &RefusedError{fmt.Sprintf("address %s is in a private or reserved network; the worker's allow-network permits it if it is meant", addr)}
	}
	return nil
}

// CheckPort returns a RefusedError for a port on which browsers make no HTTP requests.
func (g *Guard) CheckPort(port int) error {
	if err := urls.CheckPort(port); err != nil {
		return &RefusedError{err.Error()}
	}
	return nil
}
