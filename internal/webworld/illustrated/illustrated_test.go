package illustrated

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// TestIllustrated: each kind is on several pages, and all that the web has is answered as its truth says.
func TestIllustrated(t *testing.T) {
	t.Parallel()
	w := New(webworld.Options{FirstIP: netip.MustParseAddr("127.98.0.1")}, 334)
	if err := w.Build(); err != nil {
		t.Fatal(err)
	}
	kinds, uses, parts := map[string]int{}, map[string]map[string]bool{}, 0
	for _, p := range w.Pages() {
		status, _, body, found := w.Answer(p.URL)
		if !found || status != p.Status || status == http.StatusOK && len(body) == 0 {
			t.Errorf("%s: %v, status %d, %d bytes", p.URL, found, status, len(body))
		}
		kinds[p.Kind]++
		if !p.Embed {
			continue
		}
		parts++
		_, name, is := strings.Cut(p.URL, "/r/")
		page, name, _ := strings.Cut(name, "-")
		for _, k := range Kinds() {
			if rest, its := strings.CutPrefix(name, k+"-"); is && its && rest[0] <= '9' {
				if uses[k] == nil {
					uses[k] = map[string]bool{}
				}
				uses[k][page] = true
			}
		}
	}
	for _, k := range Kinds() {
		if len(uses[k]) < 15 {
			t.Errorf("%s is on %d pages", k, len(uses[k]))
		}
	}
	if kinds["page"] != 301 || kinds[HardPage] != 33 || parts < 4000 {
		t.Errorf("%v, %d parts", kinds, parts)
	}
	t.Logf("%d kinds, %d parts", len(Kinds()), parts)
}

// TestPictures: things with different names look different, and the same one always the same.
func TestPictures(t *testing.T) {
	t.Parallel()
	for _, draw := range []func(string) []byte{png, gif, jpg, sound, drawing} {
		if a, b := draw("a"), draw("b"); string(a) == string(b) || string(a) != string(draw("a")) || len(a) == 0 {
			t.Errorf("%d and %d bytes", len(a), len(b))
		}
	}
}
