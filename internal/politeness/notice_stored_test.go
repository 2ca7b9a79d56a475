package politeness

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// What a worker sends as a notice, and what a shard has stored that has served it by the present rules, and by those of a worker of an earlier version, which takes it for a release of an address
// without a name.
const (
	sentNotice   = `{"lease":"h.example-1","ip":"","crawl":"c","worker":"w","number":1791201599999995,"host":"h.example","host_rest":120000000000,"trouble":"429"}`
	storedHost   = `"h.example":{"next":"2026-10-05T12:02:00Z","lease":"c/w/h.example-1","slow":{"until":"2026-10-05T12:02:00Z","rest":120000000000,"steps":1,"at":1791201600000000,"why":"429"}}`
	storedBefore = `"#":{"server":{"at":1791201599999995,"site":"h.example","why":"429","met":"2026-10-05T12:00:00Z"}},`
	storedState  = `{"ttl":900000000000,"shards":2,"fair":true,"servers":true,"ends":true,"lines":true,"apart":true,"exact":true,"notices":true,"addresses":{},"hosts":{HOSTS}}`
)

// TestNoticeOfOtherVersions: workers of an earlier version may run a shard that workers of this one send notices, and the other way round. Both store the rest and the slow-down of the host alike, and
// the address without a name, which nobody asks for, makes no difference to what is granted.
func TestNoticeOfOtherVersions(t *testing.T) {
	r := Release{Lease: "h.example-1", Crawl: "c", Worker: "w", IP: "10.0.0.9", Number: start.UnixMicro() - 5, Rest: time.Second, Asked: true, Host: "h.example", HostRest: 2 * time.Minute, Trouble: TroubleBusy}
	notice, _ := r.Notice()
	if raw, err := json.Marshal(notice); err != nil || string(raw) != sentNotice {
		t.Errorf("a notice is sent as %s, %v", raw, err)
	}
	s := NewPresent(0, 2)
	s.Serve(start, []Round{{Releases: []Release{notice}}})
	present := strings.Replace(storedState, "HOSTS", storedHost, 1)
	if raw, err := json.Marshal(s); err != nil || string(raw) != present {
		t.Errorf("a shard that has served it is stored as %s, %v", raw, err)
	}
	for name, stored := range map[string]string{"present": present, "earlier": strings.Replace(storedState, "HOSTS", storedBefore+storedHost, 1)} {
		s := new(State)
		if err := json.Unmarshal([]byte(stored), s); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		s.Serve(start, []Round{{Releases: []Release{notice}}}) // once more: the trouble counts once
		answers := s.Serve(start, []Round{{Asks: []Ask{
			{Lease: "h.example-2", IP: "10.0.0.1", PerIP: 1, Crawl: "c", Worker: "w", Reply: "r", Host: "h.example"}, {Lease: "other.example-1", IP: "10.0.0.2", PerIP: 1, Crawl: "c", Worker: "w", Reply: "r", Host: "other.example"},
		}}})
		if len(answers) != 1 || len(answers[0].Grants) != 2 {
			t.Fatalf("%s: %+v", name, answers)
		}
		for _, g := range answers[0].Grants {
			var rests time.Duration
			if g.Lease == "h.example-2" {
				rests = 2 * time.Minute
			}
			if until := g.HostNotBefore; until.IsZero() != (rests == 0) || rests > 0 && !until.Equal(start.Add(rests)) {
				t.Errorf("%s: %s may be asked from %s on", name, g.Lease, until)
			}
		}
		if steps := s.hosts["h.example"].Slow.Steps; steps != 1 || s.addresses[""] != nil {
			t.Errorf("%s: %d troubles are counted; an address without a name: %t", name, steps, s.addresses[""] != nil)
		}
		later := start.Add(ForgiveAfter + time.Minute)
		for range 2 * minHosts { // hosts of which nothing is known any more are looked for once there are many
			s.Serve(later, []Round{{Releases: []Release{{Lease: "x", Crawl: "c", Worker: "w", IP: "10.0.0.3", Number: 1, Host: "rests.example" + later.String(), HostRest: time.Minute}}}})
			later = later.Add(time.Millisecond)
		}
		if _, left := s.hosts[serverName("")]; left {
			t.Errorf("%s: the address without a name is never forgotten", name)
		}
	}
}
