package fetch

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// machineAddrsAge is how long the list of the machine's addresses is used before it is read again.
const machineAddrsAge = time.Minute

// machineAddrs are the addresses of the machine that the worker runs on. Firewalls do not guard what the machine sends to its own
// public addresses: a page could have the crawler make requests to services that listen there.
type machineAddrs struct {
	list func() []netip.Addr

	mu       sync.Mutex
	known    []netip.Addr
	listedAt time.Time
}

func newMachineAddrs(list func() []netip.Addr) *machineAddrs { return &machineAddrs{list: list} }

func (o *machineAddrs) addrs() []netip.Addr {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.listedAt.IsZero() || time.Since(o.listedAt) > machineAddrsAge {
		o.known, o.listedAt = o.list(), time.Now()
	}
	return o.known
}

// interfaceAddrs lists the addresses of the machine's interfaces; none if the system does not report them.
func interfaceAddrs() (list []netip.Addr) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, canonicalAddr(p.Addr()))
		}
	}
	return list
}
