package fetch

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"
	"golang.org/x/sync/singleflight"

	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of how long an answer is kept, whatever its TTL says; and of the cache.
const (
	minTTL      = time.Minute
	maxTTL      = time.Hour
	failureTTL  = 50 * time.Second // longer than a round of claiming, shorter than the first back-off
	maxResolved = 200_000
	dnsTimeout  = 5 * time.Second
)

// Answer is a name resolved. Text is the answer as a text/dns record, empty if no server was asked.
type Answer struct {
	Host    string
	Addr    netip.Addr   // the first of Addrs
	Addrs   []netip.Addr // all, in the order of the answer
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
	// Observe, if set, is called after each look-up: how long it took, and how it failed.
	Observe func(took time.Duration, err error)

	asking     singleflight.Group
	unanswered atomic.Int64 // look-ups in a row that no server replied to
	hasReplied atomic.Bool  // a server has replied once

	mu    sync.Mutex
	cache *cache.LRU[string, Answer]
	saved *cache.LRU[string, time.Time] // by archive and host, when the answer was asked for that the archive has
}

// NewResolver takes names resolved by hand and a DNS server ("ADDR:PORT"; empty: the system's).
func NewResolver(fixed map[string]netip.Addr, server string) (*Resolver, error) {
	r := &Resolver{fixed: map[string]netip.Addr{}, now: time.Now, cache: cache.NewLRU[string, Answer](maxResolved, nil), saved: cache.NewLRU[string, time.Time](maxResolved, nil)}
	for host, addr := range fixed {
		r.fixed[strings.ToLower(host)] = canonicalAddr(addr)
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

// ErrSilent says that no DNS server answers any more, although one has answered before: the fault is in the worker's network, not
// the host's.
var ErrSilent = errors.New("no DNS server answers")

// maxUnanswered is how many look-ups in a row without any reply make the servers count as out of reach.
const maxUnanswered = 8

// Resolve returns the address of a host: the first of the answer.
func (r *Resolver) Resolve(ctx context.Context, host string) (netip.Addr, error) {
	a, err := r.lookup(ctx, host)
	return a.Addr, err
}

// lookup returns the answer for a host. Callers that ask for a host at the same time share a look-up.
func (r *Resolver) lookup(ctx context.Context, host string) (Answer, error) {
	if addr, ok := urls.Address(host); ok {
		addr = canonicalAddr(addr)
		return Answer{Addr: addr, Addrs: []netip.Addr{addr}}, nil
	}
	if addr, ok := r.fixed[host]; ok {
		return Answer{Addr: addr, Addrs: []netip.Addr{addr}}, nil
	}
	r.mu.Lock()
	a, known := r.cache.Get(host)
	r.mu.Unlock()
	if known && r.now().Before(a.expires) {
		return a, a.err
	}
	found := r.asking.DoChan(host, func() (any, error) { return r.askAndObserve(context.WithoutCancel(ctx), host), nil })
	select {
	case <-ctx.Done():
		return Answer{}, ctx.Err() // the look-up continues: the next caller finds its answer
	case res := <-found:
		a, _ = res.Val.(Answer)
		return a, a.err
	}
}

// store puts an answer into the cache.
func (r *Resolver) store(a Answer) Answer {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.cache.Put(a.Host, a)
	return a
}

// Unsaved returns the last answer for a host if an archive does not have it yet, and counts it as archived there from then on.
func (r *Resolver) Unsaved(archive, host string) (Answer, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a, known := r.cache.Peek(host)
	if !known || a.err != nil {
		return Answer{}, false
	}
	at, has := r.saved.Get(savedKey(archive, host))
	if has && at.Equal(a.Asked) {
		return Answer{}, false
	}
	r.saved.Put(savedKey(archive, host), a.Asked)
	return a, true
}

// savedKey is what an answer that an archive has is known by.
func savedKey(archive, host string) string { return archive + " " + host }

func (r *Resolver) askAndObserve(ctx context.Context, host string) Answer {
	began := r.now()
	a := r.ask(ctx, host)
	if r.Observe != nil {
		r.Observe(r.now().Sub(began), a.err)
	}
	return a
}

// archiveAgain has the answer for a host, if it is still remembered, archived once more.
func (r *Resolver) archiveAgain(archive, host string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.saved.Remove(savedKey(archive, host))
}

func (r *Resolver) ask(ctx context.Context, host string) Answer {
	now := r.now()
	failed := func(err error) Answer {
		return r.store(Answer{Host: host, expires: r.now().Add(failureTTL), err: fmt.Errorf("resolve %s: %w", host, err)})
	}
	if len(r.servers) == 0 {
		return failed(errors.New("no DNS server is configured"))
	}
	var last error
	replied := false
	for _, server := range r.servers {
		for _, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
			reply, err := exchangeDNS(ctx, server, host, kind)
			if err != nil {
				last = errors.New(err.Error()) // without its type: a time-out of the look-up is not the end of the caller's context
				continue
			}
			replied = true
			r.hasReplied.Store(true)
			if a, ok := readReply(reply, host, now); ok {
				r.unanswered.Store(0)
				a.Server, a.Asked = server, now
				return r.store(a)
			}
			last = fmt.Errorf("the DNS answer is %s without an address", dns.RcodeToString[reply.Rcode])
		}
	}
	if replied {
		r.unanswered.Store(0)
	} else if r.unanswered.Add(1) >= maxUnanswered && r.hasReplied.Load() && !r.alive(ctx) {
		last = fmt.Errorf("%w: %w", ErrSilent, last)
	}
	return failed(last)
}

// alive reports whether any server answers a question that every server can answer. Without it, names whose own servers are dead
// would make the worker's servers count as out of reach.
func (r *Resolver) alive(ctx context.Context) bool {
	for _, server := range r.servers {
		if _, err := exchangeDNS(ctx, server, ".", dns.TypeNS); err == nil {
			r.unanswered.Store(0)
			return true
		}
	}
	return false
}

func exchangeDNS(ctx context.Context, server, host string, kind uint16) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, dnsTimeout)
	defer cancel()
	query := new(dns.Msg).SetQuestion(dns.Fqdn(host), kind)
	query.SetEdns0(1232, false)
	reply, _, err := (&dns.Client{Timeout: dnsTimeout}).ExchangeContext(ctx, query, server)
	if err == nil && reply.Truncated {
		reply, _, err = (&dns.Client{Net: "tcp", Timeout: dnsTimeout}).ExchangeContext(ctx, query, server)
	}
	return reply, err
}

// readReply takes the first address of a reply and writes the reply as Heritrix does: a 14-digit date and
// the resource records.
func readReply(reply *dns.Msg, host string, now time.Time) (Answer, bool) {
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
		if addr, ok := netip.AddrFromSlice(ip); ok {
			a.Addrs = append(a.Addrs, canonicalAddr(addr))
		}
	}
	if len(a.Addrs) > 0 {
		a.Addr = a.Addrs[0]
	}
	a.Text, a.expires = text.String(), now.Add(max(ttl, minTTL))
	return a, a.Addr.IsValid()
}
