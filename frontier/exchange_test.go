package frontier

import (
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/learner"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/codec"
	"github.com/muninn-archive/muninn/internal/crawl"
)

func ofSpreadRavens(d *crawl.Definition) {
	ofRavens(d)
	d.Spread = true
}

var streamA, streamB = LearningStream{"owner", "a@1"}, LearningStream{"owner", "b@2"}

// sent are the objects that a worker sends, each of about so many bytes.
func (r *rig) sent(stream LearningStream, bytes int) (objects [][]LearningUpdate) {
	r.t.Helper()
	for {
		list, mark, err := r.Learning().Unsent(stream, bytes, 1)
		r.must(err)
		if len(list) == 0 {
			r.must(r.Learning().Sent(stream, mark))
			return objects
		}
		objects = append(objects, list)
		r.must(r.Learning().Sent(stream, mark))
	}
}

// TestSample: a worker that sends one in each of its pages sends so many, of small batches and large ones, and passes over the others for good.
func TestSample(t *testing.T) {
	const commits, pages, each = 36, 10, 3
	c := listCommits(commits, pages)
	a, b := newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens)
	for _, r := range []*rig{a, b} {
		r.submit("seeds", c.seeds...)
	}
	sent, n := 0, uint64(0)
	for _, commit := range c.commits {
		a.must(a.Commit(commit))
		list, mark, err := a.Learning().Unsent(streamA, 1<<20, each)
		a.must(err)
		a.must(a.Learning().Sent(streamA, mark))
		for _, l := range list {
			var u learner.Update
			a.must(codec.Unmarshal(l.Raw, &u))
			sent += len(u.Visits)
		}
		if len(list) > 0 {
			n++
			b.must(b.Learning().Take(streamB, "a@1", n, list))
		}
	}
	if want := commits * pages / each; sent < want*9/10 || sent > want*11/10 {
		t.Errorf("%d pages are sent, want about %d", sent, want)
	}
	if got := b.Learning().Order().Pages(); got != sent {
		t.Errorf("the other has learned from %d pages, %d were sent", got, sent)
	}
	if left := a.sent(streamA, 1<<20); len(left) > 0 {
		t.Errorf("%d objects are sent later", len(left))
	}
}

// TestTakeOnce: a worker that takes what another one has sent knows what that one knows, bit by bit, whatever is repeated and restarted; and it sends
// its own updates alone.
func TestTakeOnce(t *testing.T) {
	c := listCommits(12, 10)
	a, b := newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens)
	for _, r := range []*rig{a, b} {
		r.submit("seeds", c.seeds...)
	}
	var objects [][]LearningUpdate
	for i, commit := range c.commits {
		a.must(a.Commit(commit))
		if i == 3 || i == 11 {
			objects = append(objects, a.sent(streamA, 4_000)...)
		}
		if i == 5 {
			a.reopen()
		}
	}
	if len(objects) < 3 {
		t.Fatalf("%d objects", len(objects))
	}
	before := b.judgements(c)
	for i, list := range objects {
		b.must(b.Learning().Take(streamB, "a@1", uint64(i+1), list))
		now := b.judgements(c)
		if slices.Equal(before, now) {
			t.Fatalf("object %d teaches nothing", i+1)
		}
		b.reopen()
		b.must(b.Learning().Take(streamB, "a@1", uint64(i+1), list))
		if i > 0 { // put again with more, after the object before
			b.must(b.Learning().Take(streamB, "a@1", uint64(i), objects[i]))
		}
		if !slices.Equal(b.judgements(c), now) {
			t.Fatalf("object %d teaches another thing when it is repeated", i+1)
		}
		before = now
	}
	if !slices.Equal(a.judgements(c), before) {
		t.Error("who takes all does not know the same")
	}
	if own := b.sent(streamB, 1<<20); len(own) != 0 {
		t.Errorf("it sends on what it has taken: %d objects", len(own))
	}
	b.must(b.Commit(c.commits[0]))
	if own := b.sent(streamB, 1<<20); len(own) != 1 || len(own[0]) != 1 {
		t.Errorf("of its own commit it sends %d objects", len(own))
	}
}

// TestUpdatesBehindMark: of an object that was put before by a process that was killed, what was taken with the one before is left out.
func TestUpdatesBehindMark(t *testing.T) {
	c := listCommits(4, 10)
	a, b, once := newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens)
	a.submit("seeds", c.seeds...)
	for _, commit := range c.commits {
		a.must(a.Commit(commit))
	}
	all := a.sent(streamA, 1<<30)[0]
	once.must(once.Learning().Take(streamB, "a@1", 1, all))
	b.must(b.Learning().Take(streamB, "a@1", 1, all[:3]))
	b.must(b.Learning().Take(streamB, "a@1", 2, all))
	marks, err := b.Learning().LearningMarks(streamB)
	if b.must(err); marks["a@1"] != (LearningMark{2, all[3].Number}) {
		t.Errorf("marks %v", marks)
	}
	b.must(b.Learning().Take(streamB, "a@1", 3, []LearningUpdate{{99, []byte("no update")}}))
	if n := b.Learning().Order().Pages(); n != once.Learning().Order().Pages() {
		t.Errorf("%d pages are learned from, want %d", n, once.Learning().Order().Pages())
	}
}

// TestAdopt: a worker that has nothing of a run, and one that has something else, know after a snapshot what its writer knows. What was sent before the
// snapshot is not learned again, what comes after it is.
func TestAdopt(t *testing.T) {
	c := listCommits(12, 10)
	a, b := newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens)
	for _, r := range []*rig{a, b} {
		r.submit("seeds", c.seeds...)
	}
	b.must(b.Commit(c.commits[11]))
	b.sent(streamB, 1<<20)
	for _, commit := range c.commits[:6] {
		a.must(a.Commit(commit))
	}
	first := a.sent(streamA, 1<<30)
	a.must(a.Commit(c.commits[6])) // is in the snapshot, and sent later
	snapshot, err := a.Learning().Share(streamA)
	a.must(err)
	a.must(a.Commit(c.commits[7]))
	second := a.sent(streamA, 1<<30)
	b.must(b.Learning().Adopt(streamB, snapshot))
	b.reopen()
	for i, list := range append(first, second...) {
		b.must(b.Learning().Take(streamB, "a@1", uint64(i+1), list))
	}
	if !slices.Equal(a.judgements(c), b.judgements(c)) {
		t.Error("it does not know the same")
	}
	marks, err := b.Learning().LearningMarks(streamB)
	if b.must(err); marks["b@2"] != (LearningMark{}) {
		t.Errorf("its own objects are not to be taken: %v", marks)
	}
}

// TestUnsentKept: a snapshot deletes no update that is not sent yet; when it is sent, the next one does.
func TestUnsentKept(t *testing.T) {
	c := listCommits(48, 50)
	r := newRig(t, ofSpreadRavens)
	r.submit("seeds", c.seeds...)
	r.must(r.Commit(c.commits[0]))
	r.sent(streamA, 1<<20)
	visits, at := c.visits[0], 1
	commit := func(until int) {
		for ; visits < until; at++ {
			r.must(r.Commit(c.commits[at]))
			visits += c.visits[at]
		}
	}
	commit(testSnapshot)
	first := r.snapshotAfter(0)
	if updates, _, _ := r.learned(); updates[0] != 2 || len(updates) != at-1 {
		t.Errorf("updates %v are kept, %d were made", updates, at)
	}
	sent := 0
	for _, list := range r.sent(streamA, 1<<20) {
		sent += len(list)
	}
	if sent != at-1 {
		t.Errorf("%d updates are sent, want %d", sent, at-1)
	}
	commit(2*testSnapshot + 50)
	snapshot := r.snapshotAfter(first.Number)
	if updates, _, _ := r.learned(); updates[0] != uint64(sent)+2 {
		t.Errorf("updates %v are kept behind %d and the snapshot %d", updates, sent+1, snapshot.Number)
	}
}

// TestExchangeContinues: another run starts all streams again, and another folder sends what it learns itself.
func TestExchangeContinues(t *testing.T) {
	x := exchange{LearningStream: streamA, Sent: LearningMark{3, 40}, Taken: map[string]LearningMark{"b@2": {7, 70}, "a@1": {3, 40}}}
	run := x.as(LearningStream{"other", "a@1"}, 50)
	if run.Sent != (LearningMark{0, 40}) || len(run.Taken) != 0 {
		t.Errorf("in another run: %+v", run)
	}
	folder := x.as(LearningStream{"owner", "a@9"}, 50)
	if folder.Sent != (LearningMark{0, 50}) || folder.Taken["a@1"] != x.Sent || folder.Taken["b@2"] != x.Taken["b@2"] {
		t.Errorf("in another folder: %+v", folder)
	}
	if same := x.as(streamA, 50); same.Sent != x.Sent || len(same.Taken) != 2 {
		t.Errorf("in the same: %+v", same)
	}
	for _, k := range []struct {
		sent, number, want uint64
		name               string
	}{{0, 9, 10, ""}, {4, 9, 5, "a@1"}, {9, 9, 10, "a@1"}, {4, 20_000, 10_001, "a@1"}} {
		if got := (&exchange{LearningStream: LearningStream{"owner", k.name}, Sent: LearningMark{1, k.sent}}).keptFrom(k.number); got != k.want {
			t.Errorf("%+v: kept from %d", k, got)
		}
	}
}

// TestBoundKeepsForm: an update of a bound crawl is written as before.
func TestBoundKeepsForm(t *testing.T) {
	c := listCommits(1, 10)
	r := newRig(t, ofRavens)
	r.submit("seeds", c.seeds...)
	r.must(r.Commit(c.commits[0]))
	if u := r.updateOf(1); u.From != "" || len(u.Visits) != c.visits[0] {
		t.Errorf("%+v", learner.Update{From: u.From})
	}
	if list := r.SpreadLearners(); len(list) != 0 {
		t.Errorf("%v are to be exchanged", list)
	}
}

// TestTakenNotKept: a worker that fetches nothing reads what it has taken once, and its snapshots delete it.
func TestTakenNotKept(t *testing.T) {
	c := listCommits(48, 50)
	a, b := newRig(t, ofSpreadRavens), newRig(t, ofSpreadRavens)
	for _, r := range []*rig{a, b} {
		r.submit("seeds", c.seeds...)
	}
	b.crawls[testCrawl].learner().Every = testSnapshot / 4 // four pages of other workers count as one
	// A worker exchanges in its first seconds; the snapshot of one that has never done so keeps no updates to send.
	a.sent(streamA, 4_000)
	b.sent(streamB, 4_000)
	taken, visits, at := 0, 0, 0
	commitAndTake := func(until int) {
		for ; visits < until; at++ {
			a.must(a.Commit(c.commits[at]))
			visits += c.visits[at]
		}
		if visits >= testSnapshot {
			a.snapshotAfter(0) // it keeps what is not sent
		}
		for _, list := range a.sent(streamA, 4_000) {
			taken++
			b.must(b.Learning().Take(streamB, "a@1", uint64(taken), list))
		}
		if own := b.sent(streamB, 1<<20); len(own) != 0 {
			t.Fatalf("it sends on %d objects", len(own))
		}
	}
	commitAndTake(testSnapshot)
	first := b.snapshotAfter(0)
	commitAndTake(2*testSnapshot + 50)
	b.snapshotAfter(first.Number)
	if updates, _, _ := b.learned(); len(updates) > 0 && updates[0] <= first.Number {
		t.Errorf("updates %v are kept behind the snapshot %d", updates, first.Number)
	}
	_, next, err := b.Learning().Unsent(streamB, 1<<20, 1)
	b.must(err)
	var known LearningMark
	b.must(b.Learning().exchange(streamB, func(x exchange, _ store.Reader, _ *state) error { known = x.Sent; return nil }))
	if next != known || known.Object != 0 {
		t.Errorf("it reads the log from %+v to %+v again", known, next)
	}
}
