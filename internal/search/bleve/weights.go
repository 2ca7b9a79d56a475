package bleve

import (
	"cmp"
	"context"
	"slices"

	index "github.com/blevesearch/bleve_index_api"

	"github.com/muninn-archive/muninn/internal/search/query"
	"github.com/muninn-archive/muninn/internal/search/terms"
)

// lengths are sums over documents: how many they are, and how many words their texts and titles have.
type lengths struct{ Documents, Text, Title int }

func (l *lengths) add(m lengths) {
	l.Documents += m.Documents
	l.Text += m.Text
	l.Title += m.Title
}

// weights are what the scores of a query need of all indexes together, so that a document has the same rank in whatever month it stands.
type weights struct {
	lengths
	slots []terms.Slot // of the words that a query asks for
	with  map[string]map[string]uint64
}

// weigh counts the documents with the terms of a query.
func weigh(ctx context.Context, q query.Query, readers []index.IndexReader, sum lengths, fields ...string) (*weights, error) {
	w := &weights{lengths: sum, with: map[string]map[string]uint64{}}
	for _, field := range fields {
		w.with[field] = map[string]uint64{}
	}
	a := terms.New()
	q.Walk(func(n query.Node, denied bool) {
		if words, ok := n.(query.Words); ok && !denied {
			w.slots = append(w.slots, a.Phrase(words.Text, terms.Classes)...)
		}
	})
	for _, r := range readers {
		for _, slot := range w.slots {
			for _, field := range fields {
				for _, t := range slot {
					reader, err := r.TermFieldReader(ctx, []byte(t), field, false, false, false)
					if err != nil {
						return nil, err
					}
					w.with[field][t] += reader.Count()
					if err := reader.Close(); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	return w, nil
}

// of is the weight of the terms of a field.
func (w *weights) of(field string, boost float64) func(term string) float64 {
	return func(term string) float64 { return boost * idf(uint64(w.Documents), w.with[field][term]) }
}

// rarest are the n slots that the fewest documents have one of.
func (w *weights) rarest(n int) []terms.Slot {
	count := func(s terms.Slot) (sum uint64) {
		for _, t := range s {
			sum += w.with[fieldText][t]
		}
		return sum
	}
	list := slices.Clone(w.slots)
	slices.SortStableFunc(list, func(a, b terms.Slot) int { return cmp.Compare(count(a), count(b)) })
	return list[:min(n, len(list))]
}

// average is the length of a field.
func (w *weights) average(field string) float64 {
	n := w.Text
	if field == fieldTitle {
		n = w.Title
	}
	return float64(n) / float64(max(w.Documents, 1))
}
