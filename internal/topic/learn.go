package topic

import (
	"cmp"
	"math"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/text"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Learn makes a topic model of the samples of a reference crawl. Its terms are those of the centroid of the most relevant pages
// that weigh most with idf over the reference crawl. It also suggests what an archivist may want to add to the definition. Learn
// sorts the samples by BestFirst. The same samples give the same model in any order.
func Learn(samples []Sample) Model {
	BestFirst(samples)
	best := max(int(float64(len(samples))*relevantShare), leastRelevant)
	df := text.Vector{}
	for _, s := range samples {
		for _, t := range s.Terms {
			df[t.Text]++
		}
	}
	out := Model{Pages: len(samples)}
	centroid := text.Vector{}
	var relevant []Sample
	for i, s := range samples {
		if !s.Example && (i >= best || s.Score <= 0) {
			continue
		}
		v := text.VectorOf(s.Terms)
		centroid.Add(v, 1/max(v.Norm(), 1e-9))
		relevant = append(relevant, s)
		if len(out.Examples) < 10 {
			out.Examples = append(out.Examples, s.URL)
		}
	}
	out.Relevant = len(relevant)
	telling := make(text.Vector, len(centroid))
	for term, weight := range centroid {
		telling[term] = weight * math.Log(1+float64(len(samples))/df[term])
	}
	out.Terms, out.DocumentFrequencies = telling.Heaviest(modelTerms), df.Heaviest(modelFrequencies)
	for i := range out.Terms { // without idf, which is applied when pages are scored
		out.Terms[i].Weight = round(centroid[out.Terms[i].Text])
	}
	out.Words = commonForms(out.Terms, relevant)
	out.suggest(relevant, samples, df)
	return out
}

// commonForms are the words for terms, which are stems: the form that most pages write. They are nil if the samples have no words.
func commonForms(terms []text.Term, samples []Sample) []string {
	written := map[string]text.Vector{}
	for _, s := range samples {
		for i, word := range s.Words[:min(len(s.Words), len(s.Terms))] {
			term := s.Terms[i].Text
			if written[term] == nil {
				written[term] = text.Vector{}
			}
			written[term][word]++
		}
	}
	if len(written) == 0 {
		return nil
	}
	words := make([]string, len(terms))
	for i, t := range terms {
		words[i] = t.Text
		if best := written[t.Text].Heaviest(1); len(best) > 0 {
			words[i] = best[0].Text
		}
	}
	return words
}

// Limits of learning.
const (
	modelTerms       = 40   // terms of a model
	relevantShare    = 0.2  // share of the pages that count as relevant: the best
	leastRelevant    = 3    // … but at least so many pages
	modelFrequencies = 5000 // terms whose document frequencies a model has
)

// Limits of suggestions.
const (
	suggested = 20 // suggestions of each kind
	leastSaid = 2  // relevant pages that must have a suggestion
)

// suggest finds what distinguishes relevant pages from the others.
func (m *Model) suggest(relevant, all []Sample, df text.Vector) {
	mine, words, names, everywhere, languages, hosts := text.Vector{}, map[string]string{}, text.Vector{}, text.Vector{}, text.Vector{}, text.Vector{}
	for _, s := range relevant {
		for i, t := range s.Terms {
			mine[t.Text]++
			if i < len(s.Words) {
				words[t.Text] = s.Words[i]
			}
		}
		for _, n := range s.Names {
			names[n]++
		}
		if s.Language != "" {
			languages[s.Language]++
		}
		if host := urls.HostOf(s.URL); host != "" {
			hosts[host]++
		}
	}
	for _, s := range all {
		for _, n := range s.Names {
			everywhere[n]++
		}
	}
	terms := text.Vector{}
	for term, n := range mine {
		if odds := logOdds(n, float64(len(relevant)), df[term], float64(len(all))); n >= leastSaid && odds > 0 && utf8.RuneCountInString(term) > 2 {
			word := cmp.Or(words[term], term)
			terms[word] = max(terms[word], round(odds))
		}
	}
	for name, n := range names {
		if n < leastSaid || logOdds(n, float64(len(relevant)), everywhere[name], float64(len(all))) <= 0 {
			delete(names, name)
		}
	}
	m.Telling, m.Names = terms.Heaviest(suggested), names.Heaviest(suggested)
	m.Languages, m.Hosts = languages.Heaviest(suggested), hosts.Heaviest(suggested)
}

// logOdds measures how much more often relevant pages have a term than the others: the logarithm of the odds ratio, with 0.5 added
// to each count (Haldane's correction), times the square root of the share of relevant pages that have it. mine of the relevant pages
// have the term, and all of pages.
func logOdds(mine, relevant, all, pages float64) float64 {
	others, rest := all-mine, pages-relevant
	odds := (mine + 0.5) / (relevant - mine + 0.5) / ((others + 0.5) / (max(rest-others, 0) + 0.5))
	return math.Log(odds) * math.Sqrt(mine/max(relevant, 1))
}

func round(x float64) float64 { return math.Round(x*1e6) / 1e6 }
