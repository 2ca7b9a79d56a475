package politeness

import (
	"fmt"
	"testing"
	"time"
)

// TestNoEmptyWakes: an ask that takes the second lease of an address stands behind one that takes the only lease. The one in front waited for its host for a while, so that the one behind
// could have been granted before. Once both may be, the shard sleeps until the lease ends; earlier versions woke every ten milliseconds until the rest was over.
func TestNoEmptyWakes(t *testing.T) {
	for _, exact := range []bool{true, false} {
		s := NewPresent(0, 0)
		s.Exact = exact
		ask := func(lease, ip, host string, perIP int) Ask {
			return Ask{Lease: lease, Crawl: "c", Worker: "w", Reply: "r", IP: ip, Host: host, PerIP: perIP}
		}
		s.Serve(start, []Round{{Asks: []Ask{ask("0", "10.0.0.1", "one.example", 1)}}})
		s.Serve(start, []Round{{Releases: []Release{{Lease: "0", Crawl: "c", Worker: "w", IP: "10.0.0.1", Asked: true, Host: "one.example", Rest: 1900 * time.Millisecond}}}})
		s.Serve(start, []Round{{Asks: []Ask{ask("1", "10.0.0.2", "two.example", 2)}}})
		s.Serve(start, []Round{{Asks: []Ask{ask("2", "10.0.0.2", "one.example", 1), ask("3", "10.0.0.2", "three.example", 2)}}})
		wakes, now := 0, start
		for ; wakes < 100; wakes++ {
			wake, ok := s.Wake()
			if !ok || wake.After(start.Add(time.Minute)) {
				break
			}
			now = now.Add(10 * time.Millisecond)
			s.Tick(now)
		}
		if exact && wakes > 1 || !exact && wakes < 100 {
			t.Errorf("exact %t: it wakes %d times within a minute", exact, wakes)
		}
	}
}

// TestFullShardKeepsLongRests: a shard that is full forgets addresses that rest for a minute at most, which all unknown ones do then; it refuses asks rather than forget a longer rest.
func TestFullShardKeepsLongRests(t *testing.T) {
	s := NewPresent(0, 0)
	for i := range 20_000 {
		rest := time.Second * time.Duration(1+i%59)
		if i%2 == 0 {
			rest = time.Hour
		}
		ip := fmt.Sprintf("10.%d.%d.%d", i/65536, i/256%256, i%256)
		s.Serve(start, []Round{{Releases: []Release{{Lease: fmt.Sprint(i), Crawl: "c", Worker: "w", IP: ip, Rest: rest}}}})
	}
	var asks []Ask
	for i := range 20_000 {
		asks = append(asks, Ask{Lease: fmt.Sprint("a", i), Crawl: "c", Worker: "w", Reply: "r", IP: fmt.Sprintf("11.%d.%d.%d", i/65536, i/256%256, i%256), PerIP: 1})
	}
	s.Serve(start.Add(time.Minute), []Round{{Asks: asks}})
	long := 0
	for i := 0; i < 20_000; i += 2 {
		if a := s.addresses[fmt.Sprintf("10.%d.%d.%d", i/65536, i/256%256, i%256)]; a != nil && a.next.Equal(start.Add(time.Hour)) {
			long++
		}
	}
	if long < 9_000 || s.Turned == 0 || s.bytes > MaxBytes {
		t.Errorf("%d of 10,000 long rests are known, %d asks are not taken, %d bytes", long, s.Turned, s.bytes)
	}
}

// TestLateAsk: what a worker asks for by an epoch before the ring had given it up is not taken if it goes by the permit, nor renewed; the same worker's later asks are.
func TestLateAsk(t *testing.T) {
	s := NewPresent(0, 0)
	s.Serve(start, []Round{{Gone: []Gone{{Worker: "w", At: start, Epoch: 5}}}})
	s = copyOf(t, s)
	for _, c := range []struct {
		epoch  uint64
		permit bool
		taken  bool
	}{{4, true, false}, {4, false, true}, {5, true, true}, {6, true, true}, {0, true, true}} {
		ask := Ask{Lease: fmt.Sprint(c.epoch, c.permit), Crawl: "c", Worker: "w", Reply: "r", IP: "10.0.0.1", PerIP: 9, Permit: c.permit}
		answers := s.Serve(start, []Round{{From: "r", Round: 1, Epoch: c.epoch, Asks: []Ask{ask}}})
		if len(answers) != 1 || (len(answers[0].Grants) == 1) != c.taken || (len(answers[0].Busy) == 1) == c.taken {
			t.Errorf("%+v: %+v", c, answers)
		}
		ask.Lease, ask.IP = "held by "+ask.Lease, "10.0.0.2"
		answers = s.Serve(start, []Round{{From: "r", Round: 1, Epoch: c.epoch, Renewals: []Renewal{{ask, 1}}}})
		if len(answers) != 1 || (len(answers[0].Refused) == 0) != c.taken {
			t.Errorf("%+v is renewed: %+v", c, answers)
		}
	}
	late := Ask{Lease: "later", Crawl: "c", Worker: "w", Reply: "r", IP: "10.0.0.3", PerIP: 1, Permit: true}
	if answers := s.Serve(start.Add(departedKept), []Round{{From: "r", Round: 1, Epoch: 1, Asks: []Ask{late}}}); len(answers[0].Grants) != 1 {
		t.Errorf("a ring that counts from 1 again: %+v", answers)
	}
	for i := range 500 {
		s.depart(fmt.Sprint("worker-", i), departure{uint64(10 + i), start.Add(time.Duration(i) * time.Second)})
	}
	if len(s.departed) != maxDeparted || s.departed["worker-499"].Epoch == 0 || s.bytes > MaxBytes {
		t.Errorf("%d workers are known to have been given up", len(s.departed))
	}
}
