package frontier

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// ofRavens makes a crawl learn.
func ofRavens(d *crawl.Definition) {
	d.Topic.Keywords, d.Order.Strategy, d.Budget.Pages = []string{"raven"}, crawl.StrategyFused, 1e6
}

// words counts the words of a text.
func words(list string) text.HashedVector {
	counts := map[string]float64{}
	for _, w := range strings.Fields(list) {
		counts[w]++
	}
	return text.NewHashedVector(counts)
}

// pageAt writes a page of the topic, or of another.
func pageAt(url string, ravens bool) *order.Page {
	text := "soup pot water onion salt nest"
	if ravens {
		text = "raven crow feather wing beak nest"
	}
	return &order.Page{URL: url, Title: words(text[:5]), Text: words(text + " " + url), Score: -1}
}

// examples are pages of the topic as Teach takes them.
func examples(n int) (list [][]byte) {
	for i := range n {
		views := order.ViewsOf(pageAt(fmt.Sprintf("http://example.example/birds/%d", i), true))
		list = append(list, views.Encode())
	}
	return list
}

// commitList is a crawl of an invented web as a list of commits. A separate learner judges its pages, so that the commits are the same for
// every frontier.
type commitList struct {
	seeds   []crawl.Discovery
	commits []Commit
	visits  []int    // which each of them teaches
	kept    [][]byte // with links
}

// listCommits makes n commits of k pages. Most links of relevant pages lead to relevant pages; one page in eleven is gone.
func listCommits(n, k int) *commitList {
	random := rand.New(rand.NewPCG(7, 7))
	by := order.NewFused(nil, order.DefaultSettings())
	by.Teach(order.DecodeViews(examples(5)))
	c, ravens, kept := &commitList{}, map[int]bool{}, map[int][]byte{}
	url := func(i int) string {
		kind := "soups"
		if ravens[i] {
			kind = "birds"
		}
		return fmt.Sprintf("http://h%d.example/%s/%d.html", i%3, kind, i)
	}
	for i := range k {
		ravens[i] = i%3 == 0
		c.seeds = append(c.seeds, crawl.Discovery{URL: url(i), Path: "S", Score: 1})
	}
	for b := range n {
		commit, visits := Commit{Batch: fmt.Sprint("course-", b)}, 0
		for i := b * k; i < (b+1)*k; i++ {
			p := pageAt(url(i), ravens[i])
			for child := k + 3*i; child < k+3*i+3; child++ {
				if ravens[child] = random.IntN(6) == 0; ravens[i] {
					ravens[child] = random.IntN(3) > 0
				}
				l := order.Link{URL: url(child), Anchor: words("soup " + fmt.Sprint(child)), Name: "Soup", TagPath: "html/body/div/a"}
				if ravens[child] {
					l.Anchor, l.Name, l.TagPath = words("raven "+fmt.Sprint(child)), "Raven", "html/body/h2/a"
				}
				p.Links = append(p.Links, l)
			}
			judged := by.Judge(p, nil)
			o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: p.URL, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: judged.Worth, PageFeatures: judged.PageFeatures}
			if i%11 == 10 {
				o.Status = 404
			} else {
				visits++
				v := order.Visit{PageFeatures: judged.PageFeatures, Worth: judged.Worth}
				if kept[i] != nil {
					v.LinkFeatures = [][]byte{kept[i]}
				}
				by.Learn(v)
			}
			commit.Outcomes = append(commit.Outcomes, o)
			for j, l := range judged.Links {
				kept[k+3*i+j] = l.LinkFeatures
				c.kept = append(c.kept, l.LinkFeatures)
				commit.Discoveries = append(commit.Discoveries, crawl.Discovery{URL: p.Links[j].URL, Via: p.URL, Path: "SL", Score: l.Priority, LinkFeatures: l.LinkFeatures})
			}
		}
		c.commits, c.visits = append(c.commits, commit), append(c.visits, visits)
	}
	return c
}

// judgements are the state of a learner as its answers show it: its priorities of stored links, and its judgements of pages.
func (c *commitList) judgements(o *order.Fused) (bits []uint64) {
	for _, keep := range c.kept[:min(len(c.kept), 300)] {
		bits = append(bits, math.Float64bits(o.Priority(keep)), math.Float64bits(o.Expect(keep)))
	}
	for _, ravens := range []bool{true, false} {
		bits = append(bits, math.Float64bits(o.Judge(pageAt("http://probe.example/1.html", ravens), nil).Worth))
	}
	return bits
}

// judgements are those of the learner of a rig.
func (r *rig) judgements(c *commitList) []uint64 {
	r.t.Helper()
	o := r.Learning().Order()
	if o == nil {
		r.t.Fatal("the crawl does not learn")
	}
	return c.judgements(o)
}

// judgementsUntrained are those of a learner that has learned nothing.
func (c *commitList) judgementsUntrained() []uint64 {
	s := order.DefaultSettings()
	s.Seed, s.Enough = definition(ofRavens).Order.Seed, definition(ofRavens).Topic.Threshold
	return c.judgements(order.NewFused(nil, s))
}

// learned is a learner's data on disk: the numbers of its updates, its snapshot, and the keys of the parts of snapshots.
func (r *rig) learned() (updates []uint64, snapshot store.Parts, parts [][]byte) {
	r.t.Helper()
	r.must(r.store.View(func(txn store.Reader) error {
		keys := r.crawls[testCrawl].keys
		var err error
		snapshot, err = txn.PartsUnder(keys.All(store.Snapshots))
		return errors.Join(err,
			txn.Keys(keys.All(store.Updates), func(key store.Key) (bool, error) {
				updates = append(updates, key.Number())
				return true, nil
			}),
			txn.Keys(append(keys.All(store.Snapshots), 'p'), func(key store.Key) (bool, error) {
				parts = append(parts, slices.Clone(key))
				return true, nil
			}))
	}))
	return updates, snapshot, parts
}

// updateOf reads one of the updates on disk.
func (r *rig) updateOf(seq uint64) (l learner.Update) {
	r.t.Helper()
	r.must(r.store.View(func(txn store.Reader) error {
		found, err := txn.Get(r.crawls[testCrawl].keys.Update(seq), func(raw []byte) error { return codec.Unmarshal(raw, &l) })
		if err == nil && !found {
			err = fmt.Errorf("there is no update %d", seq)
		}
		return err
	}))
	return l
}

// snapshotAfter waits for a snapshot of later updates.
func (r *rig) snapshotAfter(after uint64) (snapshot store.Parts) {
	r.t.Helper()
	late := time.After(2 * time.Minute)
	for {
		r.mu.Lock()
		changed := r.changed
		r.mu.Unlock()
		if _, snapshot, _ = r.learned(); snapshot.Number > after {
			return snapshot
		}
		select {
		case <-changed:
		case <-late:
			r.t.Fatalf("after two minutes the snapshot is of update %d still", snapshot.Number)
		}
	}
}

// TestLearnerSurvives: a learner with a restart after each commit learns the same as one without, bit by bit, and learns something
// from each commit. There are too few visits for a snapshot.
func TestLearnerSurvives(t *testing.T) {
	c := listCommits(12, 10)
	still, restless := newRig(t, ofRavens), newRig(t, ofRavens)
	before := still.judgements(c)
	if !slices.Equal(before, c.judgementsUntrained()) {
		t.Error("a new learner knows something")
	}
	for _, r := range []*rig{still, restless} {
		r.submit("seeds", c.seeds...)
	}
	check := func(what string) {
		t.Helper()
		now := still.judgements(c)
		if slices.Equal(now, before) {
			t.Fatalf("%s teaches nothing", what)
		}
		before = now
		if !slices.Equal(restless.judgements(c), now) {
			t.Fatalf("%s teaches another thing after restarts", what)
		}
		restless.reopen()
		if !slices.Equal(restless.judgements(c), now) {
			t.Fatalf("what %s taught is another thing after a restart", what)
		}
	}
	for i, commit := range c.commits {
		for _, r := range []*rig{still, restless} {
			r.must(r.Commit(commit))
		}
		check(commit.Batch)
		if i == 4 || i == 8 {
			for _, r := range []*rig{still, restless} {
				r.must(r.Learning().Teach(nil, examples(i)))
			}
			check(fmt.Sprintf("%d examples", i))
		}
	}
	if updates, snapshot, _ := restless.learned(); len(updates) != len(c.commits)+2 || snapshot != (store.Parts{}) {
		t.Errorf("updates %v, snapshot %+v", updates, snapshot)
	}
}

// TestLearnerSurvivesSnapshots: a snapshot replaces its updates and the former snapshot, and restores the same state.
func TestLearnerSurvivesSnapshots(t *testing.T) {
	c := listCommits(48, 50)
	still, restless := newRig(t, ofRavens), newRig(t, ofRavens)
	for _, r := range []*rig{still, restless} {
		r.submit("seeds", c.seeds...)
	}
	restless.must(restless.update(func(tx *transaction) (func(), error) { // left by a process that was killed
		return nil, tx.SetPart(restless.crawls[testCrawl].keys.All(store.Snapshots), 3, 0, []byte("what no snapshot holds"))
	}))
	visits, snapshots, last := 0, 0, store.Parts{}
	for i, commit := range c.commits {
		for _, r := range []*rig{still, restless} {
			r.must(r.Commit(commit))
		}
		if visits += c.visits[i]; visits >= testSnapshot {
			visits, last = 0, restless.snapshotAfter(last.Number)
			snapshots++
		}
		updates, snapshot, parts := restless.learned()
		if snapshot != last || len(updates) != i+1-int(snapshot.Number) || len(updates) > 0 && updates[0] != snapshot.Number+1 {
			t.Fatalf("%s: updates %v beside the snapshot %+v, want %+v", commit.Batch, updates, snapshot, last)
		}
		if snapshots > 0 && len(parts) != snapshot.Parts || snapshot.Parts == 0 && len(parts) != 1 {
			t.Fatalf("%s: parts of snapshots %q, of the present %d", commit.Batch, parts, snapshot.Parts)
		}
		if i%5 == 0 || visits == 0 {
			restless.reopen()
			if !slices.Equal(still.judgements(c), restless.judgements(c)) {
				t.Fatalf("%s: another thing after a restart, with the snapshot %+v and %d updates", commit.Batch, snapshot, len(updates))
			}
		}
	}
	if snapshots != 2 {
		t.Fatalf("%d snapshots", snapshots)
	}
	if !slices.Equal(still.judgements(c), restless.judgements(c)) {
		t.Error("another thing in the end")
	}
}

// TestLearnerLearnsDuringSnapshot: updates that come in while the snapshot is written are not lost.
func TestLearnerLearnsDuringSnapshot(t *testing.T) {
	c := listCommits(30, 50)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	for _, commit := range c.commits {
		r.must(r.Commit(commit))
	}
	snapshot := r.snapshotAfter(0)
	updates, _, _ := r.learned()
	if len(updates) != len(c.commits)-int(snapshot.Number) {
		t.Errorf("updates %v beside the snapshot %+v", updates, snapshot)
	}
	before := r.judgements(c)
	r.reopen()
	if !slices.Equal(before, r.judgements(c)) {
		t.Errorf("another thing after a restart, with the snapshot %+v and %d updates", snapshot, len(updates))
	}
}

// TestDamagedSnapshot: a frontier opens although its snapshot cannot be read, and learns from later commits.
func TestDamagedSnapshot(t *testing.T) {
	c := listCommits(25, 50)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	for _, commit := range c.commits[:23] {
		r.must(r.Commit(commit))
	}
	snapshot := r.snapshotAfter(0)
	r.must(r.update(func(tx *transaction) (func(), error) {
		return nil, tx.SetPart(r.crawls[testCrawl].keys.All(store.Snapshots), snapshot.Number, 0, []byte("no snapshot"))
	}))
	sound := r.judgements(c)
	r.reopen()
	damaged := r.judgements(c)
	if slices.Equal(damaged, sound) {
		t.Fatal("the snapshot was not needed")
	}
	r.must(r.Commit(c.commits[23]))
	now := r.judgements(c)
	if slices.Equal(now, damaged) {
		t.Error("nothing is learned any more")
	}
	r.reopen()
	if !slices.Equal(now, r.judgements(c)) {
		t.Error("another thing after a further restart")
	}
}

// TestUpdateTwice: nothing is learned from a repeated commit, whether it is repeated at once, at the same time or after a restart.
func TestUpdateTwice(t *testing.T) {
	c := listCommits(5, 10)
	once, often := newRig(t, ofRavens), newRig(t, ofRavens)
	for _, r := range []*rig{once, often} {
		r.submit("seeds", c.seeds...)
	}
	for i, commit := range c.commits {
		once.must(once.Commit(commit))
		again := func() { often.must(often.Commit(commit)) }
		switch i % 3 {
		case 0:
			again()
			again()
		case 1:
			often.together(again, again, again)
		case 2:
			again()
			often.reopen()
			again()
			often.must(often.Commit(c.commits[i-1]))
		}
		if !slices.Equal(once.judgements(c), often.judgements(c)) {
			t.Fatalf("%s teaches more when it comes again", commit.Batch)
		}
	}
	often.reopen()
	updates, _, _ := often.learned()
	if !slices.Equal(once.judgements(c), often.judgements(c)) || len(updates) != len(c.commits) {
		t.Errorf("updates %v of %d commits", updates, len(c.commits))
	}
}

// TestUpdatesTogether: the learner learns the same from commits that share a transaction as from single ones, in the order of their
// numbers.
func TestUpdatesTogether(t *testing.T) {
	c := listCommits(6, 10)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	var calls []func()
	for _, commit := range c.commits {
		for _, o := range commit.Outcomes { // in whatever order they come, their pages wait
			r.submit("all "+o.URL, crawl.Discovery{URL: o.URL, Path: "S", Score: 1})
		}
		calls = append(calls, func() { r.must(r.Commit(commit)) })
	}
	r.together(calls...)
	before := r.judgements(c)
	if updates, _, _ := r.learned(); !slices.Equal(updates, []uint64{1, 2, 3, 4, 5, 6}) {
		t.Errorf("updates %v", updates)
	}
	r.reopen()
	if !slices.Equal(before, r.judgements(c)) {
		t.Error("another thing after a restart")
	}
}

// TestWhatTeaches: the learner learns only from pages that were fetched and judged, with the stored features of the link to them.
func TestWhatTeaches(t *testing.T) {
	r := newRig(t, ofRavens)
	judge := func(url string) order.Judgement {
		p := pageAt("http://hub.example/", true)
		p.Links = []order.Link{{URL: url, Anchor: words(url)}}
		return r.Learning().Order().Judge(p, nil)
	}
	var found []crawl.Discovery
	keep := map[string][]byte{}
	urls := map[string]string{}
	for _, name := range []string{"page", "unmodified", "gone", "blind", "failed", "robots", "refused", "retry", "returned"} {
		url := "http://a.example/" + name
		urls[name], keep[name] = url, judge(url).Links[0].LinkFeatures
		found = append(found, crawl.Discovery{URL: url, Path: "SL", Score: 0.5, LinkFeatures: keep[name]})
	}
	r.submit("links", found...)
	seen := judge("http://a.example/").PageFeatures
	outcome := func(name string, kind crawl.OutcomeKind, status int, seen []byte) crawl.PageOutcome {
		return crawl.PageOutcome{Outcome: crawl.Outcome{URL: urls[name], Kind: kind, Status: status, After: r.clock.Now()}, Score: -1, Worth: 0.75, PageFeatures: seen}
	}
	r.must(r.Commit(Commit{Batch: "nothing", Outcomes: []crawl.PageOutcome{
		outcome("gone", crawl.OutcomeDone, 404, seen), outcome("blind", crawl.OutcomeDone, 200, nil), outcome("failed", crawl.OutcomeFailed, 0, seen),
		outcome("robots", crawl.OutcomeRobots, 0, seen), outcome("refused", crawl.OutcomeRefused, 0, seen), outcome("retry", crawl.OutcomeRetry, 0, seen),
		outcome("returned", crawl.OutcomeReturned, 0, seen),
	}}))
	if updates, _, _ := r.learned(); len(updates) != 0 {
		t.Errorf("updates %v of nothing", updates)
	}
	r.must(r.Commit(Commit{Batch: "pages", Outcomes: []crawl.PageOutcome{
		outcome("page", crawl.OutcomeDone, 200, seen), outcome("unmodified", crawl.OutcomeUnmodified, 304, seen),
	}}))
	got := r.updateOf(1).Visits
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, name := range []string{"page", "unmodified"} {
		v := got[i]
		if v.Worth != 0.75 || string(v.PageFeatures) != string(seen) || len(v.LinkFeatures) != 1 || string(v.LinkFeatures[0]) != string(keep[name]) || v.Host != order.HostOf(urls[name]) || v.Host == 0 {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

// TestPromise: the promise of a page is the sum of the expectations for its links to URLs that no page has brought before, with what was known before the batch.
func TestPromise(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Scope.Within = crawl.WithinHost })
	c := listCommits(4, 10)
	var links []crawl.Discovery
	judge := func(page string, targets ...string) {
		p := pageAt(page, true)
		for _, to := range targets {
			p.Links = append(p.Links, order.Link{URL: to, Anchor: words("raven " + to), TagPath: "html/body/a"})
		}
		for i, l := range r.Learning().Order().Judge(p, nil).Links {
			links = append(links, crawl.Discovery{URL: targets[i], Via: page, Path: "SLL", Score: l.Priority, LinkFeatures: l.LinkFeatures})
		}
	}
	const one, two = "http://a.example/one", "http://a.example/two"
	r.submit("s", found(0.5, one, two, "http://a.example/done", "http://a.example/failed", "http://a.example/waiting", c.seeds[0].URL)...)
	r.must(r.Commit(Commit{Batch: "before", Outcomes: []crawl.PageOutcome{
		done("http://a.example/done"), {Outcome: crawl.Outcome{URL: "http://a.example/failed", Kind: crawl.OutcomeFailed}},
	}}))
	judge(one, "http://a.example/new", "http://a.example/done", "http://a.example/failed", "http://a.example/waiting", "http://b.example/out-of-scope", one, two)
	links = append(links, crawl.Discovery{URL: "http://a.example/without", Via: one, Path: "SLL", Score: 0.9})
	judge(two, "http://a.example/new", "http://a.example/new2")
	o := r.Learning().Order()
	want := []float64{o.Expect(links[0].LinkFeatures), o.Expect(links[len(links)-1].LinkFeatures)}
	page := func(url string) crawl.PageOutcome {
		views := order.ViewsOf(pageAt(url, true))
		return crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: 1, PageFeatures: views.Encode()}
	}
	r.must(r.Commit(Commit{Batch: "pages", Outcomes: []crawl.PageOutcome{page(one), page(two)}, Discoveries: links}))
	got := r.updateOf(1).Visits
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	for i, v := range got {
		if want[i] < 0.1 || math.Abs(v.Promise-want[i]) > 1e-9 {
			t.Errorf("page %d promises %v, want %v", i+1, v.Promise, want[i])
		}
	}
}

// TestPromiseOfManyLinks: the links of a batch that fill several transactions all count.
func TestPromiseOfManyLinks(t *testing.T) {
	r := newRig(t, ofRavens)
	const page = "http://a.example/"
	r.submit("s", found(0.5, page)...)
	p := pageAt(page, true)
	p.Links = []order.Link{{URL: page + "raven", Anchor: words("raven")}}
	judged := r.Learning().Order().Judge(p, nil)
	link := crawl.Discovery{Via: page, Path: "SL", Score: judged.Links[0].Priority, LinkFeatures: judged.Links[0].LinkFeatures}
	var links []crawl.Discovery
	for i := range commitPart + 5 {
		link.URL = fmt.Sprint(page, i)
		links = append(links, link)
	}
	want := float64(len(links)) * r.Learning().Order().Expect(link.LinkFeatures)
	r.must(r.Commit(Commit{Batch: "b", Discoveries: links, Outcomes: []crawl.PageOutcome{
		{Outcome: crawl.Outcome{URL: page, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: 1, PageFeatures: judged.PageFeatures},
	}}))
	if got := r.updateOf(1).Visits[0].Promise; math.Abs(got-want) > want/1e6 {
		t.Errorf("%d links promise %v, want %v", len(links), got, want)
	}
}

// TestLearnsNot: an order that does not learn has no learner and stores no updates; the same holds for a crawl without a topic.
func TestLearnsNot(t *testing.T) {
	c := listCommits(3, 10)
	for name, edit := range map[string]func(*crawl.Definition){
		"breadth-first":   func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyBreadth },
		"weighted":        func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyWeighted },
		"places":          func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyPlaces },
		"without a topic": func(d *crawl.Definition) { ofRavens(d); d.Topic = crawl.Topic{} },
	} {
		r := newRig(t, edit)
		r.submit("seeds", c.seeds...)
		for _, commit := range c.commits {
			r.must(r.Commit(commit))
		}
		if updates, _, _ := r.learned(); r.Learning().Order() != nil || len(updates) != 0 {
			t.Errorf("%s: updates %v, learner %v", name, updates, r.Learning().Order() != nil)
		}
		r.reopen()
		if r.Learning().Order() != nil {
			t.Errorf("%s: there is a learner after a restart", name)
		}
	}
	r := newRig(t, ofRavens)
	if r.Frontier.Crawl("no such crawl").Learning().Order() != nil {
		t.Error("a crawl that nobody knows learns")
	}
}

// TestExamplesForNobody: examples are not stored for an order that does not learn.
func TestExamplesForNobody(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyWeighted })
	r.must(r.Learning().Teach(&topic.Model{Pages: 7}, examples(3)))
	if updates, _, _ := r.learned(); len(updates) != 0 {
		t.Errorf("updates %v", updates)
	}
}

// TestLearnerResumes: a run with another order, between two runs that learn with the same topic, loses nothing of what was learned,
// with a restart and without.
func TestLearnerResumes(t *testing.T) {
	c := listCommits(4, 10)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	for _, commit := range c.commits {
		r.must(r.Commit(commit))
	}
	before := r.judgements(c)
	r.nextRun("second", func(d *crawl.Definition) { ofRavens(d); d.Order.Strategy = crawl.StrategyWeighted })
	r.nextRun("third", ofRavens)
	now := r.judgements(c)
	r.reopen()
	if !slices.Equal(now, r.judgements(c)) {
		t.Errorf("another thing after a restart; before it, what was learned was known: %v", slices.Equal(before, now))
	}
}

// nextRun ends a run and begins another.
func (r *rig) nextRun(owner string, edit func(*crawl.Definition)) {
	r.t.Helper()
	plan, err := r.Plan()
	r.must(err)
	r.must(r.End(plan.Owner))
	r.must(r.begin(owner, edit))
}

// TestNextRunContinues: a run with the same topic continues with what the last run learned; a run with another topic starts from
// nothing. Both hold after a restart, too.
func TestNextRunContinues(t *testing.T) {
	ofSoups := func(d *crawl.Definition) { ofRavens(d); d.Topic.Keywords = []string{"soup"} }
	c := listCommits(6, 10)
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprintf("restart %v", restart), func(t *testing.T) {
			r := newRig(t, ofRavens)
			turn := func() {
				if restart {
					r.reopen()
				}
			}
			r.submit("seeds", c.seeds...)
			for _, commit := range c.commits[:3] {
				r.must(r.Commit(commit))
			}
			r.must(r.Learning().Teach(nil, examples(3)))
			before := r.judgements(c)
			r.nextRun("second", func(d *crawl.Definition) { ofRavens(d); d.Budget.Pages = 77; d.Order.PerQueue = 3 })
			turn()
			if !slices.Equal(before, r.judgements(c)) {
				t.Error("a run of the same topic has forgotten")
			}
			r.must(r.Commit(c.commits[3]))
			if slices.Equal(before, r.judgements(c)) {
				t.Error("a run of the same topic does not learn on")
			}
			r.nextRun("third", ofSoups)
			turn()
			if !slices.Equal(c.judgementsUntrained(), r.judgements(c)) {
				t.Error("a run of another topic goes by what was learned of the last")
			}
			r.must(r.Commit(c.commits[4]))
			after := r.judgements(c)
			if slices.Equal(c.judgementsUntrained(), after) {
				t.Error("a run of another topic does not learn")
			}
			turn()
			if !slices.Equal(after, r.judgements(c)) {
				t.Error("a run of another topic knows another thing after a restart")
			}
			r.nextRun("fourth", ofSoups)
			turn()
			if !slices.Equal(after, r.judgements(c)) {
				t.Error("what was learned of another topic is forgotten by the next run of it")
			}
		})
	}
}

// TestNextRunDropsUpdates: the snapshot of a run with another topic replaces the earlier updates.
func TestNextRunDropsUpdates(t *testing.T) {
	c := listCommits(26, 50)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	for _, commit := range c.commits[:2] {
		r.must(r.Commit(commit))
	}
	r.nextRun("second", func(d *crawl.Definition) { ofRavens(d); d.Topic.Keywords = []string{"soup"} })
	for _, commit := range c.commits[2:] {
		r.must(r.Commit(commit))
	}
	snapshot := r.snapshotAfter(2)
	if updates, _, _ := r.learned(); len(updates) != len(c.commits)-int(snapshot.Number) {
		t.Errorf("updates %v beside the snapshot %+v", updates, snapshot)
	}
	before := r.judgements(c)
	r.reopen()
	if !slices.Equal(before, r.judgements(c)) {
		t.Error("another thing after a restart")
	}
}

// TestNextRunLeavesSnapshot: a run does not use the snapshot of a run with another topic.
func TestNextRunLeavesSnapshot(t *testing.T) {
	c := listCommits(24, 50)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	for _, commit := range c.commits[:23] {
		r.must(r.Commit(commit))
	}
	r.snapshotAfter(0)
	r.nextRun("second", func(d *crawl.Definition) { ofRavens(d); d.Topic.Keywords = []string{"soup"} })
	r.reopen()
	if !slices.Equal(c.judgementsUntrained(), r.judgements(c)) {
		t.Error("a run of another topic begins with the snapshot of the last")
	}
	r.must(r.Commit(c.commits[23]))
	before := r.judgements(c)
	r.reopen()
	if !slices.Equal(before, r.judgements(c)) {
		t.Error("another thing after a further restart")
	}
}

const learnDir = "MUNINN_TEST_LEARN_DIR"

// commitsOfKilled is long enough for a snapshot. The killed process makes all commits but the last, so that the snapshot is written at the
// same time as a commit.
func commitsOfKilled() *commitList { return listCommits(40, 32) }

// TestLearnChild is the process that TestLearnerKilled kills: it commits, and prints a line for each commit.
func TestLearnChild(t *testing.T) {
	dir := os.Getenv(learnDir)
	if dir == "" {
		t.Skip("is run by TestLearnerKilled")
	}
	r := &rig{t: t, dir: dir, clock: &clock{now: time.Now()}}
	r.open()
	r.must(r.begin("owner", ofRavens))
	c := commitsOfKilled()
	r.submit("seeds", c.seeds...)
	for i, commit := range c.commits[:len(c.commits)-1] {
		r.must(r.Commit(commit))
		fmt.Println("ack", i)
	}
	<-t.Context().Done() // it is killed at last
}

// TestLearnerKilled: after a kill at any moment, the learner has learned from the first commits: all acknowledged ones, and exactly those
// whose batches the frontier has as committed.
func TestLearnerKilled(t *testing.T) {
	c := commitsOfKilled()
	reference := newRig(t, ofRavens)
	reference.submit("seeds", c.seeds...)
	after := map[uint64]int{}
	number := func(bits []uint64) uint64 {
		h := fnv.New64a()
		for _, b := range bits {
			_, _ = h.Write(binary.BigEndian.AppendUint64(nil, b))
		}
		return h.Sum64()
	}
	after[number(reference.judgements(c))] = 0
	visits, crossing := 0, 0
	for i, commit := range c.commits {
		reference.must(reference.Commit(commit))
		after[number(reference.judgements(c))] = i + 1
		if visits += c.visits[i]; visits >= testSnapshot && crossing == 0 {
			crossing = i + 1
		}
	}
	if len(after) != len(c.commits)+1 || crossing == 0 {
		t.Fatalf("%d states after %d commits, the snapshot at %d", len(after), len(c.commits), crossing)
	}
	dir, acked := t.TempDir(), 0
	kills := []int{1 + rand.IntN(10), crossing, crossing + 1, crossing + 2, len(c.commits) - 1} // a snapshot is being written from the second on
	if testing.Short() {
		kills = kills[2:]
	}
	for _, kill := range kills {
		child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLearnChild$", "-test.count=1")
		child.Env = append(os.Environ(), learnDir+"="+dir)
		out, err := child.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		lines := 0
		for scan := bufio.NewScanner(out); scan.Scan(); {
			n, err := strconv.Atoi(strings.TrimPrefix(scan.Text(), "ack "))
			if err != nil {
				t.Fatalf("the child says %q", scan.Text())
			}
			acked = max(acked, n+1)
			if lines++; lines == kill {
				if err := child.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := child.Wait(); err == nil || lines < kill {
			t.Fatalf("the child ended by itself after %d lines: %v", lines, err)
		}
		r := &rig{t: t, dir: dir, clock: &clock{now: time.Now()}}
		r.open()
		prefix, known := after[number(r.judgements(c))]
		updates, snapshot, _ := r.learned()
		if !known || prefix < acked {
			t.Fatalf("killed after %d lines, with %d commits acknowledged: the learner knows what %d commits taught (%v); updates %v, snapshot %+v", kill, acked, prefix, known, updates, snapshot)
		}
		for i, commit := range c.commits {
			if r.Batch(commit.Batch).Committed() != (i < prefix) {
				t.Errorf("%s is committed: %v, but %d have taught", commit.Batch, i >= prefix, prefix)
			}
		}
		t.Logf("killed after %d lines: %d commits, snapshot %+v, %d updates", kill, prefix, snapshot, len(updates))
		r.must(r.Close())
	}
	r := &rig{t: t, dir: dir, clock: &clock{now: time.Now()}}
	r.open()
	defer func() { r.must(r.Close()) }()
	for _, commit := range c.commits {
		r.must(r.Commit(commit))
	}
	if !slices.Equal(r.judgements(c), reference.judgements(c)) {
		t.Error("after all commits, the learner knows another thing than one that was never killed")
	}
	r.snapshotAfter(0)
}

// TestLearnAllAtOnce: with commits, claims and judgements at the same time, a restart restores exactly what was learned.
func TestLearnAllAtOnce(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.PerQueue = 3 })
	c := listCommits(30, 4)
	r.submit("seeds", c.seeds...)
	ctx, cancel := context.WithCancel(t.Context())
	var work, onlookers sync.WaitGroup
	onlookers.Go(func() {
		for n := 0; ctx.Err() == nil; n++ {
			p := pageAt(fmt.Sprintf("http://a.example/%d", n), n%2 == 0)
			p.Links = []order.Link{{URL: p.URL + "/next", Anchor: words("raven")}}
			o := r.Learning().Order()
			for _, l := range o.Judge(p, nil).Links {
				if x := o.Priority(l.LinkFeatures) + o.Expect(l.LinkFeatures); !(x >= 0 && x <= 2) {
					t.Errorf("a link has %v", x)
				}
			}
		}
	})
	onlookers.Go(func() {
		for ctx.Err() == nil {
			if err := r.Learning().Teach(nil, examples(3)); err != nil {
				t.Error(err)
			}
			if err := r.Phase(0, false); err != nil {
				t.Error(err)
			}
		}
	})
	work.Go(func() {
		for _, commit := range c.commits {
			if err := r.Commit(commit); err != nil {
				t.Error(err)
			}
		}
	})
	work.Go(func() {
		for range 30 {
			round, err := r.Claim(ctx, r.want())
			if err != nil {
				t.Error(err)
			}
			for _, claim := range round.Claims {
				started, err := r.Batch(claim.ID).Start(r.grant(claim))
				if err != nil {
					t.Error(err)
				}
				lanes, err := r.Batch(claim.ID).Reopen(started, nil)
				if err != nil {
					t.Error(err)
				}
				commit := Commit{Batch: claim.ID}
				for _, u := range targets(lanes...) {
					judged := r.Learning().Order().Judge(pageAt(u, strings.Contains(u, "birds")), nil)
					commit.Outcomes = append(commit.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: u, Kind: crawl.OutcomeDone, Status: 200}, Score: -1, Worth: judged.Worth, PageFeatures: judged.PageFeatures})
				}
				if err := r.Commit(commit); err != nil {
					t.Error(err)
				}
			}
		}
	})
	work.Wait()
	cancel()
	onlookers.Wait()
	before := r.judgements(c)
	r.reopen()
	if !slices.Equal(before, r.judgements(c)) {
		t.Error("another thing after a restart")
	}
}

// TestParts: the parts of a score are stored in steps of 1/255; unknown parts are left out.
func TestParts(t *testing.T) {
	var all crawl.Parts
	for i, name := range crawl.PartNames {
		all = append(all, crawl.Part{Name: name, Score: float64(i) / float64(len(crawl.PartNames))})
	}
	got := crawl.DecodeParts(append(all, crawl.Part{Name: "no such part", Score: 1}).Encode())
	if len(got) != len(all) {
		t.Fatalf("%v became %v", all, got)
	}
	for i := range got {
		if got[i].Name != all[i].Name || math.Abs(got[i].Score-all[i].Score) > 0.5/255+1e-9 {
			t.Errorf("%v became %v", all[i], got[i])
		}
	}
	bounds := crawl.DecodeParts(crawl.Parts{{Name: crawl.PartNames[0], Score: 7}, {Name: crawl.PartNames[1], Score: -7}}.Encode())
	if len(bounds) != 2 || bounds[0].Score != 1 || bounds[1].Score != 0 {
		t.Errorf("%v", bounds)
	}
	if got := crawl.DecodeParts([]byte{byte(len(crawl.PartNames)), 255, 0}); len(got) != 0 {
		t.Errorf("a part that nobody knows, and half a one: %v", got)
	}
}

// TestWhichLinkCounts: a target has the features of the link that the update function chooses, whether its links came in one batch or
// in several.
func TestWhichLinkCounts(t *testing.T) {
	scores := []float64{0.25, 0.75, 0.75, 0.5}
	for update, keep := range map[string]string{
		crawl.UpdateFirst: "a", crawl.UpdateLast: "d", crawl.UpdateMax: "b", crawl.UpdateAvg: "b", crawl.UpdateSum: "b",
	} {
		var links []crawl.Discovery
		for i, score := range scores {
			parts := crawl.Parts{{Name: crawl.PartNames[i], Score: 1}}.Encode()
			links = append(links, crawl.Discovery{URL: "http://a.example/x", Path: "SL", Score: score, LinkFeatures: []byte{byte('a' + i)}, Parts: parts})
		}
		for _, together := range []bool{true, false} { // in one batch, or one each
			r := newRig(t, func(d *crawl.Definition) { ofRavens(d); d.Order.Update = update })
			if together {
				r.submit("all", links...)
			} else {
				for i, l := range links {
					r.submit(fmt.Sprint(i), l)
				}
			}
			r.reopen()
			if _, lanes := r.take(); string(lanes[0].Targets[0].LinkFeatures) != keep {
				t.Errorf("%s, together %v: keep %q, want %q", update, together, lanes[0].Targets[0].LinkFeatures, keep)
			}
		}
	}
}

// TestRescoreReplacesFeatures: new scores of a link replace its features as well.
func TestRescoreReplacesFeatures(t *testing.T) {
	r := newRig(t, ofRavens)
	link := crawl.Discovery{URL: "http://a.example/x", Path: "SL", Score: 0.9, LinkFeatures: []byte("before")}
	r.submit("s", link)
	link.Score, link.LinkFeatures = 0.2, []byte("after")
	r.must(r.Commit(Commit{Batch: "rescore", Rescore: true, Discoveries: []crawl.Discovery{link}}))
	if _, lanes := r.take(); string(lanes[0].Targets[0].LinkFeatures) != "after" {
		t.Errorf("%+v", lanes[0].Targets)
	}
}

// TestTwoLinks: where the best link counts, it is the one that is better by the present state of the learner, which learns from both.
func TestTwoLinks(t *testing.T) {
	k := &kinds{rig: newRig(t, ofRavens)}
	both := append(k.links("a.example", 1, "liked"), k.links("a.example", 1, "disliked")...)
	both[0].URL, both[1].URL = "http://a.example/x", "http://a.example/x"
	both[0].Score, both[1].Score = 0.3, 0.4 // by what was known then
	k.submit("both", both...)
	one := both[1]
	one.URL = "http://b.example/x"
	k.submit("one", one)
	for range 4 {
		k.teach(20, "liked", 1)
		k.teach(20, "disliked", 0)
	}
	learner := k.Learning().Order()
	if twice, once := k.why("http://a.example/x"), k.why("http://b.example/x"); twice.Now <= once.Now+0.1 || !about(twice.Now, learner.Priority(both[0].LinkFeatures)) {
		t.Errorf("of two links it is worth %v, of one %v; the learner says %v of the other", twice.Now, once.Now, learner.Priority(both[0].LinkFeatures))
	}
	before := [2]float64{learner.Expect(both[0].LinkFeatures), learner.Expect(both[1].LinkFeatures)}
	k.must(k.Commit(Commit{Batch: "visit", Outcomes: []crawl.PageOutcome{visited("http://a.example/x", 1)}}))
	for i, was := range before {
		if now := learner.Expect(both[i].LinkFeatures); now <= was {
			t.Errorf("link %d was expected to lead to %v, and now %v", i, was, now)
		}
	}
}
