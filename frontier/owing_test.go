package frontier

import (
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/store"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestWatermarkOwing: a batch that is committed and has links left to deliver holds the watermark, also after the worker was started again, until they are delivered or
// the next run begins. Else the partitions would be made again without these links.
func TestWatermarkOwing(t *testing.T) {
	for _, delivered := range []bool{true, false} {
		r := newRig(t, nil)
		take := func(url string) (batch string) { // by the name that a worker gives it
			r.must(r.Crawl.URLs().Offer(url, found(1, url)))
			claim := r.one()
			batch = claim.ID + "@w.1"
			_, err := r.Batch(batch).Start(r.grant(claim))
			r.must(err)
			return batch
		}
		batch := take("http://a.example/")
		n, _ := Number(batch)
		r.must(r.Crawl.Commit(Commit{Batch: batch, Owes: true, Outcomes: []crawl.PageOutcome{done("http://a.example/")}}))
		is := func(when string, holds bool) {
			t.Helper()
			if mark, err := r.Crawl.Watermark(); err != nil || (mark.Below == n) != holds || mark.Below < n {
				t.Errorf("%s: %+v, the batch is %s, %v", when, mark, batch, err)
			}
		}
		is("committed", true)
		later := take("http://b.example/")
		r.must(r.Crawl.Commit(Commit{Batch: later, Outcomes: []crawl.PageOutcome{done("http://b.example/")}}))
		is("a later batch is committed", true)
		r.must(r.Crawl.Batch(later).Delivered())
		is("a later batch owes nothing", true)
		r.reopen()
		is("opened again", true)
		if delivered {
			r.must(r.Crawl.Batch(batch).Delivered())
			r.must(r.Crawl.Batch(batch).Delivered())
		} else {
			r.must(r.Crawl.End("owner"))
			r.must(r.begin("next", nil))
		}
		is("over", false)
	}
}

// TestOwing: a batch that owes has no claims, and yet is in progress: also after the worker was started again, and if an earlier version has committed it,
// until its links are delivered.
func TestOwing(t *testing.T) {
	for _, former := range []bool{false, true} {
		r := newRig(t, nil)
		r.must(r.Crawl.URLs().Offer("a", found(1, "http://a.example/")))
		claim := r.one()
		batch := claim.ID + "@w.1"
		_, err := r.Batch(batch).Start(r.grant(claim))
		r.must(err)
		life, err := r.Batch(batch).Life()
		r.must(err)
		r.must(r.Crawl.Commit(Commit{Batch: batch, Archive: life.Archive, Owes: true, Outcomes: []crawl.PageOutcome{done("http://a.example/")}}))
		r.confirm(r.next())
		if list, err := r.Crawl.Owing(); err != nil || len(list) != 1 || list[0] != (Owing{batch, life.Nonce, life.Archive}) || life.Nonce == "" {
			t.Fatalf("%+v, %v", list, err)
		}
		if former {
			n, _ := Number(batch)
			r.must(r.Crawl.change(func(rec *crawlRecord) { rec.Owing, rec.OwingNumbers = nil, []uint64{n} }))
		}
		is := func(when string, over bool) {
			t.Helper()
			idle, err := r.Crawl.Idle()
			if err != nil || idle.Idle != over {
				t.Errorf("%s: %+v, %v", when, idle, err)
			}
			for _, nothing := range []bool{false, true} {
				w := r.want()
				w.ClaimNothing, w.Until = nothing, r.clock.Now()
				round, err := r.Crawl.Claims().Claim(t.Context(), w)
				if err != nil || round.Drained != over || round.Idle != (over && nothing) {
					t.Errorf("%s, claims nothing %t: %+v, %v", when, nothing, round, err)
				}
			}
			if err := r.CheckFree(AllCrawls, store.PartitionOf(claim.Queue)); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		is("committed", false)
		r.reopen()
		is("opened again", false)
		r.must(r.Crawl.Batch(batch).Delivered())
		is("delivered", true)
		r.reopen()
		is("opened once more", true)
	}
}
