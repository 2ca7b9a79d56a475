package export

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// dnsSegments are the segments in which the DNS answer of a host is looked for, beside those of its captures.
const dnsSegments = 8

// takeDNS picks the DNS answer of a host that lies with its captures; that of a host without one is looked for at the end.
func (c *closure) takeDNS(s *structure, capture *Capture, host string) {
	if g := nearestDNS(s, host, capture.Date); g != nil {
		c.pick(s, capture.Source, g, WhyDNS)
		c.hasDNS[host] = true
		return
	}
	c.needsDNS[host] = append(c.needsDNS[host], capture.Date)
}

func nearestDNS(s *structure, host string, at time.Time) (best *group) {
	for _, g := range s.groups {
		if g.dnsHost() == host && (best == nil || g.rec.date.Sub(at).Abs() < best.rec.date.Sub(at).Abs()) {
			best = g
		}
	}
	return best
}

// findDNS looks for the DNS answers of hosts that have none beside their captures: a worker that knows an address does not ask again.
func (c *closure) findDNS(ctx context.Context) error {
	for _, host := range slices.Sorted(maps.Keys(c.needsDNS)) {
		if c.hasDNS[host] {
			continue
		}
		at := c.needsDNS[host][0]
		found, err := c.findDNSOf(ctx, host, at)
		if err != nil {
			return err
		}
		if !found {
			c.lacks(Missing{URL: "dns:" + host, Why: WhyDNS, Reason: "the segments with captures of the host have no DNS answer of it"})
		}
	}
	return nil
}

func (c *closure) findDNSOf(ctx context.Context, host string, at time.Time) (found bool, err error) {
	nearest := map[int32]time.Duration{} // of its captures, by source
	c.index.ofHost(host, func(capture *Capture) {
		away := capture.Date.Sub(at).Abs()
		if d, known := nearest[capture.Source]; !known || away < d {
			nearest[capture.Source] = away
		}
	})
	sources := slices.SortedFunc(maps.Keys(nearest), func(a, b int32) int {
		return cmp.Or(cmp.Compare(nearest[a], nearest[b]), cmp.Compare(a, b))
	})
	for _, source := range sources[:min(len(sources), dnsSegments)] {
		s, err := c.read(ctx, source)
		if err != nil {
			return false, err
		}
		if s == nil {
			continue
		}
		if g := nearestDNS(s, host, at); g != nil {
			c.pick(s, source, g, WhyDNS)
			return true, nil
		}
	}
	return false, nil
}
