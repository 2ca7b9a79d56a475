package politeness

import (
	"maps"
	"slices"
	"time"
)

// maxDeparted is of how many workers it is known that the ring has given them up: a ring has no more members. departedBytes is what the JSON form of one takes beside its name, at most.
const maxDeparted, departedBytes = 200, 96

// departedKept is for how long it is known: no round is on its way for longer, and a ring that has lost its state may count its epochs from a lower one.
const departedKept = 30 * time.Minute

// departure says by which epoch of the ring a worker was no member, and when that was heard last.
type departure struct {
	Epoch uint64    `json:"epoch"`
	At    time.Time `json:"at"`
}

// depart notes that a worker was no member of the ring in an epoch. Beyond maxDeparted those are forgotten that were given up first.
func (s *State) depart(worker string, d departure) {
	known, is := s.departed[worker]
	if !s.Exact || d.Epoch == 0 || is && d.Epoch < known.Epoch && d.At.Before(known.At.Add(departedKept)) {
		return
	}
	if !is {
		s.bytes += departedBytes + len(worker)
	}
	s.departed[worker] = d
	if len(s.departed) > maxDeparted {
		first := slices.MinFunc(slices.Sorted(maps.Keys(s.departed)), func(a, b string) int { return s.departed[a].At.Compare(s.departed[b].At) })
		delete(s.departed, first)
		s.bytes -= departedBytes + len(first)
	}
}

// late reports whether an ask comes from a process that the ring has given up since: it goes by the permit, which is over, so nobody would make use of its lease, and the address would be kept until the
// deadline. It is answered like one whose line is full; a renewal is refused.
func (s *State) late(now time.Time, r Round, ask Ask) bool {
	d := s.departed[ask.Worker]
	return s.Exact && ask.Permit && r.Epoch > 0 && r.Epoch < d.Epoch && now.Before(d.At.Add(departedKept))
}
