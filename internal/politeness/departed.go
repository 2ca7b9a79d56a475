package politeness

import (
	"cmp"
	"maps"
	"slices"
)

// maxDeparted is of how many workers it is known that the ring has given them up: a ring has no more members. departedBytes is what the JSON form of one takes beside its name, at most.
const maxDeparted, departedBytes = 200, 32

// depart notes that a worker was no member of the ring in an epoch. Beyond maxDeparted those are forgotten that were given up first.
func (s *State) depart(worker string, epoch uint64) {
	if !s.Exact || epoch <= s.departed[worker] {
		return
	}
	if _, known := s.departed[worker]; !known {
		s.bytes += departedBytes + len(worker)
	}
	s.departed[worker] = epoch
	if len(s.departed) > maxDeparted {
		first := slices.MinFunc(slices.Sorted(maps.Keys(s.departed)), func(a, b string) int { return cmp.Compare(s.departed[a], s.departed[b]) })
		delete(s.departed, first)
		s.bytes -= departedBytes + len(first)
	}
}

// late reports whether an ask comes from a process that the ring has given up since: it goes by the permit, which is over, so nobody would make use of its lease, and the address would be kept until the
// deadline. It is answered like one whose line is full; a renewal is refused.
func (s *State) late(r Round, ask Ask) bool {
	return s.Exact && ask.Permit && r.Epoch > 0 && r.Epoch < s.departed[ask.Worker]
}
