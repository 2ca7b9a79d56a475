package bleve

import (
	"cmp"
	"context"
	"slices"

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

// slotsOf are those of the words that a query asks for.
func slotsOf(q query.Query, p phrases) (slots []terms.Slot) {
	q.Walk(func(n query.Node, denied bool) {
		if words, ok := n.(query.Words); ok && !denied {
			slots = append(slots, p.words[words.Text]...)
		}
	})
	return slots
}

// weigh counts the documents with the terms of words, in texts and titles. The terms of a title are also those of its text.
func weigh(ctx context.Context, slots []terms.Slot, units []*unit, sum lengths) (*weights, error) {
	w := &weights{lengths: sum, slots: slots, with: map[string]map[string]uint64{fieldText: {}, fieldTitle: {}}}
	known := map[string]bool{}
	for _, slot := range slots {
		for _, t := range slot {
			if known[t] {
				continue
			}
			known[t] = true
			for _, u := range units {
				text, err := u.postings(fieldText, t)
				if err != nil {
					return nil, err
				}
				if text == nil {
					continue
				}
				w.with[fieldText][t] += text.docs.GetCardinality()
				title, err := u.postings(fieldTitle, t)
				if err != nil {
					return nil, err
				}
				if title != nil {
					w.with[fieldTitle][t] += title.docs.GetCardinality()
				}
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
		}
	}
	return w, nil
}

// of is the weight of the terms of a field.
func (w *weights) of(field string, boost float64) func(term string) float64 {
	return func(term string) float64 { return boost * idf(uint64(w.Documents), w.with[field][term]) }
}

// rarest are the n slots that the fewest documents have one of, as long as all of them together are in no more than so many documents; one at least, if
// there is one.
func (w *weights) rarest(n int, documents uint64) []terms.Slot {
	count := func(s terms.Slot) (sum uint64) {
		for _, t := range s {
			sum += w.with[fieldText][t]
		}
		return sum
	}
	list := slices.Clone(w.slots)
	slices.SortStableFunc(list, func(a, b terms.Slot) int { return cmp.Compare(count(a), count(b)) })
	list = list[:min(n, len(list))]
	sum := uint64(0)
	for i, s := range list {
		if sum += count(s); sum > documents && i > 0 && count(list[i-1]) > 0 {
			return list[:i]
		}
	}
	return list
}

// average is the length of a field.
func (w *weights) average(field string) float64 {
	n := w.Text
	if field == fieldTitle {
		n = w.Title
	}
	return float64(n) / float64(max(w.Documents, 1))
}
