package starter

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/hostgroups"
)

// The shards are asked for the addresses of a host and for its groups: two workers of a spread crawl may know different ones.
func TestServersOf(t *testing.T) {
	got := serversOf([]activities.HostResult{
		{Worker: "w1", Address: "10.0.0.1", Server: hostgroups.Server{Group: "farm"}},
		{Worker: "w2", Address: "10.0.0.2", Server: hostgroups.Server{Group: "farm", Network: "net"}},
		{Worker: "w3", Address: "10.0.0.1"},
		{Worker: "w4"},
	})
	if want := []string{"10.0.0.1", "@farm", "10.0.0.2", "@net"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
