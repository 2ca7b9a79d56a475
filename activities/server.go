package activities

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/hostgroups"
	"github.com/muninn-archive/muninn/internal/politeness"
)

// leaseAddress is under what an address is leased: itself, or the host group that it belongs to. What is such a group already stays.
func (a *Activities) leaseAddress(ip string) string {
	if s := a.Groups.Of("", ip); s.Network != "" {
		return politeness.GroupKey(s.Network)
	}
	return ip
}

// serverOf is what a host counts as at an address, of all its leases, and how many claims of a crawl may wait for them at a time. A group that
// names the host comes before one that names its network: the shard joins the one to the other.
func (a *Activities) serverOf(p crawl.Politeness, pld, ip string) (server string, waiting int) {
	s := a.Groups.Of(pld, ip)
	waiting = askersPerLease * limitPauses(p, s).PerIP
	switch {
	case s.Group != "":
		return politeness.GroupKey(s.Group), waiting
	case s.Network != "":
		return politeness.GroupKey(s.Network), waiting
	}
	return ip, waiting
}

// shardOf is the politeness shard that leases an address.
func (a *Activities) shardOf(ip string) int { return Shard(a.leaseAddress(ip), a.Settings.Shards) }

// pausesAt is the politeness of a definition where a host lies: it asks no more lanes at a time, and makes no shorter pauses, than is
// allowed there.
func (a *Activities) pausesAt(p crawl.Politeness, pld, ip string) crawl.Politeness {
	return limitPauses(p, a.Groups.Of(pld, ip))
}

func limitPauses(p crawl.Politeness, s hostgroups.Server) crawl.Politeness {
	p.PerIP = max(min(p.PerIP, s.PerIP), 1)
	p.MinDelay = max(p.MinDelay, crawl.Duration(s.MinDelay))
	p.MaxDelay = max(p.MaxDelay, p.MinDelay)
	return p
}

// noteDiffering logs that other workers have other host groups: an address may be leased under two names, and so be asked twice at a time.
func (a *Activities) noteDiffering(workers []string) {
	text := strings.Join(workers, ", ")
	a.mu.Lock()
	known := text == a.differing
	a.differing = text
	a.mu.Unlock()
	if !known && text != "" && a.Log != nil {
		a.Log.Warn("other workers have other host groups: give all the same file (setting host-groups)", "workers", text)
	}
}
