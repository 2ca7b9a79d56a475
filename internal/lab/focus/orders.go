package focus

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// Task is what an order knows of a topic.
type Task struct {
	Topic     text.HashedVector // sum of the term frequencies of the examples
	Examples  []*order.Page     // pages of the topic
	Paths     []order.Trained   // the examples and pages on the way to them
	Thesaurus order.Thesaurus   // nil: there is none
	Seed      uint64
	Relevant  func(page int) bool // for the oracle alone
	keywords  bool                // Topic is of keywords, and there are no examples
	corpus    *Corpus
	seeds     []int
	examples  []int
	subtopic  map[int]int // of relevant pages that can be reached
	subtopics int
	budget    int             // pages that are crawled
	relevant  int             // pages of the topic that can be reached
	nearness  map[int]float64 // of pages to the topic, once they were asked for
}

// Strategy is an order by its name.
type Strategy struct {
	Name string // that of order.strategy in definitions, but for the oracle's
	New  func(Task) order.Order
	// Words reports that a thesaurus is needed.
	Words bool
}

// Ours is the name of the order that learns.
const Ours = crawl.StrategyFused

// Oracle is the name of the order that knows all pages.
const Oracle = "oracle"

// Setting is a strategy with its settings.
type Setting struct {
	Strategy string `json:"strategy"`
	Update   string `json:"update"`              // order.update
	PerQueue int    `json:"per_queue,omitempty"` // order.per_queue; 0: the simulation, which has one queue and takes one of it
	Batch    bool   `json:"batch,omitempty"`     // order.batch
	// Learners are the workers that crawl, of an order that learns; nil: one.
	Learners *Learners `json:"learners,omitempty"`
}

// name distinguishes settings. Those of the simulation have the update function in it only if there are several.
func (s Setting) name(several bool) string {
	name := s.Strategy
	if several || s.PerQueue > 0 {
		name += ", " + s.Update
	}
	if s.PerQueue > 0 {
		name += fmt.Sprintf(", %d a queue", s.PerQueue)
	}
	if s.Batch {
		name += ", batch"
	}
	if s.Learners != nil {
		name += ", " + s.Learners.String()
	}
	return name
}

// N is how many pages n-best-first fetches together in the simulation.
const N = 16

// Strategies are those that are measured.
var Strategies = []Strategy{
	{Name: crawl.StrategyBreadth, New: func(Task) order.Order { return order.Breadth{} }},
	{Name: crawl.StrategyContent, New: func(t Task) order.Order { return order.NewBest(t.Topic, true, false) }},
	{Name: crawl.StrategyAnchor, New: func(t Task) order.Order { return order.NewBest(t.Topic, false, true) }},
	{Name: crawl.StrategyContentAnchor, New: func(t Task) order.Order { return order.NewBest(t.Topic, true, true) }},
	{Name: crawl.StrategyNBest, New: func(t Task) order.Order { return batch{Order: order.NewBest(t.Topic, true, true), N: N} }},
	{Name: crawl.StrategyShark, New: func(t Task) order.Order { return order.NewShark(t.Topic) }},
	{Name: crawl.StrategySynonyms, Words: true, New: func(t Task) order.Order { return order.NewSemantic(t.Topic, t.Thesaurus, false) }},
	{Name: crawl.StrategyBroader, Words: true, New: func(t Task) order.Order { return order.NewSemantic(t.Topic, t.Thesaurus, true) }},
	{Name: crawl.StrategyHMM, New: hmm(false, false)},
	{Name: crawl.StrategyHMMContent, New: hmm(true, false)},
	{Name: crawl.StrategyHMMAnchor, New: hmm(true, true)},
	{Name: crawl.StrategyPlaces, New: func(t Task) order.Order { return newPlaces(t.Topic) }},
	{Name: Ours, New: func(t Task) order.Order { return t.fused() }},
	{Name: Oracle, New: func(t Task) order.Order { return oracle{t.corpus, t.Relevant} }},
}

func (t Task) fused() *order.Fused {
	s := order.DefaultSettings()
	s.Seed = t.Seed
	if t.keywords {
		s.Enough = crawl.DefaultDefinition().Topic.Threshold
	}
	return order.NewFused(t.Examples, s)
}

func hmm(centroid, anchor bool) func(Task) order.Order {
	return func(t Task) order.Order {
		s := order.DefaultHMM()
		s.Seed, s.Centroid, s.Anchor = t.Seed, centroid, anchor
		return order.NewHMM(t.Paths, s)
	}
}

// maxLevel bounds the training pages of a level.
const maxLevel = 60

// paths are example pages and pages that lead to them, as a user gives them in example paths. The other orders get less: the example
// pages only.
func (c *Corpus) paths(examples []int) (list []order.Trained) {
	at := map[int]int{}
	add := func(page, level int) {
		at[page] = len(list)
		list = append(list, order.Trained{Text: c.Pages[page].Text, Level: level})
	}
	for _, e := range examples {
		add(e, 0)
	}
	last := examples
	for level := 1; level < order.Levels; level++ {
		var found []int
		for _, target := range last {
			for _, from := range c.citing()[target] {
				if _, known := at[from]; !known && len(found) < maxLevel {
					add(from, level)
					found = append(found, from)
				}
			}
		}
		last = found
	}
	for page, i := range at {
		for _, to := range c.Pages[page].To {
			if j, known := at[to]; known {
				list[i].Next = append(list[i].Next, j)
			}
		}
	}
	return list
}

// citing lists the pages that link to each page.
func (c *Corpus) citing() [][]int {
	if c.cited == nil {
		c.cited = make([][]int, len(c.Pages))
		for from := range c.Pages {
			for _, to := range c.Pages[from].To {
				if to >= 0 {
					c.cited[to] = append(c.cited[to], from)
				}
			}
		}
	}
	return c.cited
}

// oracle knows what every page is, and what it links to. It is greedy: it does not plan beyond that.
type oracle struct {
	corpus   *Corpus
	relevant func(page int) bool
}

// Judge puts relevant pages first, then those that link to relevant ones.
func (o oracle) Judge(p *order.Page, _ []byte) order.Judgement {
	out := make([]order.Judged, len(p.Links))
	from, _ := o.corpus.At(p.URL)
	for i, to := range o.corpus.Pages[from].To {
		if to < 0 {
			continue
		}
		if o.relevant(to) {
			out[i].Priority = 2
			continue
		}
		for _, next := range o.corpus.Pages[to].To {
			if next >= 0 && o.relevant(next) {
				out[i].Priority = 1
				break
			}
		}
	}
	return order.Judgement{Links: out}
}
