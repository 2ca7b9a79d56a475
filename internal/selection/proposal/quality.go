package proposal

import (
	"math"

	"github.com/muninn-archive/muninn/internal/selection"
)

// Share is a share of things, with the interval in which it lies in 95 of 100 cases (Wilson 1927).
type Share struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Of    int     `json:"of"` // how many things it is a share of
}

func shareOf(n, of int) *Share {
	if of == 0 {
		return nil
	}
	const z = 1.959964
	p, m := float64(n)/float64(of), float64(of)
	middle := (p + z*z/(2*m)) / (1 + z*z/m)
	half := z / (1 + z*z/m) * math.Sqrt(p*(1-p)/m+z*z/(4*m*m))
	return &Share{p, min(p, max(0, middle-half)), max(p, min(1, middle+half)), of}
}

// Quality is how good proposals are, on decisions that were held back: each is proposed by a model that has not seen it, nor what reads
// like it. Decisions that the model was least certain of are among them, so that it is better of the other pages.
type Quality struct {
	Kept      int    `json:"kept"`                // decisions of URLs, to keep
	Dropped   int    `json:"dropped"`             // … to drop
	Precision *Share `json:"precision,omitempty"` // of the pages that are proposed to be kept, those that are; nil: too few decisions, or none is proposed
	Recall    *Share `json:"recall,omitempty"`    // of the kept pages, those that are proposed; nil: too few decisions
}

// LeastHeld is how many pages of each verdict must have been decided for precision and recall to be shown.
const LeastHeld = 5

// In how many parts decisions are held back, and the number of decisions from which on it is in fewer, for the time that it takes.
const (
	manyFolds = 10
	fewFolds  = 3
	manyHeld  = 2000
)

// Measure holds decisions back. single says of which candidates the decision is of their own URL: others, of groups, are learned from,
// and not counted.
func (p *Pool) Measure(labels []Label, single []bool) Quality {
	var held []int
	var q Quality
	for i, l := range labels {
		if l == Open || !single[i] {
			continue
		}
		held = append(held, i)
		if l == Kept {
			q.Kept++
		} else {
			q.Dropped++
		}
	}
	if q.Kept < LeastHeld || q.Dropped < LeastHeld {
		return q
	}
	count := manyFolds
	if len(held) > manyHeld {
		count = fewFolds
	}
	fold := p.folds(held, count)
	proposed, right := 0, 0
	for k := range count {
		rest := append([]Label(nil), labels...)
		var hidden []int
		for n, i := range held {
			if fold[n] == k {
				rest[i], hidden = Open, append(hidden, i)
			}
		}
		w := p.fit(rest)
		for _, i := range hidden {
			if w == nil || w.of(p.vectors[i]) < 0 {
				continue
			}
			proposed++
			if labels[i] == Kept {
				right++
			}
		}
	}
	q.Precision, q.Recall = shareOf(right, proposed), shareOf(right, q.Kept)
	return q
}

// folds divides candidates into parts of the same size, near-duplicates into the same part.
func (p *Pool) folds(held []int, count int) []int {
	fold, size := make([]int, len(held)), make([]int, count)
	for n, i := range held {
		fold[n] = -1
		for m := range n {
			if selection.Alike(p.Facts[i].Print, p.Facts[held[m]].Print) {
				fold[n] = fold[m]
				break
			}
		}
		if fold[n] < 0 {
			fold[n] = int(spread(p.Facts[i].URL, 0) % uint32(count)) // by chance, but for the fullest
			for k := range count {
				if size[k] < size[fold[n]] {
					fold[n] = k
				}
			}
		}
		size[fold[n]]++
	}
	return fold
}
