package frontier

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The report of a host has its queue in each crawl, who asks it, and until when it rests.
func TestHostReport(t *testing.T) {
	r, _ := twoCrawls(t, func(d *crawl.Definition) { d.Budget.PerPLD = 100 })
	u, err := urls.Parse("http://a.example/0")
	r.must(err)
	claim := r.one()
	got, err := r.Frontier.Host(u)
	if err != nil || got.PLD != "a.example" || len(got.Queues) != 2 {
		t.Fatalf("%+v, %v", got, err)
	}
	for _, q := range got.Queues {
		mine := q.Crawl == definition(nil).Name
		if q.Waiting == 0 || q.Busy != mine || q.Asking != mine || q.Left == nil || *q.Left != 100 || q.Weight != 1 {
			t.Errorf("%+v", q)
		}
	}
	r.start(claim)
	r.must(r.Lane(claim.ID).End(LaneEnd{Host: r.clock.Now().Add(time.Hour), Delay: time.Minute}))
	got, err = r.Frontier.Host(u)
	if err != nil || !got.Next.Equal(r.clock.Now().Add(time.Hour)) {
		t.Errorf("%+v, %v", got, err)
	}
}

// The report says what is set for the PLD and for the host.
func TestHostReportOverrides(t *testing.T) {
	budget, slow, slower, paused := int64(7), crawl.Duration(3*time.Second), crawl.Duration(9*time.Second), crawl.StatePaused
	r, _ := twoCrawls(t, func(d *crawl.Definition) {
		d.Overrides.PLDs = map[string]crawl.Override{"a.example": {Budget: &budget, MinDelay: &slow, MaxDelay: &slower, State: &paused}}
		d.Overrides.Hosts = map[string]crawl.Override{"www.a.example": {MinDelay: &slower}}
	})
	for host, want := range map[string]time.Duration{"a.example": slow.D(), "www.a.example": slower.D()} {
		u, err := urls.Parse("http://" + host + "/0")
		r.must(err)
		got, err := r.Frontier.Host(u)
		r.must(err)
		for _, q := range got.Queues {
			if q.Crawl == definition(nil).Name && (q.MinDelay != want || q.Left == nil || *q.Left != budget || q.Ordered != crawl.StatePaused) {
				t.Errorf("%s: %+v", host, q)
			}
		}
	}
}
