package frontier

import (
	"github.com/dgraph-io/badger/v4"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// offered is a discovered URL with all the scores that a batch gave it.
type offered struct {
	key   urlKey
	url   string
	pld   string
	via   urlKey
	path  string
	host  string // of the URL, with tag
	tag   string // tag path of the link on a page of the same host; "" if the bandit has no say
	links []scored
	found string // as it was found
	open  bool   // it waits, or is new
	anew  bool   // the scores take the place of those before
}

// size is how many bytes a record of the URL takes, roughly: what is kept is that of two links.
func (o *offered) size() int {
	kept := 0
	for _, l := range o.links {
		kept = max(kept, 2*len(l.keep)+len(l.parts))
	}
	return len(o.url) + len(o.path) + kept
}

// scored is a link as its page was judged.
type scored struct {
	score float64
	keep  []byte
	parts []byte
}

// gather merges the discoveries of one URL, in the order they came, and leaves out what is not in
// scope: most of a site's links are repeats, and each costs a look into the store.
func gather(bound *scope.Scope, found []crawl.Discovery, anew bool) []*offered {
	byURL := make(map[string]*offered, len(found))
	vias := map[string]urlKey{} // a page has many links
	list := make([]*offered, 0, len(found)/4+1)
	for _, d := range found {
		o, known := byURL[d.URL]
		if !known {
			o = admit(bound, d, vias)
			byURL[d.URL] = o
			if o != nil {
				o.anew, o.found = anew, d.URL
				list = append(list, o)
			}
		}
		if o != nil {
			if o.tag == "" && d.TagPath != "" && urls.HostOf(d.Via) == urls.HostOf(o.url) {
				o.host, o.tag = urls.HostOf(o.url), d.TagPath
			}
			o.links = append(o.links, scored{d.Score, d.Keep, d.Parts})
		}
	}
	return list
}

// admit returns nil for what does not belong to the crawl.
func admit(bound *scope.Scope, d crawl.Discovery, vias map[string]urlKey) *offered {
	u, err := urls.Trusted(d.URL)
	if err != nil {
		return nil
	}
	path := d.Path
	if crawl.LastHop(path) != crawl.HopSeed {
		if _, ok := bound.Check(u, path); !ok {
			return nil
		}
	}
	o := &offered{key: keyOf(u), url: u.String(), pld: u.PLD(), path: scope.Abbreviate(path)}
	via, known := vias[d.Via]
	if !known {
		if u, err := urls.Trusted(d.Via); err == nil {
			via = keyOf(u)
		}
		vias[d.Via] = via
	}
	o.via = via
	return o
}

// change is what an offer does to memory.
type change struct {
	pld     uint64
	name    string
	added   []place
	removed int
	// concluded counts those of the removed that an outcome took out for good, or for a time.
	concluded int
	known     int64
}

// changeOf returns what is to change of a queue.
func changeOf(changes map[uint64]*change, pld uint64) *change {
	c := changes[pld]
	if c == nil {
		c = &change{pld: pld}
		changes[pld] = c
	}
	return c
}

// offer brings one URL into the frontier: new ones are queued, waiting ones get their new priority,
// those done in this run are left alone.
func (f *Frontier) offer(txn *badger.Txn, s *state, rec *crawlRecord, o *offered, learned *sites, changes map[uint64]*change) error {
	key := recordKey(s.id, o.key)
	r, found, err := getRecord(txn, key)
	if err != nil {
		return err
	}
	if found && r.state == stateBanned {
		return nil
	}
	fresh := !found || r.run != rec.Run
	if !fresh && r.state != stateWaiting {
		return nil
	}
	o.open = true
	if o.anew {
		if fresh {
			return nil
		}
		r.scores, r.keep, r.parts, r.also = aggregate{}, nil, nil, nil
	}
	c := changeOf(changes, o.key.pld)
	c.name = o.pld
	queued := found && r.state == stateWaiting
	if fresh {
		old := r
		r = record{run: rec.Run, via: o.via, path: o.path, url: o.url, visit: old.visit, archive: old.archive, place: old.place}
		c.known++
		if o.tag != "" {
			if r.group, err = learned.assign(o.host, o.tag); err != nil {
				return err
			}
		}
	}
	before, kept, also := r.scores, r.keptAt, r.alsoAt
	for _, link := range o.links {
		r.take(link, rec.Definition.Order.Update, learned.whole != nil)
	}
	d := rec.Definition.Order
	priority, err := learned.priority(&r, &rec.Definition)
	if err != nil {
		return err
	}
	if queued && !fresh && !moved(r.place.priority, priority, &rec.Definition) {
		if before.value(d.Update) == r.scores.value(d.Update) && kept == r.keptAt && also == r.alsoAt && lazy(d.Update) {
			return nil // nothing that the order depends on has changed
		}
		r.state = stateWaiting
		return txn.Set(key, r.encode())
	}
	return s.enqueue(txn, rec, o.key, &r, priority, queued, c)
}

// moved tells whether a waiting URL is to be given another place. Where priorities change with all that is learned, small
// changes are not worth the writes.
func moved(from, to uint16, d *crawl.Definition) bool {
	if learns(d) {
		return max(from, to)-min(from, to) > staleBy/4
	}
	return from != to
}

// enqueue puts a URL into its queue at a priority, out of its former place if it is queued already.
func (s *state) enqueue(txn *badger.Txn, rec *crawlRecord, k urlKey, r *record, priority uint16, queued bool, c *change) error {
	if queued {
		if err := txn.Delete(queueKey(s.id, k.pld, r.place)); err != nil {
			return err
		}
		c.removed++
	}
	rec.Counter++
	r.state, r.place = stateWaiting, place{priority, rec.Counter}
	if err := setQueued(txn, s.id, k, r); err != nil {
		return err
	}
	c.added = append(c.added, r.place)
	return nil
}

// lazy tells whether a score that leaves the value as it was may be forgotten.
func lazy(update string) bool { return update == crawl.UpdateMax || update == crawl.UpdateFirst }

func setQueued(txn *badger.Txn, id uint16, k urlKey, r *record) error {
	if err := txn.Set(recordKey(id, k), r.encode()); err != nil {
		return err
	}
	var hash [8]byte
	for i := range hash {
		hash[i] = byte(k.url >> (56 - 8*i))
	}
	return txn.Set(queueKey(id, k.pld, r.place), hash[:])
}

// applyChange brings memory up to date; Frontier.mu is held.
func (f *Frontier) applyChange(s *state, c *change) {
	q := s.queue(c.pld, c.name)
	q.waiting -= c.removed
	s.waiting -= c.removed
	for _, at := range c.added {
		q.added(at)
		s.waiting++
	}
	s.schedule.place(q, f.opts.Now())
}

// Submit offers URLs that no batch found: seeds, and URLs scored elsewhere. It is idempotent by id.
func (f *Frontier) Submit(name, id string, found []crawl.Discovery) error {
	return f.Commit(Commit{Crawl: name, Batch: id, Discoveries: found})
}
