package urls

import (
	"net"
	"strings"
	"testing"

	"golang.org/x/net/publicsuffix"
)

// FuzzPLD: the PLD is what the package of the list makes of a host.
func FuzzPLD(f *testing.F) {
	for _, host := range []string{
		"", ".", "a", "co.uk", "a.co.uk", "x.a.co.uk", ".a.co.uk", "a..co.uk", "a.co.uk.", "www.ck", "a.b.ck", "127.0.0.1", "1.2.3", "a.1", "::1", "[::1]", "fe80::a",
		"x.github.io", "github.io", "a.localhost", "xn--p1ai", "a.b.xn--p1ai", "0x7f.1",
	} {
		f.Add(host)
	}
	f.Fuzz(func(t *testing.T, host string) {
		want := host
		suffix, icann := publicsuffix.PublicSuffix(host)
		if !strings.HasPrefix(host, "[") && net.ParseIP(host) == nil && (icann || strings.Contains(suffix, ".")) {
			if pld, err := publicsuffix.EffectiveTLDPlusOne(host); err == nil {
				want = pld
			}
		}
		if got := PLD(host); got != want {
			t.Errorf("%q: %q, want %q", host, got, want)
		}
	})
}
