package politeness

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/fnv"
)

// MaxServerRest bounds how long a server rests between two lanes because it is slowed down. All sites that lie at it wait, and a port that
// is closed for one may be open for the others: so it is much shorter than MaxSlow, which is the bound for a site.
const MaxServerRest = time.Minute

// ServerSlow is how a server, which is an address or a host group, is slowed down: the rest between two lanes there. A trouble doubles it,
// a lane that ends without one halves it. A lease that is given back while an answer is read, and one whose lane was cut off, say nothing.
//
// What counts as a trouble of the server: that it takes no connection, whichever site was to be asked, and that it answers 429 or 503
// for another site than the last time. One site that is refused says nothing about the others.
type ServerSlow struct {
	Rest time.Duration `json:"rest,omitempty"` // without jitter; 0: none beside that of the lane
	At   int64         `json:"at"`             // number of the last grant before the last change
	Site string        `json:"site,omitempty"` // that was refused last
	Why  Trouble       `json:"why,omitempty"`  // the last trouble, of the server or of a site
	Met  time.Time     `json:"met"`            // when it was reported
}

// forgiven reports whether a server has been quiet for long enough, or there never was any trouble.
func (d ServerSlow) forgiven(now time.Time) bool { return !d.Met.Add(d.Rest + ForgiveAfter).After(now) }

// after is what is known of a server after a lane there. One that ran under a grant that is not newer than the last change is passed
// over, as in SlowDown.
func (d ServerSlow) after(r Release, now time.Time, last int64) ServerSlow {
	if d.forgiven(now) {
		d = ServerSlow{At: d.At}
	}
	refused := r.Trouble.refuses()
	switch {
	case r.Number <= d.At:
		return d
	case r.Trouble == TroubleConnection, refused && d.Site != "" && d.Site != r.Host:
		d.Rest = min(max(2*d.Rest, leastSlow), MaxServerRest)
	case r.Trouble == "" && r.Asked:
		if d.Rest /= 2; d.Rest < leastSlow {
			d.Rest = 0
		}
	}
	if refused {
		d.Site = r.Host
	}
	if refused || r.Trouble == TroubleConnection {
		d.Why, d.Met = r.Trouble, ceilMillis(now)
	}
	if d.Met.IsZero() {
		return ServerSlow{}
	}
	d.At = max(r.Number, last) // not the time: the next lane may be granted at this very moment
	return d
}

// pause is how long the server rests from now on: less up to a quarter of jitter.
func (d ServerSlow) pause(now time.Time) time.Duration {
	if d.forgiven(now) {
		return 0
	}
	random := time.Duration(fnv.Sum32(strconv.FormatInt(d.At, 10)))
	return d.Rest - d.Rest/slowJitter*(random%1024)/1024
}

// serverMark begins the name under which State.hosts has what is known of an address. No host begins with it.
const serverMark = "#"

// serverName is under what State.hosts has what is known of a server: an address, or a host group.
func serverName(key string) string {
	if _, group := GroupOf(key); group {
		return key
	}
	return serverMark + key
}

// slowServer notes what a lane has met at its server. What refuses one host of a group refuses all: they count as one server by
// configuration, not by guess.
func (p *pass) slowServer(r Release) {
	unsaid := r.Trouble == "" && !r.Asked
	if !p.s.Servers || r.Number == 0 || r.notice() || unsaid && p.s.Ends { // what is unsaid may come with a later release of this grant
		return
	}
	key := p.s.key(r.IP)
	name := serverName(key)
	known := p.s.hosts[name]
	if _, group := GroupOf(key); group && r.Trouble.refuses() {
		of := r
		of.Host = name
		known.Slow = known.Slow.after(of, p.now, p.s.Last)
	}
	known.Server = known.Server.after(r, p.now, p.s.Last)
	p.keepHost(name, known, p.s.hostRoom())
}

// CountServers has servers slowed down, and hosts take maxHostBytes of the state at most. Executions of earlier versions do neither, and
// count less for a host: what is refused because there is no room depends on it, also when their histories are replayed.
func (s *State) CountServers() {
	s.Servers = true
	s.bytes -= s.hostBytes
	s.hostBytes = 0
	for _, host := range slices.Sorted(maps.Keys(s.hosts)) { // Politeness is replayed
		size := s.sizeOfHost(host, s.hosts[host])
		s.bytes += size
		s.hostBytes += size
	}
}
