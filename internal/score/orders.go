package score

import (
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Order makes the order that a strategy names, from the scorer's topic. It is nil where links are ordered by their scores: for
// "weighted"; for "fused" and "places", which the frontier holds; for strategies that are trained, before there are pages to
// train with; and for all but "breadth-first" in crawls without a topic. It fails if a thesaurus cannot be read.
func (s *Scorer) Order(d crawl.Order, lang string) (order.Order, error) {
	if d.Strategy == crawl.StrategyBreadth {
		return order.Breadth{}, nil
	}
	if s.topic.Empty() {
		return nil, nil
	}
	terms := s.topicTerms(lang)
	switch d.Strategy {
	case crawl.StrategyContent:
		return order.NewBest(terms, true, false), nil
	case crawl.StrategyAnchor:
		return order.NewBest(terms, false, true), nil
	case crawl.StrategyContentAnchor, crawl.StrategyNBest: // N is order.per_queue, which all strategies have
		return order.NewBest(terms, true, true), nil
	case crawl.StrategyShark:
		return order.NewShark(terms), nil
	case crawl.StrategySynonyms, crawl.StrategyBroader:
		t, err := s.dictionary.thesaurus(d.Thesaurus, lang)
		if err != nil {
			return nil, err
		}
		return order.NewSemantic(terms, t, d.Strategy == crawl.StrategyBroader), nil
	case crawl.StrategyHMM, crawl.StrategyHMMContent, crawl.StrategyHMMAnchor:
		if s.model == nil || len(s.model.Paths) == 0 {
			return nil, nil
		}
		set := order.DefaultHMM()
		set.Seed, set.Centroid, set.Anchor = d.Seed, d.Strategy != crawl.StrategyHMM, d.Strategy == crawl.StrategyHMMAnchor
		return order.NewHMM(trainingPages(s.model.Paths), set), nil
	}
	return nil, nil
}

// topicTerms are the terms of the topic, as orders use them.
func (s *Scorer) topicTerms(lang string) text.HashedVector {
	return text.NewHashedVector(s.vector(lang).terms)
}

// Examples returns the relevant pages that an order learns from, as it has encoded them: the example texts of the definition, and
// its example pages among samples, which are in the order of topic.BestFirst. What the reference crawl has found by its score alone is no example: the
// score is of the words that were given, so it teaches nothing that they do not say, and where it errs the order would learn the error.
func (s *Scorer) Examples(samples []topic.Sample) [][]byte {
	var list [][]byte
	for _, e := range s.examples {
		v := order.ViewsOf(&order.Page{Text: s.tally(e.text), Title: s.tally(e.title)})
		v[2], v[3] = nil, order.Targets("", e.links) // it has no URL
		list = append(list, v.Encode())
	}
	for _, sample := range samples {
		if len(sample.PageFeatures) > 0 && len(list) < maxExamples && sample.Example {
			list = append(list, sample.PageFeatures)
		}
	}
	return list
}

// maxExamples bounds the pages that an order learns from as examples.
const maxExamples = 100

func (s *Scorer) tally(words string) text.HashedVector {
	t := text.NewTally(s.dictionary.Lexicon())
	defer t.Free()
	t.Count(words, "", 1)
	return t.Hashed()
}

// trainingPages are the paths in the form that order.NewHMM takes.
func trainingPages(paths []topic.Path) []order.Trained {
	list := make([]order.Trained, len(paths))
	for i, p := range paths {
		list[i] = order.Trained{Text: text.NewHashedVector(text.VectorOf(p.Terms)), Level: p.Level, Next: p.Next}
	}
	return list
}
