package starter

import (
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/workflows"
)

// The table of workers says who is there, since when, and what each owns or is to load.
func TestWorkersTable(t *testing.T) {
	now := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	s := workflows.ClusterStatus{Epoch: 7, Workers: []ring.Worker{
		{Name: "w1", Queue: "muninn/w1", Process: "host/1/ab", At: now.Add(-time.Hour)},
		{Name: "w2", Queue: "muninn/w2", Process: "host/2/cd", At: now.Add(-time.Minute), Lost: true},
		{Name: "w3", Queue: "muninn/w3", Process: "host/3/ef", At: now, Leaving: true},
	}, Groups: []ring.Group{
		{Step: ring.Orphan, Partitions: 24}, {Step: ring.Owned, Owner: "w1", Partitions: 500},
		{Step: ring.Loading, Owner: "w3", Loader: "w1", Partitions: 100}, {Step: ring.Owned, Owner: "w2", Partitions: 400},
	}}
	var out strings.Builder
	writeRing(&out, s, now)
	for _, want := range []string{
		"3 workers, epoch 7", "w1      up       2026-07-01 11:00:00 (1h0m0s)  500 owned, 100 to load", "w2      lost     2026-07-01 11:59:00 (1m0s)    400 owned",
		"w3      leaving  2026-07-01 12:00:00 (0s)      100 loading", "24 partitions of no worker",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, &out)
		}
	}
}
