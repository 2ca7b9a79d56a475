package scripttest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestArgs(t *testing.T) {
	for _, c := range []struct {
		line     string
		plain    []string
		settings map[string]string
	}{
		{"show", nil, map[string]string{"n": "1"}},
		{"take a b", []string{"a", "b"}, map[string]string{"n": "1"}},
		{"take n=2 a until=3s", []string{"a"}, map[string]string{"n": "2", "until": "3s"}},
		{"take text=x=y empty=", nil, map[string]string{"n": "1", "text": "x=y", "empty": ""}},
	} {
		plain, settings := Args(strings.Fields(c.line), map[string]string{"n": "1"})
		if !slices.Equal(plain, c.plain) || !maps.Equal(settings, c.settings) {
			t.Errorf("%s: %q, %q", c.line, plain, settings)
		}
	}
	if d, n := Duration(t, "1m30s"), Number(t, "-7"); d != 90*time.Second || n != -7 {
		t.Error(d, n)
	}
}
