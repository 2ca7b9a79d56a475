package score

import (
	"sync"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Judge scores the pages of a crawl, and its order judges their links. It is safe for concurrent use.
type Judge struct {
	*Scorer
	memory    *crawlMemory
	scorer    crawl.Order
	topicText string // the canonical text of its topic

	mu     sync.Mutex
	orders map[string]order.Order // by language
}

// NewJudge makes the judge of a definition, with the model of its reference crawl (nil if there is none yet). It takes over the
// memory of former, the judge of an earlier state of the crawl. If former is nil, it decodes the memory from raw, which Remember
// returned, unless that has another topic. It fails if a URL pattern of the topic is wrong.
func NewJudge(d crawl.Definition, model *topic.Model, dictionary *Dictionary, former *Judge, raw []byte) (*Judge, error) {
	j := &Judge{scorer: d.Order, topicText: d.Topic.Canonical(), orders: map[string]order.Order{}}
	if former != nil {
		j.memory = former.memory
	} else {
		j.memory = &crawlMemory{Memory: topic.Memory{DocumentFrequencies: topic.NewDocumentFrequencies(dictionary.Vocabulary, model), SiteHistory: topic.NewSiteHistory()}}
		if len(raw) > 0 {
			_ = j.memory.Restore(j.topicText, raw) // a memory that cannot be read grows again with the next pages
		}
	}
	var err error
	j.Scorer, err = New(d, model, dictionary, j.memory.Memory)
	return j, err
}

// crawlMemory is the memory of a crawl, which its judges share.
type crawlMemory struct {
	topic.Memory

	counting   sync.Mutex
	pagesSince int // pages since it was stored
}

// PagesPerMemory is the number of pages after which the memory of a crawl is stored again.
const PagesPerMemory = 2000

// Remember adds pages to the memory of the crawl. After each PagesPerMemory pages it returns the memory, which is to be stored for a
// later judge (NewJudge); else nil.
func (j *Judge) Remember(pages []topic.Observation) ([]byte, error) {
	j.memory.Observe(pages...)
	j.memory.counting.Lock()
	j.memory.pagesSince += len(pages)
	due := j.memory.pagesSince >= PagesPerMemory
	if due {
		j.memory.pagesSince = 0
	}
	j.memory.counting.Unlock()
	if !due {
		return nil, nil
	}
	return j.EncodeMemory()
}

// EncodeMemory returns the memory of the crawl, which is to be stored for a later judge (NewJudge).
func (j *Judge) EncodeMemory() ([]byte, error) { return j.memory.Encode(j.topicText) }

// order returns the order that judges the links of pages in a language: the order of the whole crawl if it learns; nil if
// links are ordered by their scores.
func (j *Judge) order(lang string, learner *order.Fused) (order.Order, error) {
	if learner != nil {
		return learner, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if o, known := j.orders[lang]; known {
		return o, nil
	}
	o, err := j.Scorer.Order(j.scorer, lang)
	if err == nil {
		j.orders[lang] = o
	}
	return o, err
}

// Batch is a batch of pages that are judged one after the other.
type Batch struct {
	judge        *Judge
	learner      *order.Fused        // nil: the order does not learn
	merged       scoreMerge          // for links that are ordered by their scores
	cited        *order.Merge        // for links that an order judges
	Observations []topic.Observation // of its pages, for Judge.Remember once they are archived
}

// Batch starts a batch. learner is the order of the crawl if it learns, else nil.
func (j *Judge) Batch(learner *order.Fused) *Batch {
	return &Batch{judge: j, learner: learner, merged: scoreMerge{scorer: j.Scorer}, cited: order.NewMerge()}
}

// Page scores a page and its links; kept is what the order stored with the link that led to the page. If c.Terms is set, it also
// returns the terms of the page. Merge may still change the verdicts of links.
func (b *Batch) Page(p *crawl.Parsed, c Context, linkFeatures []byte) (crawl.Verdict, text.Vector, error) {
	by, err := b.judge.order(p.Language, b.learner)
	if err != nil {
		return crawl.Verdict{}, nil, err
	}
	together, wanted := b.judge.scorer.Batch, c.Terms
	c.View, c.Terms = by != nil, wanted || together && by == nil
	scored := b.judge.Scorer.Page(p, c)
	v := scored.Verdict
	b.Observations = append(b.Observations, scored.Observation)
	switch {
	case by != nil:
		judged := by.Judge(scored.View, linkFeatures)
		v.Worth, v.PageFeatures = judged.Worth, judged.PageFeatures
		for i := range v.Links {
			l := &v.Links[i]
			switch p.Links[i].Hop {
			case crawl.HopRedirect: // its target stands for the page
				l.Score, l.LinkFeatures = c.Inherit, linkFeatures
			case crawl.HopEmbed: // it belongs to its page
				l.Score = c.Inherit
			case crawl.HopSpeculative:
				l.Score = c.Inherit * speculative
			default:
				l.Score, l.LinkFeatures = judged.Links[i].Priority, judged.Links[i].LinkFeatures
			}
		}
		if together {
			b.cited.Add(by, scored.View, linkFeatures, func(link int, o order.Judged) {
				if ordered(p.Links[link].Hop) {
					v.Links[link].Score, v.Links[link].LinkFeatures = o.Priority, o.LinkFeatures
				}
			})
		}
	case together:
		b.merged.add(&p.Page, v.Links, scored.Terms)
	}
	if !wanted {
		return v, nil, nil
	}
	return v, scored.Terms, nil
}

// Merge scores again the links that several pages of the batch have, if the definition asks for it (order.batch).
func (b *Batch) Merge() {
	b.merged.apply()
	b.cited.Apply()
}

// ArchivedLink is an outlink as it was archived.
type ArchivedLink struct {
	Link      crawl.Outlink
	Verdict   crawl.LinkVerdict
	Source    string // URL of its page
	Path      string // hop letters of its page
	Language  string // of its page
	Paragraph string
	Terms     []text.Term // of its page; nil: they were not archived
	Depth     int         // of its page: links from a seed
}

// ordered reports whether an order judges links of a kind: not those that stand for their page, or belong to it.
func ordered(hop crawl.Hop) bool {
	return hop != crawl.HopEmbed && hop != crawl.HopSpeculative && hop != crawl.HopRedirect
}

// RescoreLink scores an outlink again with the present topic, memory and order.
func (j *Judge) RescoreLink(f ArchivedLink, learner *order.Fused) (crawl.Discovery, error) {
	now, page := j.RescoreOutlink(f.Link, f.Verdict, f.Terms, f.Paragraph, f.Language)
	now.LinkFeatures = f.Verdict.LinkFeatures
	d := f.Link.Discovery(&now, crawl.Origin{URL: f.Source, Path: f.Path, Language: f.Language}, crawl.LinkNeeds{Language: true}) // only waiting URLs are scored again: they are known already
	by, err := j.order(f.Language, learner)
	if err != nil || by == nil || !ordered(f.Link.Hop) {
		return d, err
	}
	page.URL, page.Depth = f.Source, f.Depth
	judged := by.Judge(page, nil).Links[0]
	d.Score, d.LinkFeatures = judged.Priority, judged.LinkFeatures
	return d, nil
}
