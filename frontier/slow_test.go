package frontier

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/politeness"
)

// A host that is slowed down rests for as long as Politeness says, in all crawls: nobody takes that back, so that the frontier does
// not ask again meanwhile.
func TestHostThatIsSlowedDown(t *testing.T) {
	r, other := twoCrawls(t, nil)
	grants := r.grant(r.one())
	grants[0].HostNotBefore, grants[0].SlowUntil = r.clock.Now().Add(2*time.Hour), r.clock.Now().Add(time.Hour)
	if started, err := r.Batch("b").Start(grants); err != nil || len(started) != 0 {
		t.Fatalf("started: %+v, %v", started, err)
	}
	r.reopen()
	r.clock.pass(time.Hour - time.Second)
	if got, more := r.next(), other(); len(got.Claims)+len(more.Claims) != 0 {
		t.Fatalf("claimed too early: %+v, %+v", got, more)
	}
	r.clock.pass(time.Second)
	r.one()
}

// The release of a lane that met trouble names its host, although the host rests no longer than its address.
func TestReleasesReportTrouble(t *testing.T) {
	r := oneQueue(t, 4, nil)
	claim := r.one()
	r.start(claim)
	next := r.clock.Now().Add(time.Second)
	r.must(r.Lane(claim.ID).End(LaneEnd{Address: next, Host: next, Trouble: politeness.TroubleBusy}))
	r.reopen()
	got := r.next().Releases
	if len(got) != 1 || got[0].Trouble != politeness.TroubleBusy || got[0].Host != "a.example" || !got[0].HostNext.Equal(next) {
		t.Errorf("%+v", got)
	}
}
