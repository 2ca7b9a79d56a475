package frontier

import (
	"bytes"
	"fmt"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Plan is what the activities need to know of a crawl.
type Plan struct {
	Definition crawl.Definition
	Run        uint32
	Active     bool // the run has not ended
	Reference  bool
	Started    time.Time
	Owner      string
	Restore    bool     // see Inherit
	Archive    int      // number of the archive that new batches go to, see UseArchive
	Archives   []Place  // all that batches have gone to, by number; must not be changed
	Bounds     []string // hosts or PLDs of the seeds, for the scope; must not be changed
	Version    int      // of the definition, see Configure
	Scope      *scope.Scope
	Unseeded   bool // see Crawl.Seeded
	taught     *taughtTopic
}

// Topic returns the topic model of the run's reference crawl; nil if none was learned. All plans return the same model until
// another is learned: it must not be changed.
func (p *Plan) Topic() (*topic.Model, error) { return p.taught.model() }

// taughtTopic is the topic model of a reference crawl as the disk has it. It is decoded once, when it is first asked for:
// not when the frontier opens, for a model that cannot be read is a fault of its crawl alone, and not under Frontier.mu.
type taughtTopic struct {
	raw     []byte
	once    sync.Once
	decoded *topic.Model
	err     error
}

func (t *taughtTopic) model() (*topic.Model, error) {
	t.once.Do(func() { t.decoded, t.err = topic.DecodeModel(t.raw) })
	return t.decoded, t.err
}

// taughtNow is the topic model of the crawl's present plan; Frontier.mu is held.
func (s *state) taughtNow() *taughtTopic {
	if s.taught == nil || !bytes.Equal(s.taught.raw, s.TopicModel) {
		s.taught = &taughtTopic{raw: s.TopicModel}
	}
	return s.taught
}

// Plan returns the crawl's plan.
func (h Crawl) Plan() (Plan, error) {
	h.f.mu.Lock()
	defer h.f.mu.Unlock()
	s, err := h.f.peek(h.crawl)
	if err != nil {
		return Plan{}, err
	}
	return Plan{s.Definition, s.Run, s.Active, s.Reference, s.Started, s.Owner, s.Restore, s.Archive, s.Archives, s.Bounds, s.Version, s.scope, s.Unseeded, s.taughtNow()}, nil
}

// PlanWithArchives is Plan of a crawl whose segments can be looked for: ErrNotBegun if it is known by its partitions alone, or on its way.
func (h Crawl) PlanWithArchives() (Plan, error) {
	plan, err := h.Plan()
	if err == nil && (plan.Definition.Name == "" || len(plan.Archives) == 0) {
		err = fmt.Errorf("crawl %s: %w", h.crawl, ErrNotBegun)
	}
	return plan, err
}

// Knows reports whether the frontier knows a crawl.
func (f *Frontier) Knows(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.crawls[name] != nil
}

// Spread reports whether a crawl is one of the ring's workers together; false if the frontier does not know it.
func (f *Frontier) Spread(name string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.crawls[name]
	return s != nil && s.crawlRecord.Spread
}

// Phase bounds the claims of the present phase: pages of the run so far and to come, 0 for the budget
// alone. reference marks the reference crawl.
func (h Crawl) Phase(limit int64, reference bool) error {
	return h.change(func(rec *crawlRecord) { rec.Limit, rec.Reference = limit, reference })
}

// Configure puts another order, weights, budget, politeness, overrides or helper in force for a run in progress. URLs that wait keep the
// scores that they have; what a claim weighs again, it weighs by the new order. version counts the changes of a crawl that is spread, whose
// workers learn of them one after the other: a claim has that by which it was made. It is 0 for a crawl that is bound to its worker.
func (h Crawl) Configure(d crawl.Definition, version int) error {
	was, err := h.Plan()
	if err != nil {
		return err
	}
	if err := h.change(func(rec *crawlRecord) {
		if rec.Definition.Topic.Canonical() != d.Topic.Canonical() {
			rec.TopicSince = rec.Updates
		}
		rec.Definition, rec.Version, rec.planned = d, version, true
	}); err != nil {
		return err
	}
	if err := h.openTraps(&d); err != nil {
		return err
	}
	return h.f.update(func(tx *transaction) (func(), error) {
		return h.f.restHosts(tx, restRaised(&was.Definition, &d, h.f.opts.Now()))
	})
}
