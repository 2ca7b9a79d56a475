package share

import (
	"maps"
	"slices"
)

// Ending finds the end of a crawl that several workers carry. A single look at each of them is not enough: one that had nothing to do
// when it was asked may have been sent URLs since by one that was asked later. So they are asked in rounds: the questions of a round
// are sent when all answers of the one before are there. The crawl has ended if in two rounds, one after the other, all workers are idle and
// none has done anything in between: then all were idle at the moment between the rounds, and nothing was on its way, because the batch
// that has found URLs is in progress until their owners have them (the four counters of Mattern, Distributed Computing 2, 1987, with
// acknowledged messages).
//
// All this is of one epoch: while partitions change hands nothing is found. Its JSON form carries it over continue-as-new.
type Ending struct {
	Epoch    uint64            `json:"epoch"`
	Owned    bool              `json:"owned"` // each partition has an owner, and none is handed over
	Members  []string          `json:"members,omitempty"`
	Round    uint64            `json:"round"`              // that is asked now; it never goes back
	Before   map[string]uint64 `json:"before,omitempty"`   // Work of all, which were idle in the round before; nil if one was not
	Answered map[string]uint64 `json:"answered,omitempty"` // Work of those that have answered in this round
	Found    bool              `json:"found,omitempty"`
}

// IdleReport is what a worker says of its part of a crawl, when it is asked.
type IdleReport struct {
	Worker string `json:"worker"`
	Epoch  uint64 `json:"epoch"` // of its view
	Round  uint64 `json:"round"` // that it answers
	Idle   bool   `json:"idle"`  // nothing waits that could ever be claimed, nothing is in progress, and nothing is to be delivered
	// Work rises whenever a URL comes to wait, whichever worker has sent it, and whenever one is claimed.
	Work uint64 `json:"work"`
}

// View takes the workers of an epoch of the ring. owned says that each partition has an owner, and none is handed over.
func (e *Ending) View(epoch uint64, members []string, owned bool) {
	members = slices.Sorted(slices.Values(members))
	if epoch < e.Epoch || epoch == e.Epoch && owned == e.Owned && slices.Equal(members, e.Members) {
		return
	}
	e.Epoch, e.Members, e.Owned = epoch, members, owned
	e.Disturb()
}

// Disturb says that there may be new work, as when URLs are submitted: what was answered is void. It is called before the work is sent.
func (e *Ending) Disturb() {
	e.Round++
	e.Before, e.Answered, e.Found = nil, nil, false
}

// Answer takes an answer. Those to other rounds or of other epochs are void.
func (e *Ending) Answer(r IdleReport) {
	switch {
	case r.Epoch != e.Epoch || r.Round != e.Round || !e.Owned || e.Found || !slices.Contains(e.Members, r.Worker):
		return
	case !r.Idle:
		e.Disturb()
		return
	}
	if e.Answered == nil {
		e.Answered = map[string]uint64{}
	}
	e.Answered[r.Worker] = r.Work
	if len(e.Answered) < len(e.Members) {
		return
	}
	e.Found = e.Before != nil && maps.Equal(e.Before, e.Answered)
	e.Before, e.Answered = e.Answered, nil
	e.Round++
}
