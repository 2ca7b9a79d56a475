package focus

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// figure is a published measurement.
type figure struct {
	Setting
	harvest    float64
	similarity float64 // 0: it is not published
}

// batsakis are the harvest rates of Batsakis, Petrakis & Milios (2009), Table 1: shares of 10,000 pages of the open web,
// means over ten topics.
var batsakis = []figure{
	{Setting{Strategy: crawl.StrategyBreadth}, .0252, 0}, {Setting{Strategy: crawl.StrategyContent}, .1442, 0},
	{Setting{Strategy: crawl.StrategyAnchor}, .0664, 0}, {Setting{Strategy: crawl.StrategyContentAnchor}, .1738, 0},
	{Setting{Strategy: crawl.StrategySynonyms}, .1577, 0}, {Setting{Strategy: crawl.StrategyBroader}, .1047, 0},
	{Setting{Strategy: crawl.StrategyHMM}, .0381, 0}, {Setting{Strategy: crawl.StrategyHMMContent}, .1224, 0},
	{Setting{Strategy: crawl.StrategyHMMAnchor}, .1207, 0},
}

// The harvest ratios and mean similarities of Plachouras et al. (2014), Tables 1 and 2: of update functions, and with
// several URLs of a queue taken together and batch prioritisation.
var (
	updates = []figure{
		{Setting{Update: crawl.UpdateFirst}, .3317, .2945}, {Setting{Update: crawl.UpdateAvg}, .3609, .3024},
		{Setting{Update: crawl.UpdateMax}, .3388, .2967}, {Setting{Update: crawl.UpdateSum}, .2679, .2759},
		{Setting{Update: crawl.UpdateLast}, .3404, .2961},
	}
	together = []figure{
		{Setting{Update: crawl.UpdateFirst, PerQueue: 1}, .3317, .2945}, {Setting{Update: crawl.UpdateFirst, PerQueue: 5}, .2948, .2819},
		{Setting{Update: crawl.UpdateAvg, PerQueue: 1}, .3609, .3024}, {Setting{Update: crawl.UpdateAvg, PerQueue: 5}, .3200, .2897},
		{Setting{Update: crawl.UpdateAvg, PerQueue: 1, Batch: true}, .3556, .3013}, {Setting{Update: crawl.UpdateAvg, PerQueue: 5, Batch: true}, .3347, .2952},
	}
)

// Beside prints published figures next to the measured ones, and the pairs that are in another order here: of strategies; of update
// functions, where several were measured; and of URLs taken together.
func (r Result) Beside(out io.Writer) error {
	if len(r.Options.Updates) < 2 {
		return r.compare(out, "Batsakis et al. 2009, Table 1", batsakis, func(theirs, ours Setting) bool { return theirs.Strategy == ours.Strategy })
	}
	for _, strategy := range r.strategies() {
		title, list := "Plachouras et al. 2014, Table 1; "+strategy, updates
		if r.Options.Live != nil {
			title, list = "Plachouras et al. 2014, Table 2; "+strategy, together
		}
		err := r.compare(out, title, list, func(theirs, ours Setting) bool {
			theirs.Strategy = strategy
			return theirs == ours
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// strategies are the strategies that were measured.
func (r Result) strategies() (list []string) {
	for _, s := range r.Settings {
		if !slices.Contains(list, s.Strategy) {
			list = append(list, s.Strategy)
		}
	}
	return list
}

// compare prints a published table next to the same figures as measured.
func (r Result) compare(out io.Writer, title string, published []figure, same func(theirs, ours Setting) bool) error {
	type line struct {
		figure
		name string
		here Row // means over the topics
	}
	var lines []line
	for _, theirs := range published {
		for i, ours := range r.Settings {
			if same(theirs.Setting, ours) {
				lines = append(lines, line{theirs, r.Orders[i], r.mean(r.Orders[i])})
			}
		}
	}
	if len(lines) < 2 {
		return nil
	}
	slices.SortStableFunc(lines, func(a, b line) int { return cmp.Compare(b.harvest, a.harvest) })
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "\n%s\tpublished harvest\tsimilarity\tharvest here\tharvest ≥ .333\tsimilarity\tarea\t\n", title)
	agree, pairs := 0, 0
	var other []string
	for i, a := range lines {
		similarity := ""
		if a.similarity > 0 {
			similarity = fmt.Sprintf("%.3f", a.similarity)
		}
		fmt.Fprintf(w, "%s\t%.2f %%\t%s\t%.2f %%\t%.2f %%\t%.3f\t%.3f\t\n", a.name, 100*a.figure.harvest, similarity, 100*a.here.Harvest, 100*a.here.Near, a.here.Similar, a.here.Area)
		for _, b := range lines[i+1:] {
			if a.figure.harvest == b.figure.harvest { // the same figure, of several settings here
				continue
			}
			if pairs++; a.here.Area >= b.here.Area {
				agree++
			} else {
				other = append(other, fmt.Sprintf("%s before %s", a.name, b.name))
			}
		}
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nby area, %d of the %d pairs are in the published order; the others:\n", agree, pairs)
	for _, o := range other {
		fmt.Fprintf(out, "  %s\n", o)
	}
	return nil
}

// mean is the mean of an order over all topics.
func (r *Result) mean(order string) (mean Row) {
	n := float64(max(len(r.Topics), 1))
	for _, topic := range r.Topics {
		row := r.row(order, topic)
		mean.Area += row.Area / n
		mean.Harvest += row.Harvest / n
		mean.Near += row.Near / n
		mean.Similar += row.Similar / n
	}
	return mean
}
