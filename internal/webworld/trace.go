package webworld

import (
	"fmt"
	"net/netip"
	"slices"
	"time"
)

// Asked is one request as the servers saw it.
type Asked struct {
	IP         netip.Addr
	Connection int // which of all connections of the world
	Host, URL  string
	Began      time.Time // the header was read
	Ended      time.Time // the last byte of the response was about to be written; if it was cut, Began, for its end is not known
	Cut        bool      // the client left before the response was written
	Live       bool      // it is in progress
}

func (a Asked) String() string {
	how := fmt.Sprintf("for %v", a.Ended.Sub(a.Began).Round(time.Millisecond))
	if a.Cut {
		how = "cut"
	} else if a.Live {
		how = "in progress"
	}
	return fmt.Sprintf("%s %s #%d %s %s", a.Began.Format("15:04:05.000"), a.IP, a.Connection, a.URL, how)
}

// Trace lists all requests in the order in which they began, if Options.Trace asks for it.
func (w *World) Trace() []Asked {
	w.rec.mu.Lock()
	defer w.rec.mu.Unlock()
	out := make([]Asked, len(w.rec.trace))
	for i, x := range w.rec.trace {
		out[i] = Asked{
			IP: x.ip.ip, Connection: x.conn.number, Host: x.host, URL: x.url, Began: x.began, Ended: x.ended, Cut: x.over && !x.counted, Live: !x.over,
		}
	}
	return out
}

// Impolite lists the requests that came too early, each with the request before it: during another request on the address;
// sooner than rest after the end of the last one on the address; or sooner than the host's delay after the last one to the
// host.
func Impolite(trace []Asked, rest time.Duration, delay func(host string) time.Duration) (faults []string) {
	ips, hosts := map[netip.Addr]*Asked{}, map[string]*Asked{}
	trace = slices.Clone(trace)
	for i := range trace {
		a := &trace[i]
		early := func(before *Asked, where string, least time.Duration) {
			if before == nil {
				return
			}
			if gap := a.Began.Sub(before.Ended); before.Live || gap < least {
				faults = append(faults, fmt.Sprintf("%v after the last request to %s, want %v at least:\n  %v\n  %v", gap.Round(time.Microsecond), where, least, *before, *a))
			}
		}
		early(ips[a.IP], a.IP.String(), rest)
		early(hosts[a.Host], a.Host, max(rest, delay(a.Host)))
		ips[a.IP], hosts[a.Host] = latest(ips[a.IP], a), latest(hosts[a.Host], a)
	}
	return faults
}

// latest is the request that ended last.
func latest(a, b *Asked) *Asked {
	if a == nil || b.Live || !a.Live && b.Ended.After(a.Ended) {
		return b
	}
	return a
}
