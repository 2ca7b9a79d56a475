package frontier

import (
	"testing"
	"time"
)

// Releases wait for claims to go with, unless somebody waits for them; once there are claims, a round waits no longer than for
// claims alone.
func TestLingering(t *testing.T) {
	const linger, quiet = time.Second, 8 * time.Second
	releases, claims := Round{Releases: make([]Release, 2)}, Round{Claims: make([]Claim, 1)}
	both, awaited := releases, releases
	both.Claims, awaited.awaited = claims.Claims, true
	start := time.Unix(0, 0)
	for name, c := range map[string]struct {
		rounds []Round       // a second apart
		want   time.Duration // after the first
	}{
		"nothing":                  {[]Round{{}}, -1},
		"claims":                   {[]Round{claims}, linger},
		"more claims":              {[]Round{claims, both}, linger},
		"releases":                 {[]Round{releases}, quiet},
		"more releases":            {[]Round{releases, releases}, quiet},
		"claims after releases":    {[]Round{releases, releases, both}, 2*time.Second + linger},
		"awaited":                  {[]Round{awaited}, linger},
		"awaited later":            {[]Round{releases, awaited}, time.Second + linger},
		"renewals":                 {[]Round{{Renewals: claims.Claims, Releases: releases.Releases}}, linger},
		"what is expired, at last": {[]Round{{Expired: []string{"b"}}}, linger},
	} {
		var l lingering
		var got time.Time
		for i, r := range c.rounds {
			got = l.until(Want{Linger: linger, Quiet: quiet}, r, start.Add(time.Duration(i)*time.Second))
		}
		if c.want < 0 != got.IsZero() || c.want >= 0 && got.Sub(start) != c.want {
			t.Errorf("%s: until %v, want %v", name, got, c.want)
		}
	}
	var l lingering
	if got := l.until(Want{Linger: linger}, releases, start); got.Sub(start) != linger {
		t.Errorf("releases, without a time of their own: until %v", got)
	}
}

// A release is awaited if a claim waits for a lease of its address, of whatever crawl, or if nothing is out any more.
func TestAwaited(t *testing.T) {
	release := []Release{{IP: "192.0.2.1"}}
	claims := func(batch, ip string) map[string]*Claim { return map[string]*Claim{"x": {Batch: batch, IP: ip}} }
	for name, c := range map[string]struct {
		mine, other map[string]*Claim
		want        bool
	}{
		"nothing is out":          {nil, nil, true},
		"others fetch":            {claims("b", "192.0.2.1"), claims("b", "192.0.2.1"), false},
		"one waits":               {claims("", "192.0.2.1"), nil, true},
		"one of another crawl":    {claims("b", "192.0.2.1"), claims("", "192.0.2.1"), true},
		"one for another address": {claims("b", "192.0.2.1"), claims("", "192.0.2.2"), false},
		"only the other crawl's":  {nil, claims("b", "192.0.2.2"), true},
	} {
		mine := &state{claims: c.mine}
		f := &Frontier{crawls: map[string]*state{"mine": mine, "other": {claims: c.other}}}
		if got := f.awaited(mine, release); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
