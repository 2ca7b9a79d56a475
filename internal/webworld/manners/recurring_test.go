package manners

import (
	"net/http"
	"net/netip"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// The recurring world answers in each edition as its truth says.
func TestRecurring(t *testing.T) {
	t.Parallel()
	r := NewRecurring(webworld.Options{FirstIP: netip.MustParseAddr("127.78.24.1")})
	w := worldtest.Start(t, r.World)
	c := worldtest.Client(w)
	bodies := map[string]string{}
	for edition := range 3 {
		if edition > 0 {
			r.Turn()
		}
		became := map[string]int{}
		for _, f := range r.Finds() {
			a := worldtest.Get(t, c, f.URL)
			if a.Status != f.Status {
				t.Errorf("%s: status %d, want %d", f.URL, a.Status, f.Status)
			}
			if same := bodies[f.URL] == string(a.Body); f.Became == "changed" == same && edition > 0 && f.Status == http.StatusOK && f.Became != "new" {
				t.Errorf("%s became %s, and its body is the same: %t", f.URL, f.Became, same)
			}
			bodies[f.URL] = string(a.Body)
			became[f.Became]++
			if f.Requisite && f.Became != "" {
				t.Errorf("%+v", f)
			}
		}
		for _, what := range [][]string{{"new"}, {"new", "changed", "unchanged", "gone", "forbidden"}, {"changed", "unchanged"}}[edition] {
			if became[what] == 0 {
				t.Errorf("edition %d: nothing is %s: %v", edition+1, what, became)
			}
		}
	}
}
