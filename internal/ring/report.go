package ring

import "time"

// Report says what a worker has done with a partition.
type Report struct {
	Partition int    `json:"partition"`
	Order     uint64 `json:"order"`            // of the task that it has done
	Object    string `json:"object,omitempty"` // the key of the export
	Fault     string `json:"fault,omitempty"`  // why the export cannot be loaded: the partition is rebuilt
}

// Exported takes reports of a worker that partitions which it was to close are in the archive, and that no batch of theirs is
// out. It returns the reports that are stale: the worker does what its next view asks of it.
func (s *State) Exported(now time.Time, name, process string, reports []Report) (stale []Report) {
	return s.report(now, name, process, reports, func(by Index, r Report, epoch uint64) (partition, bool) {
		if r.Object == "" || len(r.Object) > MaxObject {
			return partition{}, false
		}
		return s.parts[r.Partition].exported(by, r.Order, epoch)
	})
}

// Loaded takes reports of a worker that partitions which it was to load or to rebuild are on its disk, or why they cannot be
// loaded. It returns the reports that are stale.
func (s *State) Loaded(now time.Time, name, process string, reports []Report) (stale []Report) {
	return s.report(now, name, process, reports, func(by Index, r Report, epoch uint64) (partition, bool) {
		if r.Fault != "" {
			return s.parts[r.Partition].unreadable(by, r.Order, epoch)
		}
		return s.parts[r.Partition].loaded(by, r.Order, epoch)
	})
}

// report carries out, as one change, the reports that are not stale. Those of a process that is not in the ring are: another
// process of the same worker may be in the middle of the same task.
func (s *State) report(now time.Time, name, process string, reports []Report, take func(by Index, r Report, epoch uint64) (partition, bool)) (stale []Report) {
	m := s.process(name, process)
	if m == nil {
		return reports
	}
	type result struct {
		p      int
		to     partition
		object string
	}
	var done []result
	for _, r := range reports {
		if r.Partition < 0 || r.Partition >= Partitions {
			stale = append(stale, r)
			continue
		}
		p, ok := take(m.Index, r, s.epoch+1)
		if !ok {
			stale = append(stale, r)
			continue
		}
		done = append(done, result{r.Partition, p, r.Object})
	}
	if len(done) == 0 {
		return stale
	}
	s.change(now, func() {
		for _, d := range done {
			s.parts[d.p] = d.to
			if d.to.step == Exported {
				s.objects[d.p] = d.object
			}
		}
	})
	return stale
}
