package crawl

import (
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"topic", "scope", "seeds", "order", "archive"}
	for name, want := range map[string]string{"topik": "topic", "topics": "topic", "sede": "seeds", "ordre": "order", "achive": "archive", "colour": "", "x": "", "": ""} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestLineOf(t *testing.T) {
	text := []byte("# ravens\nname: ravens\nseeds:\n  - https://example.org/\n  - {url: https://example.org/,\n     fiel: x}\nscope:\n  hots: [a]\n")
	for path, want := range map[string]int{"name": 2, "seeds": 3, "seeds[0]": 4, "seeds[1].fiel": 6, "scope.hots": 8, "scope.hosts": 0, "seeds[7]": 0, "": 0} {
		if got := LineOf(text, path); got != want {
			t.Errorf("%q: line %d, want %d", path, got, want)
		}
	}
	if LineOf([]byte("\t:"), "a") != 0 || LineOf(nil, "a") != 0 {
		t.Error("a line of what is no YAML")
	}
}

// A key that is not known is reported with its line and what may have been meant.
func TestUnknownKey(t *testing.T) {
	_, err := ParseDefinition([]byte("name: c\nseeds: [https://example.org/]\ntopik: {keywords: [a]}\n"))
	if err == nil || !strings.Contains(err.Error(), "topik (line 3) is not known here; did you mean topic?") {
		t.Error(err)
	}
}
