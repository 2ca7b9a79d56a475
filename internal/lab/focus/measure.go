package focus

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/replay"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/text"
)

// Options of a measurement.
type Options struct {
	Topics   []string        // labels; none: the corpus' own topics
	Orders   []string        // by name; none: all
	Seeds    int             // random pages that each crawl begins at; 0: the corpus' own seeds
	Draws    int             // crawls of each topic, each with other examples
	Examples int             // pages of the topic that the orders are given
	Keywords int             `json:"keywords,omitempty"` // words that they are given in place of pages; 0: none
	Updates  []string        // of the scores of several links to a page, each by itself: first, last, avg, max, sum; none: max
	Share    float64         // of the reachable pages that are crawled
	Words    order.Thesaurus `json:"-"` // nil: orders that need one are left out
	Seed     uint64
	// Learners crawl in the order that learns, in place of one worker in several orders; none: that is measured.
	Learners []Learners `json:"learners,omitempty"`
	Live     *Live      `json:"live,omitempty"` // nil: a quick simulation, without politeness, of orders alone
}

// DefaultOptions measure as docs/FOCUS.md does.
func DefaultOptions() Options {
	return Options{Draws: 9, Examples: 20, Updates: []string{crawl.UpdateMax}, Share: 0.5, Seed: 1}
}

// Threshold is the similarity with the topic from which a page counts as relevant where labels are not asked for
// (Plachouras et al. 2014, §5.1).
const Threshold = 0.333

// Points is the number of points of a curve.
const Points = 50

// Row is the result of one order on one topic: means over the draws.
type Row struct {
	Order    string    `json:"order"`
	Topic    string    `json:"topic"`
	Areas    []float64 `json:"areas"`           // under the curve of recall, by draw
	Area     float64   `json:"area"`            // their mean
	Spread   float64   `json:"spread"`          // their standard deviation
	Recall   float64   `json:"recall"`          // at the end
	Harvest  float64   `json:"harvest"`         // share of the fetched pages that have the label
	Near     float64   `json:"harvest_near"`    // … that are as similar to the topic as Threshold
	Similar  float64   `json:"similarity"`      // mean, of the fetched pages to the topic
	Half     float64   `json:"pages_to_half"`   // pages until half of the relevant ones are found; all, if they are not
	Most     float64   `json:"pages_to_80"`     // … four fifths
	Subtopic float64   `json:"subtopics"`       // share of the subtopics that are reached after a tenth of the crawl
	Curve    []float64 `json:"curve"`           // recall after equal parts of the crawl
	Fetched  float64   `json:"fetched"`         // pages of a crawl
	Relevant float64   `json:"relevant"`        // pages with the label that could be reached
	Hosts    *Hosts    `json:"hosts,omitempty"` // with politeness on a simulated clock
	Micros   float64   `json:"cpu_us_per_page"` // of the order and of the simulation, or of the live crawl's code
}

// Result is all that was measured.
type Result struct {
	Corpus    string    `json:"corpus"`
	Pages     int       `json:"pages"`
	Links     int       `json:"links"`
	Reachable int       `json:"reachable"` // from the corpus' own seeds
	Options   Options   `json:"options"`
	Topics    []string  `json:"topics"`
	Orders    []string  `json:"orders"`
	Settings  []Setting `json:"settings"` // of the orders
	Rows      []Row     `json:"rows"`
}

// ErrNoTopic reports that no page has a label.
var ErrNoTopic = errors.New("has no pages of the topic")

// Measure crawls a corpus for each topic in each order.
func Measure(c *Corpus, o Options) (Result, error) {
	if len(o.Updates) == 0 {
		o.Updates = []string{crawl.UpdateMax}
	}
	out := Result{Corpus: c.Name, Pages: len(c.Pages), Options: o, Topics: o.Topics}
	for i := range c.Pages {
		out.Links += len(c.Pages[i].To)
	}
	_, out.Reachable = c.Reachable(c.Seeds)
	if len(out.Topics) == 0 {
		out.Topics = c.Topics
	}
	if len(out.Topics) == 0 {
		return out, fmt.Errorf("%s has no label of %d pages or more: name the topics", c.Name, recorded.LeastOfTopic)
	}
	strategies, err := chosen(o.Orders, o.Words != nil)
	out.Settings = settings(strategies, o.Updates)
	if len(o.Learners) > 0 {
		out.Settings = learnerSettings(o.Learners, o.Updates)
	}
	if o.Live != nil {
		out.Settings, err = o.Live.settings(o.Orders, o.Updates)
	}
	if err != nil {
		return out, err
	}
	for _, s := range out.Settings {
		out.Orders = append(out.Orders, s.name(len(o.Updates) > 1))
	}
	for _, topic := range out.Topics {
		var all []int
		for i := range c.Pages {
			if c.Pages[i].Label == topic {
				all = append(all, i)
			}
		}
		if len(all) == 0 {
			return out, fmt.Errorf("%s %w %q", c.Name, ErrNoTopic, topic)
		}
		rows := make([]Row, len(out.Orders))
		for i, name := range out.Orders {
			rows[i] = Row{Order: name, Topic: topic, Curve: make([]float64, Points)}
		}
		for draw := range o.Draws {
			task := c.task(topic, all, o, draw)
			for i, s := range out.Settings {
				if err := rows[i].run(c, s, task, o.Live); err != nil {
					return out, err
				}
			}
		}
		for i := range rows {
			rows[i].finish(o.Draws)
		}
		out.Rows = append(out.Rows, rows...)
	}
	return out, nil
}

// chosen finds strategies by their names.
func chosen(names []string, words bool) ([]Strategy, error) {
	if len(names) == 0 {
		return slices.DeleteFunc(slices.Clone(Strategies), func(s Strategy) bool { return s.Words && !words }), nil
	}
	var list []Strategy
	for _, name := range names {
		at := slices.IndexFunc(Strategies, func(s Strategy) bool { return s.Name == name })
		if at < 0 {
			var known []string
			for _, s := range Strategies {
				known = append(known, s.Name)
			}
			return nil, fmt.Errorf("order %q is not known; known: %s", name, strings.Join(known, ", "))
		}
		if Strategies[at].Words && !words {
			return nil, fmt.Errorf("order %q needs a thesaurus, and there is none", name)
		}
		list = append(list, Strategies[at])
	}
	return list, nil
}

// settings are strategies with update functions, of the simulation.
func settings(strategies []Strategy, updates []string) (list []Setting) {
	for _, s := range strategies {
		for _, update := range updates {
			list = append(list, Setting{Strategy: s.Name, Update: update})
		}
	}
	return list
}

// learnerSettings are the order that learns with several workers.
func learnerSettings(learners []Learners, updates []string) (list []Setting) {
	for i := range learners {
		for _, update := range updates {
			list = append(list, Setting{Strategy: Ours, Update: update, Learners: &learners[i]})
		}
	}
	return list
}

// strategy finds a strategy by its name.
func strategy(name string) Strategy {
	return Strategies[slices.IndexFunc(Strategies, func(s Strategy) bool { return s.Name == name })]
}

// task draws the examples, and the seeds if the options ask for random seeds.
func (c *Corpus) task(topic string, all []int, o Options, draw int) Task {
	random := rand.New(rand.NewPCG(o.Seed, uint64(draw)))
	t := Task{Seed: o.Seed + uint64(draw), Thesaurus: o.Words, Relevant: func(page int) bool { return c.Pages[page].Label == topic }, corpus: c, nearness: map[int]float64{}}
	if o.Keywords > 0 {
		t.Topic, o.Examples = c.keywords(topic, o.Keywords), 0
		t.keywords = true
	}
	var examples []int
	for _, k := range random.Perm(len(all))[:min(o.Examples, len(all))] {
		p := &c.Pages[all[k]].Page
		examples = append(examples, all[k])
		t.Examples = append(t.Examples, p)
		t.Topic = t.Topic.Add(p.Text, 1)
	}
	t.Paths, t.examples = c.paths(examples), examples
	t.seeds = c.Seeds
	if o.Seeds > 0 {
		t.seeds = random.Perm(len(c.Pages))[:min(o.Seeds, len(c.Pages))]
	}
	reached, n := c.Reachable(t.seeds)
	for i, is := range reached {
		if is && t.Relevant(i) {
			t.relevant++
		}
	}
	t.budget = max(int(float64(n)*o.Share), 1)
	t.partition(reached, o.Seed)
	return t
}

// subtopics is the number of clusters of the relevant pages.
const subtopics = 10

// partition splits the reachable relevant pages into subtopics, by their words.
func (t *Task) partition(reached []bool, seed uint64) {
	var pages []int
	var texts []text.HashedVector
	for i, is := range reached {
		if is && t.Relevant(i) {
			pages, texts = append(pages, i), append(texts, t.corpus.Pages[i].Text)
		}
	}
	t.subtopic = map[int]int{}
	all := map[int]bool{}
	for i, cluster := range order.Clusters(texts, subtopics, seed) {
		t.subtopic[pages[i]] = cluster
		all[cluster] = true
	}
	t.subtopics = len(all)
}

// near is the similarity of a page with the topic.
func (t *Task) near(page int) float64 {
	x, known := t.nearness[page]
	if !known {
		x = text.Cosine(t.Topic, t.corpus.Pages[page].Text)
		t.nearness[page] = x
	}
	return x
}

// run crawls once.
func (r *Row) run(c *Corpus, s Setting, task Task, live *Live) error {
	budget, relevant := task.budget, task.relevant
	begin := cputime.Used()
	var visited []int
	if s.Learners != nil {
		visited = c.CrawlBy(*s.Learners, task.fused, task.seeds, budget, s.Update)
	} else if live == nil {
		visited = task.crawl(strategy(s.Strategy).New(task), s.Update)
	} else {
		var err error
		var run replay.Run
		if visited, run, err = live.crawl(task, s); err != nil {
			return fmt.Errorf("%s: %w", r.Order, err)
		}
		if live.Pace.Lanes > 0 {
			r.hosts(&task, run)
		}
	}
	r.Micros += float64((cputime.Used() - begin).Microseconds()) / float64(max(len(visited), 1))
	found, sum, half, most, reached := 0, 0, budget, budget, map[int]bool{}
	counted := float64(max(min(len(visited), budget), 1)) // what was tried beside pages is not
	for k := range budget {
		if k < len(visited) {
			p := visited[k]
			if task.Relevant(p) {
				found++
				if k < (budget+9)/10 {
					reached[task.subtopic[p]] = true
				}
			}
			near := task.near(p)
			r.Similar += near / counted
			if near >= Threshold {
				r.Near += 1 / counted
			}
		}
		if relevant > 0 && 2*found >= relevant {
			half = min(half, k+1)
		}
		if relevant > 0 && 5*found >= 4*relevant {
			most = min(most, k+1)
		}
		sum += found
		for at := k * Points / budget; at < (k+1)*Points/budget; at++ {
			r.Curve[at] += float64(found) / float64(max(relevant, 1))
		}
	}
	r.Areas = append(r.Areas, float64(sum)/float64(max(budget*relevant, 1)))
	r.Recall += float64(found) / float64(max(relevant, 1))
	r.Harvest += float64(found) / counted
	r.Fetched += float64(budget)
	r.Relevant += float64(relevant)
	r.Half += float64(half)
	r.Most += float64(most)
	r.Subtopic += float64(len(reached)) / float64(max(task.subtopics, 1))
	return nil
}

// finish turns sums into means.
func (r *Row) finish(draws int) {
	n := float64(max(draws, 1))
	for _, x := range []*float64{&r.Recall, &r.Harvest, &r.Near, &r.Similar, &r.Half, &r.Most, &r.Micros, &r.Fetched, &r.Relevant, &r.Subtopic} {
		*x /= n
	}
	for i := range r.Curve {
		r.Curve[i] /= n
	}
	if r.Hosts != nil {
		r.Hosts.finish(n)
	}
	r.Area, r.Spread = meanAndSpread(r.Areas)
}
