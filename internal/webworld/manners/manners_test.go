package manners

import (
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/worldtest"
)

// The world of manners answers as its ground truth says, and the trace has all requests of a client.
func TestManners(t *testing.T) {
	t.Parallel()
	w := worldtest.Start(t, New(webworld.Options{FirstIP: netip.MustParseAddr("127.78.20.1"), Trace: true}))
	c := worldtest.Client(w)
	refused := 0
	for _, p := range w.Pages() {
		if !p.Allowed {
			refused++
		} else if a := worldtest.Get(t, c, p.URL); a.Status != http.StatusOK {
			t.Errorf("%s: status %d", p.URL, a.Status)
		}
	}
	trace := w.Trace()
	if len(trace) != len(w.Pages())-refused || refused < 20 || len(trace) < 60 {
		t.Errorf("%d requests are in the trace; %d pages, %d of them refused", len(trace), len(w.Pages()), refused)
	}
	for _, a := range trace {
		if took := a.Ended.Sub(a.Began); a.Cut || a.Live || strings.HasPrefix(a.Host, "slow") && took < mannersSlow {
			t.Errorf("%v", a)
		}
	}
}
