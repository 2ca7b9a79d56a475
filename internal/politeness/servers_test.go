package politeness

import (
	"fmt"
	"testing"
	"time"
)

// servers plays lanes at a shard that slows servers down.
type servers struct {
	*testing.T
	s   *State
	now time.Time
	n   int
}

func newServers(t *testing.T) *servers {
	s := New(0, 1)
	s.CountServers()
	return &servers{t, s, start, 0}
}

// lane asks a host at an address as soon as it may be asked, and reports how it answered. It returns how long it had to wait for
// the address, and for the host.
func (v *servers) lane(host, ip, group string, trouble Trouble, rest time.Duration) (address, until time.Duration) {
	v.Helper()
	v.n++
	asked := v.now
	ask := Ask{Lease: fmt.Sprint("l", v.n), Crawl: "c", Worker: "w", Reply: "r", IP: ip, PerIP: 1, Host: host, Group: group}
	answers := v.s.Serve(v.now, []Round{{Asks: []Ask{ask}}})
	for len(answers) == 0 {
		wake, ok := v.s.Wake()
		if !ok {
			v.Fatalf("%s at %s is never granted", host, ip)
		}
		v.now = wake
		answers = v.s.Tick(v.now)
	}
	g := answers[0].Grants[0]
	address = max(g.NotBefore.Sub(asked), 0)
	until = max(g.HostNotBefore.Sub(asked), 0)
	if g.NotBefore.After(v.now) {
		v.now = g.NotBefore
	}
	v.now = v.now.Add(time.Second)
	r := Release{Lease: ask.Lease, Crawl: "c", Worker: "w", IP: ip, Number: g.Number, Asked: true, Trouble: trouble}
	if trouble != "" {
		r.Host, r.HostRest = host, rest
	}
	v.s = copyOf(v.T, v.s)
	v.s.Serve(v.now, []Round{{Releases: []Release{r}}})
	v.s.Serve(v.now, []Round{{Releases: []Release{r}}}) // a message may come twice
	return address, until
}

// rest is how long an address rests now.
func (v *servers) rest(ip string) time.Duration {
	if a := v.s.at(ip); a != nil {
		return max(a.next.Sub(v.now), 0)
	}
	return 0
}

// near reports whether a rest is this long, less its jitter.
func near(got, want time.Duration) bool {
	return got <= want+time.Millisecond && got >= want-want/slowJitter
}

// A site that is refused is slowed down at all its addresses; the others at these addresses are not.
func TestRefusedSite(t *testing.T) {
	v := newServers(t)
	v.lane("a.example", "10.0.0.1", "", TroubleBusy, time.Hour)
	if rest := v.rest("10.0.0.1"); rest != 0 {
		t.Errorf("one site that is refused makes its address rest %s", rest)
	}
	if _, until := v.lane("b.example", "10.0.0.1", "", "", 0); until != 0 {
		t.Errorf("another site there waits %s", until)
	}
	if _, until := v.lane("a.example", "10.0.0.2", "", "", 0); until < 50*time.Minute {
		t.Errorf("at its other address the site waits %s", until)
	}
	v.lane("a.example", "10.0.0.1", "", TroubleBusy, time.Hour)
	if rest := v.rest("10.0.0.1"); rest != 0 {
		t.Errorf("one site that is refused again makes its address rest %s", rest)
	}
}

// A server that refuses several sites rests between two lanes: twice as long each time, a minute at most; half as long after a
// lane without trouble; and not at all after half a quiet hour.
func TestRefusingServer(t *testing.T) {
	v := newServers(t)
	v.lane("a.example", "10.0.0.1", "", TroubleBusy, time.Second)
	want := time.Second
	for i := range 9 {
		v.lane(fmt.Sprintf("s%d.example", i), "10.0.0.1", "", TroubleUnavailable, time.Second)
		if rest := v.rest("10.0.0.1"); !near(rest, want) {
			t.Fatalf("rests %s after %d sites, want %s", rest, i+2, want)
		}
		want = min(2*want, MaxServerRest)
	}
	if rest := v.rest("10.0.0.2"); rest != 0 {
		t.Errorf("another address rests %s", rest)
	}
	for want = MaxServerRest / 2; want >= time.Second; want /= 2 {
		v.lane("good.example", "10.0.0.1", "", "", 0)
		if rest := v.rest("10.0.0.1"); !near(rest, want) {
			t.Fatalf("rests %s after a good lane, want %s", rest, want)
		}
	}
	v.lane("good.example", "10.0.0.1", "", "", 0)
	if rest := v.rest("10.0.0.1"); rest != 0 {
		t.Errorf("rests %s after good lanes", rest)
	}
	v.lane("a.example", "10.0.0.1", "", TroubleBusy, time.Second)
	v.lane("b.example", "10.0.0.1", "", TroubleBusy, time.Second)
	v.now = v.now.Add(ForgiveAfter + MaxServerRest)
	v.lane("c.example", "10.0.0.1", "", TroubleBusy, time.Second)
	if rest := v.rest("10.0.0.1"); rest != 0 {
		t.Errorf("rests %s after half a quiet hour and one refusal", rest)
	}
}

// The lane that is granted at the moment at which another one reports its trouble is a later one: its own trouble counts.
func TestRefusedOneAfterTheOther(t *testing.T) {
	v := newServers(t)
	var asks []Ask
	for i := range 3 {
		asks = append(asks, Ask{Lease: fmt.Sprint("l", i), Reply: "r", IP: "10.0.0.1", PerIP: 1, Host: fmt.Sprintf("s%d.example", i)})
	}
	granted := v.s.Serve(v.now, []Round{{Asks: asks}})
	for i, want := range []time.Duration{0, time.Second} {
		g := granted[0].Grants[0]
		v.now = v.now.Add(time.Second)
		granted = v.s.Serve(v.now, []Round{{Releases: []Release{{Lease: g.Lease, IP: g.IP, Number: g.Number, Asked: true, Trouble: TroubleBusy, Host: asks[i].Host, HostRest: time.Hour}}}})
		if rest := v.rest("10.0.0.1"); !near(rest, want) {
			t.Errorf("rests %s after %d sites that wait for each other, want %s", rest, i+1, want)
		}
	}
}

// An address that takes no connection rests for all its sites, whichever was to be asked. One that takes them, and does not answer for a
// site, does not.
func TestSilentServer(t *testing.T) {
	v := newServers(t)
	v.lane("a.example", "10.0.0.1", "", TroubleTimeOut, time.Minute)
	if rest := v.rest("10.0.0.1"); rest != 0 {
		t.Errorf("a site that does not answer makes its address rest %s", rest)
	}
	for i, want := range []time.Duration{1, 2, 4, 8} {
		v.lane("a.example", "10.0.0.1", "", TroubleConnection, time.Minute)
		if rest := v.rest("10.0.0.1"); !near(rest, want*time.Second) {
			t.Errorf("rests %s after %d attempts, want %d s", rest, i+1, want)
		}
	}
	if address, until := v.lane("b.example", "10.0.0.1", "", "", 0); address < 6*time.Second || until != 0 {
		t.Errorf("another site there waits %s for the address, and %s", address, until)
	}
	if _, until := v.lane("a.example", "10.0.0.9", "", "", 0); until < 30*time.Second {
		t.Errorf("the site waits %s at another address", until)
	}
}

// A host group is one server: what refuses one of its hosts refuses all, at all addresses.
func TestRefusingGroup(t *testing.T) {
	v := newServers(t)
	v.lane("a.example", "10.0.0.1", "farm", TroubleBusy, time.Hour)
	if _, until := v.lane("b.example", "10.0.0.2", "farm", "", 0); until < 50*time.Minute {
		t.Errorf("another host of the group waits %s", until)
	}
	if _, until := v.lane("c.example", "10.0.0.3", "", "", 0); until != 0 {
		t.Errorf("a host beside the group waits %s", until)
	}
	out := v.s.Host(v.now, "b.example", []string{GroupKey("farm")})
	if len(out.Addresses) != 1 || out.Addresses[0].SlowGroup == nil || out.Addresses[0].SlowGroup.Why != TroubleBusy {
		t.Errorf("reported: %+v", out)
	}
	if v = newServers(t); true { // of a network
		v.lane("a.example", GroupKey("net"), "", TroubleBusy, time.Hour)
		if _, until := v.lane("b.example", GroupKey("net"), "", "", 0); until < 50*time.Minute {
			t.Errorf("another host of the network waits %s", until)
		}
	}
}

// What hosts take of the state is counted, and bounded, as the execution began to: what is refused because there is no room depends on it when a
// history is replayed. An execution that goes by the new rules counts again what it has.
func TestCountOfHosts(t *testing.T) {
	fill := func(s *State) {
		for i := range 20_000 {
			s.Serve(start, []Round{{Releases: []Release{{Lease: "a", IP: "10.0.0.1", Number: 1, Host: leaseOf(i).String() + ".example", HostRest: time.Hour}}}})
		}
	}
	before, now := New(0, 1), New(0, 1)
	now.CountServers()
	fill(before)
	fill(now)
	if before.hostBytes <= maxHostBytes || now.hostBytes > maxHostBytes {
		t.Errorf("hosts take %d bytes by the rules before, %d by those of now", before.hostBytes, now.hostBytes)
	}
	if again := copyOf(t, before); again.bytes != before.bytes || again.hostBytes != before.hostBytes {
		t.Errorf("%d bytes, %d of hosts; read again %d, %d", before.bytes, before.hostBytes, again.bytes, again.hostBytes)
	}
	n, hosts := before.bytes-before.hostBytes, len(before.hosts)
	before.CountServers()
	if more := (hostBytes - hostBytesBefore) * hosts; before.bytes != n+before.hostBytes || before.hostBytes < more {
		t.Errorf("%d bytes, %d of hosts", before.bytes, before.hostBytes)
	}
	if again := copyOf(t, before); again.bytes != before.bytes || again.hostBytes != before.hostBytes {
		t.Errorf("%d bytes, %d of hosts; read again %d, %d", before.bytes, before.hostBytes, again.bytes, again.hostBytes)
	}
}
