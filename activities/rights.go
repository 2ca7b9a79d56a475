package activities

import (
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/ring"
)

// rights are what the ring gives to this process in the partitions of spread crawls.
type rights struct{ m *Membership }

// Rights are for the frontier of the process, which may ask before the process is in the ring.
func (m *Membership) Rights() frontier.Rights { return rights{m} }

// Epoch is that of the present view; 0 without one, or without a permit.
func (r rights) Epoch() (epoch uint64) {
	r.m.With(func(rules *ring.Membership) {
		if rules.MayAct(time.Now()) {
			epoch = rules.Epoch()
		}
	})
	return epoch
}

// Check asks the rules of the ring.
func (r rights) Check(act ring.Act, p frontier.Partition, epoch uint64) (err error) {
	r.m.With(func(rules *ring.Membership) { err = rules.Check(time.Now(), act, int(p), epoch) })
	return err
}

// Process names the process.
func (m *Membership) Process() string { return m.of.Process }
