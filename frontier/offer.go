package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// offered is a discovered URL with all the scores that a batch gave it.
type offered struct {
	key     record.Key
	form    record.Key // of the canonical form of the URL
	url     string
	pld     string
	via     string
	path    string
	host    string // of the URL, with tag
	tag     string // tag path of the link on a page of the same host; "" if the bandit has no say
	links   []record.Link
	linked  *offered // as an ordinary link, of a requisite that pages link to as well
	fresh   bool     // it was not known in this run
	replace bool     // the scores take the place of those before
	again   bool     // a recrawl offers it: an earlier run has asked for it

	was           record.Record // as look has found it
	known, looked bool
}

// requisite reports whether a page needs it to be shown.
func (o *offered) requisite() bool { return crawl.IsRequisite(o.path) }

// isSeed reports whether somebody has named the URL: it was found on no page.
func (o *offered) isSeed() bool { return o.via == "" && o.path == crawl.HopSeed.String() }

// size is how many bytes a record of the URL takes, roughly: what is kept is that of two links.
func (o *offered) size() int {
	kept := 0
	for _, l := range o.links {
		kept = max(kept, 2*len(l.Features)+len(l.Parts))
	}
	return len(o.url) + len(o.path) + len(o.via) + kept
}

// gather merges the discoveries of one URL, in the order they came, and leaves out what is not in
// scope: most of a site's links are repeats, and each costs a look into the store. of has the URL of each discovery, nil if it is
// out of scope.
func gather(bound *scope.Scope, found []crawl.Discovery, replace bool) (list, of []*offered) {
	byURL := make(map[string]*offered, len(found))
	refused := map[string]string{} // by URL: the path by which it was
	vias := map[string]string{}    // a page has many links
	list, of = make([]*offered, 0, len(found)/4+1), make([]*offered, len(found))
	for i := range found {
		d := &found[i]
		o, requisite := byURL[d.URL], crawl.IsRequisite(d.Path)
		switch {
		case o == nil:
			if path, before := refused[d.URL]; before && path == d.Path && !bound.ByLink() {
				break
			}
			if o = admit(bound, d, vias); o != nil {
				o.replace = replace
				byURL[d.URL], list = o, append(list, o)
			} else {
				refused[d.URL] = d.Path
			}
		case requisite != o.requisite() && o.linked == nil:
			if o.linked = admit(bound, d, vias); o.linked != nil && requisite { // what a page needs is that, though pages link to it as well
				o.path, o.via, o.linked.path, o.linked.via = o.linked.path, o.linked.via, o.path, o.via
			}
		}
		of[i] = o
		if o != nil {
			if o.tag == "" && d.TagPath != "" && urls.HostOf(d.Via) == urls.HostOf(o.url) {
				o.host, o.tag = urls.HostOf(o.url), d.TagPath
			}
			o.links = append(o.links, record.Link{Score: d.Score, Features: d.LinkFeatures, Parts: d.Parts})
		}
	}
	return list, of
}

// admit returns nil for what does not belong to the crawl.
func admit(bound *scope.Scope, d *crawl.Discovery, vias map[string]string) *offered {
	u, err := urls.Trusted(d.URL)
	if err != nil {
		return nil
	}
	if crawl.LastHop(d.Path) != crawl.HopSeed && !bound.Check(linkOf(u, d)).InScope {
		return nil
	}
	pld := u.PLD()
	path := d.Path
	if !d.Known {
		path = bound.MarkPath(u, path)
	}
	key := record.KeyIn(pld, u)
	form := key
	if c := bound.Canonical(u); c != u {
		form = record.KeyIn(pld, c)
	}
	o := &offered{key: key, form: form, url: u.String(), pld: pld, path: scope.Abbreviate(path), again: d.Known}
	via, known := vias[d.Via]
	if !known {
		if u, err := urls.Trusted(d.Via); err == nil {
			via = u.String()
		}
		vias[d.Via] = via
	}
	o.via = via
	return o
}

// linkOf is a discovery as the scope judges it.
func linkOf(u urls.URL, d *crawl.Discovery) scope.Link {
	l := scope.Link{URL: u, Path: d.Path, Score: d.Score, ViaLanguage: d.Language, Marked: d.Known}
	if !d.Known { // of what is known the language of the page that linked to it is not known any more
		l.ViaLanguage = cmp.Or(d.Language, crawl.LanguageUnknown)
	}
	return l
}

// look reads the records of URLs in the order of their keys, before they are offered in theirs: neighbours stand in the same places of memory and
// disk. Of two with one key the second is read when it is offered, for the first may have changed the record.
func (e *edit) look(links []*offered) (err error) {
	sorted := slices.Clone(links)
	slices.SortStableFunc(sorted, func(a, b *offered) int {
		return cmp.Or(cmp.Compare(a.key.PLD, b.key.PLD), cmp.Compare(a.key.URL, b.key.URL))
	})
	for i, o := range sorted {
		if o.looked = i == 0 || o.key != sorted[i-1].key; !o.looked {
			continue
		}
		if o.was, o.known, err = e.Record(e.s.keys.Record(o.key)); err != nil {
			return err
		}
	}
	return nil
}

// offer brings one URL into the frontier: new ones are queued, waiting ones get their new priority,
// those done in this run are left alone.
func (e *edit) offer(o *offered) error {
	r, found, err := e.resolve(o)
	if err != nil || found && (r.State == record.Banned || r.State == record.Same) {
		return err
	}
	key, rec := e.s.keys.Record(o.key), e.rec
	fresh := !found || r.Run != rec.Run || r.State == record.Trapped && crawl.LastHop(o.path) == crawl.HopSeed
	if !fresh && r.State != record.Waiting || found && fresh && !o.isSeed() && !rec.asksFor(&r) {
		return e.embed(o, &r)
	}
	if !o.again && !e.admitRequisite(o, fresh, &r) {
		if o.linked == nil {
			return nil
		}
		o.path, o.via = o.linked.path, o.linked.via
	}
	o.fresh = fresh
	unembedded := fresh || r.Scores.Count == 0
	if o.replace {
		if fresh {
			return nil
		}
		r.Scores, r.Features, r.Parts, r.OtherFeatures = record.Scores{}, nil, nil, nil
	}
	c := e.change(o.key.PLD)
	c.name = o.pld
	queued := found && r.State == record.Waiting
	if fresh {
		old := r
		r = record.Record{Run: rec.Run, Via: o.via, Path: o.path, URL: o.url, Visit: old.Visit, Archive: old.Archive, Recheck: old.Recheck, Position: old.Position}
		e.recount(&old, &r)
		class := crawl.ClassOf(o.path)
		if o.again && class == crawl.ClassPage {
			e.rec.Again++
		}
		if o.again || old.Visit != (crawl.Visit{}) {
			e.rec.Former.count(class, 1, 0)
		}
		if o.tag != "" {
			if r.Group, err = e.sites.assign(siteOf{o.key.PLD, o.host}, o.tag); err != nil {
				return err
			}
		}
	}
	if !fresh && o.requisite() && !crawl.IsRequisite(r.Path) && crawl.LastHop(r.Path) != crawl.HopSeed {
		old := r
		r.Path, r.Via = o.path, o.via
		e.recount(&old, &r)
	}
	before, kept, also := r.Scores, r.FeaturesScore, r.OtherScore
	if unembedded {
		r.Scores = record.Scores{}
	}
	for _, link := range o.links {
		r.Add(link, rec.Definition.Order.Update, e.sites.learner != nil)
	}
	if unembedded {
		r.Scores, r.Via = o.first(&r)
	}
	d := rec.Definition.Order
	priority, err := e.sites.priority(o.key.PLD, &r, &rec.Definition)
	if err != nil {
		return err
	}
	if queued && !fresh && !moved(r.Position.Priority, priority, &rec.Definition) {
		if before.Value(d.Update) == r.Scores.Value(d.Update) && (before.Count == 0) == (r.Scores.Count == 0) && kept == r.FeaturesScore && also == r.OtherScore && lazy(d.Update) {
			return nil // nothing that the order depends on has changed
		}
		r.State = record.Waiting
		return e.Set(key, r.Encode())
	}
	return e.enqueue(o.key, &r, priority, queued)
}

// embeds reports whether the discovery says that a page embeds the URL, or probably does. A recrawl does not know it.
func (o *offered) embeds() bool { return !o.again && crawl.ClassOf(o.path) != crawl.ClassPage }

// first are the scores and the via of a URL after its first links in a run. While no page has embedded a requisite that a recrawl has offered, none of its links counts:
// see state.unembedded.
func (o *offered) first(r *record.Record) (record.Scores, string) {
	switch scores := r.Scores; {
	case crawl.ClassOf(r.Path) == crawl.ClassPage:
		return scores, r.Via
	case o.embeds():
		return scores, o.via
	default:
		scores.Count = 0
		return scores, r.Via
	}
}

// embed notes that a page embeds what this run does not ask for any more, or not yet, if a recrawl alone has offered it so far.
func (e *edit) embed(o *offered, r *record.Record) error {
	if !o.embeds() || r.Scores.Count > 0 || crawl.ClassOf(r.Path) == crawl.ClassPage {
		return nil
	}
	r.Scores, r.Via = record.Scores{}, o.via
	for _, link := range o.links {
		r.Scores.Add(link.Score)
	}
	return e.Set(e.s.keys.Record(o.key), r.Encode())
}

// admitRequisite reports whether the budget of requisites has room for an offered URL, if it is one or probably one. They are bounded on the average of the
// pages; a worker of a crawl that is spread has those of pages of others, and goes by the budget of pages. Where known pages are asked for again, their number
// stands for the pages: their requisites come before them, and what earlier runs have fetched takes no room: else a site whose pages embed other files in each run would have none for
// new ones. What is probably a requisite has what the requisites
// leave. What waits, and what seeds need, is not left out, nor what a recrawl offers, which an earlier run has admitted.
func (e *edit) admitRequisite(o *offered, fresh bool, r *record.Record) bool {
	b, t, class := e.rec.Definition.Budget, &e.rec.Totals, crawl.ClassOf(o.path)
	if class == crawl.ClassPage || !fresh && (class == crawl.ClassSpeculative || crawl.IsRequisite(r.Path)) {
		return true
	}
	former := &e.rec.Former
	urls, bytes := t.Requisites-former.Requisites, t.RequisiteBytes-former.RequisiteBytes
	if class == crawl.ClassSpeculative {
		urls, bytes = urls+t.Speculative-former.Speculative, bytes+t.SpeculativeBytes-former.SpeculativeBytes
	}
	room := func(pages int64) bool {
		return urls/pages < b.MaxRequisites() && bytes/pages < b.MaxRequisiteBytes()
	}
	if e.rec.Definition.Spread && room(b.Pages) || room(max(t.Pages, e.rec.Again)+1) || room(t.Pages+1+e.inProgress()) {
		return true
	}
	if class == crawl.ClassRequisite {
		t.RequisitesCut++
	}
	return false
}

// inProgress is how many URLs of the crawl are in progress that may become pages.
func (e *edit) inProgress() int64 {
	e.f.mu.Lock()
	defer e.f.mu.Unlock()
	return int64(e.s.claims.Pages())
}

// resolve finds the record of the page that a URL is of: its own, or that of the first URL with its canonical form, whose key and text the offer gets then. A new
// URL whose canonical form is another is noted under that.
func (e *edit) resolve(o *offered) (r record.Record, found bool, err error) {
	r, found = o.was, o.known
	if !o.looked || e.resolved[o.key] {
		r, found, err = e.Record(e.s.keys.Record(o.key))
	}
	if err != nil || found && r.State != record.Same {
		return r, found, err
	}
	first, noted := r, found
	if !noted {
		if o.form == o.key {
			return r, false, nil
		}
		if first, noted, err = e.Record(e.s.keys.Record(o.form)); err != nil {
			return r, false, err
		}
		if !noted {
			note := record.Record{State: record.Same, Run: e.rec.Run, URL: o.url}
			e.touchResolved(o.form)
			return r, false, e.Set(e.s.keys.Record(o.form), note.Encode())
		}
	}
	o.key = o.form
	if first.State == record.Same {
		u, err := urls.Trusted(first.URL)
		if err != nil {
			return r, false, err
		}
		o.key = record.KeyOf(u)
		if first, noted, err = e.Record(e.s.keys.Record(o.key)); err != nil {
			return r, false, err
		}
		if !noted {
			first = record.Record{URL: u.String()}
		}
	}
	o.url = first.URL
	e.touchResolved(o.key)
	return first, noted, nil
}

// touchResolved notes that a record is changed by the offer of another URL.
func (e *edit) touchResolved(k record.Key) {
	if e.resolved == nil {
		e.resolved = map[record.Key]bool{}
	}
	e.resolved[k] = true
}

// moved reports whether a waiting URL is to be given another position. Where priorities change with all that is learned, small
// changes do not justify the writes.
func moved(from, to uint16, d *crawl.Definition) bool {
	if learns(d) {
		return max(from, to)-min(from, to) > staleBy/4
	}
	return from != to
}

// enqueue puts a URL into its queue at a priority, out of its former place if it is queued already.
func (e *edit) enqueue(k record.Key, r *record.Record, priority uint16, queued bool) error {
	if e.f.isMoving(e.transaction, e.s, k.PLD) {
		return fmt.Errorf("%s: %w", r.URL, ErrMoving)
	}
	c := e.change(k.PLD)
	if queued {
		if err := e.Delete(e.s.keys.Entry(k.PLD, r.Position)); err != nil {
			return err
		}
		c.remove(r.Position)
	}
	e.rec.Counter++
	r.State, r.Position = record.Waiting, queue.Position{Priority: priority, Counter: e.rec.Counter}
	if err := e.SetWaiting(e.s.keys, k, r); err != nil {
		return err
	}
	c.added = append(c.added, r.Position)
	return nil
}

// lazy reports whether a score that leaves the value as it was may be forgotten.
func lazy(update string) bool { return update == crawl.UpdateMax || update == crawl.UpdateFirst }

// partID names a part of what is offered by the URLs in it.
func partID(id string, found []crawl.Discovery) string {
	sum := xxhash.New()
	for i := range found {
		_, _ = sum.WriteString(found[i].URL + "\n")
	}
	return fmt.Sprintf("%s/%x", id, sum.Sum64())
}

// Offer offers URLs that no batch found: seeds, and URLs scored elsewhere. It is idempotent by id.
//
// Of a crawl that is spread, each worker is offered all: it leaves those out whose partition is another worker's. The error is ring.ErrNotNow, and not
// ErrUndelivered, while a partition is handed over: nobody delivers what no batch has found, so it is to be offered again.
func (h URLs) Offer(id string, found []crawl.Discovery) error {
	others, err := Crawl(h).others(false)
	if err != nil {
		return err
	}
	err = Crawl(h).Commit(Commit{Batch: id, Discoveries: found, Others: others})
	if errors.Is(err, ErrUndelivered) {
		return fmt.Errorf("%w: %s", ring.ErrNotNow, err.Error())
	}
	return err
}
