package kb

import (
	"slices"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Mark is a detect element: what recognises an application, and perhaps its version.
type Mark struct {
	Application *Application
	Version     string
	Condition   *Condition
}

// Marks are all detect elements of a base, found by the words that they need: what it costs to learn which of
// them a page may have does not depend on how many there are (the idea of YFilter, with words for paths).
type Marks struct {
	list   []Mark
	words  [places]Words     // those of pages are the words of all rules
	marks  [places][][]int32 // by word
	always []int32           // marks of which no word is known
}

// Threshold is the confidence from which an application counts as recognised.
const Threshold = 0.5

// MostOwn is how many of the nodes that a mark with the attribute own selects are asked whether they lead to the page's own site.
const MostOwn = 30

// Where the words of a mark are looked for.
const (
	InPage      = iota // the source of the page
	InHead             // the header block of the response, in lower case
	InGenerator        // the meta generators, in lower case
	InURL
	places
)

// shortest are the words of each place that are looked for, in bytes. Pages are long: shorter words stand in most.
var shortest = [places]int{InPage: xpath.MinWord, InHead: MinWord, InGenerator: MinWord, InURL: MinWord}

// MinWord is the length of the shortest word that is looked for in URLs, header fields and generators, in bytes.
const MinWord = 4

// Seen is what is known of a page: the words that stand in its places.
type Seen [places]Found

// Look finds the words of one place in a text.
func (m *Marks) Look(where int, text []byte, seen *Seen) {
	seen[where] = m.words[where].Find(text, seen[where])
}

// Candidates calls fn with each mark of which a word was seen, and with those of which none is known, until
// fn returns false. A mark may come more than once.
func (m *Marks) Candidates(seen *Seen, fn func(Mark) bool) {
	for _, at := range m.always {
		if !fn(m.list[at]) {
			return
		}
	}
	for where := range seen {
		marks := m.marks[where]
		for word := range seen[where].All() {
			if word >= len(marks) {
				break // the words behind belong to no mark
			}
			for _, at := range marks[word] {
				if !fn(m.list[at]) {
					return
				}
			}
		}
	}
}

// Len is the number of marks.
func (m *Marks) Len() int { return len(m.list) }

// Unbound returns the marks that every page must be asked for at length, since nothing is known that they need.
func (m *Marks) Unbound() (list []Mark) {
	for _, at := range m.always {
		if x := m.list[at].Condition.XPath; x == nil || !x.Quick() {
			list = append(list, m.list[at])
		}
	}
	return list
}

func (m *Marks) add(mark Mark) {
	at := int32(len(m.list))
	m.list = append(m.list, mark)
	where, words := mark.Condition.key()
	if len(words) == 0 {
		m.always = append(m.always, at)
		return
	}
	for _, w := range words {
		id, _ := m.words[where].add(w)
		for len(m.marks[where]) <= id {
			m.marks[where] = append(m.marks[where], nil)
		}
		m.marks[where][id] = append(m.marks[where][id], at)
	}
}

// key names words of which one must stand in a place for the condition to hold: the rarest that are known.
func (c *Condition) key() (where int, words []string) {
	long := func(w string) bool { return len(w) >= MinWord }
	switch {
	case long(c.Cookie):
		return InHead, []string{c.Cookie}
	case c.Header != "" && long(c.Value):
		return InHead, []string{c.Value}
	case long(c.Header):
		return InHead, []string{c.Header}
	case long(c.Generator):
		return InGenerator, []string{c.Generator}
	}
	if list := c.lists(); len(list) > 0 {
		return InPage, slices.MaxFunc(list, func(a, b []string) int { return worth(a) - worth(b) })
	}
	if c.URL != nil {
		return InURL, required(c.URL.String())
	}
	return 0, nil
}

// lists are the words that a page's source must hold for the condition to hold, one at least of each list.
func (c *Condition) lists() (list [][]string) {
	if c.XPath != nil {
		list = slices.Clone(c.XPath.Needs())
	}
	if len(c.Text) >= xpath.MinWord {
		list = append(list, []string{c.Text})
	}
	return list
}

// worth reports how rare the words of a list may be: the length of the shortest.
func worth(list []string) int {
	least := 100
	for _, w := range list {
		least = min(least, len(w))
	}
	return least*4 - len(list)
}

// number gives the words of all rules their numbers and gathers the marks.
func (b *Base) number() {
	for place, least := range shortest {
		b.Marks.words[place] = newWords(least)
	}
	for _, app := range b.Applications {
		mark := func(version string, list []Condition) {
			for i := range list {
				b.Marks.add(Mark{app, version, &list[i]})
			}
		}
		mark("", app.Detect)
		for _, v := range app.Versions {
			mark(v.Name, v.Detect)
		}
	}
	defer func() {
		for i := range b.Marks.words {
			b.Marks.words[i].seal()
		}
	}()
	for _, p := range b.profiles {
		b.numberRules(&p.Rules)
	}
	for _, app := range b.Applications {
		b.conditions(app.Detect)
		for _, v := range app.Versions {
			b.conditions(v.Detect)
		}
	}
}

func (b *Base) numberRules(r *Rules) {
	b.conditions(r.Drop)
	b.follows(r.Follow)
	for i := range r.Normalize {
		r.Normalize[i].Links = b.pattern(r.Normalize[i].URL)
	}
	for _, l := range r.Levels {
		b.conditions(l.Match)
		b.conditions(l.Drop)
		b.follows(l.Follow)
		for i := range l.Objects {
			o := &l.Objects[i]
			o.Needs = b.need(o.Each)
			o.Properties = slices.Clone(o.Properties)
			for j := range o.Properties {
				q := &o.Properties[j]
				q.Needs, q.AppendNeeds = b.need(q.XPath), b.need(q.Append)
			}
		}
	}
}

func (b *Base) conditions(list []Condition) {
	for i := range list {
		list[i].Needs = b.numbers(list[i].lists())
		list[i].Links = b.pattern(list[i].URL)
	}
}

func (b *Base) follows(list []Follow) {
	for i := range list {
		list[i].Needs = b.need(list[i].XPath)
		list[i].Links = b.pattern(list[i].URL)
	}
}

func (b *Base) need(x *xpath.Expr) Needs {
	if x == nil {
		return nil
	}
	return b.numbers(x.Needs())
}

func (b *Base) numbers(lists [][]string) (n Needs) {
	for _, list := range lists {
		ids := make([]int, 0, len(list))
		for _, w := range list {
			if id, ok := b.Marks.words[InPage].add(w); ok {
				ids = append(ids, id)
			}
		}
		if len(ids) == len(list) {
			n = append(n, ids)
		}
	}
	return n
}

// Held reports whether a page holds a word of each list.
func (n Needs) Held(by Found) bool {
	for _, list := range n {
		if !slices.ContainsFunc(list, by.Has) {
			return false
		}
	}
	return true
}
