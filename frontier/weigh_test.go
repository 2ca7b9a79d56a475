package frontier

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/queue"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
)

// kinds are links of several kinds, which a learner learns to rank. The kind of a URL is the first segment of its path.
type kinds struct {
	*rig
	taught int
}

func kindOf(url string) string { return strings.Split(url, "/")[3] }

// links makes links of a host, of one kind after the other, as the learner judges them now.
func (k *kinds) links(host string, n int, kinds ...string) (list []crawl.Discovery) {
	p := &order.Page{URL: "http://hub.example/", Text: words("hub"), Score: -1}
	for _, kind := range kinds {
		for i := range n {
			url := fmt.Sprintf("http://%s/%s/%04d.html", host, kind, i)
			p.Links = append(p.Links, order.Link{URL: url, Anchor: words(kind), Name: kind, TagPath: "html/body/div." + kind + "/a"})
		}
	}
	for i, l := range k.Learning().Order().Judge(p, nil).Links {
		list = append(list, crawl.Discovery{URL: p.Links[i].URL, Via: p.URL, Path: "SL", Score: l.Priority, LinkFeatures: l.LinkFeatures})
	}
	return list
}

// teach lets the learner learn from n links of a kind that led to pages with a worth.
func (k *kinds) teach(n int, kind string, worth float64) {
	k.t.Helper()
	k.taught++
	links := k.links(fmt.Sprintf("taught%d.example", k.taught), n, kind)
	k.submit(fmt.Sprint("to teach ", k.taught), links...)
	c := Commit{Batch: fmt.Sprint("taught ", k.taught)}
	for _, l := range links {
		c.Outcomes = append(c.Outcomes, visited(l.URL, worth))
	}
	k.must(k.Commit(c))
}

func visited(url string, worth float64) crawl.PageOutcome {
	views := order.ViewsOf(&order.Page{URL: url, Text: words("hub")})
	return crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: worth, PageFeatures: views.Encode()}
}

// queueEntry is the position of an entry, and the priority that it should have at present.
type queueEntry struct {
	url     string
	at      queue.Position
	now     uint16
	claimed bool
}

// stale reports whether the entry is in a wrong position.
func (s queueEntry) stale() bool {
	return max(s.now, s.at.Priority)-min(s.now, s.at.Priority) > staleBy
}

// queueEntries are the entries of the queues as the store has them, in order.
func (r *rig) queueEntries() (list []queueEntry) {
	r.t.Helper()
	s, _ := r.get(testCrawl)
	places := map[string]bool{}
	r.must(r.store.View(func(txn store.Reader) error {
		bandits := openSites(txn, s.keys, s.learning)
		return txn.Scan(s.keys.All(store.Entries), nil, func(key store.Key, value []byte) (bool, error) {
			e, ok := entryOf(key, value)
			if !ok {
				r.t.Errorf("the queue holds %x → %x", key, value)
				return true, nil
			}
			if found, err := e.read(txn, s.keys); !found || err != nil {
				return false, fmt.Errorf("an entry at %v without a record: %w", e.at, err)
			}
			if e.rec.Position != e.at || places[e.rec.URL] {
				r.t.Errorf("%s stands at %v, its record says %v; twice: %v", e.rec.URL, e.at, e.rec.Position, places[e.rec.URL])
			}
			places[e.rec.URL] = true
			now, err := bandits.priority(key.PLD(), &e.rec, &s.Definition)
			list = append(list, queueEntry{e.rec.URL, e.at, now, s.claims.Holder(e.key.PLD, e.key.URL) != ""})
			return true, err
		})
	}))
	return list
}

// byURL has the priorities of entries by URL.
func byURL(list []queueEntry) map[string]uint16 {
	m := map[string]uint16{}
	for _, s := range list {
		m[s.url] = s.at.Priority
	}
	return m
}

// newMisorderedQueue makes a queue whose first n entries are of the kind "down" and the next n of the kind "up", with a learner that has learned that
// it should be the other way round.
func newMisorderedQueue(t *testing.T, n int, edit func(*crawl.Definition)) *kinds {
	t.Helper()
	k := &kinds{rig: newRig(t, func(d *crawl.Definition) {
		ofRavens(d)
		if edit != nil {
			edit(d)
		}
	})}
	for range 3 {
		k.teach(20, "down", 1)
		k.teach(20, "up", 0)
	}
	k.submit("links", k.links("a.example", n, "down", "up")...)
	for i, s := range k.queueEntries() {
		if s.stale() || kindOf(s.url) != map[bool]string{true: "down", false: "up"}[i < n] {
			t.Fatalf("before, place %d is %+v", i, s)
		}
	}
	before := byURL(k.queueEntries())
	for range 8 {
		k.teach(20, "down", 0)
		k.teach(20, "up", 1)
	}
	for _, s := range k.queueEntries() {
		if s.at.Priority != before[s.url] || !s.stale() || (s.now > s.at.Priority) != (kindOf(s.url) == "up") {
			t.Fatalf("nothing was claimed, and %+v, which stood at %d", s, before[s.url])
		}
	}
	return k
}

// TestWeighedAgain: entries that rose are claimed before entries that fell, after the claims that it takes to weigh the entries before
// them. Once all entries were weighed, all are in the right position.
func TestWeighedAgain(t *testing.T) {
	const n, per = 400, 10
	for _, restart := range []bool{false, true} {
		k := newMisorderedQueue(t, n, func(d *crawl.Definition) { d.Order.PerQueue = per })
		if restart {
			k.reopen()
		}
		const first = 2*n/(sweepTimes*per) + 2 // what fell is met twice at most, where it was and where it went; then what rose
		const enough = 2*2*n/(sweepTimes*per) + 1
		given := map[string]int{}
		for round := 1; round <= enough; round++ {
			batch, lanes := k.take()
			for _, u := range targets(lanes...) {
				if given[kindOf(u)]++; round >= first && kindOf(u) != "up" {
					t.Fatalf("restart %v: claim %d gives %s, though others are worth more", restart, round, u)
				}
			}
			k.finish(batch, lanes)
		}
		if given["up"] < per || given["down"] == 0 {
			t.Errorf("restart %v: given %v", restart, given)
		}
		list := k.queueEntries()
		for i, s := range list {
			if s.stale() || i > 0 && s.now > list[i-1].now+2*staleBy {
				t.Fatalf("restart %v: after %d claims, place %d is %+v", restart, enough, i, s)
			}
		}
		if len(list) != 2*n-given["up"]-given["down"] {
			t.Errorf("restart %v: %d entries are left of %d, given %v", restart, len(list), 2*n, given)
		}
	}
}

// TestHeadGivesWay: entries at the head that fell move behind the next entries that did not fall, even without a sweep.
func TestHeadGivesWay(t *testing.T) {
	k := &kinds{rig: newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.PerQueue = 4 })}
	k.teach(40, "down", 1)
	k.teach(40, "middle", 0.5)
	k.submit("links", k.links("a.example", 12, "down", "middle")...)
	for range 8 {
		k.teach(20, "down", 0)
		k.teach(20, "middle", 0.5)
	}
	_, lanes := k.take()
	got := targets(lanes...)
	if len(got) != 4 || slices.ContainsFunc(got, func(u string) bool { return kindOf(u) != "middle" }) {
		t.Errorf("claimed %q", got)
	}
}

// TestWeighingIsBounded: a claim moves no more entries of a queue than it may weigh, however many are in a wrong position: some at the
// head, and behind it sweepTimes the size of the claim, at most maxSweep.
func TestWeighingIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about size, not about goroutines")
	}
	for _, per := range []int{1, 7, 100} {
		k := newMisorderedQueue(t, 1000, func(d *crawl.Definition) { d.Order.PerQueue = per })
		for round := range 2 {
			before := byURL(k.queueEntries())
			batch, lanes := k.take()
			if got := targets(lanes...); len(got) != per {
				t.Fatalf("%d at a time: claimed %q", per, got)
			}
			moved := 0
			for _, s := range k.queueEntries() {
				if s.at.Priority != before[s.url] {
					moved++
				}
			}
			head, behind := maxStale*per, min(sweepTimes*per, maxSweep)
			// all that is looked at behind the head moves; at the head, what rose stays, and is claimed
			if moved > head+behind || round == 0 && moved != head+behind {
				t.Errorf("%d at a time, claim %d: %d entries move, may be %d and %d", per, round+1, moved, head, behind)
			}
			k.finish(batch, lanes)
		}
	}
}

// TestSweepContinues: the second claim looks at what the first has not.
func TestSweepContinues(t *testing.T) {
	k := newMisorderedQueue(t, 300, func(d *crawl.Definition) { d.Order.PerQueue = 1 })
	movedBy := map[string]int{}
	for round := range 10 {
		before := byURL(k.queueEntries())
		batch, lanes := k.take()
		for _, s := range k.queueEntries() {
			if s.at.Priority != before[s.url] {
				if movedBy[s.url]++; movedBy[s.url] > 1 {
					t.Errorf("claim %d moves %s again, though nothing was learned", round, s.url)
				}
			}
		}
		k.finish(batch, lanes)
	}
	if len(movedBy) < 10*sweepTimes {
		t.Errorf("%d entries are moved by 10 claims", len(movedBy))
	}
}

// TestWeighingNeedsWhatWasKept: URLs without stored features keep their positions.
func TestWeighingNeedsWhatWasKept(t *testing.T) {
	k := &kinds{rig: newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.PerQueue = 2 })}
	var plain []string
	for i := range 30 {
		plain = append(plain, fmt.Sprintf("http://a.example/plain/%d", i))
	}
	k.submit("links", found(0.5, plain...)...)
	before := byURL(k.queueEntries())
	k.teach(40, "plain", 1)
	k.one()
	for _, s := range k.queueEntries() {
		if s.at.Priority != before[s.url] || s.stale() {
			t.Errorf("%+v stood at %d", s, before[s.url])
		}
	}
}

// TestManyQueuesMove: one round claims from many queues, all of whose entries are worth another place.
func TestManyQueuesMove(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about size, not about goroutines")
	}
	const queues, n = 40, 1200
	k := &kinds{rig: newRig(t, ofRavens)}
	k.teach(40, "down", 1)
	for i := range queues {
		k.submit(fmt.Sprint("links ", i), k.links(fmt.Sprintf("www.h%d.example", i), n, "down")...)
	}
	for range 8 {
		k.teach(20, "down", 0)
	}
	round, err := k.Claim(t.Context(), k.want())
	if err != nil || len(round.Claims) != queues {
		t.Errorf("%d of %d queues are claimed from: %v", len(round.Claims), queues, err)
	}
}

// TestURLsThatAreLongMove: a round moves no more than fits into a transaction, however long the URLs are.
func TestURLsThatAreLongMove(t *testing.T) {
	if testing.Short() {
		t.Skip("it is about size, not about goroutines")
	}
	const queues, n, length = 20, 400, 2000
	k := &kinds{rig: newRig(t, ofRavens)}
	k.roomy()
	k.teach(40, "down", 1)
	for i := range queues {
		links := k.links(fmt.Sprintf("www.h%d.example", i), n, "down")
		for j := range links {
			links[j].URL += "?" + strings.Repeat("x", length)
		}
		k.submit(fmt.Sprint("links ", i), links...)
	}
	for range 8 {
		k.teach(20, "down", 0)
	}
	stale := func() (n int) {
		for _, s := range k.queueEntries() {
			if s.stale() {
				n++
			}
		}
		return n
	}
	before := stale()
	round, err := k.Claim(t.Context(), k.want())
	if err != nil || len(round.Claims) != queues {
		t.Fatalf("%d of %d queues are claimed from: %v", len(round.Claims), queues, err)
	}
	if after := stale(); before < queues*n/2 || after >= before || (before-after)*length > maxMoved {
		t.Errorf("%d entries stood in wrong places, %d do after a round", before, after)
	}
}

// TestMovedMeanwhile: entries that a claim has found in a wrong position are fetched or moved by others before the claim is made. They
// do not come back, and are not in the queue twice.
func TestMovedMeanwhile(t *testing.T) {
	const n = 80
	k := newMisorderedQueue(t, n, func(d *crawl.Definition) { d.Order.PerQueue = 3 })
	gone, risen := map[string]bool{}, ""
	late := Commit{Batch: "late", Discoveries: k.links("a.example", n, "down", "up")[n/2 : n]}
	var waiting []string
	for i, s := range k.queueEntries() {
		if i%3 == 0 {
			gone[s.url] = true
			late.Outcomes = append(late.Outcomes, done(s.url))
		} else {
			waiting = append(waiting, s.url)
			if i == n/2 {
				risen = s.url // it gets what was kept with a link that rose, and is found worth less before
			}
		}
	}
	another := k.links("a.example", 1, "up")
	another[0].URL = risen
	want := k.want()
	resolve := want.Resolve
	want.Resolve = func(ctx context.Context, host string) (string, error) {
		k.must(k.Commit(late))
		k.must(k.Commit(Commit{Batch: "rescored", Rescore: true, Discoveries: another}))
		return resolve(ctx, host)
	}
	round, err := k.Claim(t.Context(), want)
	k.must(err)
	if len(round.Claims) != 1 {
		t.Fatalf("%+v", round)
	}
	var left []string
	for _, s := range k.queueEntries() {
		if left = append(left, s.url); gone[s.url] {
			t.Errorf("%s was fetched, and is back in its queue", s.url)
		}
		if s.url == risen && s.stale() {
			t.Errorf("what was scored again is put back: %+v", s)
		}
	}
	slices.Sort(waiting)
	if slices.Sort(left); !slices.Equal(left, waiting) {
		t.Errorf("%d entries are left, want %d", len(left), len(waiting))
	}
	if s := k.status(); s.Waiting+s.Claimed < len(waiting) || s.Totals.Pages != int64(len(gone)+2*3*20+2*8*20) {
		t.Errorf("%d should wait, and %d are done here: %+v", len(waiting), len(gone), s)
	}
	batch := k.start(round.Claims...)
	lanes, err := k.Batch(batch).Reopen(round.Claims, nil)
	k.must(err)
	for _, u := range targets(lanes...) {
		if gone[u] {
			t.Errorf("%s was fetched, and is given again", u)
		}
	}
}

// TestEachURLOnce: whatever is learned between claims and however entries move, each URL is claimed once, and never by two batches at a
// time.
func TestEachURLOnce(t *testing.T) {
	seeds := uint64(4)
	if testing.Short() {
		seeds = 2
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			eachURLOnce(t, rand.New(rand.NewPCG(seed, 3)))
		})
	}
}

func eachURLOnce(t *testing.T, random *rand.Rand) {
	updates := []string{crawl.UpdateFirst, crawl.UpdateLast, crawl.UpdateAvg, crawl.UpdateMax, crawl.UpdateSum}
	k := &kinds{rig: newRig(t, func(d *crawl.Definition) {
		ofRavens(d)
		d.Order.PerQueue, d.Order.Update = 1+random.IntN(6), updates[random.IntN(len(updates))]
	})}
	names := []string{"ravens", "crows", "soups", "pots"}
	var all []crawl.Discovery
	for i := range 3 {
		all = append(all, k.links(fmt.Sprintf("h%d.example", i), 15, names...)...)
	}
	k.submit("all", all...)
	type batch struct {
		name  string
		lanes []OpenClaim
	}
	var open []batch
	out, given, moved, n := map[string]bool{}, map[string]int{}, 0, 0
	learn := func() { k.teach(1+random.IntN(15), names[random.IntN(len(names))], float64(random.IntN(2))) }
	drained := false
	for step := 0; !drained; step++ {
		if step > 3000 {
			t.Fatalf("after %d steps %d of %d URLs were given: %+v", step, len(given), len(all), k.status())
		}
		switch random.IntN(8) {
		case 0, 1, 2:
			before := byURL(k.queueEntries())
			name, lanes := k.take()
			for _, s := range k.queueEntries() {
				if s.at.Priority != before[s.url] {
					moved++
				}
			}
			for _, u := range targets(lanes...) {
				if out[u] || given[u] > 0 {
					t.Fatalf("step %d: %s is given to %s, though it is in progress (%v) or done", step, u, name, out[u])
				}
				out[u] = true
			}
			if name != "" {
				open = append(open, batch{name, lanes})
			}
		case 3, 4: // a batch ends, and teaches
			if len(open) == 0 {
				continue
			}
			b := open[0]
			open = open[1:]
			c := Commit{Batch: b.name}
			for _, u := range targets(b.lanes...) {
				c.Outcomes = append(c.Outcomes, visited(u, float64(random.IntN(2))))
				delete(out, u)
				given[u]++
			}
			for range 1 + random.IntN(4) { // links that are known already
				c.Discoveries = append(c.Discoveries, all[random.IntN(len(all))])
			}
			for _, l := range b.lanes {
				k.must(k.endLane(l.ID, k.clock.Now(), false))
			}
			k.must(k.Commit(c))
		case 5:
			learn()
		case 6: // a batch fails
			if len(open) == 0 || random.IntN(3) > 0 {
				continue
			}
			b := open[0]
			open = open[1:]
			k.must(k.Batch(b.name).GiveBack(k.clock.Now()))
			for _, u := range targets(b.lanes...) {
				delete(out, u)
			}
		case 7:
			if n++; n%4 == 0 {
				before := asJSON(k.status())
				k.reopen()
				if after := asJSON(k.status()); after != before {
					t.Fatalf("step %d: the status\n%s became\n%s", step, before, after)
				}
			}
			k.clock.pass(1e9)
		}
		k.queueEntries() // checks queue and records against each other
		if len(open) == 0 {
			round := k.next()
			k.confirm(round)
			drained = round.Drained
			for _, c := range round.Claims {
				name := k.start(c)
				lanes, err := k.Batch(name).Reopen([]Claim{c}, nil)
				k.must(err)
				for _, u := range targets(lanes...) {
					out[u] = true
				}
				open = append(open, batch{name, lanes})
			}
		}
	}
	for _, l := range all {
		if given[l.URL] != 1 {
			t.Errorf("%s was given %d times", l.URL, given[l.URL])
		}
	}
	if len(given) != len(all) || moved < 20 {
		t.Errorf("%d of %d URLs were given, %d entries moved", len(given), len(all), moved)
	}
	if s := k.status(); s.Waiting != 0 || s.Claimed != 0 {
		t.Errorf("%+v", s)
	}
}
