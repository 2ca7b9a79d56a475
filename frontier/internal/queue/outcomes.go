package queue

import "math"

// Outcomes are what pages have been worth, by what was known before they were fetched: the worth of their host so far, and their priority. Which of the two says more differs between
// webs: on one that has the topic on a few hosts the host does, on one that has a few pages of it on each the priority. They are sums, of which the last some hundred pages have the greatest
// part, for a linear regression. The zero value knows nothing.
type Outcomes struct {
	N  float64 `cbor:"1,keyasint,omitempty"`
	H  float64 `cbor:"2,keyasint,omitempty"` // of hosts
	P  float64 `cbor:"3,keyasint,omitempty"` // of priorities
	HH float64 `cbor:"4,keyasint,omitempty"`
	HP float64 `cbor:"5,keyasint,omitempty"`
	PP float64 `cbor:"6,keyasint,omitempty"`
	W  float64 `cbor:"7,keyasint,omitempty"` // of what the pages were worth
	HW float64 `cbor:"8,keyasint,omitempty"`
	PW float64 `cbor:"9,keyasint,omitempty"`
}

const (
	// outcomesKept is the part of what was learned that one more page leaves.
	outcomesKept = 1 - 1.0/300
	// hostPages is how many pages the mean of all pages counts for in the worth of a host.
	hostPages = 2
	// firmness is how many pages it takes to learn as much of what hosts and priorities say as is assumed: half each.
	firmness = 5
	// spread is the variance that hosts and priorities are taken to have before any was seen.
	spread = 0.04
	// tiny keeps a division by no pages from failing.
	tiny = 1e-9
)

// Host is what the host of a queue is worth by a tally, in [0,1].
func (o *Outcomes) Host(t Tally) float64 { return o.host(t, 0) }

// host is Host, had so many more pages been as good as can be.
func (o *Outcomes) host(t Tally, more float64) float64 {
	n := min(float64(t.Judged), lastPages)
	return (n*t.Worth + more + hostPages*o.mean()) / (n + more + hostPages)
}

// mean is what pages are worth.
func (o *Outcomes) mean() float64 { return (o.W + 0.5) / (o.N + 1) }

// priority is the mean priority of pages.
func (o *Outcomes) priority() float64 { return o.P / (o.N + tiny) }

// Learn takes in the worth of a page, in [0,1], by the tally of its queue before it, and its priority. NaN is no worth: it would stay in the sums.
func (o *Outcomes) Learn(t Tally, priority uint16, worth float64) {
	h, p := o.Host(t), Score(priority)
	if math.IsNaN(h) || math.IsNaN(worth) {
		return
	}
	for _, x := range []struct {
		sum *float64
		add float64
	}{{&o.N, 1}, {&o.H, h}, {&o.P, p}, {&o.HH, h * h}, {&o.HP, h * p}, {&o.PP, p * p}, {&o.W, worth}, {&o.HW, h * worth}, {&o.PW, p * worth}} {
		*x.sum = *x.sum*outcomesKept + x.add
	}
}

// line is a regression: what a page is worth is a constant + host·h + priority·p.
type line struct{ host, priority float64 }

// fit is the regression, drawn to what is assumed by firmness.
func (o *Outcomes) fit() line {
	n := o.N + tiny
	h, p, w := o.H/n, o.P/n, o.W/n
	hh, hp, pp := o.HH-n*h*h, o.HP-n*h*p, o.PP-n*p*p
	hw, pw := o.HW-n*h*w, o.PW-n*p*w
	hh, pp = hh+firmness*spread, pp+firmness*spread
	hw, pw = hw+firmness*spread/2, pw+firmness*spread/2
	d := hh*pp - hp*hp
	l := line{host: max((hw*pp-pw*hp)/d, 0), priority: max((pw*hh-hw*hp)/d, 0)}
	switch { // neither counts against a page: then the other alone is fitted
	case l.host == 0:
		l.priority = max(pw/pp, 0)
	case l.priority == 0:
		l.host = max(hw/hh, 0)
	}
	return l
}
