package selection

import (
	"fmt"
	"slices"
	"time"
)

// By says what a verdict is by.
type By string

// What a verdict may be by. A person wins over rules, rules over proposals.
const (
	ByPerson   By = "person"
	ByRule     By = "rule"
	ByProposal By = "proposal" // that a person has accepted
	ByNothing  By = "nothing"  // nobody and nothing speaks of the capture
)

// Step is one of the things that speak of a capture.
type Step struct {
	Entry     uint64    `json:"entry"` // its number
	Who       string    `json:"who"`
	When      time.Time `json:"when"`
	Why       string    `json:"why,omitempty"`
	By        By        `json:"by"`
	Verdict   Verdict   `json:"verdict"`
	URL       string    `json:"url,omitempty"`       // of a decision or a proposal
	Group     Group     `json:"group,omitempty"`     // of a decision
	Query     string    `json:"query,omitempty"`     // of a rule
	Certainty float64   `json:"certainty,omitempty"` // of a proposal
	Withdrawn bool      `json:"withdrawn,omitempty"` // a rule that no longer counts
	Counts    bool      `json:"counts"`              // the verdict is by this step
	at        int       // position among all decisions: later ones win
}

// Ruling is what becomes of a capture: Keep, Drop, or Ask if that is open.
type Ruling struct {
	Verdict Verdict `json:"verdict"`
	By      By      `json:"by"`
	Entry   uint64  `json:"entry,omitempty"` // that it is by
}

// Explained is why a capture is kept, dropped or open.
type Explained struct {
	URL string `json:"url"`
	Ruling
	Steps []Step `json:"steps"` // all that speaks of the capture, in the order of entries
}

// NumberedRule is a rule with the entry that added it.
type NumberedRule struct {
	Rule
	Entry     uint64 `json:"entry"`
	Who       string `json:"who"`
	Withdrawn bool   `json:"withdrawn,omitempty"`
}

// State is what the entries of a selection amount to. It depends on nothing else, and is never changed: several goroutines may ask it.
type State struct {
	Name    string
	Version uint64 // how many entries it has taken in
	About   Creation
	rules   []rule
	urls    map[string][]Step // decisions and proposals by URL, in order
	groups  map[Group][]Step
	near    []uint64 // prints of the groups of near-duplicates that were decided, each once
	decided int      // decisions
	at      rulesAt
}

// rulesAt names the rules that a state has. Rules are only added and withdrawn, so that the two numbers name them.
type rulesAt struct {
	name             string
	added, withdrawn int
}

type rule struct {
	step    Step
	matcher Matcher // nil if it was withdrawn
}

// State is what the first entries amount to, up to a number; 0: all that were read. An error names the rule whose query cannot be read.
func (l *Log) State(version uint64, parse Parser) (*State, error) {
	if version == 0 {
		version = l.Version()
	}
	if version > l.Version() {
		return nil, fmt.Errorf("selection %s has no version %d: it has %d entries", l.name, version, l.Version())
	}
	s := &State{Name: l.name, Version: version, urls: map[string][]Step{}, groups: map[Group][]Step{}}
	for n := uint64(1); n <= version; n++ {
		s.take(n, &l.entries[n-1])
	}
	for i := range s.rules {
		r := &s.rules[i]
		if r.step.Withdrawn {
			continue
		}
		var err error
		if r.matcher, err = parse(r.step.Query); err != nil {
			return nil, fmt.Errorf("selection %s, the rule of entry %d, %q: %w; withdraw it, and add another one", l.name, r.step.Entry, cut(r.step.Query), err)
		}
	}
	s.at = rulesAt{name: l.name, added: len(s.rules)}
	for i := range s.rules {
		if s.rules[i].step.Withdrawn {
			s.at.withdrawn++
		}
	}
	return s, nil
}

func (s *State) take(number uint64, e *Entry) {
	if e.Create != nil {
		s.About = *e.Create
	}
	step := Step{Entry: number, Who: e.Who, When: e.When, Why: e.Why}
	for _, r := range e.Rules {
		step := step
		step.By, step.Verdict, step.Query = ByRule, r.Verdict, r.Query
		s.rules = append(s.rules, rule{step: step})
	}
	for i := range s.rules {
		if r := &s.rules[i]; slices.Contains(e.Withdrawn, r.step.Entry) {
			r.step.Withdrawn = true
		}
	}
	for _, d := range e.Decisions {
		step := step
		step.By, step.Verdict, step.URL, step.Group, step.at = ByPerson, d.Verdict, d.URL, d.Group, s.decided
		s.decided++
		if d.Group == "" {
			s.urls[d.URL] = append(s.urls[d.URL], step)
			continue
		}
		if print, is := d.Group.Print(); is && s.groups[d.Group] == nil {
			s.near = append(s.near, print)
		}
		s.groups[d.Group] = append(s.groups[d.Group], step)
	}
	for _, p := range e.Accepted {
		step := step
		step.By, step.Verdict, step.URL, step.Certainty = ByProposal, p.Verdict, p.URL, p.Certainty
		s.urls[p.URL] = append(s.urls[p.URL], step)
	}
}

// Rules are all rules in order, those that were withdrawn among them.
func (s *State) Rules() (list []NumberedRule) {
	for _, r := range s.rules {
		list = append(list, NumberedRule{Rule{r.step.Query, r.step.Verdict}, r.step.Entry, r.step.Who, r.step.Withdrawn})
	}
	return list
}

// Decisions is how many decisions of people there are, those that later ones replace among them.
func (s *State) Decisions() int { return s.decided }

// Wants reports whether a selection speaks of a crawl.
func (s *State) Wants(crawl string) bool {
	return len(s.About.Crawls) == 0 || slices.Contains(s.About.Crawls, crawl)
}

// Of is what becomes of a capture.
func (s *State) Of(f *Facts) Ruling {
	ruling, _ := s.Reason(f)
	return ruling
}

// Reason is what becomes of a capture, with the step that it is by; the zero Step if nothing speaks of it.
func (s *State) Reason(f *Facts) (Ruling, Step) {
	of := func(step *Step) (Ruling, Step) { return Ruling{step.Verdict, step.By, step.Entry}, *step }
	if d := s.decision(f); d != nil && d.Verdict != Ask {
		return of(d)
	}
	if i := s.lastRule(f); i > 0 {
		return of(&s.rules[i-1].step)
	}
	if p := s.proposal(f); p != nil {
		return of(p)
	}
	return Ruling{Verdict: Ask, By: ByNothing}, Step{}
}

// lastRule is the number of the last rule that matches a capture, from 1; 0: none does.
func (s *State) lastRule(f *Facts) int {
	if f.judged.of == s.at && s.at.name != "" {
		return f.judged.rule
	}
	for i := len(s.rules) - 1; i >= 0; i-- {
		if r := &s.rules[i]; r.matcher != nil && r.matcher.Match(f) {
			return i + 1
		}
	}
	return 0
}

// Judge asks the rules about a capture while its text is known, and notes what they say: states with the same rules take that from then on,
// also after Bare.
func (s *State) Judge(f *Facts) {
	if f.judged.of != s.at {
		f.judged = judged{s.at, s.lastRule(f)}
	}
}

// SameRules reports whether two states of one selection have the same rules.
func (s *State) SameRules(other *State) bool { return s.at == other.at }

// Decided is the decision of a person that counts for a capture, of its URL or of a group that it belongs to; false if there is none, or
// if it was taken back.
func (s *State) Decided(f *Facts) (Step, bool) {
	if d := s.decision(f); d != nil && d.Verdict != Ask {
		return *d, true
	}
	return Step{}, false
}

// DecidedGroup is the last decision that names a group; false if there is none, or if it was taken back.
func (s *State) DecidedGroup(g Group) (Verdict, bool) {
	list := s.groups[g]
	if len(list) == 0 || list[len(list)-1].Verdict == Ask {
		return Ask, false
	}
	return list[len(list)-1].Verdict, true
}

// decision is the last decision that speaks of a capture; nil: none does.
func (s *State) decision(f *Facts) (last *Step) {
	s.decisions(f, func(d *Step) {
		if last == nil || d.at > last.at {
			last = d
		}
	})
	return last
}

// decisions calls fn with the last decision of the capture's URL and with that of each of its groups.
func (s *State) decisions(f *Facts, fn func(*Step)) {
	lastOf := func(list []Step) {
		for i := len(list) - 1; i >= 0; i-- {
			if list[i].By == ByPerson {
				fn(&list[i])
				return
			}
		}
	}
	lastOf(s.urls[f.URL])
	if len(s.groups) == 0 {
		return
	}
	for _, g := range f.Groups() {
		if _, is := g.Print(); !is {
			lastOf(s.groups[g])
		}
	}
	for _, print := range s.near {
		if Alike(print, f.Print) {
			lastOf(s.groups[NearGroup(print)])
		}
	}
}

// proposal is the last proposal for a capture that was accepted; nil: none.
func (s *State) proposal(f *Facts) *Step {
	list := s.urls[f.URL]
	for i := len(list) - 1; i >= 0; i-- {
		if list[i].By == ByProposal {
			return &list[i]
		}
	}
	return nil
}

// Explain says why a capture is kept, dropped or open: all that speaks of it, and which of that counts.
func (s *State) Explain(f *Facts) Explained {
	steps := slices.Clone(s.urls[f.URL])
	if len(s.groups) > 0 {
		for _, g := range f.Groups() {
			if _, is := g.Print(); !is {
				steps = append(steps, s.groups[g]...)
			}
		}
		for _, print := range s.near {
			if Alike(print, f.Print) {
				steps = append(steps, s.groups[NearGroup(print)]...)
			}
		}
	}
	for _, r := range s.rules {
		if r.matcher != nil && r.matcher.Match(f) {
			steps = append(steps, r.step)
		}
	}
	slices.SortStableFunc(steps, func(a, b Step) int {
		if a.Entry != b.Entry {
			return int(a.Entry) - int(b.Entry)
		}
		return a.at - b.at
	})
	out := Explained{URL: f.URL, Ruling: s.Of(f), Steps: steps}
	for i := len(steps) - 1; i >= 0; i-- {
		if step := &steps[i]; step.By == out.By && step.Entry == out.Entry && step.Verdict == out.Verdict {
			step.Counts = true
			break
		}
	}
	return out
}
