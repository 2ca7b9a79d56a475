package politeness

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// At most per_ip leases are held on a group, and one on an address, whatever hosts lie where, in whatever order asks, releases and
// renewals come; and in the end all asks are granted.
func TestGroups(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, now := New(0, 0), start
		asks, held := map[LeaseID]Ask{}, map[LeaseID]Grant{}
		var ids []LeaseID
		granted := 0
		take := func(answers []Answer) {
			for _, a := range answers {
				for _, g := range a.Grants {
					if ask := asks[g.ID]; ask.IP != g.IP {
						t.Fatalf("%+v for %+v", g, ask)
					}
					held[g.ID] = g
					granted++
				}
			}
			groups, ips, least := map[string]int{}, map[string]int{}, map[string]int{}
			for id := range held {
				ask := asks[id]
				ips[ask.IP]++
				if ask.Group != "" {
					groups[ask.Group]++
					least[ask.Group] = 2
				}
			}
			for ip, n := range ips {
				if n > 2 {
					t.Fatalf("%d leases are held on %s", n, ip)
				}
				for id := range held {
					if asks[id].IP == ip && asks[id].PerIP == 1 && n > 1 {
						t.Fatalf("%d leases are held on %s", n, ip)
					}
				}
			}
			for group, n := range groups {
				if n > least[group] {
					t.Fatalf("%d leases are held on the group %s", n, group)
				}
			}
		}
		for i := range rapid.IntRange(5, 60).Draw(t, "steps") {
			now = now.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "pass")) * time.Millisecond)
			if rapid.IntRange(0, 9).Draw(t, "encoded") == 0 {
				s = copyOf(t, s)
			}
			take(s.Tick(now))
			if rapid.Bool().Draw(t, "asks") || len(ids) == 0 {
				host := rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "host")
				ask := Ask{Lease: fmt.Sprint(i), IP: fmt.Sprint("10.0.0.", rapid.IntRange(0, 3).Draw(t, "ip")), PerIP: 1, Host: host}
				if host < "c" { // two groups, whose hosts may lie at one address
					ask.Group, ask.PerIP = host, 2
				}
				asks[ask.ID()] = ask
				ids = append(ids, ask.ID())
				take(s.Serve(now, []Round{{Asks: []Ask{ask}}}))
			} else {
				id := rapid.SampledFrom(ids).Draw(t, "released")
				r := asks[id].Withdrawal()
				r.Rest = time.Duration(rapid.IntRange(0, 5).Draw(t, "rest")) * time.Second
				delete(held, id)
				take(s.Serve(now, []Round{{Releases: []Release{r}}}))
			}
			if raw, err := json.Marshal(s); err != nil || len(raw) > MaxBytes {
				t.Fatal(err)
			}
		}
		for range 10 * len(ids) {
			for id := range held {
				delete(held, id)
				take(s.Serve(now, []Round{{Releases: []Release{asks[id].Withdrawal()}}}))
				break
			}
			if wake, ok := s.Wake(); ok && wake.After(now) && len(held) == 0 {
				now = wake
			}
			take(s.Tick(now))
		}
		if out, waiting, _ := s.Counts(); out+waiting > 0 {
			t.Fatalf("%d leases are held and %d asks wait in the end", out, waiting)
		}
		s.Tick(now.Add(MaxPause))
		if _, _, addresses := s.Counts(); addresses+len(s.joined) > 0 || s.bytes != stateBytes {
			t.Fatalf("%d addresses and %d of groups are never forgotten, %d bytes", addresses, len(s.joined), s.bytes)
		}
	})
}
