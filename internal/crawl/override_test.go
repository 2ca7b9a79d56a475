package crawl

import (
	"encoding/json"
	"slices"
	"testing"
	"time"
)

const overridden = `
name: ravens
seeds: [http://a.example/]
politeness: {min_delay: 1s, max_delay: 5s, factor: 2}
budget: {per_pld: 100}
order: {per_queue: 20}
overrides:
  plds:
    a.example: {min_delay: 10s, budget: 7, per_queue: 3, weight: 2, state: paused}
    b.example: {factor: 0}
    t.example: {open_patterns: ["t.example/a?b"]}
  hosts:
    www.a.example: {max_delay: 40s}
    slow.b.example: {min_delay: 2s, max_delay: 3s}
`

// A host's settings come before its PLD's, and those before the crawl's.
func TestOverridden(t *testing.T) {
	d, err := ParseDefinition([]byte(overridden))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		pld, host         string
		least, most, long time.Duration
		factor            float64
	}{
		{"a.example", "a.example", 10 * time.Second, 10 * time.Second, 40 * time.Second, 2}, // max_delay is raised to min_delay
		{"a.example", "www.a.example", 10 * time.Second, 40 * time.Second, 40 * time.Second, 2},
		{"b.example", "b.example", time.Second, 5 * time.Second, 5 * time.Second, 0},
		{"b.example", "slow.b.example", 2 * time.Second, 3 * time.Second, 5 * time.Second, 0},
		{"c.example", "c.example", time.Second, 5 * time.Second, 5 * time.Second, 2},
	} {
		p := d.PolitenessFor(c.pld, c.host)
		if p.MinDelay.D() != c.least || p.MaxDelay.D() != c.most || p.Factor != c.factor {
			t.Errorf("%s: %v to %v, factor %v; want %v to %v, %v", c.host, p.MinDelay, p.MaxDelay, p.Factor, c.least, c.most, c.factor)
		}
		if again := d.MaxDelays()(c.pld); again != c.long {
			t.Errorf("%s: %s at most, among many", c.pld, again)
		}
		if long := d.MaxDelayOf(c.pld); long != c.long {
			t.Errorf("%s: the longest pause is %v, want %v", c.pld, long, c.long)
		}
	}
	if b, n, w, s := d.BudgetOf("a.example").PerPLD, d.PerQueueOf("a.example"), d.WeightOf("a.example"), d.StateOf("a.example"); b != 7 || n != 3 || w != 2 || s != StatePaused {
		t.Error(b, n, w, s)
	}
	if b, n, w, s := d.BudgetOf("b.example").PerPLD, d.PerQueueOf("b.example"), d.WeightOf("b.example"), d.StateOf("b.example"); b != 100 || n != 20 || w != 1 || s != "" {
		t.Error(b, n, w, s)
	}
}

// A change of overrides concerns what it names; null takes back.
func TestOverridesChange(t *testing.T) {
	d, err := ParseDefinition([]byte(overridden))
	if err != nil {
		t.Fatal(err)
	}
	before := shown(t, d)
	for _, c := range []struct{ change, want string }{
		{`overrides: {plds: {a.example: {min_delay: 20s}}}`, `{"plds":{"a.example":{"min_delay":"20s","budget":7,"per_queue":3,"weight":2,"state":"paused"},"b.example":{"factor":0},"t.example":{"open_patterns":["t.example/a?b"]}},"hosts":{"slow.b.example":{"min_delay":"2s","max_delay":"3s"},"www.a.example":{"max_delay":"40s"}}}`},
		{`overrides: {plds: {t.example: {open_patterns: [t.example/c, "t.example/a?b", t.example/c]}, a.example: null, b.example: null}, hosts: {www.a.example: null, slow.b.example: null}}`, `{"plds":{"t.example":{"open_patterns":["t.example/a?b","t.example/c"]}}}`},
		{`overrides: {plds: {t.example: {open_patterns: null}, a.example: null}, hosts: {www.a.example: null, slow.b.example: null}}`, `{"plds":{"b.example":{"factor":0}}}`},
		{`overrides: {plds: {a.example: {state: null, budget: null, weight: null, per_queue: null}}, hosts: {www.a.example: null, slow.b.example: null}}`, `{"plds":{"a.example":{"min_delay":"10s"},"b.example":{"factor":0},"t.example":{"open_patterns":["t.example/a?b"]}}}`},
		{`overrides: {plds: {b.example: {factor: null}, a.example: null, c.example: {state: stopped}}}`, `{"plds":{"c.example":{"state":"stopped"},"t.example":{"open_patterns":["t.example/a?b"]}},"hosts":{"slow.b.example":{"min_delay":"2s","max_delay":"3s"},"www.a.example":{"max_delay":"40s"}}}`},
	} {
		changed, err := d.Changed([]byte(c.change))
		if err != nil {
			t.Errorf("%s: %v", c.change, err)
			continue
		}
		if got, err := json.Marshal(changed.Overrides); err != nil || string(got) != c.want {
			t.Errorf("%s: %s, want %s", c.change, got, c.want)
		}
		if after := shown(t, d); after != before {
			t.Fatalf("%s has changed the former definition: %s", c.change, after)
		}
	}
}

// Faults name the PLD or host with the field, and the line.
func TestOverridesFaults(t *testing.T) {
	for _, c := range []struct {
		text string
		path []string
	}{
		{`{plds: {a.example: {min_delay: 48h}}}`, []string{"overrides.plds[a.example].min_delay"}},
		{`{plds: {a.example: {min_delay: 9s, max_delay: 3s}}}`, []string{"overrides.plds[a.example].max_delay"}},
		{`{plds: {a.example: {min_delay: -1s, factor: -1, budget: -1, per_queue: 501, weight: 1001, state: gone}}}`, []string{
			"overrides.plds[a.example].budget", "overrides.plds[a.example].factor", "overrides.plds[a.example].min_delay",
			"overrides.plds[a.example].per_queue", "overrides.plds[a.example].state", "overrides.plds[a.example].weight"}},
		{`{plds: {a.example: {min_dely: 1s}}}`, []string{"overrides.plds[a.example].min_dely"}},
		{`{plds: {a.example: {budget: many}}}`, []string{"overrides.plds[a.example].budget"}},
		{`{plds: {A.example: {budget: 3}}}`, []string{"overrides.plds[A.example]"}},
		{`{hosts: {www.a.example: {budget: 3, per_queue: 3, weight: 3, state: paused}}}`, []string{
			"overrides.hosts[www.a.example].budget", "overrides.hosts[www.a.example].per_queue", "overrides.hosts[www.a.example].state", "overrides.hosts[www.a.example].weight"}},
		{`{plds: {a.example: {open_patterns: [a.example/x, "", "http://a.example/x", a.example]}}, hosts: {www.a.example: {open_patterns: [a.example/x]}}}`, []string{
			"overrides.hosts[www.a.example].open_patterns", "overrides.plds[a.example].open_patterns[1]", "overrides.plds[a.example].open_patterns[2]", "overrides.plds[a.example].open_patterns[3]"}},
		{`{plds: {a.example: {open_patterns: a.example/x}}}`, []string{"overrides.plds[a.example].open_patterns"}},
		{`{plds: [a.example]}`, []string{"overrides.plds"}},
		{`{plds: {a.example: 3}}`, []string{"overrides.plds[a.example]"}},
	} {
		_, err := running(t).Changed([]byte("overrides: " + c.text))
		if got := paths(t, err); !slices.Equal(got, c.path) {
			t.Errorf("%s: faults of %q, want %q: %v", c.text, got, c.path, err)
		}
	}
	if line := LineOf([]byte("a: 1\noverrides:\n  plds:\n    a.example:\n      budget: many\n"), "overrides.plds[a.example].budget"); line != 5 {
		t.Errorf("the fault is said to be on line %d", line)
	}
}
