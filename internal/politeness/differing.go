package politeness

import (
	"maps"
	"slices"
	"time"
)

// groupsOf is which host groups a worker has.
type groupsOf struct {
	Hash string    `json:"hash,omitempty"`
	At   time.Time `json:"at"` // when it last said so
}

// groupsKept is for how long the host groups of a worker count that sends nothing any more.
const groupsKept = 15 * time.Minute

// groupsOfBytes is what the JSON form of a groupsOf takes beside the strings in it, at most.
const groupsOfBytes = 64

// noteGroups notes which host groups the sender of a round has, and returns the workers that have others: an address may be leased under
// two names then, and more than per_ip lanes may ask it.
func (s *State) noteGroups(now time.Time, r Round) (differing []string) {
	if r.Worker == "" {
		return nil
	}
	for _, worker := range slices.Sorted(maps.Keys(s.groups)) {
		switch other := s.groups[worker]; {
		case worker == r.Worker || other.At.Add(groupsKept).Before(now):
			s.setGroups(worker, groupsOf{})
		case other.Hash != r.Groups:
			differing = append(differing, worker)
		}
	}
	s.setGroups(r.Worker, groupsOf{r.Groups, ceilMillis(now)})
	return differing
}

// setGroups sets the host groups of a worker, or forgets them.
func (s *State) setGroups(worker string, groups groupsOf) {
	if was, known := s.groups[worker]; known {
		s.bytes -= groupsOfBytes + len(worker) + len(was.Hash)
		delete(s.groups, worker)
	}
	if !groups.At.IsZero() {
		s.groups[worker] = groups
		s.bytes += groupsOfBytes + len(worker) + len(groups.Hash)
	}
}

// Differing are the workers that have sent something lately, by the hash of their host groups, if they have different ones.
func (s *State) Differing(now time.Time) map[string][]string {
	out := map[string][]string{}
	for _, worker := range slices.Sorted(maps.Keys(s.groups)) {
		if groups := s.groups[worker]; !groups.At.Add(groupsKept).Before(now) {
			out[groups.Hash] = append(out[groups.Hash], worker)
		}
	}
	if len(out) < 2 {
		return nil
	}
	return out
}
