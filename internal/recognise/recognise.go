// Package recognise finds the application, version and level of a page by the marks of a knowledge base (paper §4.1): marks
// count as independent evidence, and so does what the host's other pages were.
package recognise

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// Result is what a page was found to be.
type Result struct {
	Profile    *kb.Profile // the rules of its application, version and host; nil: the application is not known
	Version    string
	Rule       string // that spoke most for the application, or one of the words below
	Confidence float64
	Level      *kb.Level // nil: it is not known
	LevelRule  string
	ByURL      bool // the level is known by the URL alone
}

// Application is the name of the page's application, "" if it is not known.
func (r *Result) Application() string {
	if r.Profile == nil {
		return ""
	}
	return r.Profile.Application.Name
}

// SetLevel takes a level by a rule.
func (r *Result) SetLevel(l *kb.Level, rule string) { r.Level, r.LevelRule = l, rule }

// ByHost is the rule of pages without marks, on hosts whose other pages are of the application.
const ByHost = "host"

// MaxByHistory is the highest confidence that the history of a host or of a page gives alone.
const MaxByHistory = 0.6

// Page is a page whose words were looked up.
type Page struct {
	kb.Evaluator
	base  *kb.Base
	doc   *page.Document
	host  string
	head  []byte // of the response, in lower case
	words *kb.Seen
}

var scratch = sync.Pool{New: func() any { return new(kb.Seen) }}

// Read finds the words of all rules of a base in a page, in one pass over each of its texts. head is the header block of the
// response. Free gives its memory back.
func Read(base *kb.Base, d *page.Document, host string, head []byte, eval *xpath.Eval) *Page {
	p := &Page{base: base, doc: d, host: host, head: bytes.ToLower(head), words: scratch.Get().(*kb.Seen)}
	m := &base.Marks
	m.Look(kb.InHead, p.head, p.words)
	m.Look(kb.InGenerator, []byte(d.Generators), p.words)
	m.Look(kb.InURL, []byte(d.URL), p.words)
	m.Look(kb.InPage, d.Source, p.words)
	p.Evaluator = kb.Evaluator{Eval: eval, Found: p.words[kb.InPage]}
	return p
}

// Free ends the use of a page and of its evaluator.
func (p *Page) Free() { scratch.Put(p.words) }

// tally collects the evidence for one application.
type tally struct {
	app        *kb.Application
	version    string
	rule       string
	confidence float64
	best       float64 // of a single mark, which gives its rule
	asked      []*kb.Condition
	held       []*kb.Condition
	versions   map[string]float64
}

// Recognise weighs the marks that the page has, and finds its level.
func (p *Page) Recognise(before Host) (r Result, ok bool) {
	r, ok = p.application(before)
	if ok && r.Level == nil {
		p.level(&r)
	}
	return r, ok
}

// Generic finds the level that a page has by the rules of an application which is not asked for marks: the lowest layer of the
// base.
func (p *Page) Generic(app *kb.Application) (r Result) {
	r.Profile = p.base.Profile(app, "", p.host)
	p.level(&r)
	return r
}

// level is the first of which a match holds.
func (p *Page) level(r *Result) {
	for _, l := range r.Profile.Levels {
		for i := range l.Match {
			if m := &l.Match[i]; p.holds(m) {
				r.ByURL = m.XPath == nil && m.Text == ""
				r.SetLevel(l, m.Rule)
				return
			}
		}
	}
}

// application weighs marks as independent evidence. What the host was found to be before is one more.
func (p *Page) application(before Host) (found Result, ok bool) {
	tallies := p.tallies()
	of := func(app *kb.Application) *tally { return tallyOf(&tallies, app) }
	result := func(t *tally) Result {
		return Result{Profile: p.base.Profile(t.app, t.version, p.host), Version: t.version, Rule: t.rule, Confidence: t.confidence}
	}
	if site := p.base.SiteOf(p.host); site != nil {
		t := of(p.base.Application(site.Application))
		t.confidence, t.rule, t.version = 1, site.File+":1", t.likeliest(before)
		return result(t), true
	}
	if app := p.base.Application(before.app); before.app != "" && app != nil {
		t := of(app)
		t.confidence = either(t.confidence, MaxByHistory*before.share())
		if t.rule == "" {
			t.rule = ByHost
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
		return Result{}, false
	}
	winner.version = winner.likeliest(before)
	found = result(winner)
	if winner.rule == ByHost { // a page without a mark must match one of the application's levels; after a redesign that may be by its URL alone
		p.level(&found)
		return found, found.Level != nil
	}
	return found, true
}

func tallyOf(list *[]*tally, app *kb.Application) *tally {
	for _, t := range *list {
		if t.app == app {
			return t
		}
	}
	t := &tally{app: app}
	*list = append(*list, t)
	return t
}

// tallies gathers the marks that hold, by application.
func (p *Page) tallies() (list []*tally) {
	p.base.Marks.Candidates(p.words, func(m kb.Mark) bool {
		t := tallyOf(&list, m.Application)
		if slices.Contains(t.asked, m.Condition) {
			return true
		}
		t.asked = append(t.asked, m.Condition)
		if !p.holds(m.Condition) || !p.marks(m.Condition) {
			return true
		}
		c := m.Condition.Confidence
		if !slices.ContainsFunc(t.held, m.Condition.Same) { // of an application and of its version: it counts once
			t.held = append(t.held, m.Condition)
			t.confidence = either(t.confidence, c)
		}
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
	return list
}

// likeliest returns the version with the most evidence; without evidence, the one that the host had before.
func (t *tally) likeliest(before Host) string {
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

// either is the confidence of two independent pieces of evidence.
func either(a, b float64) float64 { return 1 - (1-a)*(1-b) }

// holds reports whether all parts of a condition are true of the page.
func (p *Page) holds(c *kb.Condition) bool {
	switch {
	case !c.Needs.Held(p.Found),
		c.Generator != "" && !strings.Contains(p.doc.Generators, c.Generator),
		c.Header != "" && !p.header(c.Header, c.Value),
		c.Cookie != "" && !p.cookie(c.Cookie),
		c.URL != nil && !c.URL.MatchString(p.doc.URL),
		c.Text != "" && !bytes.Contains(p.doc.Source, []byte(c.Text)):
		return false
	}
	return c.XPath == nil || len(p.Select(c.XPath, nil, p.Eval.Tree.Root(), 1)) > 0
}

// marks reports whether what holds of a page marks it, too: a word that stands nowhere but in the text that readers see is spoken about, and what is another site's is no mark of this one.
func (p *Page) marks(c *kb.Condition) bool {
	if c.Text != "" && c.XPath == nil && bytes.Count(p.doc.Source, []byte(c.Text)) <= p.shown(c.Text) {
		return false
	}
	return !c.Own || slices.ContainsFunc(p.Select(c.XPath, nil, p.Eval.Tree.Root(), kb.MostOwn), p.own)
}

// shown counts how often a text stands in the text of the page.
func (p *Page) shown(text string) (n int) {
	for _, b := range p.doc.Blocks {
		n += strings.Count(b, text)
	}
	return n
}

// own reports whether an element, or an attribute, leads to the page's pay-level domain.
func (p *Page) own(r xpath.Ref) bool {
	n := p.Eval.Tree.Node(r)
	for i, a := range n.Attr {
		if r.Attr >= 0 && int(r.Attr) != i || r.Attr < 0 && a.Key != "src" && a.Key != "href" && a.Key != "content" {
			continue
		}
		if url := p.doc.Resolve(a.Val); url != "" && urls.PLD(urls.HostOf(url)) == urls.PLD(p.host) {
			return true
		}
	}
	return false
}

// headers yields the fields of the header block, names and values in lower case.
func (p *Page) headers(yield func(name, value string) bool) {
	for line := range bytes.Lines(p.head) {
		name, value, ok := bytes.Cut(line, []byte(":"))
		if ok && !yield(string(bytes.TrimSpace(name)), string(bytes.TrimSpace(value))) {
			return
		}
	}
}

func (p *Page) header(name, part string) bool {
	for n, value := range p.headers {
		if n == name && strings.Contains(value, part) {
			return true
		}
	}
	return false
}

func (p *Page) cookie(part string) bool {
	for n, value := range p.headers {
		if n == "set-cookie" {
			name, _, _ := strings.Cut(value, "=")
			if strings.Contains(name, part) {
				return true
			}
		}
	}
	return false
}
