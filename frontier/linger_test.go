package frontier

import (
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier/internal/claims"
)

// Releases wait to be sent together with claims, unless a claim waits for them. Once there are claims, a round waits no longer than
// it would without releases.
func TestLingering(t *testing.T) {
	const linger, quiet = time.Second, 8 * time.Second
	releases, claims := Round{Releases: make([]EndedLease, 2)}, Round{Claims: make([]Claim, 1)}
	both, awaited := releases, releases
	both.Claims, awaited.awaited = claims.Claims, true
	last := awaited
	last.last = true
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
		"the last ones":            {[]Round{releases, last}, time.Second},
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

// A release is awaited if a claim of any crawl waits for a lease of its address, if it reports that its host rests, or if no claim
// is left.
func TestAwaited(t *testing.T) {
	now := time.Unix(1000, 0)
	free := []EndedLease{{IP: "192.0.2.1"}}
	rests := []EndedLease{{IP: "192.0.2.1", Host: "a.example", HostNext: now.Add(time.Second)}}
	rested := []EndedLease{{IP: "192.0.2.1", Host: "a.example", HostNext: now}}
	none := claims.NewSet()
	one := func(c Claim) *claims.Set {
		s := claims.NewSet()
		s.Apply(claims.Change{Claims: []Claim{c}})
		return s
	}
	asks := func(ip string) *claims.Set { return one(Claim{IP: ip}) }
	fetches := func(ip string) *claims.Set { return one(Claim{Batch: "b", IP: ip, Lease: now.Add(time.Minute)}) }
	for name, c := range map[string]struct {
		releases    []EndedLease
		mine, other *claims.Set
		want        bool
	}{
		"nothing is in progress":              {free, none, none, true},
		"nothing is in progress, no releases": {nil, none, none, true},
		"no releases":                         {nil, asks("192.0.2.1"), none, false},
		"others fetch":                        {free, fetches("192.0.2.1"), fetches("192.0.2.1"), false},
		"one waits":                           {free, asks("192.0.2.1"), none, true},
		"one of another crawl":                {free, fetches("192.0.2.1"), asks("192.0.2.1"), true},
		"one for another address":             {free, fetches("192.0.2.1"), asks("192.0.2.2"), false},
		"only the other crawl's":              {free, none, fetches("192.0.2.2"), true},
		"one that was started again":          {free, one(Claim{Batch: "b", IP: "192.0.2.1"}), none, true},
		"one that has ended":                  {free, one(Claim{Batch: "b", IP: "192.0.2.1", Ended: true}), none, false},
		"the host is to rest":                 {rests, fetches("192.0.2.2"), none, true},
		"the host has rested":                 {rested, fetches("192.0.2.2"), none, false},
	} {
		mine := &state{claims: c.mine}
		f := &Frontier{crawls: map[string]*state{"mine": mine, "other": {claims: c.other}}}
		if got := f.awaited(mine, c.releases, now); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
