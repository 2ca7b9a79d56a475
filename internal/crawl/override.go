package crawl

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Overrides are settings of single sites in place of the crawl's own, as the sheets of Heritrix are. For a host, what is written of it
// counts before what is written of its PLD, and that before the rest of the definition.
type Overrides struct {
	// PLDs are settings of pay-level domains with all their hosts, by name: "example.org".
	PLDs map[string]Override `json:"plds,omitempty"`
	// Hosts are settings of single hosts, by name: "www.example.org". They have delays only: queue, budget and turn are of the PLD.
	Hosts map[string]Override `json:"hosts,omitempty"`
}

// Override is what differs for a PLD or a host. What is left out is as elsewhere in the crawl.
type Override struct {
	// MinDelay is the shortest pause; if MaxDelay is left out, it is raised to it.
	MinDelay      *Duration `json:"min_delay,omitempty"`
	MaxDelay      *Duration `json:"max_delay,omitempty"`       // the longest pause, without Crawl-delay
	MaxCrawlDelay *Duration `json:"max_crawl_delay,omitempty"` // the longest Crawl-delay that is obeyed
	Factor        *float64  `json:"factor,omitempty"`          // of the last response time
	// Budget bounds the pages of the PLD in a run, in place of budget.per_pld; 0: no bound.
	Budget   *int64 `json:"budget,omitempty"`
	PerQueue *int   `json:"per_queue,omitempty"` // URLs taken from the queue of the PLD together
	// Weight multiplies the priority of the PLD's queue when its turn comes: 2 lets URLs of half the priority come before others.
	Weight *float64 `json:"weight,omitempty"`
	// State is "paused": nothing more is claimed of the PLD; "stopped": nor will be, and its waiting URLs end as refused;
	// "aborted": the same, and its running batches end at once.
	State *PLDState `json:"state,omitempty"`
	// IgnoreTraps lets the PLD be crawled whole, whatever looks like a site without end: patterns of it that are closed are opened again.
	IgnoreTraps *bool `json:"ignore_traps,omitempty"`
	// OpenPatterns are patterns of URLs of the PLD, as a status names them, that are never closed as traps: those that are closed are opened again. A change adds to them.
	OpenPatterns *Patterns `json:"open_patterns,omitempty"`
}

// Patterns are patterns of URLs by which traps are closed. Reading them adds to those that are there: so they are opened one by one.
type Patterns []string

// UnmarshalJSON adds the patterns of a list that are not there yet.
func (p *Patterns) UnmarshalJSON(raw []byte) error {
	var more []string
	if err := json.Unmarshal(raw, &more); err != nil {
		return err
	}
	all := slices.Clip(*p)
	if all == nil {
		all = Patterns{}
	}
	for _, pattern := range more {
		if !slices.Contains(all, pattern) {
			all = append(all, pattern)
		}
	}
	*p = all
	return nil
}

// PLDState is what an operator has ordered for a PLD; empty if nothing.
type PLDState string

// The states of Override.
const (
	StatePaused  PLDState = "paused"
	StateStopped PLDState = "stopped"
	StateAborted PLDState = "aborted"
)

// States are the values of Override.State.
var States = []PLDState{StatePaused, StateStopped, StateAborted}

// Limits of overrides.
const (
	// MaxOverrides is how many PLDs and hosts may have settings of their own: a definition travels with each change.
	MaxOverrides = 5000
	// MaxHostDelay is the longest pause that can be set for a PLD or a host. A site that is to rest for longer is paused.
	MaxHostDelay = 24 * time.Hour
	// MaxWeight is the greatest weight of a PLD, and its inverse the least.
	MaxWeight = 1000
	// MaxOpenPatterns is how many patterns of a PLD may be opened; more sites than that are to be opened whole.
	MaxOpenPatterns = 100
	// MaxPattern is the longest pattern, in bytes: that of a URL.
	MaxPattern = 2083
)

// onto is a politeness with the override's delays.
func (o Override) onto(p Politeness) Politeness {
	set(&p.MinDelay, o.MinDelay)
	if p.MaxDelay = max(p.MaxDelay, p.MinDelay); o.MaxDelay != nil {
		p.MaxDelay = max(*o.MaxDelay, p.MinDelay)
	}
	set(&p.MaxCrawlDelay, o.MaxCrawlDelay)
	set(&p.Factor, o.Factor)
	return p
}

func set[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// PolitenessFor is the politeness towards a host of a PLD.
func (d *Definition) PolitenessFor(pld, host string) Politeness {
	p := d.Politeness
	if o, there := d.Overrides.PLDs[pld]; there {
		p = o.onto(p)
	}
	if o, there := d.Overrides.Hosts[host]; there {
		p = o.onto(p)
	}
	return p
}

// MaxDelayOf is the longest pause that any host of a PLD may need, without Crawl-delay. It looks at the settings of all hosts: MaxDelays is for
// many PLDs.
func (d *Definition) MaxDelayOf(pld string) time.Duration {
	var hosts []string
	for host := range d.Overrides.Hosts {
		if host == pld || strings.HasSuffix(host, "."+pld) {
			hosts = append(hosts, host)
		}
	}
	return d.longestDelay(pld, hosts)
}

// longestDelay is the longest pause that a PLD may need which has these hosts with settings of their own.
func (d *Definition) longestDelay(pld string, hosts []string) time.Duration {
	longest := d.PolitenessFor(pld, "").MaxDelay
	for _, host := range hosts {
		longest = max(longest, d.PolitenessFor(pld, host).MaxDelay)
	}
	return longest.D()
}

// MaxDelays is MaxDelayOf for many PLDs, by the definition as it stands now.
func (d *Definition) MaxDelays() func(pld string) time.Duration {
	under := map[string][]string{} // hosts with settings, by each domain that they may belong to
	for host := range d.Overrides.Hosts {
		for domain, more := host, true; more; _, domain, more = strings.Cut(domain, ".") {
			under[domain] = append(under[domain], host)
		}
	}
	now := *d
	return func(pld string) time.Duration { return now.longestDelay(pld, under[pld]) }
}

// BudgetOf is the budget as it bounds a PLD.
func (d *Definition) BudgetOf(pld string) Budget {
	b := d.Budget
	set(&b.PerPLD, d.Overrides.PLDs[pld].Budget)
	return b
}

// PerQueueOf is how many URLs are taken from the queue of a PLD together.
func (d *Definition) PerQueueOf(pld string) int {
	n := d.Order.PerQueue
	set(&n, d.Overrides.PLDs[pld].PerQueue)
	return n
}

// WeightOf is by how much the priority of a PLD's queue is multiplied.
func (d *Definition) WeightOf(pld string) float64 {
	weight := 1.0
	set(&weight, d.Overrides.PLDs[pld].Weight)
	return weight
}

// StateOf is what an operator has ordered for a PLD; empty if nothing.
func (d *Definition) StateOf(pld string) (state PLDState) {
	set(&state, d.Overrides.PLDs[pld].State)
	return state
}

// IgnoresTraps reports whether a PLD is crawled whole, whatever looks like a site without end.
func (d *Definition) IgnoresTraps(pld string) (ignores bool) {
	set(&ignores, d.Overrides.PLDs[pld].IgnoreTraps)
	return ignores
}

// OpenPatterns are the patterns of URLs of a PLD that are never closed as traps.
func (d *Definition) OpenPatterns(pld string) []string {
	if p := d.Overrides.PLDs[pld].OpenPatterns; p != nil {
		return *p
	}
	return nil
}

func (v *validator) overrides(d Definition) {
	o := d.Overrides
	v.check(len(o.PLDs)+len(o.Hosts) <= MaxOverrides, "overrides", fmt.Sprintf("has %d entries, at most %d are allowed", len(o.PLDs)+len(o.Hosts), MaxOverrides))
	for _, name := range slices.Sorted(maps.Keys(o.PLDs)) {
		v.override("overrides.plds["+name+"]", name, o.PLDs[name])
	}
	for _, name := range slices.Sorted(maps.Keys(o.Hosts)) {
		path := "overrides.hosts[" + name + "]"
		host := o.Hosts[name]
		v.override(path, name, host)
		for field, absent := range map[string]bool{
			"budget": host.Budget == nil, "per_queue": host.PerQueue == nil, "weight": host.Weight == nil, "state": host.State == nil, "ignore_traps": host.IgnoreTraps == nil, "open_patterns": host.OpenPatterns == nil,
		} {
			v.check(absent, path+"."+field, "is of a PLD with all its hosts: write it under overrides.plds")
		}
	}
}

func (v *validator) override(path, name string, o Override) {
	v.check(bareHost(name) && name == strings.ToLower(name), path, "must be named by a bare host name in lower case, such as example.org")
	for field, delay := range map[string]*Duration{"min_delay": o.MinDelay, "max_delay": o.MaxDelay, "max_crawl_delay": o.MaxCrawlDelay} {
		v.check(delay == nil || *delay >= 0 && delay.D() <= MaxHostDelay, path+"."+field, fmt.Sprintf("must be between 0s and %s; a site that is to rest for longer is paused", MaxHostDelay))
	}
	v.check(o.MinDelay == nil || o.MaxDelay == nil || *o.MaxDelay >= *o.MinDelay, path+".max_delay", "must not be below min_delay")
	v.check(o.Factor == nil || *o.Factor >= 0, path+".factor", "must not be negative")
	v.check(o.Budget == nil || *o.Budget >= 0, path+".budget", "must not be negative; 0 means no bound")
	v.check(o.PerQueue == nil || *o.PerQueue >= 1 && *o.PerQueue <= MaxPerQueue, path+".per_queue", fmt.Sprintf("must be between 1 and %d", MaxPerQueue))
	v.check(o.Weight == nil || *o.Weight >= 1.0/MaxWeight && *o.Weight <= MaxWeight, path+".weight", fmt.Sprintf("must be between %g and %d", 1.0/MaxWeight, MaxWeight))
	if o.OpenPatterns != nil {
		v.check(len(*o.OpenPatterns) <= MaxOpenPatterns, path+".open_patterns", fmt.Sprintf("has %d patterns, at most %d are allowed; ignore_traps opens the whole PLD", len(*o.OpenPatterns), MaxOpenPatterns))
		for i, p := range *o.OpenPatterns {
			v.check(len(p) <= MaxPattern && patternForm.MatchString(p), fmt.Sprintf("%s.open_patterns[%d]", path, i),
				fmt.Sprintf("%.100q must be a pattern as muninn status names it, such as example.org/calendar?date or *.example.org/**", p))
		}
	}
	if o.State != nil {
		v.check(slices.Contains(States, *o.State), path+".state", fmt.Sprintf("is %q, must be one of %s, %s, %s; null takes it back", *o.State, StatePaused, StateStopped, StateAborted))
	}
}

// patternForm is a pattern of URLs by which traps are closed: host and path, without a scheme. See traps.Shape.
var patternForm = regexp.MustCompile(`^[^/\s?#]*[^/\s?#:]/[^\n\r]*$`)

// bareHost reports whether a text can be the name of a host.
func bareHost(name string) bool { return name != "" && !strings.ContainsAny(name, "/ *@[]") }
