package derive_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/derive"
)

// TestPending: pages of a listing have each segment that is not derived once, also those whose names begin alike, whose keys are in another order.
func TestPending(t *testing.T) {
	r := newRig(t)
	all := []string{"a", "a-1", "a-1.x", "a.b-1", "b", "b!", "c"}
	for _, s := range all {
		r.put("p/x/segments/"+s+".json", "{}")
	}
	r.put("p/x/segments/notes.txt", "")
	r.put("p/x/derived/text-1/b.json", "{}")
	r.put("p/x/derived/text-1/c-0123456789abcdef.zst", "")
	r.put("p/x/derived/text-2/a.json", "{}")
	r.put("p/xy/segments/d.json", "{}")
	want := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return s == "b" })
	slices.Sort(want)
	for most := 1; most <= len(want)+1; most++ {
		var got []string
		after, more := "", true
		for more {
			list, further, err := derive.Pending(t.Context(), r.Store, archive.CrawlAt{Prefix: "p", Name: "x"}, derive.Text, after, most)
			if err != nil || len(list) > most || further && len(list) < most {
				t.Fatalf("%q, %v, %v", list, further, err)
			}
			got = append(got, list...)
			if more = further; more {
				after = list[len(list)-1]
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d at a time: %s, not %s", most, strings.Join(got, " "), strings.Join(want, " "))
		}
	}
}
