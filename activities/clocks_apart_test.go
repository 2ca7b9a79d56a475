package activities

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// measure has a worker know by how much its clock is ahead of Temporal's.
func (r *clusterRig) measure(ahead time.Duration) { r.clockAt(time.Now().Add(-ahead)) }

// TestPartitionsMoveBetweenClocks: a host of a partition that moves to a worker with another clock rests as long there as it would have, whether the partition is handed over or made again from a
// checkpoint. (The clocks of this test show the same. What the workers take them for differs: so the rest ends by the difference earlier.)
func TestPartitionsMoveBetweenClocks(t *testing.T) {
	for _, dies := range []bool{false, true} {
		c := newCluster(t, "w")
		c.quiet()
		w := c.rigs["w"]
		w.fill()
		w.measure(2 * time.Minute)
		until := time.Now().Add(time.Hour)
		hosts := map[int]urls.URL{}
		for url := range w.states() {
			u, err := urls.Trusted(url)
			w.must(err)
			hosts[ring.PartitionOf(u.PLD())] = u
			w.must(w.Frontier.Crawl(rigCrawl).Lane("").Rest(u, until))
		}
		v := c.join("v")
		v.measure(-2 * time.Minute)
		if dies {
			c.checkpoint("w")
			c.die("w")
		}
		c.quiet()
		moved := 0
		for p, u := range hosts {
			if owner, _ := c.state.View("").Owner(p); owner.Name != "v" {
				continue
			}
			moved++
			report, err := v.Frontier.Host(u)
			v.must(err)
			if off := report.Next.Sub(until.Add(-4 * time.Minute)); off.Abs() > 10*time.Second {
				t.Errorf("%s rests for %v longer", u.Host(), off)
			}
		}
		if moved == 0 {
			t.Error("no partition has moved: the test tests nothing")
		}
	}
}
