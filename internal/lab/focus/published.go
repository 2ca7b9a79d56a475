package focus

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// published are the harvest rates of Batsakis, Petrakis & Milios (2009), Table 1: shares of 10,000 pages of the open web,
// means over ten topics.
var published = map[string]float64{
	"breadth-first": .0252, "best-first content": .1442, "best-first anchor": .0664, "best-first content and anchor": .1738,
	"synonyms": .1577, "synonyms and broader terms": .1047,
	"hmm": .0381, "hmm with centroid content": .1224, "hmm with centroid content and anchor": .1207,
}

// Beside writes the published figures beside those that were measured, and where the order of two crawlers is another.
func (r Result) Beside(out io.Writer) error {
	type line struct {
		order                 string
		theirs, harvest, area float64
	}
	var lines []line
	for _, order := range r.Orders {
		if theirs, known := published[order]; known {
			l := line{order: order, theirs: theirs}
			for _, topic := range r.Topics {
				row := r.row(order, topic)
				l.harvest += row.Harvest / float64(len(r.Topics))
				l.area += row.Area / float64(len(r.Topics))
			}
			lines = append(lines, l)
		}
	}
	if len(lines) < 2 {
		return nil
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.theirs, a.theirs) })
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "\nBatsakis et al. 2009, Table 1\tpublished harvest\tharvest here\tarea here\t")
	same, pairs := 0, 0
	var other []string
	for i, a := range lines {
		fmt.Fprintf(w, "%s\t%.2f %%\t%.2f %%\t%.3f\t\n", a.order, 100*a.theirs, 100*a.harvest, a.area)
		for _, b := range lines[i+1:] {
			if pairs++; a.area >= b.area {
				same++
			} else {
				other = append(other, fmt.Sprintf("%s before %s", a.order, b.order))
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nby area, %d of the %d pairs stand in the published order; not as published:\n", same, pairs)
	for _, o := range other {
		fmt.Fprintf(out, "  %s\n", o)
	}
	return nil
}
