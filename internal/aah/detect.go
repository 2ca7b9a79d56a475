package aah

import (
	"bytes"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/kb"
)

// recognised is what a page was found to be.
type recognised struct {
	app        *kb.Application
	version    string
	rule       string
	confidence float64
}

const (
	// memorable is the confidence that a host's history alone gives, at most.
	memorable = 0.6
)

var scratch = sync.Pool{New: func() any { return new(kb.Seen) }}

// look finds the words of all rules, in one pass over each text.
func (v *view) look(head []byte) {
	v.head = bytes.ToLower(head)
	m := &v.base.Marks
	m.Look(kb.InHead, v.head, v.words)
	m.Look(kb.InGenerator, []byte(v.doc.Generators), v.words)
	m.Look(kb.InURL, []byte(v.doc.URL), v.words)
	m.Look(kb.InPage, v.doc.Source, v.words)
	v.found = v.words[kb.InPage]
}

// tally gathers what speaks for one application.
type tally struct {
	recognised
	best     float64 // of a single mark, which gives its rule
	asked    []*kb.Condition
	versions map[string]float64
}

// recognise weighs the marks that the page has: they count as independent witnesses. What the host was found to
// be before is one more.
func (v *view) recognise(before was) (found recognised, ok bool) {
	var tallies []*tally
	of := func(app *kb.Application) *tally {
		for _, t := range tallies {
			if t.app == app {
				return t
			}
		}
		t := &tally{recognised: recognised{app: app}}
		tallies = append(tallies, t)
		return t
	}
	v.base.Marks.Candidates(v.words, func(m kb.Mark) bool {
		t := of(m.Application)
		for _, c := range t.asked {
			if c == m.Condition {
				return true
			}
		}
		t.asked = append(t.asked, m.Condition)
		if !v.holds(m.Condition) {
			return true
		}
		c := m.Condition.Confidence
		t.confidence = either(t.confidence, c)
		if c > t.best {
			t.best, t.rule = c, m.Condition.Rule
		}
		if m.Version != "" {
			if t.versions == nil {
				t.versions = map[string]float64{}
			}
			t.versions[m.Version] = either(t.versions[m.Version], c)
		}
		return true
	})
	if site := v.base.SiteOf(v.host); site != nil {
		t := of(v.base.Application(site.Application))
		t.confidence, t.rule, t.version = 1, site.File+":1", t.likeliest(before)
		return t.recognised, true
	}
	if app := v.base.Application(before.app); before.app != "" && app != nil {
		t := of(app)
		t.confidence = either(t.confidence, memorable*before.share())
		if t.rule == "" {
			t.rule = "host"
		}
	}
	var winner *tally
	for _, t := range tallies {
		if t.confidence >= kb.Threshold && (winner == nil || t.confidence > winner.confidence ||
			t.confidence == winner.confidence && t.app.Name < winner.app.Name) {
			winner = t
		}
	}
	if winner == nil {
		return recognised{}, false
	}
	winner.version = winner.likeliest(before)
	if winner.rule == "host" && !v.fits(winner.recognised) {
		return recognised{}, false
	}
	return winner.recognised, true
}

// fits tells whether a page that bears no mark looks like one of the application all the same: one of its levels
// must match.
func (v *view) fits(r recognised) bool {
	level, _ := v.levelOf(v.base.Profile(r.app, r.version, v.host))
	return level != nil
}

// likeliest returns the version that most speaks for; what the host had before if the page says nothing.
func (t *tally) likeliest(before was) string {
	best, name := 0.0, ""
	for _, v := range t.app.Versions {
		if c := t.versions[v.Name]; c > best {
			best, name = c, v.Name
		}
	}
	if name == "" && before.app == t.app.Name {
		return before.version
	}
	return name
}

// either is the confidence of two independent witnesses.
func either(a, b float64) float64 { return 1 - (1-a)*(1-b) }

// holds tells whether all parts of a condition are true of the page.
func (v *view) holds(c *kb.Condition) bool {
	switch {
	case !c.Needs.Held(v.found),
		c.Generator != "" && !strings.Contains(v.doc.Generators, c.Generator),
		c.Header != "" && !v.header(c.Header, c.Value),
		c.Cookie != "" && !v.cookie(c.Cookie),
		c.URL != nil && !c.URL.MatchString(v.doc.URL),
		c.Text != "" && !bytes.Contains(v.doc.Source, []byte(c.Text)):
		return false
	}
	return c.XPath == nil || len(v.selected(c.XPath, nil, v.eval.Tree.Root(), 1)) > 0
}

// headers yields the fields of the header block, names and values in lower case.
func (v *view) headers(yield func(name, value string) bool) {
	for line := range bytes.Lines(v.head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && !yield(string(bytes.TrimSpace(name)), string(bytes.TrimSpace(value))) {
			return
		}
	}
}

func (v *view) header(name, part string) bool {
	for n, value := range v.headers {
		if n == name && strings.Contains(value, part) {
			return true
		}
	}
	return false
}

func (v *view) cookie(part string) bool {
	for n, value := range v.headers {
		if n == "set-cookie" {
			name, _, _ := strings.Cut(value, "=")
			if strings.Contains(name, part) {
				return true
			}
		}
	}
	return false
}

// levelOf returns the first level of which a match holds.
func (v *view) levelOf(p *kb.Profile) (level *kb.Level, rule string) {
	for _, l := range p.Levels {
		for i := range l.Match {
			if v.holds(&l.Match[i]) {
				v.urlOnly = l.Match[i].XPath == nil && l.Match[i].Text == ""
				return l, l.Match[i].Rule
			}
		}
	}
	return nil, ""
}
