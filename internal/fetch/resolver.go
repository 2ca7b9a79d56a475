package fetch

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of how long an answer is kept, whatever its TTL says; and of the cache.
const (
	minTTL      = time.Minute
	maxTTL      = time.Hour
	failureTTL  = 15 * time.Second
	maxResolved = 200_000
	dnsTimeout  = 5 * time.Second
)

// Answer is a name resolved. Text is the answer as a text/dns record, empty if no server was asked.
type Answer struct {
	Host    string
	Addr    netip.Addr
	Text    string
	Server  string
	Asked   time.Time
	expires time.Time
	err     error
}

// Resolver resolves names: first those given by hand, then through DNS servers of its own choice.
type Resolver struct {
	fixed   map[string]netip.Addr
	servers []string
	now     func() time.Time

	mu      sync.Mutex
	cache   map[string]Answer
	unsaved map[string]Answer // answers that no archive holds yet
}

// NewResolver takes names resolved by hand and a DNS server ("ADDR:PORT"; empty: the system's).
func NewResolver(fixed map[string]netip.Addr, server string) (*Resolver, error) {
	r := &Resolver{fixed: map[string]netip.Addr{}, now: time.Now, cache: map[string]Answer{}, unsaved: map[string]Answer{}}
	for host, addr := range fixed {
		r.fixed[strings.ToLower(host)] = addr
	}
	if server != "" {
		if _, _, err := net.SplitHostPort(server); err != nil {
			return nil, fmt.Errorf("DNS server %q: write it as ADDR:PORT, such as 127.0.0.1:53", server)
		}
		r.servers = []string{server}
		return r, nil
	}
	conf, err := dns.ClientConfigFromFile("/etc/resolv.conf")
	if err == nil {
		for _, s := range conf.Servers {
			r.servers = append(r.servers, net.JoinHostPort(s, conf.Port))
		}
	}
	return r, nil
}

// Resolve returns the address of a host.
func (r *Resolver) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	if addr, ok := urls.Address(host); ok {
		return addr, nil
	}
	if addr, ok := r.fixed[host]; ok {
		return addr, nil
	}
	r.mu.Lock()
	a, known := r.cache[host]
	r.mu.Unlock()
	if known && r.now().Before(a.expires) {
		return a.Addr, a.err
	}
	a = r.ask(ctx, host)
	if ctx.Err() != nil {
		return netip.Addr{}, ctx.Err()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.cache) >= maxResolved {
		clear(r.cache)
	}
	r.cache[host] = a
	if a.err == nil {
		if len(r.unsaved) >= maxResolved {
			clear(r.unsaved)
		}
		r.unsaved[host] = a
	}
	return a.Addr, a.err
}

// Unsaved returns the answer for a host if it is not archived yet, and holds it for archived now.
func (r *Resolver) Unsaved(host string) (Answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, ok := r.unsaved[host]
	delete(r.unsaved, host)
	return a, ok
}

func (r *Resolver) ask(ctx context.Context, host string) Answer {
	now := r.now()
	failed := func(err error) Answer {
		return Answer{Host: host, expires: now.Add(failureTTL), err: fmt.Errorf("resolve %s: %w", host, err)}
	}
	if len(r.servers) == 0 {
		return failed(fmt.Errorf("no DNS server is configured"))
	}
	var last error
	for _, server := range r.servers {
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
			reply, err := exchange(ctx, server, host, kind)
			if err != nil {
				last = err
				continue
			}
			if a, ok := read(reply, host, now); ok {
				a.Server, a.Asked = server, now
				return a
			}
			last = fmt.Errorf("the DNS answer is %s without an address", dns.RcodeToString[reply.Rcode])
		}
	}
	return failed(last)
}

func exchange(ctx context.Context, server, host string, kind uint16) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	query := new(dns.Msg).SetQuestion(dns.Fqdn(host), kind)
	query.SetEdns0(1232, false)
	reply, _, err := (&dns.Client{}).ExchangeContext(ctx, query, server)
	if err == nil && reply.Truncated {
		reply, _, err = (&dns.Client{Net: "tcp"}).ExchangeContext(ctx, query, server)
	}
	return reply, err
}

// read takes the first address of a reply and writes the reply as Heritrix does: a 14-digit date and
// the resource records.
func read(reply *dns.Msg, host string, now time.Time) (Answer, bool) {
	a := Answer{Host: host}
	ttl := maxTTL
	var text strings.Builder
	text.WriteString(now.UTC().Format("20060102150405") + "\n")
	for _, rr := range reply.Answer {
		text.WriteString(rr.String() + "\n")
		ttl = min(ttl, time.Duration(rr.Header().Ttl)*time.Second)
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A
		case *dns.AAAA:
			ip = rr.AAAA
		}
		if addr, ok := netip.AddrFromSlice(ip); ok && !a.Addr.IsValid() {
			a.Addr = addr.Unmap()
		}
	}
	a.Text, a.expires = text.String(), now.Add(max(ttl, minTTL))
	return a, a.Addr.IsValid()
}
