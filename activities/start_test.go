package activities

import (
	"slices"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// A claim that was granted twice is bound once, to one batch: a batch with two lanes of one claim would use two connections to a
// host at once.
func TestBindTakesAClaimOnce(t *testing.T) {
	a := &Activities{Settings: Settings{Worker: "w", BundlePLDs: 64, BundleURLs: 500}}
	claims := map[string]frontier.Claim{"old-1": {ID: "old-1", Batch: "was-7"}, "new-2": {ID: "new-2"}, "new-3": {ID: "new-3"}}
	early, late := time.Unix(1000, 0), time.Unix(2000, 0)
	grant := func(lease string, deadline time.Time) politeness.Grant {
		return politeness.Grant{Lease: lease, IP: "10.0.0.1", Number: deadline.Unix(), Deadline: deadline}
	}
	bound := a.bind(3, []politeness.Grant{
		grant("old-1", early), grant("new-2", late), grant("new-3", early),
		grant("new-3", late), grant("new-2", early), grant("old-1", late),
	}, politeness.Clock{Ahead: politeness.Margin, Least: politeness.Margin}, func(lease string) (frontier.Claim, bool) { c, known := claims[lease]; return c, known })
	want := map[string][]string{"was-7": {"old-1"}, "new-2@w.3": {"new-2", "new-3"}}
	if len(bound) != len(want) {
		t.Errorf("%d batches, want %d: %+v", len(bound), len(want), bound)
	}
	for batch, leases := range want {
		var got []string
		for _, g := range bound[batch] {
			got = append(got, g.Lease)
			if !g.Deadline.Equal(late) {
				t.Errorf("%s lasts until %v, the later grant until %v", g.Lease, g.Deadline, late)
			}
		}
		if !slices.Equal(got, leases) {
			t.Errorf("batch %s has %q, want %q", batch, got, leases)
		}
	}
}
