package ring

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"
)

// View is what the ring shows of itself, as of one epoch. A newer one replaces it as a whole.
type View struct {
	Epoch   uint64
	Workers []Worker
	parts   partitions
	objects map[int]string // the exports that the worker is to load whose view this is
}

// Worker is what a view shows of a worker.
type Worker struct {
	Index   Index  `json:"index"`
	Name    string `json:"name"`
	Process string `json:"process"`
	// Instance is the identity of its data folder; empty in a view of an earlier version.
	Instance string `json:"instance,omitempty"`
	Queue    string `json:"queue"`
	Since    uint64 `json:"since"` // the epoch in which it was accepted last
	// At is when it was accepted last, or since when it is lost; by the cluster's clock, for people.
	At      time.Time `json:"at,omitzero"`
	Lost    bool      `json:"lost,omitempty"`    // it is silent, and its partitions wait for it
	Leaving bool      `json:"leaving,omitempty"` // it hands over what it owns
}

// WorkerState is how a worker stands to the ring.
type WorkerState string

// The states of a worker.
const (
	WorkerUp      WorkerState = "up"
	WorkerLost    WorkerState = "lost"
	WorkerLeaving WorkerState = "leaving"
)

// State is the state of the worker. One that is lost while it leaves is lost.
func (w Worker) State() WorkerState {
	switch {
	case w.Lost:
		return WorkerLost
	case w.Leaving:
		return WorkerLeaving
	}
	return WorkerUp
}

// View is the present view for a worker: it alone is shown the keys of the exports that it is to load. For "" there are none.
func (s *State) View(worker string) *View {
	v := &View{Epoch: s.epoch, parts: s.parts, objects: map[int]string{}}
	for _, m := range s.members {
		at := m.At
		if !m.up() {
			at = m.Lost
		}
		v.Workers = append(v.Workers, Worker{m.Index, m.Name, m.Process, m.Instance, m.Queue, m.Since, at, !m.up(), m.Leaving})
		if m.Name != worker {
			continue
		}
		for p := range Partitions { // not over the map: a workflow must do the same in each replay
			if object, exported := s.objects[p]; exported && s.parts[p].loader == m.Index {
				v.objects[p] = object
			}
		}
	}
	return v
}

func (v *View) worker(is func(Worker) bool) (Worker, bool) {
	if i := slices.IndexFunc(v.Workers, is); i >= 0 {
		return v.Workers[i], true
	}
	return Worker{}, false
}

// Worker is a worker of the ring by its name.
func (v *View) Worker(name string) (Worker, bool) {
	return v.worker(func(w Worker) bool { return w.Name == name })
}

// Has reports whether a process is in the ring.
func (v *View) Has(process string) bool {
	_, has := v.worker(func(w Worker) bool { return w.Process == process })
	return has
}

// CanHandOver reports whether a worker that leaves has somebody to hand its partitions over to: if not, it keeps them, and may stop at once.
func (v *View) CanHandOver(name string) bool {
	_, other := v.worker(func(w Worker) bool { return w.Name != name && !w.Lost && !w.Leaving })
	return other
}

// Owned reports whether each partition has an owner, and none is handed over.
func (v *View) Owned() bool {
	for p := range v.parts {
		if v.parts[p].step != Owned {
			return false
		}
	}
	return true
}

// Owner is the worker that owns a partition and takes what is delivered to it. Without one, deliveries wait.
func (v *View) Owner(p int) (Worker, bool) {
	if v.parts[p].step != Owned {
		return Worker{}, false
	}
	return v.worker(func(w Worker) bool { return w.Index == v.parts[p].owner })
}

// Tenures are the partitions that a worker owns, with the epoch since which it does, also while it closes them.
func (v *View) Tenures(worker string) map[int]uint64 {
	owned := map[int]uint64{}
	w, member := v.Worker(worker)
	for p, part := range v.parts {
		if member && part.owner == w.Index && (part.step == Owned || part.step == Closing) {
			owned[p] = part.tenure
		}
	}
	return owned
}

// Answerer is the worker that has all of a partition and can answer questions about it, also while it is handed over.
func (v *View) Answerer(p int) (Worker, bool) {
	return v.worker(func(w Worker) bool { return v.May(Explain, w.Name, p) })
}

// Act is what a worker does with a partition.
type Act uint8

// The acts.
const (
	Claim   Act = iota // take URLs of its queues
	Fetch              // continue a batch: ask for leases and renew them
	Commit             // put the manifest of a batch, and commit it
	Accept             // take what other workers deliver
	Explain            // answer questions about it
	Export             // write it to the archive
	Load               // load its export, or rebuild it
	Drop               // delete what is on the disk of it
)

var actNames = [...]string{Claim: "claim", Fetch: "fetch", Commit: "commit", Accept: "accept", Explain: "explain", Export: "export", Load: "load", Drop: "drop"}

// String is its name.
func (a Act) String() string { return actNames[a] }

// acts is a set of acts.
type acts uint16

func only(of ...Act) (set acts) {
	for _, act := range of {
		set |= 1 << act
	}
	return set
}

// rights are what the owner, the loader and any other worker may do in each step.
var rights = [...]struct{ owner, loader, other acts }{
	Orphan:     {},
	Owned:      {owner: only(Claim, Fetch, Commit, Accept, Explain), other: only(Drop)},
	Closing:    {owner: only(Fetch, Commit, Explain, Export), other: only(Drop)},
	Exported:   {owner: only(Explain), other: only(Drop)},
	Loading:    {owner: only(Explain), loader: only(Load), other: only(Drop)},
	Rebuilding: {loader: only(Load), other: only(Drop)},
}

// May reports whether a worker may do something with a partition, by this view. A worker asks its Membership.
func (v *View) May(act Act, worker string, p int) bool {
	w, member := v.Worker(worker)
	part, of := v.parts[p], rights[v.parts[p].step]
	set := of.other
	switch {
	case !member:
		return false
	case w.Index == part.owner:
		set = of.owner
	case w.Index == part.loader:
		set = of.loader
	}
	return set&(1<<act) != 0
}

// What Check finds.
var (
	// ErrStale: who sent it has to take a newer view, and to do again what is still its own.
	ErrStale = errors.New("it is of an old epoch of the ring")
	// ErrAhead: the receiver has to take a newer view before it can judge.
	ErrAhead = errors.New("it is of an epoch of the ring that is not known here yet")
)

// Check judges a message that carries an epoch: that of the view by which it was made. worker is whose right the message depends on: of
// a claim, an ask or a commit the sender; of a delivery the receiver, whom the sender holds for the owner. The error is ErrStale or ErrAhead.
func (v *View) Check(act Act, worker string, p int, epoch uint64) error {
	switch part := v.parts[p]; {
	case epoch > v.Epoch:
		return fmt.Errorf("partition %d, epoch %d: %w: epoch %d is", p, epoch, ErrAhead, v.Epoch)
	case !v.May(act, worker, p):
		return fmt.Errorf("partition %d, epoch %d: %w: in epoch %d worker %q may not %s there, it is %s", p, epoch, ErrStale, v.Epoch, worker, act, part.step)
	case epoch < part.tenure:
		return fmt.Errorf("partition %d, epoch %d: %w: worker %q owns it since epoch %d", p, epoch, ErrStale, worker, part.tenure)
	}
	return nil
}

// Group is a number of partitions that are alike.
type Group struct {
	Step       Step   `json:"step"`
	Owner      string `json:"owner,omitempty"`
	Loader     string `json:"loader,omitempty"`
	Partitions int    `json:"partitions"`
}

// Groups sums the partitions up, in the order of the workers.
func (v *View) Groups() (groups []Group) {
	names := map[Index]string{}
	for _, w := range v.Workers {
		names[w.Index] = w.Name
	}
	at := map[[3]uint8]int{}
	for _, p := range v.parts {
		key := [3]uint8{p.owner, p.loader, uint8(p.step)}
		i, known := at[key]
		if !known {
			i = len(groups)
			at[key] = i
			groups = append(groups, Group{Step: p.step, Owner: names[p.owner], Loader: names[p.loader]})
		}
		groups[i].Partitions++
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Step, b.Step), cmp.Compare(a.Loader, b.Loader))
	})
	return groups
}
