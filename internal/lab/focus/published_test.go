package focus

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

func beside(t *testing.T, r Result) string {
	t.Helper()
	var out strings.Builder
	if err := r.Beside(&out); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func contains(t *testing.T, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestBeside: the published figures are printed next to the measured ones, with the pairs that are in another order.
func TestBeside(t *testing.T) {
	r := Result{Topics: []string{"a", "b"}, Rows: []Row{
		{Order: crawl.StrategyBreadth, Topic: "a", Harvest: 0.1, Area: 0.5}, {Order: crawl.StrategyBreadth, Topic: "b", Harvest: 0.3, Area: 0.7},
		{Order: crawl.StrategyContent, Topic: "a", Harvest: 0.2, Area: 0.8}, {Order: crawl.StrategyContent, Topic: "b", Harvest: 0.2, Area: 0.8},
		{Order: crawl.StrategyHMM, Topic: "a", Harvest: 0.1, Area: 0.1}, {Order: crawl.StrategyHMM, Topic: "b", Harvest: 0.1, Area: 0.3},
	}}
	for _, name := range []string{crawl.StrategyBreadth, Oracle, crawl.StrategyContent, crawl.StrategyHMM} {
		r.Orders, r.Settings = append(r.Orders, name), append(r.Settings, Setting{Strategy: name, Update: crawl.UpdateMax})
	}
	text := beside(t, r)
	contains(t, text,
		"content 14.42 % 20.00 % 0.00 % 0.000 0.800 hmm 3.81 % 10.00 % 0.00 % 0.000 0.200 breadth-first 2.52 % 20.00 % 0.00 % 0.000 0.600",
		"by area, 2 of the 3 pairs are in the published order; the others: hmm before breadth-first")
	if strings.Contains(text, Oracle) {
		t.Error("nobody has published an oracle")
	}
	if text := beside(t, Result{Orders: []string{Ours}, Settings: []Setting{{Strategy: Ours}}}); text != "" {
		t.Error(text)
	}
}

// TestBesideUpdates: each update function, and each live setting, is printed next to its own figure.
func TestBesideUpdates(t *testing.T) {
	r := Result{Topics: []string{"a"}, Options: Options{Updates: crawl.Updates}}
	for i, update := range []string{crawl.UpdateSum, crawl.UpdateAvg} {
		s := Setting{Strategy: crawl.StrategyContent, Update: update}
		r.Settings, r.Orders = append(r.Settings, s), append(r.Orders, s.name(true))
		r.Rows = append(r.Rows, Row{Order: s.name(true), Topic: "a", Near: 0.25, Similar: 0.125, Area: float64(i + 1)})
	}
	contains(t, beside(t, r), "Table 1; content", "content, avg 36.09 % 0.302 0.00 % 25.00 % 0.125 2.000 content, sum 26.79 % 0.276 0.00 % 25.00 % 0.125 1.000", "1 of the 1 pairs")

	r.Options.Live, r.Settings, r.Orders, r.Rows = &Live{}, nil, nil, nil
	for _, s := range []Setting{
		{Strategy: crawl.StrategyAnchor, Update: crawl.UpdateAvg, PerQueue: 5}, {Strategy: crawl.StrategyAnchor, Update: crawl.UpdateAvg, PerQueue: 5, Batch: true},
		{Strategy: crawl.StrategyAnchor, Update: crawl.UpdateAvg, PerQueue: 7, Batch: true},
	} {
		r.Settings, r.Orders = append(r.Settings, s), append(r.Orders, s.name(true))
		r.Rows = append(r.Rows, Row{Order: s.name(true), Topic: "a", Area: 1})
	}
	text := beside(t, r)
	contains(t, text, "Table 2; anchor", "anchor, avg, 5 a queue, batch 33.47 % 0.295", "anchor, avg, 5 a queue 32.00 % 0.290")
	if strings.Contains(text, "7 a queue") {
		t.Errorf("nobody has published 7 a queue:\n%s", text)
	}
}
