package fetch

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Sleeper waits until a moment, or until the context ends.
type Sleeper func(ctx context.Context, until time.Time) error

// Dialer opens a connection to an address, IP:PORT.
type Dialer func(ctx context.Context, network, address string) (net.Conn, error)

// Client is what the lanes of a worker share. It is safe for concurrent use.
type Client struct {
	limits   Limits
	guard    *Guard
	resolver *Resolver
	robots   *robotsCache
	tls      *tls.Config
	tempDir  string
	connect  Dialer
	now      func() time.Time
	sleep    Sleeper
	grace    time.Duration // for an exchange in progress when its context ends
}

// New makes a client.
func New(o Options) *Client {
	c := &Client{
		limits: o.Limits, guard: o.Guard, resolver: o.Resolver, robots: newRobotsCache(),
		tls: o.tls(), tempDir: o.TempDir, connect: o.Dial, now: o.Now, sleep: o.Sleep, grace: 5 * time.Second,
	}
	if c.connect == nil {
		c.connect = new(net.Dialer).DialContext
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.sleep == nil {
		c.sleep = SleepUntil
	}
	return c
}

// Limits returns the limits in force.
func (c *Client) Limits() Limits { return c.limits }

// Address resolves a host and asks the guard; the error is a RefusedError if that says no.
func (c *Client) Address(ctx context.Context, host string) (netip.Addr, error) {
	addr, err := c.resolver.Resolve(ctx, host)
	if err != nil {
		return addr, err
	}
	return addr, c.guard.Check(addr)
}

// mayBeAt reports whether requests for a host may still go to an address. They may if the host cannot be resolved just now: it
// could be when it was claimed.
func (c *Client) mayBeAt(ctx context.Context, host string, addr netip.Addr) bool {
	a, err := c.resolver.lookup(ctx, host)
	return err != nil || slices.Contains(a.Addrs, addr)
}

// isAt reports whether a host is known to be at an address. A host that a robots.txt redirects to must be: else a site could have
// the crawler request files of other hosts from its own address, and put them into the archive under their names.
func (c *Client) isAt(ctx context.Context, host string, addr netip.Addr) bool {
	a, err := c.resolver.lookup(ctx, host)
	return err == nil && slices.Contains(a.Addrs, addr)
}

// SleepUntil waits on the real clock.
func SleepUntil(ctx context.Context, until time.Time) error {
	wait := time.Until(until)
	if wait <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Forget drops what was remembered of exchanges that an archive will not get: a robots.txt is fetched again, and a DNS
// answer archived by the next lane of that archive that uses it.
func (c *Client) Forget(archive string, list []crawl.Exchange) {
	origins := map[string]bool{}
	for _, x := range list {
		switch x.Kind {
		case crawl.ExchangeRobots:
			if u, err := urls.Trusted(x.URL); err == nil {
				origins[u.Origin()] = true
			}
		case crawl.ExchangeDNS:
			c.resolver.archiveAgain(archive, strings.TrimPrefix(x.URL, "dns:"))
		}
	}
	if len(origins) > 0 {
		c.robots.forget(archive, origins)
	}
}
