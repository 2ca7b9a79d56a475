package focus

import "github.com/muninn-archive/muninn/internal/order"

// Task is what an order is told of a topic.
type Task struct {
	Topic    order.Terms   // sum of the term frequencies of the examples
	Examples []*order.Page // pages of the topic
	Seed     uint64
	Relevant func(page int) bool // for the oracle alone
	corpus   *Corpus
}

// Strategy is an order by its name.
type Strategy struct {
	Name string
	New  func(Task) order.Order
}

// Ours is the name of the order that learns.
const Ours = "fused"

// Strategies are those that are measured.
var Strategies = []Strategy{
	{"breadth-first", func(Task) order.Order { return order.Breadth{} }},
	{"best-first content", func(t Task) order.Order { return order.NewBest(t.Topic, true, false) }},
	{"best-first anchor", func(t Task) order.Order { return order.NewBest(t.Topic, false, true) }},
	{"best-first content and anchor", func(t Task) order.Order { return order.NewBest(t.Topic, true, true) }},
	{"shark-search", func(t Task) order.Order { return order.NewShark(t.Topic) }},
	{Ours, func(t Task) order.Order {
		s := order.DefaultSettings()
		s.Seed = t.Seed
		return order.NewFused(t.Examples, s)
	}},
	{"oracle", func(t Task) order.Order { return oracle{t.corpus, t.Relevant} }},
}

// oracle knows what every page is, and what it links to: no order that sees links alone can do as well.
type oracle struct {
	corpus   *Corpus
	relevant func(page int) bool
}

// Fetched puts relevant pages first, then those that link to relevant ones.
func (o oracle) Fetched(p *order.Page) []float64 {
	out := make([]float64, len(p.Links))
	from, _ := o.corpus.At(p.URL)
	for i, to := range o.corpus.Pages[from].To {
		if to < 0 {
			continue
		}
		if o.relevant(to) {
			out[i] = 2
			continue
		}
		for _, next := range o.corpus.Pages[to].To {
			if next >= 0 && o.relevant(next) {
				out[i] = 1
				break
			}
		}
	}
	return out
}
