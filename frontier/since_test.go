package frontier

import (
	"fmt"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// theSeed is offered as a seed, other URLs as links.
const theSeed = "http://a.example/"

// revisited runs the crawl once: each URL of answers is offered and gets its answer, a status and a payload such as "200 one"; 304 is OutcomeUnmodified
// and "robots" is a refusal by robots.txt. It returns the totals of the run and the URLs that were asked.
func (r *rig) revisited(number int, edit func(*crawl.Definition), answers map[string]string) (t Totals, asked map[string]bool) {
	r.t.Helper()
	if number > 1 {
		r.must(r.begin(fmt.Sprint("owner ", number), edit))
		r.must(r.URLs().Recrawl(fmt.Sprint("recrawl-", number)))
	}
	for url := range answers {
		offer := found(0.5, url)
		if url == theSeed {
			offer = []crawl.Discovery{{URL: url, Path: "S", Score: 1}}
		}
		r.submit(fmt.Sprint("run ", number, url), offer...)
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

// TestRecrawlIntervals: in twelve daily runs a page that does not change is asked ever more seldom, up to the longest interval, one that changes each day every
// day, one that changes sometimes between; 404 ever more seldom. A page whose interval is not over is asked neither for itself nor for a link to it, a seed always.
func TestRecrawlIntervals(t *testing.T) {
	edit := func(d *crawl.Definition) {
		d.Recrawl = crawl.Recrawl{Min: crawl.Duration(24 * time.Hour), Max: crawl.Duration(4 * 24 * time.Hour)}
	}
	r := newRig(t, edit)
	const same, daily, odd, gone, closed = "http://a.example/same", "http://a.example/daily", "http://a.example/odd", "http://a.example/gone", "http://a.example/robots"
	days := map[string]string{}
	for day := range 12 {
		answers := map[string]string{same: "200 one", daily: fmt.Sprint("200 day", day), odd: fmt.Sprint("200 odd", day/6), gone: "404 none", closed: "robots", theSeed: "200 seed"}
		if day == 0 {
			answers[gone] = "200 page"
		}
		totals, asked := r.revisited(day+1, edit, answers)
		for url := range asked {
			days[url] += fmt.Sprint(day, " ")
		}
		if missing := int64(len(answers) - len(asked)); totals.NotDue < missing || totals.NotDue > missing+1 { // the seed, which is asked all the same
			t.Errorf("day %d: %d URLs are not asked, the totals have %d", day, missing, totals.NotDue)
		}
		r.reopen()
		r.clock.pass(24*time.Hour - time.Second) // a schedule is not exact
	}
	for url, want := range map[string]string{
		same: "0 1 3 7 11 ", daily: "0 1 2 3 4 5 6 7 8 9 10 11 ", odd: "0 1 3 7 9 ", gone: "0 1 3 7 11 ", closed: "0 1 2 3 4 5 6 7 8 9 10 11 ", theSeed: "0 1 2 3 4 5 6 7 8 9 10 11 ",
	} {
		if days[url] != want {
			t.Errorf("%s was asked on the days %s, want %s", url, days[url], want)
		}
	}
}
