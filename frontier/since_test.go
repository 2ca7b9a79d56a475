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
			became, err := r.URLs().Became(&o)
			r.must(err)
			t.CountBecame(became)
		}
		for _, l := range lanes {
			r.must(r.endLane(l.ID, r.clock.Now(), false))
		}
		r.must(r.Commit(c))
	}
	r.confirm(r.next())
	said := t
	t = r.status().Totals
	if said != (Totals{New: t.New, Changed: t.Changed, Unchanged: t.Unchanged, Gone: t.Gone, Forbidden: t.Forbidden}) {
		r.t.Errorf("before its commits the run says %+v, after them %+v", said, t)
	}
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

// TestRecrawlOfRequisites: a recrawl asks again for all requisites that earlier runs have admitted, of which there are more than the budget has for the first
// pages, with the page on which each was found; and what pages embed that is new is admitted beside them. One that waits since an earlier run counts in the run that asks
// for it.
func TestRecrawlOfRequisites(t *testing.T) {
	most := int64(2)
	edit := func(d *crawl.Definition) { d.Budget.Requisites, d.Order.PerQueue = &most, 20 }
	r := newRig(t, edit)
	const pages = 6
	page := func(i int) string { return fmt.Sprintf("http://a.example/%d", i) }
	for i := range pages {
		r.submit(fmt.Sprint("page", i), found(0.9, page(i))...)
	}
	batch, lanes := r.take()
	var links []crawl.Discovery
	for i := range pages {
		links = append(links, embedded(page(i), fmt.Sprintf("http://b%d.example/x.png", i), fmt.Sprintf("http://c%d.example/x.css", i))...)
	}
	r.finish(batch, lanes, links...)
	batch, lanes = r.take()
	r.finish(batch, lanes)
	late := embedded(page(0), "http://d.example/late.png")
	r.submit("late", late...) // nobody asks for it in this run
	if s := r.status().Totals; s.Requisites != 2*pages+1 || s.RequisitesArchived != 2*pages || s.RequisitesCut != 0 {
		t.Fatalf("first run: %+v", s)
	}
	r.must(r.End("owner"))
	r.must(r.begin("next", edit))
	r.must(r.URLs().Recrawl("recrawl-2"))
	r.submit("new", embedded(page(0), "http://a.example/new.png")...)
	asked := map[string]crawl.Target{}
	for {
		batch, lanes := r.take()
		if batch == "" {
			break
		}
		for _, l := range lanes {
			for _, x := range l.Targets {
				asked[x.URL] = x
			}
		}
		r.finish(batch, lanes)
	}
	s := r.status().Totals
	if len(asked) != 3*pages+2 || s.Requisites != 2*pages+2 || s.RequisitesArchived != 2*pages+2 || s.RequisitesCut != 0 {
		t.Errorf("%d URLs are asked, %+v", len(asked), s)
	}
	if x := asked["http://b3.example/x.png"]; x.Via != page(3) || x.Path != "SLE" {
		t.Errorf("%+v", x)
	}
	if x := asked[page(3)]; x.Via != "http://a.example/" {
		t.Errorf("%+v", x)
	}
}

// TestRequisitesOfFormerPages: a later run asks for a requisite that no page embeds any more once, and for one that does not exist only if a page embeds it still. What a page
// embeds that has not changed (304) is asked for in each run. A page that embeds other files in each run has all of them: what earlier runs have fetched takes no room.
func TestRequisitesOfFormerPages(t *testing.T) {
	most := int64(2)
	edit := func(d *crawl.Definition) { d.Budget.Requisites, d.Order.PerQueue = &most, 20 }
	r := newRig(t, edit)
	const still, daily, dead = "http://a.example/still", "http://a.example/daily", "http://a.example/dead.png"
	file := func(run, i int) string { return fmt.Sprintf("http://a.example/%d.%d.js", run, i) }
	files := func(run int) int { return min(2*run, 4) }
	want := map[string]string{still: "1 2 3 4 5 ", daily: "1 2 3 4 5 ", "http://a.example/still.css": "1 2 3 4 5 ", "http://a.example/both.css": "1 2 3 4 5 ", dead: "1 2 5 "}
	runs := map[string]string{}
	r.submit("pages", found(0.9, still, daily)...)
	for run := 1; run <= 5; run++ {
		if run > 1 {
			r.must(r.End(map[bool]string{true: "owner", false: fmt.Sprint("owner ", run-1)}[run == 2]))
			r.must(r.begin(fmt.Sprint("owner ", run), edit))
			r.must(r.URLs().Recrawl(fmt.Sprint("recrawl-", run)))
		}
		for batch, lanes := r.take(); batch != ""; batch, lanes = r.take() {
			c := Commit{Batch: batch}
			for _, url := range targets(lanes...) {
				runs[url] += fmt.Sprint(run, " ")
				o := done(url)
				o.Visit = crawl.Visit{URL: url, Digest: fmt.Sprint("sha1:", url, run)}
				switch {
				case url == still && run == 1:
					c.Discoveries = append(c.Discoveries, embedded(url, "http://a.example/still.css", "http://a.example/both.css")...)
				case url == still:
					o.Kind, o.Status, o.Visit = crawl.OutcomeUnmodified, 304, crawl.Visit{}
				case url == daily:
					for i := range files(run) {
						c.Discoveries = append(c.Discoveries, embedded(url, file(run, i))...)
					}
					if run%3 != 0 {
						c.Discoveries = append(c.Discoveries, embedded(url, "http://a.example/both.css")...)
					}
					if run <= 2 || run == 5 {
						c.Discoveries = append(c.Discoveries, embedded(url, dead)...)
					}
				case url == dead:
					o.Status = 404
				}
				c.Outcomes = append(c.Outcomes, o)
			}
			for _, l := range lanes {
				r.must(r.endLane(l.ID, r.clock.Now(), false))
			}
			r.must(r.Commit(c))
		}
		if s := r.status().Totals; s.RequisitesCut > 0 {
			t.Errorf("run %d: %+v", run, s)
		}
		for i := range files(run) {
			want[file(run, i)] = fmt.Sprint(run, " ")
			if run < 5 {
				want[file(run, i)] += fmt.Sprint(run+1, " ")
			}
		}
	}
	for url := range runs {
		if runs[url] != want[url] {
			t.Errorf("%s was asked for in the runs %s, want %s", url, runs[url], want[url])
		}
	}
	if len(runs) != len(want) {
		t.Errorf("%d URLs were asked for, want %d", len(runs), len(want))
	}
}

// TestRequisitesWithIntervals: a requisite of a page that answers 304 is asked for whenever its own interval is over, also if the page was asked in runs between; one that a page that is
// read does not embed any more is asked for once more.
func TestRequisitesWithIntervals(t *testing.T) {
	edit := func(d *crawl.Definition) {
		d.Recrawl = crawl.Recrawl{Min: crawl.Duration(24 * time.Hour), Max: crawl.Duration(4 * 24 * time.Hour)}
	}
	r := newRig(t, edit)
	const still, daily, kept, dropped = "http://a.example/still", "http://a.example/daily", "http://a.example/kept.css", "http://a.example/dropped.css"
	days := map[string]string{}
	r.submit("pages", found(0.9, still, daily)...)
	for day := range 20 {
		if day > 0 {
			r.must(r.End(map[bool]string{true: "owner", false: fmt.Sprint("owner ", day-1)}[day == 1]))
			r.clock.pass(24 * time.Hour)
			r.must(r.begin(fmt.Sprint("owner ", day), edit))
			r.must(r.URLs().Recrawl(fmt.Sprint("recrawl-", day)))
		}
		for batch, lanes := r.take(); batch != ""; batch, lanes = r.take() {
			c := Commit{Batch: batch}
			for _, url := range targets(lanes...) {
				days[url] += fmt.Sprint(day, " ")
				o, version := done(url), 0
				switch {
				case url == still && day > 3:
					o.Kind, o.Status = crawl.OutcomeUnmodified, 304
				case url == still:
					version = day
					c.Discoveries = append(c.Discoveries, embedded(url, kept)...)
				case url == daily:
					version = day
					if day < 2 {
						c.Discoveries = append(c.Discoveries, embedded(url, dropped)...)
					}
				}
				if o.Kind == crawl.OutcomeDone {
					o.Visit = crawl.Visit{URL: url, Digest: fmt.Sprint("sha1:", url, version)}
				}
				c.Outcomes = append(c.Outcomes, o)
			}
			for _, l := range lanes {
				r.must(r.endLane(l.ID, r.clock.Now(), false))
			}
			r.must(r.Commit(c))
		}
	}
	for url, want := range map[string]string{still: "0 1 2 3 4 6 10 14 18 ", kept: "0 1 3 7 11 15 19 ", dropped: "0 1 3 "} {
		if days[url] != want {
			t.Errorf("%s was asked for on the days %s, want %s", url, days[url], want)
		}
	}
}

// TestRecrawlOfExpected: a run of which it is not known when it began, because a worker of an earlier version has begun it, asks again for pages that have an interval.
func TestRecrawlOfExpected(t *testing.T) {
	edit := func(d *crawl.Definition) {
		d.Spread = true
		d.Recrawl = crawl.Recrawl{Min: crawl.Duration(24 * time.Hour), Max: crawl.Duration(4 * 24 * time.Hour)}
	}
	r := newRig(t, edit)
	const page = "http://a.example/1"
	r.submit("s", found(0.5, page)...)
	r.finish(r.take())
	r.must(r.End("owner"))
	r.clock.pass(24 * time.Hour)
	r.must(r.Expect(Elsewhere{Definition: definition(edit), Run: 2, Bounds: seedsOf(definition(edit))}))
	_, err := r.Crawl.ReplayRecrawl(2, []Partition{partitionOf(t, page)}, Replaying{})
	r.must(err)
	if got := r.states()[page]; got != "waiting" {
		t.Errorf("the page is %q", got)
	}
}

// TestReplayOfEarlierRun: a page of an earlier run that is brought in from the archive, after the present run has begun, is asked for in the present one,
// though it has an interval; what was fetched was counted by the worker that did so, what is known here counts here.
func TestReplayOfEarlierRun(t *testing.T) {
	edit := func(d *crawl.Definition) {
		d.Spread = true
		d.Recrawl = crawl.Recrawl{Min: crawl.Duration(24 * time.Hour), Max: crawl.Duration(4 * 24 * time.Hour)}
	}
	r := newRig(t, edit)
	const page = "http://a.example/1"
	r.submit("s", found(0.5, page)...)
	r.must(r.End("owner"))
	r.clock.pass(24 * time.Hour)
	r.must(r.begin("next", edit))
	r.must(r.URLs().Recrawl("recrawl-2"))
	outcome := done(page)
	outcome.Visit = crawl.Visit{URL: page, Digest: "sha1:one"}
	replay := Replay{Delivery: Delivery{Worker: "w", Number: 7, Nonce: "0123456789abcdef", Run: 1, Discoveries: embedded(page, "http://a.example/x.css")}, Outcomes: []crawl.PageOutcome{outcome}}
	totals := r.status().Totals
	_, err := r.Crawl.Replay(replay, func(Partition) bool { return true })
	r.must(err)
	if got := r.states()[page]; got != "done" {
		t.Fatalf("brought in, it is %q", got)
	}
	for range 2 {
		_, err := r.Crawl.ReplayRecrawl(2, []Partition{partitionOf(t, page)}, Replaying{})
		r.must(err)
		if got := r.states()[page]; got != "waiting" {
			t.Errorf("it is %q in the present run", got)
		}
	}
	now := r.status().Totals
	r.expectKnown("in the present run", 2, 1, 0)
	if now.setKnown(totals.known()); now != totals {
		t.Errorf("what others have counted is counted: %+v, was %+v", now, totals)
	}
}

// TestOnlyPagesAreAskedOnCondition: a URL is asked for again on condition if its last capture is a whole page. Error pages, of which earlier versions have kept the validators, and
// pages that were cut off are asked for plainly; what became of these is counted as of other pages.
func TestOnlyPagesAreAskedOnCondition(t *testing.T) {
	r := newRig(t, nil)
	page := func(name string) string { return "http://a.example/" + name }
	status := map[string]int{page("whole"): 200, page("gone"): 404, page("closed"): 403, page("broken"): 500, page("cut"): 200, page("cut-then-gone"): 200, page("gone-again"): 404}
	want := map[string]crawl.Visit{}
	run := func(owner string, then map[string]int) (asked map[string]crawl.Visit) {
		asked = map[string]crawl.Visit{}
		for {
			batch, lanes := r.take()
			if batch == "" {
				return asked
			}
			c := Commit{Batch: batch, Originals: map[string]crawl.Visit{}}
			for _, l := range lanes {
				for _, target := range l.Targets {
					asked[target.URL] = target.Previous
					o := crawl.PageOutcome{Outcome: crawl.Outcome{URL: target.URL, Kind: crawl.OutcomeDone, Status: then[target.URL]}}
					o.Visit = crawl.Visit{ETag: `"1"`, LastModified: "yesterday", Digest: "sha1:" + target.URL, URL: target.URL, Date: r.clock.Now().Truncate(time.Second).UTC(), Shown: 7}
					switch {
					case target.URL == page("cut") || target.URL == page("cut-then-gone") && o.Status == 200:
						o.Visit.ETag, o.Visit.LastModified, o.Visit.Partial = "", "", true
					case o.Status == 200:
						c.Originals[o.Visit.Digest] = o.Visit
						if owner == "owner" {
							want[target.URL] = o.Visit
						}
					default:
						o.Visit.Digest += " error page"
					}
					c.Outcomes = append(c.Outcomes, o)
				}
			}
			for _, l := range lanes {
				r.must(r.endLane(l.ID, r.clock.Now(), false))
			}
			r.must(r.Commit(c))
		}
	}
	for url := range status {
		r.submit("seeds "+url, found(0.5, url)...)
	}
	run("owner", status)
	r.must(r.End("owner"))
	r.clock.pass(24 * time.Hour)
	r.reopen()
	r.must(r.begin("owner 2", nil))
	r.must(r.URLs().Recrawl("recrawl-2"))
	status[page("cut-then-gone")] = 404
	asked := run("owner 2", status)
	for url := range status {
		expected, whole := want[url]
		if !whole {
			expected.Shown = 7
		}
		if got, is := asked[url]; !is || got != expected {
			t.Errorf("%s is asked for by %+v, want %+v", url, got, expected)
		}
	}
	if len(want) != 1 {
		t.Errorf("%d whole pages", len(want))
	}
	if got := r.status().Totals; got.Unchanged != 2 || got.Gone != 1 || got.New+got.Changed+got.Forbidden != 0 {
		t.Errorf("%+v", got)
	}
}
