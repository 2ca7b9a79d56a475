package bleve

import (
	"cmp"
	"context"
	"slices"
	"strings"

	base "github.com/muninn-archive/muninn/internal/search"
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
	// bounds are what words can add to a document. They are the same for all units, so that all add words in the same order.
	bounds map[bound]float64
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
	var list []string // each once
	known := map[string]bool{}
	for _, slot := range slots {
		for _, t := range slot {
			if !known[t] {
				known[t] = true
				list = append(list, t)
			}
		}
	}
	type counts struct{ text, title uint64 }
	counted := make([][]counts, len(units))
	err := sideBySide(ctx, units, func(ctx context.Context, i int, u *unit) error {
		counted[i] = make([]counts, len(list))
		for j, t := range list {
			text, err := u.postings(fieldText, t)
			if text == nil {
				if err != nil {
					return err
				}
				continue
			}
			counted[i][j].text = text.docs.GetCardinality()
			if u.anchors {
				continue
			}
			title, err := u.postings(fieldTitle, t)
			if err != nil {
				return err
			}
			if title != nil {
				counted[i][j].title = title.docs.GetCardinality()
			}
		}
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	w := &weights{lengths: sum, slots: slots, with: map[string]map[string]uint64{fieldText: {}, fieldTitle: {}}, bounds: map[bound]float64{}}
	for _, of := range counted {
		for j, n := range of {
			if n.text > 0 {
				w.with[fieldText][list[j]] += n.text
			}
			if n.title > 0 {
				w.with[fieldTitle][list[j]] += n.title
			}
		}
	}
	for _, slot := range slots {
		for field, boost := range boosts {
			w.bounds[boundOf(field, slot)], _ = w.most(field, slot, boost, func(t string) (bool, error) { return w.with[field][t] > 0, nil })
		}
	}
	return w, nil
}

// boosts are those of the fields that score.
var boosts = map[string]float64{fieldText: 1, fieldTitle: base.TitleBoost}

// bound names what a word can add to a document in a field, in any unit.
type bound struct {
	field string
	slot  *string
}

// boundOf is the name of that of a slot, which is the same slot for all units.
func boundOf(field string, s terms.Slot) bound { return bound{field, &s[0]} }

// most is what a word can add to a document, if only some of its terms are there: a document has words of one language, so that it has one of the terms with a language in
// front at most, and one of those without.
func (w *weights) most(field string, slot terms.Slot, boost float64, there func(term string) (bool, error)) (float64, error) {
	var with, without float64
	for _, t := range slot {
		is, err := there(t)
		if err != nil {
			return 0, err
		}
		if !is {
			continue
		}
		most := w.of(field, boost)(t) * (bm25K + 1)
		if strings.Contains(t, ":") {
			with = max(with, most)
		} else {
			without = max(without, most)
		}
	}
	return with + without, nil
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
