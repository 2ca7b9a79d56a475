package fetch

import (
	"fmt"
	"net/netip"
)

// Guard refuses addresses that a public crawl has no business with: private, loopback, link-local
// (with the cloud metadata addresses), multicast and reserved ones.
type Guard struct{ allowed []netip.Prefix }

// NewGuard allows the networks of the worker's configuration, in CIDR form.
func NewGuard(allowed []string) (*Guard, error) {
	g := &Guard{}
	for _, text := range allowed {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			a, errAddr := netip.ParseAddr(text)
			if errAddr != nil {
				return nil, fmt.Errorf("allowed network %q: write it as 10.0.0.0/8 or fd00::/8", text)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		g.allowed = append(g.allowed, p.Masked())
	}
	return g, nil
}

// RefusedError says that the address guard refused an address.
type RefusedError struct{ Addr netip.Addr }

func (e *RefusedError) Error() string {
	return fmt.Sprintf("address %s is in a private or reserved network; the worker's allow-network permits it if it is meant", e.Addr)
}

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

// Check returns a RefusedError if the address may not be dialled.
func (g *Guard) Check(addr netip.Addr) error {
	addr = addr.Unmap().WithZone("")
	for _, p := range g.allowed {
		if p.Contains(addr) {
			return nil
		}
	}
	if nat64.Contains(addr) {
		b := addr.As16()
		return g.Check(netip.AddrFrom4([4]byte(b[12:])))
	}
	bad := !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.IsLoopback() || addr.IsLinkLocalUnicast()
	for _, p := range reserved {
		bad = bad || p.Contains(addr)
	}
	if bad {
		return &RefusedError{addr}
	}
	return nil
}
