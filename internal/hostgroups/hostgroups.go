// Package hostgroups says which hosts and addresses count as one server, and what an operator allows at which server: rules that hold
// for all crawls, whatever their definitions say.
//
// A rule names hosts, networks or both. All that it names counts as one server, with one lease line and one pause, unless it says that
// each address counts by itself. A definition's per_ip above 1 holds only where a rule allows it, and no pause is shorter than the rule's.
package hostgroups

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Limits of a file of host groups.
const (
	// MaxGroups bounds the groups of a file.
	MaxGroups = 10_000
	// MaxGroupDelay bounds the pause of a group.
	MaxGroupDelay = time.Hour
)

// Group is a rule.
type Group struct {
	Name        string         `json:"name"`
	Hosts       []string       `json:"hosts"`        // pay-level domains
	Networks    []string       `json:"networks"`     // addresses and CIDR
	EachAddress bool           `json:"each_address"` // each address counts by itself
	PerIP       int            `json:"per_ip"`       // most lanes of a server at a time, of definitions that ask for more than 1
	MinDelay    crawl.Duration `json:"min_delay"`    // least pause after a request
}

type file struct {
	Groups []Group `json:"groups"`
}

// Groups are the rules of a file. A nil *Groups has none.
type Groups struct {
	hosts    map[string]*Group
	networks []network
	hash     string
}

type network struct {
	netip.Prefix
	group *Group
}

// Server is what a host at an address counts as.
type Server struct {
	Network  string        // the group that all of a network belongs to: it is leased in place of its addresses; empty if none
	Group    string        // the group that the host belongs to; empty if none
	PerIP    int           // most lanes at a time
	MinDelay time.Duration // least pause after a request
}

// Parse reads rules in YAML or JSON. The error is a crawl.Faults that lists everything that is wrong.
func Parse(text []byte) (*Groups, error) {
	var f file
	faults := crawl.DecodeFile(text, &f)
	fault := func(path, format string, args ...any) {
		faults = append(faults, crawl.Fault{Path: path, Message: fmt.Sprintf(format, args...)})
	}
	if len(f.Groups) > MaxGroups {
		fault("groups", "has %d entries, at most %d are allowed", len(f.Groups), MaxGroups)
	}
	g := &Groups{hosts: map[string]*Group{}}
	names := map[string]bool{}
	for i := range f.Groups {
		group, path := &f.Groups[i], fmt.Sprintf("groups[%d]", i)
		if !ValidName(group.Name) || names[group.Name] {
			fault(path+".name", "is %q, must be a name of its own: letters, digits and hyphens, 64 bytes at most", group.Name)
		}
		names[group.Name] = true
		if len(group.Hosts)+len(group.Networks) == 0 {
			fault(path, "names nothing: write hosts or networks")
		}
		if group.EachAddress && len(group.Hosts) > 0 {
			fault(path+".hosts", "cannot be with each_address, for which networks count")
		}
		if group.PerIP < 0 || group.PerIP > crawl.MaxPerIP {
			fault(path+".per_ip", "must be between 1 and %d", crawl.MaxPerIP)
		}
		if group.MinDelay < 0 || group.MinDelay.D() > MaxGroupDelay {
			fault(path+".min_delay", "must be between 0s and %s", MaxGroupDelay)
		}
		group.PerIP = max(group.PerIP, 1)
		for n, host := range group.Hosts {
			switch other := g.hosts[host]; {
			case host == "" || host != strings.ToLower(host) || urls.PLD(host) != host:
				fault(fmt.Sprintf("%s.hosts[%d]", path, n), "is %q, must be a pay-level domain such as %s: pauses and queues go by it", host, example(host))
			case other != nil:
				fault(fmt.Sprintf("%s.hosts[%d]", path, n), "is %q, which is in the group %s already", host, other.Name)
			}
			g.hosts[host] = group
		}
		for n, text := range group.Networks {
			prefix, err := parseNetwork(text)
			if err != nil {
				fault(fmt.Sprintf("%s.networks[%d]", path, n), "is %q, must be an address or a network such as 192.0.2.0/24", text)
				continue
			}
			for _, other := range g.networks {
				if other.Overlaps(prefix) && other.group != group {
					fault(fmt.Sprintf("%s.networks[%d]", path, n), "is %s, which overlaps %s of the group %s", prefix, other.Prefix, other.group.Name)
				}
			}
			g.networks = append(g.networks, network{prefix, group})
		}
	}
	if len(faults) > 0 {
		return nil, faults
	}
	g.hash = hash(f.Groups)
	return g, nil
}

var validName = regexp.MustCompile(`^[a-zA-Z0-9-]{1,64}$`)

// ValidName reports whether a group can have this name.
func ValidName(name string) bool { return validName.MatchString(name) }

func example(host string) string {
	if pld := urls.PLD(strings.ToLower(host)); pld != "" {
		return pld
	}
	return "example.org"
}

func parseNetwork(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(addr.Unmap(), addr.Unmap().BitLen()), nil
	}
	prefix, err := netip.ParsePrefix(text)
	return prefix.Masked(), err
}

// hash is the same for rules that mean the same, whatever their order and layout.
func hash(groups []Group) string {
	if len(groups) == 0 {
		return ""
	}
	lines := make([]string, len(groups))
	for i, g := range groups {
		slices.Sort(g.Hosts)
		slices.Sort(g.Networks)
		lines[i] = fmt.Sprintf("%q", []any{g.Name, g.Hosts, g.Networks, g.EachAddress, g.PerIP, g.MinDelay.String()})
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Hash is the same for the same rules; empty if there are none.
func (g *Groups) Hash() string {
	if g == nil {
		return ""
	}
	return g.hash
}

// NamesHosts reports whether some group names hosts.
func (g *Groups) NamesHosts() bool { return g != nil && len(g.hosts) > 0 }

// Of is what a host, named by its pay-level domain, counts as at an address. Of several rules the strictest limits hold.
func (g *Groups) Of(pld, ip string) Server {
	s := Server{PerIP: 1}
	if g == nil {
		return s
	}
	allowed := 0
	apply := func(rule *Group) {
		if allowed == 0 || rule.PerIP < allowed {
			allowed = rule.PerIP
		}
		s.MinDelay = max(s.MinDelay, rule.MinDelay.D())
	}
	if rule := g.hosts[pld]; rule != nil {
		s.Group = rule.Name
		apply(rule)
	}
	if addr, err := netip.ParseAddr(ip); err == nil {
		for _, n := range g.networks {
			if n.Contains(addr.Unmap()) {
				if !n.group.EachAddress {
					s.Network = n.group.Name
				}
				apply(n.group)
				break
			}
		}
	}
	s.PerIP = max(allowed, 1)
	return s
}
