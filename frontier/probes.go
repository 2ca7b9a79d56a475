package frontier

import (
	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// queueProbe queues a URL that cannot exist before all pages of its PLD. What its host answers, other pages are compared with.
func (e *edit) queueProbe(pld namedPLD, probe traps.Probe) error {
	u, err := urls.Trusted(probe.URL)
	if err != nil {
		return nil
	}
	via, err := urls.Trusted(probe.Via)
	if err != nil {
		return nil
	}
	k := record.KeyIn(pld.name, u)
	known, err := e.Has(e.s.keys.Record(k))
	if err != nil || known {
		return err
	}
	from, _, err := e.Record(e.s.keys.Record(record.KeyIn(pld.name, via)))
	if err != nil {
		return err
	}
	c := e.change(pld.hash)
	c.name = pld.name
	r := record.Record{Run: e.rec.Run, Via: probe.Via, Path: crawl.Hopped(from.Path, crawl.HopPrereq), URL: probe.URL}
	e.recount(&record.Record{}, &r)
	return e.enqueue(k, &r, queue.Requisite-1, false)
}

// learnProbes takes in what hosts have answered to probes.
func (e *edit) learnProbes(outcomes []crawl.PageOutcome, may *committable) error {
	if !e.rec.Definition.ProbeMissing {
		return nil
	}
	for i := range outcomes {
		o := &outcomes[i]
		if !traps.IsProbe(o.URL) || o.Kind == crawl.OutcomeRetry || o.Kind == crawl.OutcomeReturned || o.Kind == crawl.OutcomeUnmodified {
			continue
		}
		u, err := urls.Trusted(o.URL)
		if err != nil {
			continue
		}
		if lost, err := may.lost(o.URL); err != nil {
			return err
		} else if lost {
			continue
		}
		pld := record.KeyOf(u).PLD
		m, err := readTraps(e.Reader, e.s.keys, pld)
		if err != nil {
			return err
		}
		if m == nil {
			m = &traps.Memory{}
		}
		var print *crawl.Print
		if o.Success() {
			print = o.Print
		}
		m.Answered(o.URL, print)
		if err := e.saveTraps(pld, m); err != nil {
			return err
		}
	}
	return nil
}

// Missing returns a function that reports whether a page reads like what its host answers to a URL that cannot exist.
func (h URLs) Missing() func(url string, print *crawl.Print) (bool, error) {
	memories := map[uint64]*traps.Memory{}
	return func(url string, print *crawl.Print) (bool, error) {
		u, err := urls.Trusted(url)
		if err != nil {
			return false, nil
		}
		pld := record.KeyOf(u).PLD
		m, read := memories[pld]
		if !read {
			s, err := Crawl(h).state()
			if err != nil {
				return false, err
			}
			err = h.f.store.View(func(txn store.Reader) (err error) {
				m, err = readTraps(txn, s.keys, pld)
				return err
			})
			if err != nil {
				return false, err
			}
			memories[pld] = m
		}
		return m != nil && m.Missing(url, print), nil
	}
}
