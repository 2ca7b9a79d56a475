package frontier

import (
	"errors"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestShift: a host that rests, a queue that rests and a URL that waits for its next attempt wait as long at a worker whose clock shows something else as they would have at the former one. Entries
// stay sorted, and what has no such time stays as it is.
func TestShift(t *testing.T) {
	const hostRest, urlRest = 5 * time.Minute, 20 * time.Minute
	for _, by := range []time.Duration{-4 * time.Minute, 4*time.Minute + 300*time.Millisecond} {
		was := newRig(t, nil)
		was.submit("links", found(0.5, "http://a.example/1", "http://a.example/2")...)
		batch, lanes := was.take()
		host := record.KeyOf(trusted(t, "http://a.example/")).PLD
		put := targets(lanes...)[0]
		was.must(was.rest(host, was.clock.Now().Add(hostRest)))
		was.must(was.endLane(lanes[0].ID, was.clock.Now().Add(hostRest), false))
		was.must(was.Commit(Commit{Batch: batch, Outcomes: []crawl.PageOutcome{{Outcome: crawl.Outcome{URL: put, Kind: crawl.OutcomeRetry, After: was.clock.Now().Add(urlRest)}}}}))
		due, _ := was.record(put)

		r := &rig{t: t, dir: t.TempDir(), clock: &clock{now: was.clock.Now().Add(by)}}
		r.open()
		t.Cleanup(func() { _ = r.Close() })
		p := store.PartitionOf(host)
		var last PartitionEntry
		for e, err := range Shift(sequenceOf(taken(t, was.Frontier, p)), by) {
			if r.must(err); last.Crawl == e.Crawl && last.Kind == e.Kind && string(last.Key) >= string(e.Key) {
				t.Errorf("%c %x stands behind %x", e.Kind, e.Key, last.Key)
			}
			last = e
		}
		_, err := r.Import(p, AllCrawls, Shift(sequenceOf(taken(t, was.Frontier, p)), by))
		r.must(err)
		r.must(r.begin("owner", nil))
		report, err := r.Frontier.Host(trusted(t, "http://a.example/"))
		r.must(err)
		for what, next := range map[string]time.Time{"host": report.Next, "queue": report.Queues[0].Next} {
			if rests := next.Sub(r.clock.Now()); rests < hostRest || rests > hostRest+time.Millisecond {
				t.Errorf("clock %v: the %s rests for %v, want %v", by, what, rests, hostRest)
			}
		}
		if rec, _ := r.record(put); rec.State != record.Delayed || rec.Due-due.Due < int64(by/time.Second) || rec.Due-due.Due > int64(by/time.Second)+1 {
			t.Errorf("clock %v: %s is due at %d, was %d: %v", by, put, rec.Due, due.Due, rec.State)
		}
		r.clock.pass(urlRest - time.Second)
		if r.must(r.promote()); r.status().Delayed != 1 {
			t.Errorf("clock %v: %s is due early", by, put)
		}
		r.clock.pass(4 * time.Second)
		if r.must(r.promote()); r.status().Delayed != 0 {
			t.Errorf("clock %v: %s is not due", by, put)
		}
		if rec, _ := r.record(put); rec.State != record.Waiting {
			t.Errorf("clock %v: %s is %v in the end", by, put, rec.State)
		}
	}
}

// TestShiftOfNothing: without a difference entries are those that were exported; a value that cannot be read is refused.
func TestShiftOfNothing(t *testing.T) {
	was := newRig(t, nil)
	was.submit("links", found(0.5, "http://a.example/1")...)
	p := store.PartitionOf(record.KeyOf(trusted(t, "http://a.example/")).PLD)
	list := taken(t, was.Frontier, p)
	n := 0
	for e := range Shift(sequenceOf(list), 0) {
		if string(e.Value) != string(list[n].Value) || string(e.Key) != string(list[n].Key) {
			t.Errorf("entry %d is another one", n)
		}
		n++
	}
	if n != len(list) || n == 0 {
		t.Errorf("%d entries of %d", n, len(list))
	}
	for _, kind := range []store.Kind{store.Hosts, store.Queues, store.Records} {
		for _, err := range Shift(sequenceOf([]PartitionEntry{{Kind: byte(kind), Key: make([]byte, 16), Value: []byte("x")}}), time.Minute) {
			if !errors.Is(err, ErrEntry) {
				t.Errorf("%c: %v", kind, err)
			}
		}
	}
}
