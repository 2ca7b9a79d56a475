package archive

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestReleased: what is written of an object stays the same when its texts are released.
func TestReleased(t *testing.T) {
	long := strings.Repeat("Raben über dem Hügel. ", 100)
	for n := 505; n < 525; n++ {
		for _, place := range []*crawl.Place{nil, {At: "/1/2", Limit: 1 << 16, Bytes: n}} {
			o := crawl.Object{Type: "post", Properties: crawl.Properties{
				{Name: "title", Value: long}, {Name: "body", Value: strings.ToValidUTF8(long[:n], ""), Place: place}, {Name: crawl.Markup, Place: place},
			}}
			record, line := object(&o), string(o.Properties.AppendPlaced(nil))
			o.Release()
			if got := object(&o); got != record {
				t.Errorf("%d bytes: the metadata record has %s\nafter %s", n, got, record)
			}
			if got := string(o.Properties.AppendPlaced(nil)); got != line {
				t.Errorf("%d bytes: the sidecar has %s\nafter %s", n, got, line)
			}
			if kept := o.Properties.Get("body"); place != nil && len(kept) > crawl.MaxExcerpt+1 || o.Properties.Get("title") != long {
				t.Errorf("%d bytes: %d are kept", n, len(kept))
			}
		}
	}
}
