package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// TestHostOverShards: what shards know of a host says which of them knows it, and what several shards cannot do; one shard needs neither.
func TestHostOverShards(t *testing.T) {
	now := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	slow := politeness.HostReport{
		NotBefore: now.Add(time.Minute),
		Slow:      &politeness.SlowDown{Until: now.Add(time.Minute), Rest: 2 * time.Minute, Steps: 3, At: now.UnixMicro(), Why: politeness.TroubleBusy},
	}
	for shards, want := range map[int]string{
		1: `a.example
  slowed down  step 3: 429 at 2026-03-04 05:06:07; rests of 2m0s, forgiven at 2026-03-04 05:37:07 if nothing happens
  host rests   until 2026-03-04 05:07:07 UTC (in 1m0s), for all crawls
  no worker is in the ring
`,
		2: `a.example
  slowed down  step 3: 429 at 2026-03-04 05:06:07; rests of 2m0s, forgiven at 2026-03-04 05:37:07 if nothing happens (shard 0)
  host rests   until 2026-03-04 05:07:07 UTC (in 1m0s), for all crawls (shard 0)
  politeness   has 2 shards, by address: crawls of different workers may ask the host at a time at addresses of different shards
  no worker is in the ring
`,
	} {
		s := hostStatus{Host: "a.example", Shards: []shardReport{{0, slow}, {1, politeness.HostReport{}}}[:shards]}
		var b strings.Builder
		if writeHost(&b, s, now); b.String() != want {
			t.Errorf("%d shards:\n%s\nwant\n%s", shards, b.String(), want)
		}
	}
}
