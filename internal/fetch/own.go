package fetch

import (
	"net"
	"net/netip"
	"sync"
	"time"
)

// ownAge is how long the machine's addresses are held for the same.
const ownAge = time.Minute

// own are the addresses of the machine that the worker runs on. Public ones are reached by a way that firewalls do not
// guard: a page could have the crawler ask services of the machine that listen there.
type own struct {
	list func() []netip.Addr

	mu   sync.Mutex
	had  []netip.Addr
	when time.Time
}

func newOwn(list func() []netip.Addr) *own { return &own{list: list} }

func (o *own) addrs() []netip.Addr {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.when.IsZero() || time.Since(o.when) > ownAge {
		o.had, o.when = o.list(), time.Now()
	}
	return o.had
}

// interfaceAddrs lists the addresses of the machine's interfaces; none if the system does not report them.
func interfaceAddrs() (list []netip.Addr) {
	all, err := net.InterfaceAddrs()
	if err != nil {
		return nil
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			list = append(list, plain(p.Addr()))
		}
	}
	return list
}
