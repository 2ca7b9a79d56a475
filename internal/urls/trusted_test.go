package urls

import "testing"

// A canonical URL is split into the same parts as by Parse; other URLs are parsed.
func TestTrusted(t *testing.T) {
	for _, raw := range []string{
		"http://example.org/", "https://example.org/a?b=c", "http://a.b.example:8080/x/", "http://[::1]/", "https://[2001:db8::1]:8443/x",
		"http://127.0.0.1:99/y", "HTTP://Example.ORG:80/%7efoo#x", "http://example.org", "http://bücher.example/", "http://example.org:443/",
	} {
		want, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{raw, want.String()} {
			got, err := Trusted(text)
			if err != nil || got != want {
				t.Errorf("Trusted(%q) = %+v, %v, want %+v", text, got, err, want)
			}
		}
	}
	for _, bad := range []string{"", "ftp://example.org/", "http://a b/"} {
		if _, err := Trusted(bad); err == nil {
			t.Errorf("Trusted(%q) accepts a text that is not a URL", bad)
		}
	}
}
