package politeness

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// groupMark begins the key of a host group. No address begins with it.
const groupMark = "@"

// GroupKey is under what a host group is leased, in place of an address.
func GroupKey(name string) string { return groupMark + name }

// GroupOf is the name of the group of such a key; false if it is an address.
func GroupOf(key string) (name string, is bool) { return strings.CutPrefix(key, groupMark) }

// key is under what an address is leased: itself, or the group that an ask has joined it to.
func (s *State) key(ip string) string { return cmp.Or(s.joined[ip], ip) }

// at is what is known of an address or of its group; nil if nothing is.
func (s *State) at(ip string) *address { return s.addresses[s.key(ip)] }

// touchFor touches what an ask is for. An ask that names a group joins its address to the group.
//
// Invariant: what is known of an address that is joined to a group is known of the group. So at most per_ip leases are held on the
// group and on the address, also if hosts that are not in the group lie at that address: these wait in the group's line.
func (p *pass) touchFor(ask Ask) *address {
	if ask.Group == "" {
		return p.touch(ask.IP)
	}
	group := p.touch(GroupKey(ask.Group))
	if p.s.key(ask.IP) != group.ip {
		p.join(group, p.touch(ask.IP))
	}
	return group
}

// join makes an address, or a group, a part of a group: leases, line and rest of both are the group's. Of the two hosts that were asked last the one with the longer rest
// rests as the group does, the other by an entry of its own.
func (p *pass) join(group, part *address) {
	s := p.s
	part.leave()
	last, other, until := group.last, part.last, part.next
	if part.next.After(group.next) {
		last, other, until = part.last, group.last, group.next
	}
	p.free(last)
	p.free(other)
	group.holders = append(group.holders, part.holders...)
	group.waiters = append(group.waiters, part.waiters...)
	slices.SortStableFunc(group.waiters, func(a, b *waiter) int { return cmp.Compare(a.Since, b.Since) })
	group.push(part.next)
	moved := append(slices.Clone(part.members), part.ip)
	s.remove(part)
	s.setLast(group, last)
	if other != last {
		p.restFrom(other, until)
	}
	for _, ip := range moved {
		s.setJoined(group, ip)
	}
}

func (s *State) setJoined(group *address, ip string) {
	s.joined[ip] = group.ip
	group.members = append(group.members, ip)
	s.bytes += joinedBytes + len(ip) + len(group.ip)
}

// forgetMembers forgets which addresses belong to a group.
func (s *State) forgetMembers(group *address) {
	for _, ip := range group.members {
		delete(s.joined, ip)
		s.bytes -= joinedBytes + len(ip) + len(group.ip)
	}
	group.members = nil
}

// restoreJoined takes over what addresses belong to which groups.
func (s *State) restoreJoined(joined map[string]string) {
	for _, ip := range slices.Sorted(maps.Keys(joined)) {
		if group := s.addresses[joined[ip]]; group != nil {
			s.setJoined(group, ip)
		}
	}
}
