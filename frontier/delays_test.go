package frontier

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestPromoteAcrossPartitions: URLs that were put off come back in the order of their times, from whichever partition, however many
// come at once; a restart changes nothing.
func TestPromoteAcrossPartitions(t *testing.T) {
	const hosts, each = 50, 30
	r := newRig(t, func(d *crawl.Definition) { d.Order.PerQueue, d.Budget.Pages = each, 1e6 })
	partitions := map[store.Partition]bool{}
	var links []crawl.Discovery
	for h := range hosts {
		for i := range each {
			url := fmt.Sprintf("http://h%d.example/%d", h, i)
			partitions[store.PartitionOf(record.KeyOf(trusted(t, url)).PLD)] = true
			links = append(links, found(0.5, url)...)
		}
	}
	if len(partitions) < hosts/2 {
		t.Fatalf("%d hosts lie in %d partitions", hosts, len(partitions))
	}
	r.submit("links", links...)
	batch, lanes := r.take()
	commit, due, latest := Commit{Batch: batch}, map[string]int64{}, int64(0)
	for n, u := range targets(lanes...) {
		after := r.clock.Now().Add(time.Duration(n*7919%1000+1) * time.Second)
		commit.Outcomes = append(commit.Outcomes, crawl.PageOutcome{Outcome: crawl.Outcome{URL: u, Kind: crawl.OutcomeRetry, After: after}})
		due[u] = after.Unix() + 1
		latest = max(latest, due[u])
	}
	r.must(r.Commit(commit))
	r.confirm(r.drainJournal())
	if s := r.status(); s.Delayed != hosts*each {
		t.Fatalf("%d URLs are put off, want %d", s.Delayed, hosts*each)
	}
	came := map[string]uint64{} // in which order
	look := func(by int64) {
		t.Helper()
		r.must(r.promote())
		delayed := 0
		for u, at := range due {
			rec, _ := r.record(u)
			if rec.State == record.Waiting {
				came[u] = rec.Position.Counter
			} else {
				delayed++
			}
			if at <= by && len(came)+delayed == len(due) && rec.State != record.Waiting {
				t.Errorf("%s is due since %d, and does not wait", u, by-at)
			}
		}
		if s := r.status(); s.Delayed != delayed {
			t.Errorf("%d URLs are counted as put off, %d are", s.Delayed, delayed)
		}
	}
	r.clock.pass(300 * time.Second)
	look(r.clock.Now().Unix())
	early := maps.Clone(came)
	if len(early) < 400 || len(early) > 500 {
		t.Errorf("%d URLs have come back after three tenths of the time", len(early))
	}
	for a, at := range early {
		for b, other := range early {
			if due[a] < due[b] && at > other {
				t.Fatalf("%s, due at %d, has come behind %s, due at %d", a, due[a], b, due[b])
			}
		}
	}
	r.reopen()
	r.clock.pass(time.Duration(latest-r.clock.Now().Unix()+1) * time.Second)
	r.must(r.promote()) // a thousand at a time
	look(r.clock.Now().Unix())
	if s := r.status(); s.Delayed != 0 || s.Waiting != hosts*each {
		t.Errorf("%d URLs wait in the end, %d are put off", s.Waiting, s.Delayed)
	}
}

// record reads the record of a URL.
func (r *rig) record(url string) (rec record.Record, found bool) {
	r.t.Helper()
	r.must(r.store.View(func(txn store.Reader) (err error) {
		rec, found, err = txn.Record(r.crawls[testCrawl].keys.Record(record.KeyOf(trusted(r.t, url))))
		return err
	}))
	return rec, found
}
