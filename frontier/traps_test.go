package frontier

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/frontier/internal/record"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/traps"
	"github.com/muninn-archive/muninn/internal/urls"
)

// calendarOf crawls a site with a calendar without end and a few pages, until nothing is left or so many batches have ended, and returns the pages.
func (r *rig) calendarOf(batches int) (pages []string) {
	r.t.Helper()
	return r.endless(batches, func(int) *crawl.Print { return &crawl.Print{All: 7, Own: 7, Words: 20, OwnWords: 10} })
}

// endless does so with a calendar whose pages read as print says of the day.
func (r *rig) endless(batches int, print func(day int) *crawl.Print) (pages []string) {
	r.t.Helper()
	for range batches {
		round := r.next()
		r.confirm(round)
		if len(round.Claims) == 0 {
			if round.Drained {
				return pages
			}
			continue
		}
		for _, c := range round.Claims {
			batch := r.start(c)
			lanes, err := r.Batch(batch).Reopen([]Claim{c}, nil)
			r.must(err)
			out := Commit{Batch: batch}
			for _, u := range targets(lanes...) {
				pages = append(pages, u)
				o := done(u)
				var links []string
				var day int
				if _, err := fmt.Sscanf(u, "http://a.example/cal?day=%d", &day); err == nil || u == "http://a.example/" {
					for n := range 3 {
						links = append(links, fmt.Sprintf("http://a.example/cal?day=%d", 3*day+n+1))
					}
				}
				o.Print = print(day)
				if u == "http://a.example/" {
					o.Print.All = 1 << 60
					links = append(links, "http://a.example/good")
				}
				for _, to := range links {
					out.Discoveries = append(out.Discoveries, crawl.Discovery{URL: to, Via: u, Path: "SL", Score: 0.5})
				}
				out.Outcomes = append(out.Outcomes, o)
			}
			for _, l := range lanes {
				r.must(r.endLane(l.ID, r.clock.Now(), false))
			}
			r.must(r.Commit(out))
		}
	}
	return pages
}

// A calendar without end is closed: its URLs leave the queue, so that the crawl ends; status and crawl log say why, also after a restart. A change of the
// definition opens it again.
func TestTraps(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.Strategy = crawl.StrategyBreadth })
	r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
	pages := r.calendarOf(200)
	if len(pages) > 50 || !slices.Contains(pages, "http://a.example/good") {
		t.Errorf("%d pages, the first %q", len(pages), pages[:min(len(pages), 60)])
	}
	r.reopen()
	trapped := func() (n int) {
		for _, state := range r.states() {
			if state == "trap" {
				n++
			}
		}
		return n
	}
	s, n := r.status(), trapped()
	if len(s.Traps) != 1 || s.Traps[0].PLD != "a.example" || s.Traps[0].Pattern != "a.example/cal?day" || s.Waiting != 0 || n < 20 {
		t.Errorf("%d URLs are trapped, %d wait: %v", n, s.Waiting, s.Traps)
	}
	log, _, err := r.URLs().Unfetched(100)
	r.must(err)
	if len(log) != 1 || log[0].Kind != crawl.OutcomeRefused || !strings.Contains(log[0].Reason, "a.example/cal?day is closed as a trap: ") {
		t.Errorf("the crawl log has %+v", log)
	}
	var closed string
	for url, state := range r.states() {
		if state == "trap" {
			closed = url
		}
	}
	u, err := urls.Parse(closed)
	r.must(err)
	if e, err := r.URLs().Explain(u); err != nil || e.State != URLTrapped || e.Trap == nil || *e.Trap != s.Traps[0] {
		t.Errorf("%s: %+v, %v", closed, e, err)
	}
	r.submit("late", crawl.Discovery{URL: "http://a.example/cal?day=100000", Path: "SL", Score: 1}, crawl.Discovery{URL: closed, Path: "S", Score: 1})
	if pages := r.calendarOf(20); len(pages) != 1 || pages[0] != closed {
		t.Errorf("%q were fetched of the closed pattern, want %s alone, which is a seed now", pages, closed)
	}

	r.configure("{plds: {a.example: {ignore_traps: true}}}")
	if s := r.status(); s.Waiting <= n || trapped() != 0 || len(s.Traps) != 0 {
		t.Errorf("%d URLs wait, %d are trapped, %v", s.Waiting, trapped(), s.Traps)
	}
	if pages := r.calendarOf(8); len(pages) < 60 {
		t.Errorf("%d pages of the opened calendar", len(pages))
	}
}

// TestOpenPatterns: a change of the definition opens one closed pattern, by the command that the status names: its URLs wait again, and it is never closed again, in a later run either.
// Another pattern of the PLD stays closed, and so do URLs of a broader one that are of none that is open.
func TestOpenPatterns(t *testing.T) {
	first := func(d *crawl.Definition) { d.Order.Strategy = crawl.StrategyBreadth }
	r := newRig(t, first)
	r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
	r.calendarOf(200)
	trapped := func(part string) (n int) {
		for url, state := range r.states() {
			if state == "trap" && strings.Contains(url, part) {
				n++
			}
		}
		return n
	}
	s, n := r.status(), trapped("/cal")
	if len(s.Traps) != 1 || n < 20 {
		t.Fatalf("%d URLs are trapped: %v", n, s.Traps)
	}
	command := s.Traps[0].Opening("c")
	text, is := strings.CutPrefix(command, "muninn configure c 'overrides=")
	if !is || !strings.HasSuffix(text, "'") || !strings.Contains(s.Traps[0].String(), s.Traps[0].Opening("CRAWL")) {
		t.Errorf("the command is %s, of %s", command, s.Traps[0])
	}
	r.configure("{plds: {a.example: {open_patterns: ['a.example/other?x']}}}")
	if got := trapped("/cal"); got != n || len(r.status().Traps) != 1 {
		t.Errorf("%d of %d URLs are trapped when another pattern is open", got, n)
	}
	r.configure(strings.TrimSuffix(text, "'"))
	if open := r.crawls[testCrawl].Definition.OpenPatterns("a.example"); !slices.Equal(open, []string{"a.example/other?x", "a.example/cal?day"}) {
		t.Errorf("open are %q", open)
	}
	if s := r.status(); s.Waiting < n || trapped("/cal") != 0 || len(s.Traps) != 0 {
		t.Errorf("%d URLs wait, %d are trapped, %v", s.Waiting, trapped("/cal"), s.Traps)
	}
	r.reopen()
	if pages := r.calendarOf(8); len(pages) < 60 {
		t.Errorf("%d pages of the opened calendar", len(pages))
	}
	if closed := r.crawls[testCrawl].crawlRecord.Traps; len(closed) != 0 {
		t.Errorf("its pages are evidence: %v", closed)
	}

	r.broaden("a.example", "a.example/**") // as if it was closed for other pages
	r.submit("late", crawl.Discovery{URL: "http://a.example/cal?day=100000", Path: "SL", Score: 1}, crawl.Discovery{URL: "http://a.example/deep/page", Path: "SL", Score: 1})
	if pages := r.calendarOf(3); !slices.Contains(pages, "http://a.example/cal?day=100000") || slices.Contains(pages, "http://a.example/deep/page") || trapped("/deep") != 1 || trapped("/cal") != 0 {
		t.Errorf("of a broader pattern %d URLs of the open one are closed, and %d others; fetched %q", trapped("/cal"), trapped("/deep"), pages)
	}
	r.must(r.End("owner"))
	r.must(r.begin("second", func(d *crawl.Definition) {
		first(d)
		d.Overrides.PLDs = map[string]crawl.Override{"a.example": {OpenPatterns: &crawl.Patterns{"a.example/cal?day", "a.example/**"}}}
	}))
	if s := r.status(); len(s.Traps) != 0 {
		t.Errorf("closed in a run whose definition opens it: %v", s.Traps)
	}
	r.configure("{plds: {a.example: {open_patterns: null}}}")
	if open := r.crawls[testCrawl].Definition.OpenPatterns("a.example"); len(open) > 0 {
		t.Errorf("open are %q", open)
	}
}

// broaden closes a pattern of a PLD.
func (r *rig) broaden(pld, pattern string) {
	r.t.Helper()
	s, err := Crawl.state(r.Crawl)
	r.must(err)
	u, err := urls.Parse("http://" + pld + "/")
	r.must(err)
	r.must(r.Frontier.update(func(tx *transaction) (func(), error) {
		e := r.Frontier.edit(tx, s)
		key := record.KeyIn(pld, u).PLD
		m, err := readTraps(tx.Reader, s.keys, key)
		if m == nil {
			m = &traps.Memory{}
		}
		m.Closed = append(m.Closed, traps.Closed{Pattern: pattern, Evidence: "for a test", All: true})
		e.rec.Traps = AddTraps(e.rec.Traps, []ClosedTrap{{pld, pattern, "for a test"}})
		return nil, errors.Join(err, e.saveTraps(key, m))
	}))
}

// What puts the same pieces of text together in ever other choices, and is found on pages of its own kind, is closed, though no page reads like another.
func TestGrowthWithoutNewText(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.Strategy = crawl.StrategyBreadth })
	r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
	pages := r.endless(300, func(day int) *crawl.Print {
		reads := uint64(day+1) * 0x9e3779b97f4a7c15
		piece := byte(day % 5)
		return &crawl.Print{All: reads, Own: reads, Words: 90, OwnWords: 80, Sketch: []byte{0, piece, 1, piece, 2, piece + 1}}
	})
	if s := r.status(); len(pages) > 80 || len(s.Traps) != 1 || s.Traps[0].Pattern != "a.example/cal?day" || !strings.Contains(s.Traps[0].Evidence, "of their text was new") {
		t.Errorf("%d pages, %v", len(pages), s.Traps)
	}
}

// What looks like a trap is claimed after all else of its queue.
func TestSuspiciousURLsComeLast(t *testing.T) {
	r := newRig(t, func(d *crawl.Definition) { d.Order.Strategy, d.Order.PerQueue = crawl.StrategyBreadth, 3 })
	r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
	r.calendarOf(5)
	for i := range 3 {
		r.submit(fmt.Sprint("late", i), crawl.Discovery{URL: fmt.Sprintf("http://a.example/late%d", i), Path: "SL", Score: 0.3})
	}
	if pages := r.calendarOf(1); len(pages) != 3 || slices.ContainsFunc(pages, func(u string) bool { return !strings.Contains(u, "/late") }) {
		t.Errorf("%q are claimed", pages)
	}
}

// A host whose pages bring nothing new is asked once for a URL that cannot exist, before all else of its queue; pages that read like its answer are missing, also
// after a restart and in a later run. Without probe_missing no host is asked.
func TestProbe(t *testing.T) {
	missing := func(r *rig, url string, all uint64) bool {
		r.t.Helper()
		is, err := r.URLs().Missing()(url, &crawl.Print{All: all, Own: ^all, Words: 20, OwnWords: 10})
		r.must(err)
		return is
	}
	for _, asked := range []bool{false, true} {
		r := newRig(t, func(d *crawl.Definition) {
			d.Order.Strategy, d.Order.PerQueue, d.ProbeMissing = crawl.StrategyBreadth, 3, asked
		})
		r.submit("seeds", crawl.Discovery{URL: "http://a.example/", Path: "S", Score: 1})
		pages := r.calendarOf(200)
		probes := slices.DeleteFunc(slices.Clone(pages), func(url string) bool { return !traps.IsProbe(url) })
		if !asked {
			if len(probes) > 0 {
				t.Errorf("%q are asked for", probes)
			}
			continue
		}
		if len(probes) != 1 || slices.Index(pages, probes[0]) > 10 {
			t.Fatalf("the probes %q are asked for among %q", probes, pages[:min(len(pages), 12)])
		}
		u, err := urls.Parse(probes[0])
		r.must(err)
		if e, err := r.URLs().Explain(u); err != nil || e.Path != "SLP" && e.Path != "SP" || !strings.HasPrefix(e.Via, "http://a.example/") {
			t.Errorf("the probe is %+v, %v", e, err)
		}
		r.reopen()
		if !missing(r, "http://a.example/other", 7) || missing(r, "http://a.example/other", 1<<40-1) || missing(r, "http://www.a.example/other", 7) {
			t.Error("pages are not compared with the answer of their host")
		}
		other := newRig(t, func(d *crawl.Definition) { d.ProbeMissing = true })
		read := "http://a.example/read"
		for range 2 { // an answer of the archive; and again: the first page that reads like it has its links followed
			o := done(probes[0])
			o.Print = &crawl.Print{All: 7, Words: 20}
			page := done(read)
			page.Print = o.Print
			_, err := other.Replay(Replay{
				Delivery: Delivery{Worker: "w2", Number: 1, Nonce: "n", Run: 1, Discoveries: []crawl.Discovery{{URL: read + "/on", Via: read, Path: "SL"}}},
				Outcomes: []crawl.PageOutcome{o, page},
			}, func(Partition) bool { return true })
			r.must(err)
		}
		if !missing(other, "http://a.example/other", 7) || len(other.states()) != 1 {
			t.Errorf("the answer was not learned of the archive, or another probe was queued: %v", other.states())
		}
	}
}

// TestReplayOfManyTraps: pages of so many PLDs with closed patterns that the store cannot take what is learned of them are brought in without it.
func TestReplayOfManyTraps(t *testing.T) {
	r := newRig(t, nil)
	d := Replay{Delivery: Delivery{Worker: "w2", Number: 1, Nonce: "n", Run: 1}}
	memory := traps.Memory{Closed: []traps.Closed{{Pattern: "/x", Evidence: strings.Repeat("e", 8000)}}}
	const plds, at = 700, 100
	for i := 0; i < plds; i += at {
		r.must(r.Crawl.update(func(s *state, tx *transaction) (func(), error) {
			e := r.edit(tx, s)
			for j := range at {
				page := fmt.Sprintf("http://p%d.example/", i+j)
				u, err := urls.Trusted(page)
				r.must(err)
				r.must(e.saveTraps(record.KeyOf(u).PLD, &memory))
				o := done(page)
				o.Print = &crawl.Print{All: uint64(i + j), Words: 20}
				d.Outcomes = append(d.Outcomes, o)
				d.Discoveries = append(d.Discoveries, crawl.Discovery{URL: page + "on", Via: page, Path: "SL"})
			}
			return e.finish(nil, nil)
		}))
	}
	_, err := r.Crawl.Replay(d, func(Partition) bool { return true })
	r.must(err)
	if n := len(r.states()); n != plds {
		t.Errorf("%d URLs are known", n)
	}
}
