package urls

import (
	"strings"
	"testing"
)

func TestCheckSite(t *testing.T) {
	for _, c := range []struct{ name, pld, host string }{
		{"example.org", "", ""},
		{"example.co.uk", "", ""},
		{"192.0.2.1", "", ""},
		{"www.example.org", "pay-level domain is example.org", ""},
		{"Example.org", "example.org", "such as example.org"},
		{"bücher.example", "xn--", "xn--"},
		{"example.org:80", "such as", "such as"},
		{"a b", "not the name of a host", "not the name of a host"},
	} {
		for want, err := range map[string]error{c.pld: CheckPLD(c.name), "\x00" + c.host: CheckHost(c.name)} {
			want = strings.TrimPrefix(want, "\x00")
			if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", c.name, err, want)
			}
		}
	}
}
