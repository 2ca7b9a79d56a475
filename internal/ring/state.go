package ring

import (
	"slices"
	"time"

	"github.com/muninn-archive/muninn/internal/times"
)

// State is the state of the ring. Its JSON form carries it over continue-as-new. It is a function of the calls that were made:
// the same calls with the same times give the same state.
type State struct {
	limits  Limits
	shards  int       // of politeness, that all workers know; 0 as long as there was no worker
	epoch   uint64    // the number of the last change
	floor   time.Time // before it nothing is rebuilt
	ready   time.Time // since when there is a worker that can be given partitions; zero if there is none
	members []member  // by index
	table   Table     // who is to own each partition
	parts   partitions
	objects map[int]string // the exports that are Exported or Loading, by partition
}

// member is a worker in the ring.
type member struct {
	Index    Index     `json:"index"`
	Name     string    `json:"name"`
	Instance string    `json:"instance"`
	Process  string    `json:"process"`
	Queue    string    `json:"queue"`
	Since    uint64    `json:"since"`         // the epoch in which it was accepted last
	At       time.Time `json:"at,omitzero"`   // when it was accepted last
	Lost     time.Time `json:"lost,omitzero"` // since when it is silent; zero if it is up
	Leaving  bool      `json:"leaving,omitempty"`
}

func (m *member) up() bool { return m.Lost.IsZero() }

// New returns a ring without workers. The limits must be valid.
func New(limits Limits) *State { return &State{limits: limits, objects: map[int]string{}} }

// Forgotten says that the ring had a former life that ended then, of which it knows nothing. Workers may claim until their permits have
// run out, so nothing is rebuilt before. Then every partition is rebuilt from the archive: there may be commits in each.
func (s *State) Forgotten(ended time.Time) {
	s.floor, s.epoch = ended.Add(s.limits.fence()), max(s.epoch, 1)
	for p := range s.parts {
		s.parts[p] = partition{step: Orphan, order: s.epoch}
	}
}

// Epoch is the number of the last change.
func (s *State) Epoch() uint64 { return s.epoch }

// Shards is how many shards of politeness all workers know; 0 as long as there was no worker.
func (s *State) Shards() int { return s.shards }

// Limits are the limits of the ring.
func (s *State) Limits() Limits { return s.limits }

func (s *State) find(is func(*member) bool) *member {
	if i := slices.IndexFunc(s.members, func(m member) bool { return is(&m) }); i >= 0 {
		return &s.members[i]
	}
	return nil
}

func (s *State) named(name string) *member {
	return s.find(func(m *member) bool { return m.Name == name })
}

// process is the member that a message comes from; nil if that process is not in the ring: another one of its name may be.
func (s *State) process(name, process string) *member {
	if m := s.named(name); m != nil && m.Process == process {
		return m
	}
	return nil
}

// takers are the members that can be given partitions. A lost one keeps what it has, gives nothing and gets nothing.
func (s *State) takers() (of []Index) {
	for _, m := range s.members {
		if m.up() && !m.Leaving {
			of = append(of, m.Index)
		}
	}
	return of
}

// staying counts the members that do not leave.
func (s *State) staying() (n int) {
	for _, m := range s.members {
		if !m.Leaving {
			n++
		}
	}
	return n
}

// change carries out a change of members or partitions, and what follows from it, as one epoch.
func (s *State) change(now time.Time, do func()) {
	s.epoch++
	do()
	if len(s.takers()) == 0 {
		s.ready = time.Time{}
	} else if s.ready.IsZero() {
		s.ready = now
	}
	s.advance(now)
	if s.quiet() && s.table.Level(s.takers()) > 0 {
		s.advance(now)
	}
}

// advance lets each partition do what its target and its members ask for, and lets workers go that have left and have nothing more.
func (s *State) advance(now time.Time) {
	s.assign()
	for p := range s.parts {
		s.parts[p] = s.parts[p].next(s.table[p], now.Before(s.floor), s.epoch)
	}
	for _, m := range slices.Clone(s.members) {
		if m.Leaving && !slices.ContainsFunc(s.parts[:], func(p partition) bool {
			return p.owner == m.Index && (p.step == Owned || p.step == Closing)
		}) {
			s.forget(m.Index)
		}
	}
	for p := range s.parts {
		if step := s.parts[p].step; step != Exported && step != Loading {
			delete(s.objects, p)
		}
	}
}

// assign gives what is nobody's to the workers, as far as it can to those that have the data.
func (s *State) assign() {
	s.table.Assign(s.takers(), func(p int) Index { return s.parts[p].owner })
}

// forget takes a worker out of the ring. What it was to own has other targets already, or is nobody's.
func (s *State) forget(gone Index) {
	s.members = slices.DeleteFunc(s.members, func(m member) bool { return m.Index == gone })
	for p := range s.parts {
		s.parts[p] = s.parts[p].without(gone)
	}
}

// quiet reports that every worker is up and stays, and every partition is owned.
func (s *State) quiet() bool {
	return len(s.takers()) == len(s.members) && !slices.ContainsFunc(s.parts[:], func(p partition) bool { return p.step != Owned })
}

// Tick declares the workers dead that were lost for longer than their grace, and lets begin what had to wait.
func (s *State) Tick(now time.Time) {
	var dead []Index
	for _, m := range s.members {
		if at, dies := s.death(&m); dies && !now.Before(at) {
			dead = append(dead, m.Index)
		}
	}
	waits := !s.floor.IsZero() && !now.Before(s.floor)
	if len(dead) == 0 && !waits {
		return
	}
	s.change(now, func() {
		if waits {
			s.floor = time.Time{}
		}
		for _, i := range dead {
			s.die(i)
		}
	})
}

// death is when a lost worker is given up; false if it is up, or as long as nobody is there to take its partitions: when all workers were
// away, as after a power failure, the worker that comes back first would take, and rebuild, what the others have on their disks. So the grace
// counts from when somebody is there. A worker that was leaving is not waited for longer than safety asks.
func (s *State) death(m *member) (at time.Time, dies bool) {
	switch {
	case m.up() || s.ready.IsZero():
		return at, false
	case m.Leaving:
		return m.Lost.Add(s.limits.fence()), true
	}
	return times.Latest(m.Lost, s.ready).Add(s.limits.Grace), true
}

func (s *State) die(gone Index) {
	s.forget(gone)
	s.table.Leave(gone)
}

// Wake returns in how long Tick has something to do; false if nothing is to come.
func (s *State) Wake(now time.Time) (time.Duration, bool) {
	at := s.floor
	for _, m := range s.members {
		if death, dies := s.death(&m); dies && (at.IsZero() || death.Before(at)) {
			at = death
		}
	}
	return max(at.Sub(now), 0), !at.IsZero()
}
