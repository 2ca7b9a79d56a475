package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// revisited runs the crawl once: each URL of answers is offered and gets its answer, a status and a payload such as "200 one"; 304 is OutcomeUnmodified
// and "robots" is a refusal by robots.txt. It returns the totals of the run and the URLs that were asked.
func (r *rig) revisited(number int, edit func(*crawl.Definition), answers map[string]string) (t Totals, asked map[string]bool) {
	r.t.Helper()
	if number > 1 {
		r.must(r.begin(fmt.Sprint("owner ", number), edit))
		r.must(r.URLs().Recrawl(fmt.Sprint("recrawl-", number)))
	}
	for url := range answers {
		r.submit(fmt.Sprint("run ", number, url), found(0.5, url)...)
	}
	asked = map[string]bool{}
	for {
		batch, lanes := r.take()
		if batch == "" {
			break
		}
		c := Commit{Batch: batch, Originals: map[string]crawl.Visit{}}
		for _, url := range targets(lanes...) {
			asked[url] = true
			o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: url, Kind: crawl.OutcomeDone}}
			var payload string
			switch _, err := fmt.Sscan(answers[url], &o.Status, &payload); {
			case answers[url] == "robots":
				o.Kind = crawl.OutcomeRobots
			case answers[url] == "304":
				o.Kind, o.Status = crawl.OutcomeUnmodified, 304
			case err != nil:
				r.t.Fatalf("%s has the answer %q: %v", url, answers[url], err)
			default:
				o.Visit = crawl.Visit{URL: url, Digest: "sha1:" + payload, Date: r.clock.Now().Truncate(time.Second)}
			}
			if o.Status == 200 {
				c.Originals[o.Visit.Digest] = o.Visit
			}
			c.Outcomes = append(c.Outcomes, o)
		}
		for _, l := range lanes {
			r.must(r.endLane(l.ID, r.clock.Now(), false))
		}
		r.must(r.Commit(c))
	}
	r.confirm(r.next())
	t = r.status().Totals
	r.must(r.End(map[bool]string{true: "owner", false: fmt.Sprint("owner ", number)}[number == 1]))
	return t, asked
}

// TestSince: a run counts what became of the pages of the runs before. What is still gone, or was never a page, does not count again.
func TestSince(t *testing.T) {
	r := newRig(t, nil)
	page := func(name string) string { return "http://a.example/" + name }
	for i, run := range []struct {
		answers map[string]string
		since   string
		fresh   int64
	}{
		{map[string]string{page("same"): "200 one", page("304"): "200 two", page("other"): "200 three", page("gone"): "200 four", page("closed"): "200 five", page("robots"): "200 six", page("never"): "404 none"}, "", 6},
		{map[string]string{page("same"): "200 one", page("304"): "304", page("other"): "200 new", page("gone"): "404 away", page("closed"): "403 no", page("robots"): "robots", page("never"): "404 nothing", page("late"): "200 seven"},
			"1 new, 1 changed, 2 unchanged, 1 gone, 2 forbidden", 1},
		{map[string]string{page("same"): "200 one", page("304"): "304", page("other"): "200 new", page("gone"): "410 away", page("closed"): "403 no", page("robots"): "200 six", page("never"): "404 none", page("late"): "500 broken"},
			"0 new, 0 changed, 4 unchanged, 0 gone, 0 forbidden", 0},
		{map[string]string{page("same"): "200 one", page("304"): "304", page("other"): "200 new", page("gone"): "200 back", page("closed"): "200 open", page("robots"): "200 six", page("never"): "200 now", page("late"): "200 eight"},
			"4 new, 0 changed, 4 unchanged, 0 gone, 0 forbidden", 4},
	} {
		totals, asked := r.revisited(i+1, nil, run.answers)
		if got := totals.Since(); got != run.since || totals.New != run.fresh || len(asked) != len(run.answers) {
			t.Errorf("run %d: %q, %d new, %d URLs asked; want %q, %d, %d", i+1, got, totals.New, len(asked), run.since, run.fresh, len(run.answers))
		}
		r.clock.pass(24 * time.Hour)
	}
}
