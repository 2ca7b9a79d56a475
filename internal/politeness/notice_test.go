package politeness

import (
	"fmt"
	"testing"
	"time"
)

// twoShards are the shards of two addresses of one host, which two workers ask.
type twoShards struct {
	t      *testing.T
	now    time.Time
	shards [2]*State
	claims int
}

// grant asks a shard for the lease of its address, which is free.
func (w *twoShards) grant(shard int) Grant {
	w.t.Helper()
	w.claims++
	ask := Ask{Lease: fmt.Sprint("h.example-", w.claims), IP: fmt.Sprint("10.0.0.", shard), PerIP: 1, Crawl: "c", Worker: fmt.Sprint("w", shard), Host: "h.example", Rest: time.Second}
	answers := w.shards[shard].Serve(w.now, []Round{{Asks: []Ask{ask}}})
	if len(answers) != 1 || len(answers[0].Grants) != 1 {
		w.t.Fatalf("shard %d answers %+v", shard, answers)
	}
	return answers[0].Grants[0]
}

// release ends a grant of a shard a second later; the other shard is sent a notice of it, twice.
func (w *twoShards) release(shard int, g Grant, rest time.Duration, trouble Trouble) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	r := Release{Lease: g.Lease, Crawl: "c", Worker: fmt.Sprint("w", shard), IP: g.IP, Number: g.Number, Rest: time.Second, Asked: true, Host: "h.example", HostRest: rest, Trouble: trouble}
	w.shards[shard].Serve(w.now, []Round{{Releases: []Release{r}}})
	notice, says := r.Notice()
	if !says {
		w.t.Fatalf("%+v says nothing of its host", r)
	}
	for range 2 {
		w.shards[1-shard].Serve(w.now, []Round{{Releases: []Release{notice}}})
	}
}

// TestNotice: a Crawl-delay or Retry-After, and a slow-down, that one shard knows of a host hold at its address of the other shard, and a trouble counts once, whichever shard knows it first. A notice
// says nothing of an address.
func TestNotice(t *testing.T) {
	w := &twoShards{t: t, now: start, shards: [2]*State{NewPresent(0, 2), NewPresent(0, 2)}}
	w.release(0, w.grant(0), 2*time.Minute, "")
	if g := w.grant(1); g.HostNotBefore.Sub(w.now) != 2*time.Minute || !g.SlowUntil.IsZero() {
		t.Errorf("after a rest at the other shard: %+v at %s", g, w.now)
	} else {
		w.release(1, g, 0, "") // it was given back
	}
	w.now = w.now.Add(2 * time.Minute)

	for step, shard := range []int{0, 1, 1, 0} {
		g := w.grant(shard)
		w.release(shard, g, 2*time.Minute, TroubleBusy)
		for i, s := range w.shards {
			if slow := s.hosts["h.example"].Slow; slow.Steps != step+1 || slow.Rest != 2*time.Minute<<step || slow.Why != TroubleBusy {
				t.Errorf("trouble %d at shard %d: shard %d has %+v", step+1, shard, i, slow)
			}
		}
		other := w.grant(1 - shard)
		if rests := other.SlowUntil.Sub(w.now); rests < 2*time.Minute<<step*3/4 {
			t.Errorf("trouble %d at shard %d: the other shard has it rest for %s", step+1, shard, rests)
		}
		w.release(1-shard, other, 0, "")
		w.now = w.now.Add(2 * time.Minute << step)
	}
	for i, s := range w.shards {
		if _, server := s.hosts[serverName("")]; server || s.addresses[""] != nil {
			t.Errorf("shard %d knows of an address without a name", i)
		}
	}
}

// TestNoticesLeaveRoom: notices of hosts at other shards leave room to hosts that the shard's own addresses have, and take none away that is known.
func TestNoticesLeaveRoom(t *testing.T) {
	s := NewPresent(0, 2)
	known := func(host string) bool { return s.hosts[host].Slow.Steps > 0 }
	trouble := func(host, ip string, number int64) {
		s.Serve(start, []Round{{Releases: []Release{{Lease: host + "-1", Crawl: "c", Worker: "w", IP: ip, Number: number, Host: host, HostRest: time.Hour, Trouble: TroubleBusy}}}})
	}
	for i := range 10_000 {
		trouble(fmt.Sprint("h", i, ".example"), "", int64(i+1))
	}
	noticed := len(s.hosts)
	if s.hostBytes > maxHostBytes/2 || noticed < 1000 {
		t.Errorf("%d hosts of notices take %d bytes", noticed, s.hostBytes)
	}
	for i := range noticed / 2 {
		trouble(fmt.Sprint("mine", i, ".example"), "10.0.0.1", int64(20_000+i))
	}
	if !known("mine0.example") || !known(fmt.Sprint("mine", noticed/2-1, ".example")) {
		t.Error("a host of the shard's own addresses has no room")
	}
	trouble("mine0.example", "", start.UnixMicro()+1)
	if got := s.hosts["mine0.example"].Slow; got.Steps != 2 {
		t.Errorf("a notice of a known host makes %+v of it", got)
	}
}

// TestNoticesKeepTheirBound: the room that notices take does not grow with what later notices say of hosts that are known; their rests hold nevertheless. Executions of earlier versions replay as
// they were.
func TestNoticesKeepTheirBound(t *testing.T) {
	for _, bound := range []bool{true, false} {
		s := NewPresent(0, 2)
		s.Notices = bound
		notice := func(host string, rest time.Duration, number int64, trouble Trouble) {
			s.Serve(start, []Round{{Releases: []Release{{Lease: host + "-1", Crawl: "c", Worker: "w", Number: number, Host: host, HostRest: rest, Trouble: trouble}}}})
		}
		for i := range 10_000 {
			notice(fmt.Sprint("h", i, ".example"), time.Minute, int64(i+1), "")
		}
		hosts := len(s.hosts)
		if s.hostBytes > maxHostBytes/2 || hosts < 1000 {
			t.Fatalf("%d hosts of notices take %d bytes", hosts, s.hostBytes)
		}
		for i := range hosts {
			notice(fmt.Sprint("h", i, ".example"), time.Hour, start.UnixMicro()+int64(i), TroubleBusy)
		}
		if within := s.hostBytes <= maxHostBytes/2; within != bound {
			t.Errorf("hosts of notices take %d bytes, %d are half of the room", s.hostBytes, maxHostBytes/2)
		}
		for i := range hosts {
			if until := s.hosts[fmt.Sprint("h", i, ".example")].until(); bound && until.Before(start.Add(time.Hour)) {
				t.Fatalf("host %d of %d may be asked from %s on", i, hosts, until)
			}
		}
	}
}
