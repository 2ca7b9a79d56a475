package ring

import (
	"fmt"
	"slices"
)

// Step is how far the hand-over of a partition is.
type Step uint8

// The steps of a partition. docs/architecture/ring.md draws them.
const (
	// Orphan: nobody owns it and nobody makes it. All partitions begin so; the first owner of one has nothing to load.
	Orphan Step = iota
	// Owned: its owner claims in it.
	Owned
	// Closing: its owner claims no more, lets its batches end or gives them back, and exports it.
	Closing
	// Exported: its export is in the archive, and nobody loads it.
	Exported
	// Loading: its next owner loads the export. The former owner still has it.
	Loading
	// Rebuilding: its next owner makes it from the last checkpoint and the links sidecars since.
	Rebuilding
)

var stepNames = [...]string{Orphan: "orphan", Owned: "owned", Closing: "closing", Exported: "exported", Loading: "loading", Rebuilding: "rebuilding"}

// String is its name.
func (s Step) String() string { return stepNames[s] }

// MarshalText writes its name.
func (s Step) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads its name.
func (s *Step) UnmarshalText(text []byte) error {
	i := slices.Index(stepNames[:], string(text))
	if i < 0 {
		return fmt.Errorf("%q is no step of a partition", text)
	}
	*s = Step(i)
	return nil
}

// partition is the state of one partition.
type partition struct {
	step Step
	// owner owns it (Owned, Closing), or has exported it and still has its data (Exported, Loading); 0 if that worker is gone.
	owner Index
	// loader loads or rebuilds it (Loading, Rebuilding); else 0.
	loader Index
	// tenure is the epoch in which the owner became its owner: what was claimed by an earlier epoch is stale.
	tenure uint64
	// order is the epoch in which the step or the loader changed: a report names it, so that a late one is recognised. It is 0
	// as long as nobody has owned the partition.
	order uint64
}

// next is what becomes of a partition when its target is this worker (0: nobody). held says that nothing may be rebuilt yet. The
// step does not depend on how the target came about, so that a second change while a hand-over is in progress needs no rule.
func (p partition) next(target Index, held bool, epoch uint64) partition {
	to := p
	switch p.step {
	case Owned, Closing:
		switch {
		case p.owner == 0: // it died: what it has committed is in the archive
			to.step, to.order = Orphan, epoch
			return to.next(target, held, epoch)
		case target == p.owner, target == 0: // a closing partition whose target is its owner again was never given away
			to.step = Owned // without anybody to give it to, a leaving worker keeps it: it is there when the worker is started again
		default: // a closing partition that gets another target continues closing: its export is for the new target
			to.step = Closing
		}
	case Exported, Loading:
		switch {
		case target == 0:
			to.step, to.loader = Exported, 0
		case target == p.owner: // nobody has committed since it exported: it has everything
			to.step, to.loader, to.tenure = Owned, 0, epoch
		default:
			to.step, to.loader = Loading, target
		}
	case Orphan, Rebuilding:
		to.owner, to.tenure = 0, 0
		if p.order == 0 && target != 0 { // nobody has committed anything in it
			return partition{step: Owned, owner: target, tenure: epoch, order: epoch}
		}
		if target == 0 || held {
			to.step, to.loader = Orphan, 0
		} else {
			to.step, to.loader = Rebuilding, target
		}
	}
	if to.step != p.step || to.loader != p.loader {
		to.order = epoch
	}
	return to
}

// without is the partition after a worker is gone, with what it had of it.
func (p partition) without(gone Index) partition {
	if p.owner == gone {
		p.owner = 0
	}
	return p
}

// exported is the partition after its owner's report; false if the report is stale.
func (p partition) exported(by Index, order, epoch uint64) (partition, bool) {
	if p.step != Closing || p.owner != by || p.order != order {
		return p, false
	}
	p.step, p.order = Exported, epoch
	return p, true
}

// loaded is the partition after its loader's report; false if the report is stale.
func (p partition) loaded(by Index, order, epoch uint64) (partition, bool) {
	if p.step != Loading && p.step != Rebuilding || p.loader != by || p.order != order {
		return p, false
	}
	return partition{step: Owned, owner: by, tenure: epoch, order: epoch}, true
}

// unreadable is the partition after its loader's report that the export cannot be read; false if the report is stale.
func (p partition) unreadable(by Index, order, epoch uint64) (partition, bool) {
	if p.step != Loading || p.loader != by || p.order != order {
		return p, false
	}
	return partition{step: Orphan, order: epoch}, true
}
