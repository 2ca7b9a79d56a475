package checkpoint

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// submit takes URLs into the frontier of a worker, as the activity does.
func (w *worker) submit(list ...frontier.Submission) {
	w.t.Helper()
	w.now = w.now.Add(time.Second)
	w.n++
	id := fmt.Sprint("submit-", w.n)
	plan, err := w.Crawl("c").Plan()
	must(w.t, err)
	must(w.t, KeepSubmitted(w.t.Context(), w.store, w.now, "w", "c", plan.Run, id, list))
	answers, err := w.Crawl("c").URLs().Submit(id, list)
	must(w.t, err)
	for i, a := range answers {
		if want := a.Answer == frontier.SubmitAccepted || a.Answer == frontier.SubmitBlacklisted; !want {
			w.t.Fatalf("%s is %s: %s", list[i].URL, a.Answer, a.Reason)
		}
	}
}

func submission(url string, blacklisted bool) frontier.Submission {
	return frontier.Submission{Discovery: crawl.Discovery{URL: url, Score: 0.875}, Blacklisted: blacklisted}
}

// submitAll submits a URL that no page links to, two that are blacklisted, one of which waits, and one that is fetched afterwards; some of them in several calls.
func (w *worker) submitAll(when string) {
	w.t.Helper()
	waits := w.waiting[0]
	w.waiting = w.waiting[1:]
	fetched := "http://" + when + ".submitted.example/fetched"
	w.submit(submission("http://"+when+".submitted.example/", false), submission(waits, true))
	w.submit(submission("http://"+when+".banned.example/", true), submission(fetched, false))
	w.found(fetched)
}

// TestRebuildOfSubmitted: what was submitted after the checkpoint waits in a frontier that is rebuilt, and what was blacklisted stays so, in a bound crawl and in partitions of a
// spread one; also if the rebuild of partitions is done twice. A list that is damaged is passed over.
func TestRebuildOfSubmitted(t *testing.T) {
	fill := func(w *worker, checkpoint func()) {
		for range 10 {
			w.run(true)
		}
		w.submitAll("before")
		checkpoint()
		for range 5 {
			w.run(true)
		}
		w.submitAll("after")
		for len(w.waiting) > 0 && w.known["http://after.submitted.example/fetched"] && w.batch < 30 {
			w.run(true)
		}
		key := archive.Frontiers{}.SubmittedList("c", w.now, "w", []byte("damaged"))
		must(w.t, w.store.Put(w.t.Context(), key, strings.NewReader("damaged"), 7))
	}
	check := func(name string, f *frontier.Frontier) {
		known, _ := knowledge(t, f)
		for url, want := range map[string]string{
			"http://before.submitted.example/": "waiting", "http://after.submitted.example/": "waiting", "http://before.banned.example/": "blacklisted", "http://after.banned.example/": "blacklisted",
		} {
			if !strings.Contains(known[url], "State:"+want) {
				t.Errorf("%s: %s is %s, want %s", name, url, known[url], want)
			}
		}
	}
	w := newWorker(t, 4)
	fill(w, func() { w.checkpoint() })
	out, err := w.rebuild(w.store).Run(t.Context())
	must(t, err)
	made := opened(t, out.Frontier)
	check("bound", made)
	same(t, w.Frontier, made)

	w = newSpreadWorker(t, 4)
	fill(w, w.checkpointAll)
	made = opened(t, t.TempDir())
	for range 2 {
		must(t, partitionsOf(made, w.store).Run(t.Context(), every(0, 1)))
	}
	check("spread", made)
	sameKnowledge(t, together(t, w.Frontier), together(t, made))
}

// TestSubmittedIsSwept: lists are deleted a week after they were kept, and with their crawl.
func TestSubmittedIsSwept(t *testing.T) {
	r := newRig(t)
	now := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	keep := func(crawl string, age time.Duration) {
		must(t, KeepSubmitted(t.Context(), r.store, now.Add(-age), "w", crawl, 1, "id", []frontier.Submission{submission("http://a.example/", false)}))
	}
	keep("c", submittedKept+time.Hour)
	keep("c", submittedKept-time.Hour)
	keep("c2", 0)
	expect := func(when string, want int) {
		t.Helper()
		if list := r.keys(); len(list) != want {
			t.Errorf("%s: %q", when, list)
		}
	}
	expect("before", 3)
	must(t, SweepSubmitted(t.Context(), r.store, now))
	expect("a week later", 2)
	must(t, ForgetSubmitted(t.Context(), r.store, "c"))
	expect("a crawl is forgotten", 1)
}
