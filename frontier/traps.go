package frontier

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

const (
	// maxTraps is how many closed patterns a crawl lists.
	maxTraps = 20
	// closedAtOnce is how many URLs of closed patterns a claim takes out of its queue, and openedAtOnce how many a transaction puts back.
	closedAtOnce = 500
	openedAtOnce = 1000
)

// ClosedTrap is a pattern of URLs that is not fetched any more, because what was fetched of it is a trap.
type ClosedTrap struct {
	PLD      string `json:"pld" cbor:"1,keyasint"`
	Pattern  string `json:"pattern" cbor:"2,keyasint"`
	Evidence string `json:"evidence" cbor:"3,keyasint"`
}

func (c ClosedTrap) String() string { return c.Text("CRAWL") }

// Text says why the pattern is closed, and by which command the crawl of a name opens it.
func (c ClosedTrap) Text(crawlName string) string {
	return fmt.Sprintf("%s is closed as a trap: %s. To fetch it all the same: %s", c.Pattern, c.Evidence, c.Opening(crawlName))
}

// Opening is the command that opens the pattern again, for a shell.
func (c ClosedTrap) Opening(crawlName string) string {
	var b bytes.Buffer
	to := json.NewEncoder(&b)
	to.SetEscapeHTML(false)
	if err := to.Encode(crawl.Overrides{PLDs: map[string]crawl.Override{c.PLD: {OpenPatterns: &crawl.Patterns{c.Pattern}}}}); err != nil {
		return err.Error() // never: it has texts alone
	}
	return "muninn configure " + crawlName + " 'overrides=" + strings.ReplaceAll(strings.TrimSpace(b.String()), "'", `'\''`) + "'"
}

// closedTraps are the last patterns that were closed, without those that the definition of this run opens.
func (rec *crawlRecord) closedTraps() []ClosedTrap {
	return slices.DeleteFunc(slices.Clone(rec.Traps), func(c ClosedTrap) bool {
		return rec.Definition.IgnoresTraps(c.PLD) || slices.Contains(rec.Definition.OpenPatterns(c.PLD), c.Pattern)
	})
}

// AddTraps joins what two workers list of closed patterns: each once, and the last maxTraps.
func AddTraps(a, b []ClosedTrap) []ClosedTrap {
	a = slices.Clip(a)
	for _, c := range b {
		if !slices.ContainsFunc(a, func(other ClosedTrap) bool { return other.PLD == c.PLD && other.Pattern == c.Pattern }) {
			a = append(a, c)
		}
	}
	return a[max(len(a)-maxTraps, 0):]
}

// readTraps reads what is remembered of a PLD's traps; nil if nothing is.
func readTraps(r store.Reader, keys store.Keys, pld uint64) (m *traps.Memory, err error) {
	_, err = r.Get(keys.Traps(pld), func(raw []byte) error {
		m = traps.Decode(raw)
		return nil
	})
	return m, err
}

// trapOf returns the closed pattern of a URL; nil if it is of none.
func trapOf(r store.Reader, keys store.Keys, u urls.URL) (*ClosedTrap, error) {
	m, err := readTraps(r, keys, record.KeyOf(u).PLD)
	if err != nil || m == nil {
		return nil, err
	}
	c := m.ClosedBy(traps.ShapeOf(u))
	if c == nil {
		return nil, nil
	}
	return &ClosedTrap{u.PLD(), c.Pattern, c.Evidence}, nil
}

func (e *edit) saveTraps(pld uint64, m *traps.Memory) error {
	raw, err := m.Encode()
	if err != nil {
		return err
	}
	return e.Set(e.s.keys.Traps(pld), raw)
}

// learnTraps takes in the pages of a batch, and closes the patterns that they prove to be traps. Of what another worker has queued it is not
// known whether it is new.
func (e *edit) learnTraps(now committing, may *committable) error {
	if now.spare || now.c.Rescore {
		return nil
	}
	pages, plds, err := now.trapPages(e.rec, may)
	if err != nil {
		return err
	}
	if err := e.learnPages(e.rec.Run, e.rec.Definition.ProbeMissing, pages, plds); err != nil {
		return err
	}
	return e.learnProbes(now.c.Outcomes, may)
}

// learnReplayed does so with the pages of a segment of the archive, as its links are brought into the partitions that it stands in. Pages without links are left
// out: they lead to no trap. Of a batch with more than deliveryPart links to a partition the first count.
func (e *edit) learnReplayed(d *Delivery, fresh []*delivered) error {
	if len(d.pages) == 0 {
		return nil
	}
	in := map[Partition]bool{}
	c := Commit{}
	now := committing{c: &c}
	for _, p := range fresh {
		if p.number == 0 {
			in[p.partition] = true
			c.Discoveries, now.of = append(c.Discoveries, p.found...), append(now.of, p.of...)
		}
	}
	linked := map[string]bool{}
	for i := range c.Discoveries {
		linked[c.Discoveries[i].Via] = true
	}
	for _, o := range d.pages {
		if u, err := urls.Trusted(o.URL); err == nil && linked[o.URL] && in[store.PartitionOf(record.KeyOf(u).PLD)] {
			c.Outcomes = append(c.Outcomes, o)
		}
	}
	pages, plds, err := now.trapPages(e.rec, nil)
	if err != nil {
		return err
	}
	return e.learnPages(d.Run, false, pages, plds)
}

// learnPages takes in pages of a run. What is known of a later run is left as it is. probing: a host may be probed because of them.
func (e *edit) learnPages(run uint32, probing bool, pages map[uint64][]traps.Page, plds []namedPLD) error {
	for _, pld := range plds {
		m, err := readTraps(e.Reader, e.s.keys, pld.hash)
		if err != nil {
			return err
		}
		if m == nil {
			m = &traps.Memory{}
		}
		if m.Run > run {
			continue
		}
		m.Enter(run)
		m.Probing = probing
		for i := range pages[pld.hash] {
			p := &pages[pld.hash][i]
			p.Via = func() string { return e.viaOf(p.URL) }
		}
		for _, c := range m.Learn(pages[pld.hash]) {
			e.rec.Traps = AddTraps(e.rec.Traps, []ClosedTrap{{pld.name, c.Pattern, c.Evidence}})
		}
		for _, probe := range m.Probes() {
			if err := e.queueProbe(pld, probe); err != nil {
				return err
			}
		}
		if err := e.saveTraps(pld.hash, m); err != nil {
			return err
		}
	}
	return nil
}

// viaOf returns the page on which a URL was found; empty if that is not known.
func (e *edit) viaOf(url string) string {
	u, err := urls.Trusted(url)
	if err != nil {
		return ""
	}
	r, _, err := e.Record(e.s.keys.Record(record.KeyOf(u)))
	if err != nil {
		return ""
	}
	return r.Via
}

// namedPLD is a PLD with its hash.
type namedPLD struct {
	name string
	hash uint64
}

// trapPages are the pages of a commit by their PLDs, in the order of the batch, with the URLs that they led to.
func (now committing) trapPages(rec *crawlRecord, may *committable) (pages map[uint64][]traps.Page, plds []namedPLD, err error) {
	type place struct {
		pld uint64
		at  int
	}
	pages, places := map[uint64][]traps.Page{}, map[string]place{}
	for i := range now.c.Outcomes {
		o := &now.c.Outcomes[i]
		if o.Print == nil || o.Class() != crawl.ClassPage || !o.Success() || traps.IsProbe(o.URL) {
			continue
		}
		if lost, err := may.lost(o.URL); err != nil {
			return nil, nil, err
		} else if lost {
			continue
		}
		u, err := urls.Trusted(o.URL)
		if err != nil {
			return nil, nil, fmt.Errorf("commit %s: %w", o.URL, err)
		}
		name := u.PLD()
		if rec.Definition.IgnoresTraps(name) {
			continue
		}
		shape := traps.ShapeOf(u)
		if shape.In(rec.Definition.OpenPatterns(name)) {
			continue
		}
		pld := record.KeyIn(name, u).PLD
		if pages[pld] == nil {
			plds = append(plds, namedPLD{name, pld})
		}
		places[o.URL] = place{pld, len(pages[pld])}
		pages[pld] = append(pages[pld], traps.Page{URL: o.URL, Shape: shape, Print: o.Print})
	}
	if len(places) == 0 {
		return nil, nil, nil
	}
	credited := map[*offered]string{} // to the page that led to it first
	for i := range now.c.Discoveries {
		d := &now.c.Discoveries[i]
		at, ours := places[d.Via]
		if !ours || crawl.ClassOf(d.Path) != crawl.ClassPage {
			continue
		}
		p, o := &pages[at.pld][at.at], now.of[i]
		p.Links++
		first := credited[o]
		if o != nil && o.looked && (o.known || first != "" && first != d.Via) && o.key.PLD == at.pld {
			p.Lists(d.Via, o.url, o.key.URL)
		}
		if o == nil || !o.looked || o.known || o.form != o.key || first != "" { // another form of a page may be known
			continue
		}
		credited[o] = d.Via
		if o.key.PLD == at.pld {
			p.New = append(p.New, o.url)
		} else if now.c.Others == nil || !now.c.Others(store.PartitionOf(o.key.PLD)) {
			p.Elsewhere = true
		}
	}
	return pages, plds, nil
}

// readTraps reads what is remembered of the PLD's traps, if anything of it is suspicious.
func (c *candidate) readTraps(r store.Reader, keys store.Keys) error {
	if c.plan.IgnoresTraps(c.name) {
		return nil
	}
	c.open = c.plan.OpenPatterns(c.name)
	_, err := r.Get(keys.Traps(c.queue.PLD), func(raw []byte) error {
		if traps.IsQuiet(raw) {
			return nil
		}
		if m := traps.Decode(raw); !m.Quiet() {
			c.traps = m
		}
		return nil
	})
	return err
}

// closes reports whether an entry is of a closed pattern. Seeds and requisites never are, nor what was archived before: it is
// visited again.
func (c *candidate) closes(e *queuedURL) bool {
	if c.traps == nil || crawl.LastHop(e.rec.Path) == crawl.HopSeed || crawl.LastHop(e.rec.Path) == crawl.HopPrereq || crawl.IsRequisite(e.rec.Path) || e.rec.Visit != (crawl.Visit{}) {
		return false
	}
	u, err := urls.Trusted(e.rec.URL)
	if err != nil {
		return false
	}
	shape := traps.ShapeOf(u)
	return !shape.In(c.open) && c.traps.Closes(shape)
}

// suspicion is what the priority of an entry is multiplied with.
func (c *candidate) suspicion(e *queuedURL) float64 {
	if c.traps == nil || crawl.IsRequisite(e.rec.Path) || crawl.LastHop(e.rec.Path) == crawl.HopPrereq {
		return 1
	}
	if u, err := urls.Trusted(e.rec.URL); err == nil {
		if shape := traps.ShapeOf(u); !shape.In(c.open) && c.traps.Suspicious(shape) {
			return traps.Suspicion
		}
	}
	return 1
}

// skipClosed takes the entries of closed patterns out of their queue. The archive's crawl log says so of the first of each pattern.
func (e *edit) skipClosed(c *candidate) error {
	pld := c.queue.PLD
	if len(c.closed) == 0 || e.f.gone(e.s, c.queue) || e.f.held(e.s, pld) || e.f.isMoving(e.transaction, e.s, pld) {
		return nil
	}
	if err := e.touch(e.s, pld); err != nil {
		return err
	}
	m, err := readTraps(e.Reader, e.s.keys, pld)
	if m == nil || err != nil {
		return err
	}
	for _, entry := range c.closed {
		r, found, err := e.Record(e.s.keys.Record(entry.key))
		if err != nil {
			return err
		}
		u, bad := urls.Trusted(entry.rec.URL)
		if bad != nil || !found || r.State != record.Waiting || r.Position != entry.at {
			continue
		}
		shape := traps.ShapeOf(u)
		if shape.In(e.rec.Definition.OpenPatterns(c.name)) { // since it was picked
			continue
		}
		by := m.Skip(shape)
		if by == nil {
			continue
		}
		if err := e.Delete(e.s.keys.Entry(pld, r.Position)); err != nil {
			return err
		}
		e.change(pld).removed++
		old := r
		r.State, r.Run = record.Trapped, e.rec.Run
		e.recount(&old, &r)
		if err := e.Set(e.s.keys.Record(entry.key), r.Encode()); err != nil {
			return err
		}
		if by.Skipped == 1 {
			o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: r.URL, Kind: crawl.OutcomeRefused, Reason: ClosedTrap{c.name, by.Pattern, by.Evidence}.Text(e.rec.Definition.Name)}}
			e.rec.ended(o, e.f.opts.Now())
			if err := e.keepUnfetched(o, r); err != nil {
				return err
			}
		}
	}
	return e.saveTraps(pld, m)
}

// openTraps opens the closed patterns that the definition opens, and all of the PLDs whose traps are to be ignored: their URLs wait again. What is cut off is done by the next change.
func (h Crawl) openTraps(d *crawl.Definition) error {
	for pld := range d.Overrides.PLDs {
		all, some := d.IgnoresTraps(pld), d.OpenPatterns(pld)
		if !all && len(some) == 0 {
			continue
		}
		if err := h.openTrapsOf(pld, all, some); err != nil && !errors.Is(err, ErrMoving) {
			return fmt.Errorf("open the traps of %s: %w", pld, err)
		}
	}
	return nil
}

// openTrapsOf opens all closed patterns of a PLD, or some.
func (h Crawl) openTrapsOf(name string, all bool, some []string) error {
	s, err := h.state()
	if err != nil {
		return err
	}
	u, err := urls.Parse("http://" + name + "/")
	if err != nil {
		return nil
	}
	pld := record.KeyIn(name, u).PLD
	var list []record.Key
	err = h.f.store.View(func(txn store.Reader) error {
		m, err := readTraps(txn, s.keys, pld)
		if err != nil || m == nil || m.Quiet() {
			return err
		}
		return txn.Scan(s.keys.RecordsOf(pld), nil, func(_ store.Key, value []byte) (bool, error) {
			r, err := record.Decode(value)
			if err == nil && r.State == record.Trapped {
				var u urls.URL
				if u, err = urls.Trusted(r.URL); err != nil {
					return true, err
				}
				if shape := traps.ShapeOf(u); all || shape.In(some) {
					list = append(list, record.KeyIn(name, u))
				}
			}
			return true, err
		})
	})
	if err != nil {
		return err
	}
	for part := range slices.Chunk(list, openedAtOnce) {
		if err := h.requeue(s, name, part); err != nil {
			return err
		}
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		e := h.f.edit(tx, s)
		m, err := readTraps(tx.Reader, s.keys, pld)
		if err != nil || m == nil {
			return nil, err
		}
		if all {
			m.Open()
		} else {
			m.OpenPatterns(some)
		}
		e.rec.Traps = slices.DeleteFunc(e.rec.Traps, func(c ClosedTrap) bool { return c.PLD == name && (all || slices.Contains(some, c.Pattern)) })
		return nil, e.saveTraps(pld, m)
	})
}

// requeue lets URLs wait again whose patterns were closed.
func (h Crawl) requeue(s *state, pld string, list []record.Key) error {
	return h.f.update(func(tx *transaction) (func(), error) {
		e := h.f.edit(tx, s)
		for _, k := range list {
			r, found, err := e.Record(s.keys.Record(k))
			if err != nil {
				return nil, err
			}
			if !found || r.State != record.Trapped {
				continue
			}
			priority, err := e.sites.priority(k.PLD, &r, &e.rec.Definition)
			if err != nil {
				return nil, err
			}
			e.change(k.PLD).name = pld
			old := r
			r.Run = e.rec.Run
			e.recount(&old, &r)
			if err := e.enqueue(k, &r, priority, false); err != nil {
				return nil, err
			}
		}
		return e.finish(nil, nil)
	})
}
