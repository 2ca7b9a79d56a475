package workflows

import (
	"fmt"
	"strings"

	"github.com/muninn-archive/muninn/internal/ring"
)

// ClusterStatus shows the ring to operators.
type ClusterStatus struct {
	Epoch   uint64        `json:"epoch"`
	Workers []ring.Worker `json:"workers"`
	Groups  []ring.Group  `json:"partitions"`
}

func (c *cluster) status() ClusterStatus {
	v := c.state.View("")
	return ClusterStatus{v.Epoch, v.Workers, v.Groups()}
}

// String is its form for people.
func (s ClusterStatus) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "Epoch %d.\n", s.Epoch)
	for _, w := range s.Workers {
		fmt.Fprintf(&out, "\n* %s: %s", w.Name, w.State())
		if parts := s.PartitionsOf(w.Name); parts != "" {
			fmt.Fprintf(&out, ", %s", parts)
		}
	}
	if n := s.Unowned(); n > 0 {
		fmt.Fprintf(&out, "\n\n%d partitions are nobody's.", n)
	}
	return out.String()
}

// PartitionsOf counts what a worker has and what it is to load, by step; empty if nothing.
func (s ClusterStatus) PartitionsOf(worker string) string {
	var parts []string
	for _, g := range s.Groups {
		switch worker {
		case g.Owner:
			parts = append(parts, fmt.Sprintf("%d %s", g.Partitions, g.Step))
		case g.Loader:
			parts = append(parts, fmt.Sprintf("%d to load", g.Partitions))
		}
	}
	return strings.Join(parts, ", ")
}

// Unowned counts the partitions that no worker has and none makes.
func (s ClusterStatus) Unowned() (n int) {
	for _, g := range s.Groups {
		if g.Owner == "" && g.Loader == "" {
			n += g.Partitions
		}
	}
	return n
}
