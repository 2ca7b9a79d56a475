package ring

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Registration is what a worker says of itself when it wants to be in the ring: when it starts, and after each loss of its heartbeat.
type Registration struct {
	Name     string `json:"name"`     // unique in the ring; its task queue and its batches bear it
	Instance string `json:"instance"` // the identity of its data folder
	Process  string `json:"process"`  // of this start of the worker
	Queue    string `json:"queue"`    // the task queue that it alone polls
	Shards   int    `json:"shards"`   // of politeness, that it was started with
	// Epoch is the last that its data folder knows; 0 if the folder is new. The ring counts on from it if it has lost its state.
	Epoch uint64 `json:"epoch,omitempty"`
	// Waited is for how long this process has been asked to wait already, by its own clock.
	Waited time.Duration `json:"waited,omitempty"`
}

// Answer answers a registration. Exactly one of Accepted, Wait and Refused is set.
type Answer struct {
	Accepted bool `json:"accepted,omitempty"`
	// Epoch is that in which the worker was accepted. What it knows of earlier epochs is void, and its permit, which counts from
	// when it sent the registration, is of use only with a view of this epoch or a later one.
	Epoch  uint64        `json:"epoch,omitempty"`
	Limits Limits        `json:"limits,omitzero"`
	Wait   time.Duration `json:"wait,omitempty"` // register again after so long; Reason says why
	// Taken: a worker of this name, with another data folder, may be at work. Until another answer this one must not poll the queue that bears the name: it
	// would take what is meant for the other's folder.
	Taken bool `json:"taken,omitempty"`
	// Refused: it will not be accepted as it is; Reason says why and what to do.
	Refused bool `json:"refused,omitempty"`
	// Late: the ring has given the worker up, or does not know it: what its folder holds of partitions is old.
	Late   bool   `json:"late,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// maxEpoch bounds the epoch that a data folder may claim to know, so that a damaged one cannot make the ring's epochs overflow.
const maxEpoch = 1 << 60

func refuse(format string, args ...any) Answer {
	return Answer{Refused: true, Reason: fmt.Sprintf(format, args...)}
}

// fault reports what is wrong with a registration by itself.
func (r Registration) fault() string {
	for _, f := range []struct{ name, text string }{{"name", r.Name}, {"instance", r.Instance}, {"process", r.Process}, {"queue", r.Queue}} {
		if f.text == "" {
			return "a registration needs a " + f.name
		}
		if len(f.text) > MaxName {
			return fmt.Sprintf("the %s of a registration has %d bytes, at most %d are allowed", f.name, len(f.text), MaxName)
		}
	}
	if r.Epoch > maxEpoch {
		return fmt.Sprintf("epoch %d is of no ring: the data folder is damaged", r.Epoch)
	}
	if r.Shards < 1 {
		return fmt.Sprintf("politeness-shards is %d: it must be 1 or more", r.Shards)
	}
	return ""
}

// Register takes a worker into the ring, or back into it. It may be repeated.
func (s *State) Register(now time.Time, r Registration) Answer {
	if fault := r.fault(); fault != "" {
		return refuse("%s", fault)
	}
	s.Tick(now)
	m := s.named(r.Name)
	other := s.find(func(m *member) bool { return m.Instance == r.Instance && m.Name != r.Name })
	switch {
	case other != nil && other.up():
		return refuse("the data folder of worker %q (%s) is in use: worker %q, process %s, is at work on it: give this worker a folder of its own", r.Name, r.Instance, other.Name, other.Process)
	case other != nil && m != nil:
		return refuse("the data folder of worker %q (%s) is that of worker %q, which was lost %s ago: start it by that name%s",
			r.Name, r.Instance, other.Name, seconds(now.Sub(other.Lost)), s.orWait(now, other))
	case other != nil && s.mayWork(now, other):
		return Answer{Wait: other.Lost.Add(s.limits.fence()).Sub(now), Reason: fmt.Sprintf("the data folder (%s) is that of worker %q, which was lost %s ago: until its permit has run out it may be at work", r.Instance, other.Name, seconds(now.Sub(other.Lost)))}
	case other != nil: // it was renamed: whose folder it is has the partitions
		return s.again(now, other, r)
	case m != nil && m.Instance == r.Instance:
		return s.again(now, m, r)
	case m != nil && m.up() && s.waits(r): // it may have been killed with its disk
		return Answer{Taken: true, Wait: s.limits.Heartbeat, Reason: fmt.Sprintf("worker %q has a process %s with another data folder (%s, not %s), which is silent for less than %s: it may be at work", r.Name, m.Process, m.Instance, r.Instance, seconds(s.limits.Heartbeat))}
	case m != nil && m.up():
		return refuse("there is a worker %q already: process %s on queue %q, with another data folder (%s, not %s): give this worker another name, or stop that one first", r.Name, m.Process, m.Queue, m.Instance, r.Instance)
	case m != nil && now.Before(m.Lost.Add(s.limits.fence())):
		return Answer{Wait: m.Lost.Add(s.limits.fence()).Sub(now), Reason: fmt.Sprintf("worker %q was lost %s ago and had another data folder: until its permit has run out it may be at work", r.Name, seconds(now.Sub(m.Lost)))}
	}
	if fault := s.counted(now, r, m); fault != "" {
		return refuse("%s", fault)
	}
	if m == nil && len(s.members) == MaxWorkers {
		return refuse("the ring has %d workers, which is the most that it can have", MaxWorkers)
	}
	if r.Epoch > 0 && s.epoch == 0 {
		s.Forgotten(now) // the first worker that registers knows of a former life of the ring
	}
	s.epoch = max(s.epoch, r.Epoch)
	s.change(now, func() {
		if m != nil { // its disk is gone
			s.die(m.Index)
		}
		s.add(now, r)
	})
	return s.accepted(s.epoch, r.Epoch > 0)
}

// orWait says when the folder of a lost worker is free, if somebody is there to take its partitions.
func (s *State) orWait(now time.Time, lost *member) string {
	if death, dies := s.death(lost); dies {
		return fmt.Sprintf(", or wait %s until its partitions are given to others", seconds(death.Sub(now)))
	}
	return ""
}

// again answers a worker that the ring knows, with its folder.
func (s *State) again(now time.Time, m *member, r Registration) Answer {
	if fault := s.counted(now, r, m); fault != "" {
		return refuse("%s", fault)
	}
	if m.up() && m.Process == r.Process {
		m.Queue = r.Queue
		return s.accepted(m.Since, false)
	}
	if m.up() {
		// The former process was killed, and its heartbeat has not run out; or it lives, and the folder was copied.
		if s.waits(r) {
			return Answer{Wait: s.limits.Heartbeat, Reason: fmt.Sprintf("worker %q has a process %s, which is silent for less than %s: it may be at work", r.Name, m.Process, seconds(s.limits.Heartbeat))}
		}
		return refuse("worker %q is at work already, as process %s with the same data folder: stop one of them; two workers need two names and two data folders", r.Name, m.Process)
	}
	s.epoch = max(s.epoch, r.Epoch)
	s.change(now, func() {
		rejoins := m.Leaving && m.Process != r.Process // it was started again
		m.Lost, m.Name, m.Process, m.Queue, m.Since, m.At = time.Time{}, r.Name, r.Process, r.Queue, s.epoch, now
		if rejoins {
			m.Leaving = false
			s.join(m.Index)
		}
	})
	return s.accepted(s.epoch, false)
}

// waits reports whether the worker that has a registration's name, and is up, may have been killed: its heartbeat ends within the time that the
// registration is asked to wait for.
func (s *State) waits(r Registration) bool { return r.Waited < 2*s.limits.Heartbeat }

// mayWork reports whether a worker may be at work: it is up, or its permit may not have run out.
func (s *State) mayWork(now time.Time, m *member) bool {
	return m.up() || now.Before(m.Lost.Add(s.limits.fence()))
}

// counted reports a worker that counts the shards of politeness otherwise: it would ask one shard for an address that others ask
// another shard for. Who is alone at work may change the number; the others are asked when they come back.
func (s *State) counted(now time.Time, r Registration, m *member) string {
	if s.find(func(other *member) bool { return (m == nil || other.Index != m.Index) && s.mayWork(now, other) }) == nil {
		s.shards = r.Shards
	}
	if s.shards == r.Shards {
		return ""
	}
	return fmt.Sprintf("worker %q was started with politeness-shards %d, the workers of the ring with %d: start it with %d, or stop all workers to change it", r.Name, r.Shards, s.shards, s.shards)
}

func (s *State) accepted(epoch uint64, late bool) Answer {
	a := Answer{Accepted: true, Epoch: epoch, Limits: s.limits, Late: late}
	if late {
		a.Reason = "the ring has given this worker up, or does not know it: what its data folder holds of partitions is old, and it starts empty"
	}
	return a
}

// add takes a new worker in, by the lowest index that is free.
func (s *State) add(now time.Time, r Registration) {
	i := Index(1)
	for _, m := range s.members {
		if m.Index == i {
			i++
		}
	}
	s.members = append(s.members, member{Index: i, Name: r.Name, Instance: r.Instance, Process: r.Process, Queue: r.Queue, Since: s.epoch, At: now})
	slices.SortFunc(s.members, func(a, b member) int { return cmp.Compare(a.Index, b.Index) })
	s.join(i)
}

// join makes room for a worker: first it gets of what is nobody's.
func (s *State) join(joined Index) {
	s.assign()
	givers := slices.DeleteFunc(s.takers(), func(i Index) bool { return i == joined })
	s.table.Join(joined, givers, s.staying(), func(p int) int { return s.parts[p].cost(joined) })
}

// cost orders the moves of partitions to a worker by what they cost.
func (p partition) cost(to Index) int {
	switch {
	case p.owner == to: // it has the data
		return 0
	case p.step == Owned:
		return 2
	case p.step == Loading || p.step == Rebuilding: // for nothing
		return 3
	}
	return 1 // it moves anyway
}

// Lost says that the heartbeat of a worker's process has stopped.
func (s *State) Lost(now time.Time, name, process string) {
	if m := s.process(name, process); m != nil && m.up() {
		s.change(now, func() { m.Lost = now })
	}
}

// Leave says that a worker wants to leave in peace. It is gone from the views once everything that it owned is exported.
func (s *State) Leave(now time.Time, name, process string) {
	if m := s.process(name, process); m != nil && !m.Leaving {
		s.change(now, func() {
			m.Leaving = true
			s.table.Leave(m.Index)
		})
	}
}

func seconds(d time.Duration) time.Duration { return d.Round(time.Second) }
