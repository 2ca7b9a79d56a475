package urls_test

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/urls"
)

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"http://a.example/", "http://a.example/", true},
		{"HTTP://A.example", "http://a.example/#top", true},
		{"http://a.example/ä", "http://a.example/%c3%a4", true},
		{"http://a.example/", "https://a.example/", false},
		{"http://a.example/dir", "http://a.example/dir/", false},
		{"http://a.example/A", "http://a.example/a", false},
		{"http://a.example/", "http://www.a.example/", false},
		{"no URL", "no URL", true},
		{"no URL", "http://a.example/", false},
		{"http://a.example/", "", false},
	} {
		if got := urls.Same(c.a, c.b); got != c.same {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
		}
	}
}
