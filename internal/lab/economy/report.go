package economy

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/muninn-archive/muninn/internal/crawl"
	world "github.com/muninn-archive/muninn/internal/webworld/economy"
)

// Run is the crawl of one site in one mode.
type Run struct {
	Site         string         `json:"site"`
	Application  string         `json:"application"`
	Release      string         `json:"release"`
	Mode         string         `json:"helper"`
	Requests     int            `json:"requests"` // until nothing was left, or the budget was spent
	Cut          bool           `json:"budget_spent"`
	All          int            `json:"objects"`
	Found        int            `json:"found"` // distinct objects that some response bore as a whole
	Share        float64        `json:"share"`
	PerObject    float64        `json:"requests_per_object"`
	Reached      int            `json:"requests_to_goal"` // 0: the goal was not reached
	Kinds        map[string]int `json:"requests_by_kind"`
	Barren       map[string]int `json:"repeated_by_kind"` // of these, pages that bore known objects only
	Unrecognised int            `json:"unrecognised"`     // HTML pages that the helper took for another application or none
	Missed       []string       `json:"missed,omitempty"` // some objects that were not found
}

// maxMissed is how many missed objects are reported.
const maxMissed = 10

func (r *Run) finish(cut bool, objects []world.Object, found map[string]bool) {
	r.Cut, r.Found = cut, len(found)
	r.Share = float64(r.Found) / float64(max(1, r.All))
	r.PerObject = float64(r.Requests) / float64(max(1, r.Found))
	for _, o := range objects {
		if !found[o.ID] && len(r.Missed) < maxMissed {
			r.Missed = append(r.Missed, o.ID+" of "+o.URL)
		}
	}
}

// Ratio is the number of requests of a crawl without the helper, divided by that of one with the strict helper.
type Ratio struct {
	Application string  `json:"application"`
	AtGoal      float64 `json:"at_goal"`       // when each had reached the goal
	Emptied     float64 `json:"until_emptied"` // until nothing was left to fetch
	GoalLeast   bool    `json:"at_goal_least"` // the crawl without did not reach the goal: the ratio is at least that
	Least       bool    `json:"emptied_least"` // its budget was spent: the ratio is at least that
	Share       float64 `json:"strict_share"`  // of the objects that the strict helper found
	Good        bool    `json:"good"`          // both ratios are Saving or more, at Goal of the objects
	strictGoal  int     // sums for the line of all sites
	offGoal     int
	strictAll   int
	offAll      int
	found, all  int
}

// Result is all that was measured.
type Result struct {
	Base    string  `json:"kb"`
	Seed    uint64  `json:"seed"`
	Objects int     `json:"objects_per_site"`
	Budget  int     `json:"budget"`
	Goal    float64 `json:"goal"`
	Runs    []Run   `json:"runs"`
	Ratios  []Ratio `json:"ratios"` // the last one is of all sites together
}

func sum(base string, o Options, runs []Run) Result {
	r := Result{Base: base, Seed: o.Seed, Objects: o.Objects, Budget: o.Budget, Goal: Goal, Runs: runs}
	total := Ratio{Application: "all"}
	for _, strict := range runs {
		at := slices.IndexFunc(runs, func(o Run) bool { return o.Site == strict.Site && o.Mode == crawl.HelperOff })
		if strict.Mode != crawl.HelperStrict || at < 0 {
			continue
		}
		ratio := compare(runs[at], strict)
		r.Ratios = append(r.Ratios, ratio)
		total.add(ratio)
	}
	if len(r.Ratios) > 1 {
		total.work()
		total.Good = !slices.ContainsFunc(r.Ratios, func(r Ratio) bool { return !r.Good })
		r.Ratios = append(r.Ratios, total)
	}
	return r
}

func compare(off, strict Run) Ratio {
	r := Ratio{
		Application: strict.Application, GoalLeast: off.Reached == 0, Least: off.Cut,
		offGoal: off.Reached, offAll: off.Requests, strictGoal: strict.Reached, strictAll: strict.Requests, found: strict.Found, all: strict.All,
	}
	if r.GoalLeast {
		r.offGoal = off.Requests
	}
	r.work()
	r.Good = r.Share >= Goal && !strict.Cut && r.AtGoal >= Saving && r.Emptied >= Saving
	return r
}

func (r *Ratio) add(o Ratio) {
	r.GoalLeast, r.Least = r.GoalLeast || o.GoalLeast, r.Least || o.Least
	r.offGoal, r.offAll, r.strictGoal, r.strictAll = r.offGoal+o.offGoal, r.offAll+o.offAll, r.strictGoal+o.strictGoal, r.strictAll+o.strictAll
	r.found, r.all = r.found+o.found, r.all+o.all
}

func (r *Ratio) work() {
	if r.strictGoal > 0 {
		r.AtGoal = float64(r.offGoal) / float64(r.strictGoal)
	}
	r.Emptied = float64(r.offAll) / float64(max(1, r.strictAll))
	r.Share = float64(r.found) / float64(max(1, r.all))
}

// Print writes the tables for people.
func (r Result) Print(out io.Writer) error {
	fmt.Fprintf(out, "%d objects a site, at most %d requests, seed %d, knowledge base %s\n\n", r.Objects, r.Budget, r.Seed, r.Base)
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "application\thelper\trequests\tobjects\tshare\trequests an object\trequests to %.0f%%\t\n", 100*r.Goal)
	for _, run := range r.Runs {
		reached, more := "-", ""
		if run.Reached > 0 {
			reached = fmt.Sprint(run.Reached)
		}
		if run.Cut {
			more = "+"
		}
		fmt.Fprintf(w, "%s %s\t%s\t%d%s\t%d\t%.1f%%\t%.2f%s\t%s\t\n", run.Application, run.Release, run.Mode, run.Requests, more, run.Found, 100*run.Share, run.PerObject, more, reached)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nrequests without the helper to one with the strict helper (goal: %d at %.0f%% of the objects)\n", Saving, 100*r.Goal)
	fmt.Fprintf(w, "application\tto %.0f%%\tuntil nothing is left\tshare\t\t\n", 100*r.Goal)
	for _, x := range r.Ratios {
		verdict := "missed"
		if x.Good {
			verdict = "reached"
		}
		fmt.Fprintf(w, "%s\t%s%.1f\t%s%.1f\t%.1f%%\t%s\t\n", x.Application, least(x.GoalLeast), x.AtGoal, least(x.Least), x.Emptied, 100*x.Share, verdict)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out, "\n+ and ≥: the budget was spent with more left to fetch")
	return r.printDetails(out)
}

func least(is bool) string {
	if is {
		return "≥"
	}
	return ""
}

// printDetails prints which kinds of pages were requested with the helper, and the objects that were missed.
func (r Result) printDetails(out io.Writer) error {
	fmt.Fprintln(out, "\npages fetched, by kind")
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	for _, run := range r.Runs {
		fmt.Fprintf(w, "  %s\t%s\t%s\n", run.Application, run.Mode, counts(run.Kinds))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	for _, run := range r.Runs {
		if run.Mode != crawl.HelperOff && run.Unrecognised > 0 {
			fmt.Fprintf(out, "%s, %s: %d pages not recognised\n", run.Application, run.Mode, run.Unrecognised)
		}
		if len(run.Missed) > 0 {
			fmt.Fprintf(out, "%s, %s: missed %s\n", run.Application, run.Mode, strings.Join(run.Missed, ", "))
		}
	}
	return nil
}

// counts lists the kinds, the most frequent first.
func counts(m map[string]int) string {
	kinds := slices.SortedStableFunc(maps.Keys(m), func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range kinds {
		kinds[i] = fmt.Sprintf("%s %d", k, m[k])
	}
	return strings.Join(kinds, ", ")
}
