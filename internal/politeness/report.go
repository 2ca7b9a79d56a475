package politeness

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"
)

// maxReported bounds the asks of an address that a report lists.
const maxReported = 20

// HostReport is what a shard knows of a host.
type HostReport struct {
	NotBefore time.Time       `json:"not_before,omitzero"` // of the host, at whatever address
	Slow      *SlowDown       `json:"slow,omitempty"`      // nil if it is not slowed down
	Addresses []AddressReport `json:"addresses,omitempty"` // at which it is asked, or is wanted
	Floor     time.Time       `json:"floor,omitzero"`      // before it no address is granted of which nothing is known
}

// AddressReport is what a shard knows of an address, or of a host group.
type AddressReport struct {
	Address   string        `json:"address"`
	Members   []string      `json:"members,omitempty"`    // addresses of a group
	NotBefore time.Time     `json:"not_before,omitzero"`  // it rests until then
	Leases    []LeaseReport `json:"leases,omitempty"`     // that are held
	Waits     []LeaseReport `json:"waits,omitempty"`      // asks in the order in which they came; the first ones
	Waiting   int           `json:"waiting,omitempty"`    // asks, all of them
	Slow      *ServerSlow   `json:"slow,omitempty"`       // how the server is slowed down; nil if it is not
	SlowGroup *SlowDown     `json:"slow_group,omitempty"` // of a host group: how all its hosts are slowed down; nil if they are not
}

// LeaseReport is a lease that is held or asked for.
type LeaseReport struct {
	Crawl  string    `json:"crawl"`
	Worker string    `json:"worker"`
	Lease  string    `json:"lease"`
	Host   string    `json:"host,omitempty"`
	IP     string    `json:"ip"`
	Since  time.Time `json:"since,omitzero"` // it was granted or asked for
	Until  time.Time `json:"until,omitzero"` // it ends then, if nobody renews or releases it
}

func reportOf(a Ask, number int64) LeaseReport {
	return LeaseReport{Crawl: a.Crawl, Worker: a.Worker, Lease: a.Lease, Host: a.Host, IP: a.IP, Since: time.UnixMicro(number).UTC()}
}

// Host reports what is known of a host, by its pay-level domain, and of addresses.
func (s *State) Host(now time.Time, host string, addresses []string) HostReport {
	var out HostReport
	if s.Floor.After(now) {
		out.Floor = s.Floor
	}
	known := s.hosts[host]
	if known.until().After(now) {
		out.NotBefore = known.until()
	}
	if !known.Slow.forgiven(now) {
		slow := known.Slow
		out.Slow = &slow
	}
	keys := map[string]bool{}
	for _, ip := range addresses {
		keys[s.key(ip)] = true
	}
	servers := maps.Clone(s.addresses)
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if _, slow := s.hosts[serverName(key)]; slow && servers[key] == nil {
			servers[key] = &address{ip: key}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(servers)) {
		a := servers[key]
		concerned := keys[key]
		for _, h := range a.holders {
			concerned = concerned || h.Host == host
		}
		for _, w := range a.waiters {
			concerned = concerned || w.Host == host
		}
		if concerned {
			report := a.report(now)
			s.reportSlow(&report, now)
			out.Addresses = append(out.Addresses, report)
		}
	}
	return out
}

// reportSlow adds how a server is slowed down.
func (s *State) reportSlow(a *AddressReport, now time.Time) {
	known := s.hosts[serverName(a.Address)]
	if !known.Server.forgiven(now) && known.Server.Rest > 0 {
		a.Slow = &known.Server
	}
	if !known.Slow.forgiven(now) {
		a.SlowGroup = &known.Slow
	}
}

func (a *address) report(now time.Time) AddressReport {
	out := AddressReport{Address: a.ip, Members: slices.Sorted(slices.Values(a.members)), Waiting: len(a.waiters)}
	if a.next.After(now) {
		out.NotBefore = a.next
	}
	for _, h := range a.holders {
		lease := reportOf(h.Ask, h.Number)
		lease.Until = h.Deadline
		out.Leases = append(out.Leases, lease)
	}
	for _, w := range a.waiters[:min(len(a.waiters), maxReported)] {
		out.Waits = append(out.Waits, reportOf(w.Ask, w.Since))
	}
	return out
}

// Reported is when the last trouble that counted was reported.
func (d SlowDown) Reported() time.Time { return time.UnixMicro(d.At).UTC() }

// SlowHost is a host, or a host group, that is slowed down.
type SlowHost struct {
	Host string
	SlowDown
}

// Slowest returns the hosts and groups that are slowed down and rest longest from now on, so many at most, and how many there are in all.
func (s *State) Slowest(now time.Time, most int) (list []SlowHost, all int) {
	for host, h := range s.hosts {
		if !h.Slow.Until.After(now) {
			continue
		}
		all++
		at, _ := slices.BinarySearchFunc(list, SlowHost{host, h.Slow}, func(a, b SlowHost) int {
			return cmp.Or(b.Until.Compare(a.Until), strings.Compare(a.Host, b.Host))
		})
		if at < most {
			list = slices.Insert(list, at, SlowHost{host, h.Slow})
			list = list[:min(len(list), most)]
		}
	}
	return list, all
}
