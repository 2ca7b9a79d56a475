package proposal

import (
	"cmp"
	"slices"

	"github.com/muninn-archive/muninn/internal/selection"
)

// maxOfGroup is of how many candidates of a group that was decided the model learns: a click on a group of thousands must not outweigh
// what was decided page by page.
const maxOfGroup = 20

// Decided are the labels of candidates, as people have decided them.
type Decided struct {
	Labels []Label
	Single []bool // the decision is of the candidate's own URL
	Closed []bool // a decision, a rule or an accepted proposal says what becomes of it: nobody is asked about it
	Marked []bool // a rule says that a person must look at it
}

// Decided reads what a selection says of the candidates.
func (p *Pool) Decided(s *selection.State) Decided {
	n := p.Len()
	d := Decided{make([]Label, n), make([]bool, n), make([]bool, n), make([]bool, n)}
	ofGroup := map[selection.Group][]int{}
	for i := range p.Facts {
		f := &p.Facts[i]
		r := s.Of(f)
		d.Closed[i] = r.Verdict != selection.Ask
		d.Marked[i] = r.Verdict == selection.Ask && r.By == selection.ByRule
		step, decided := s.Decided(f)
		if !decided {
			continue
		}
		if step.Group == "" {
			d.Single[i], d.Labels[i] = true, labelOf(step.Verdict)
			continue
		}
		ofGroup[step.Group] = append(ofGroup[step.Group], i)
	}
	for _, list := range ofGroup {
		slices.SortFunc(list, func(i, j int) int {
			return cmp.Or(cmp.Compare(spread(p.Facts[i].URL, 0), spread(p.Facts[j].URL, 0)), cmp.Compare(i, j))
		})
		for _, i := range list[:min(len(list), maxOfGroup)] {
			step, _ := s.Decided(&p.Facts[i])
			d.Labels[i] = labelOf(step.Verdict)
		}
	}
	return d
}

// Learnable chooses the captures that a model can learn from: those whose own URL was decided, and of each group that was decided as many as count. Of
// the captures of a group it lets some more through, whatever their order: Decided sees the same ones.
func Learnable(s *selection.State) func(*selection.Facts) bool {
	ofGroup := map[selection.Group][]uint32{} // the least places of its candidates, in order
	return func(f *selection.Facts) bool {
		step, decided := s.Decided(f)
		if !decided || step.Group == "" {
			return decided
		}
		place, list := spread(f.URL, 0), ofGroup[step.Group]
		at, known := slices.BinarySearch(list, place)
		if known {
			return true
		}
		if at == maxOfGroup {
			return false
		}
		list = slices.Insert(list, at, place)
		ofGroup[step.Group] = list[:min(len(list), maxOfGroup)]
		return true
	}
}

func labelOf(v selection.Verdict) Label {
	if v == selection.Keep {
		return Kept
	}
	return Left
}

// Undecided are labels of which no rule and no proposal speaks.
func Undecided(labels []Label) Decided {
	none := make([]bool, len(labels))
	return Decided{labels, none, none, none}
}
