package activities

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/spool"
)

// TestNoBrowser: a definition that opens pages is refused by a worker without Chromium, with what to do; a crawl that has begun holds there.
func TestNoBrowser(t *testing.T) {
	var a Activities
	a.Settings.Worker, a.NoBrowser = "w1", browser.ErrNone.Error()
	for mode, refused := range map[string]bool{"": false, crawl.BrowserNever: false, crawl.BrowserAuto: true, crawl.BrowserAlways: true} {
		err := a.checkBrowser(crawl.Definition{Browser: mode})
		if (err != nil) != refused || err != nil && (!strings.HasPrefix(err.Error(), "browser: is "+mode) || !strings.Contains(err.Error(), "worker w1 opens no pages: it has no Chromium: install it")) {
			t.Errorf("%q: %v", mode, err)
		}
		a.Browser = &browser.Pool{}
		if err := a.checkBrowser(crawl.Definition{Browser: mode}); err != nil {
			t.Errorf("%q, with a browser: %v", mode, err)
		}
		a.Browser = nil
	}
}

// TestAnswerOf: a browser gets an answer without its encodings, and without the fields that speak of them.
func TestAnswerOf(t *testing.T) {
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\nContent-Length: 9\r\nX-Raven: a: b \r\n\r\n"
	x := crawl.Exchange{Status: 200, HeaderBytes: int64(len(head)), Chunked: true}
	got, err := answerOf(&x, strings.NewReader(head), strings.NewReader("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
	if err != nil || got.Status != 200 || string(got.Body) != "abcde" || len(got.Header) != 2 || got.Header[0] != [2]string{"Content-Type", "text/plain"} || got.Header[1] != [2]string{"X-Raven", "a: b"} {
		t.Errorf("%+v, %q", got, got.Body)
	}
}

// TestAnswersWhole: an answer that is too long for a page without its encodings, or breaks off in them, is none; its lane does not ask for it again.
func TestAnswersWhole(t *testing.T) {
	packed := func(size int) string {
		var b strings.Builder
		w := gzip.NewWriter(&b)
		_, err := w.Write(bytes.Repeat([]byte(" "), size))
		if err = errors.Join(err, w.Close()); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	whole, long := packed(100), packed(maxAnswer+1)
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch q.URL.Path {
		case "/app.js", "/long":
			return 200, "Content-Encoding: gzip\r\n", long
		case "/broken":
			return 200, "Content-Encoding: gzip\r\n", whole[:len(whole)-9]
		case "/whole":
			return 200, "Content-Encoding: gzip\r\n", whole
		}
		return 200, "Content-Type: text/html\r\n", shell
	})
	var got []string
	r.Browser = asks(&got, rigSeed+"app.js", rigSeed+"long", rigSeed+"long", rigSeed+"broken", rigSeed+"whole")
	r.run()
	not, before := "0  "+errNotWhole.Error(), "0  "+errBefore.Error()
	want := []string{"200 " + shell + " <nil>", before, not, before, not, "200 " + strings.Repeat(" ", 100) + " <nil>"}
	if !slices.Equal(got, want) || !slices.Equal(r.asked, []string{"/robots.txt", "/", "/app.js", "/long", "/broken", "/whole"}) {
		t.Errorf("the page gets %.1000q; asked for: %q", got, r.asked)
	}
}

// TestAnswers: answers are of one run of one archive, and the least recently used are forgotten when they take too much memory.
func TestAnswers(t *testing.T) {
	var a answers
	large := browser.Response{Body: make([]byte, maxAnswers/4)}
	for _, url := range []string{"1", "2", "3", "4"} {
		a.put(answerKey{"x", 1, url}, large)
	}
	a.put(answerKey{"x", 1, "1"}, large)
	a.put(answerKey{"x", 1, "5"}, large)
	for url, want := range map[string]bool{"1": true, "2": false, "3": true, "5": true} {
		if _, is := a.get(answerKey{"x", 1, url}); is != want {
			t.Errorf("%s is kept: %t", url, is)
		}
	}
	if _, is := a.get(answerKey{"x", 2, "1"}); is {
		t.Error("another run has the answer")
	}
	if a.clear(); a.bytes != 0 {
		t.Errorf("%d bytes are left", a.bytes)
	}
}

// TestUnmodifiedAnswer: what a page needs is the answer to a request without condition, though a later run knows it and gets a 304 for it.
func TestUnmodifiedAnswer(t *testing.T) {
	const script = "make()"
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch {
		case q.URL.Path != "/app.js":
			return 200, "Content-Type: text/html\r\n", shell
		case q.Header.Get("If-None-Match") != "":
			return 304, "ETag: \"1\"\r\n", ""
		}
		return 200, "Content-Type: text/javascript\r\nETag: \"1\"\r\n", script
	})
	for _, run := range []string{"first", "second"} {
		var got []string
		r.Browser = asks(&got, rigSeed+"app.js")
		in := r.run()
		want := []string{"200 " + shell + " <nil>", "200 " + script + " <nil>"}
		if !slices.Equal(got, want) {
			t.Errorf("%s run: the page gets %q", run, got)
		}
		if loads := strings.Count(strings.Join(r.asked, " "), "/app.js"); loads != map[string]int{"first": 1, "second": 3}[run] {
			t.Errorf("%s run: %q", run, r.asked)
		}
		r.end(in)
		r.conclude()
	}
	r.check(r.dir)
}

// TestAnswersThatLast: an answer of a host in trouble is that of one page, and is not asked for again by its lane; a requisite that is tried again later is asked for by the page
// that is open.
func TestAnswersThatLast(t *testing.T) {
	var scripts, lists atomic.Int32
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch q.URL.Path {
		case "/app.js":
			if scripts.Add(1) == 1 {
				return 500, "", "broken"
			}
			return 200, "", "make()"
		case "/list":
			lists.Add(1)
			return 500, "", "trouble"
		}
		return 200, "Content-Type: text/html\r\n", shell
	})
	var got []string
	r.Browser = asks(&got, rigSeed+"app.js", rigSeed+"list", rigSeed+"list")
	r.edit = func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}) }
	r.run()
	html, script, before := "200 "+shell+" <nil>", "200 make() <nil>", "0  "+errBefore.Error()
	if want := []string{html, script, "500 trouble <nil>", before, html, script, before, before}; !slices.Equal(got, want) || scripts.Load() != 2 || lists.Load() != 1 {
		t.Errorf("the pages get %q; asked for: %q", got, r.asked)
	}
}

// TestOpenedBecame: a page of an application has changed in a later run if what its scripts make of it has other texts or links, though it is the same itself. A commit that is made again
// from the archive knows as much.
func TestOpenedBecame(t *testing.T) {
	for _, recovered := range []bool{false, true} {
		r := newOpenedRig(t, func(q *http.Request) (int, string, string) { return 200, "Content-Type: text/html\r\n", shell })
		for i, c := range []struct {
			texts string
			want  crawl.Became
		}{{"one raven", crawl.BecameNew}, {"two ravens", crawl.BecameChanged}, {"two ravens", crawl.BecameUnchanged}, {"two <a href=/x rel=nofollow>ravens</a>", crawl.BecameChanged}} {
			r.Browser = scripted(func(context.Context, browser.Job) (browser.Shown, error) {
				return browser.Shown{Document: fmt.Appendf(nil, "<title>shown</title><p id=n%d>%s", i, c.texts)}, nil
			})
			in := r.run()
			_, err := call[ProcessResult](r.rig, r.Process, in)
			r.must(err)
			if recovered {
				r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
			}
			r.must(r.do(r.Commit, in))
			s, err := r.Frontier.Crawl(rigCrawl).Status()
			r.must(err)
			if n := map[crawl.Became]int64{crawl.BecameNew: s.Totals.New, crawl.BecameChanged: s.Totals.Changed, crawl.BecameUnchanged: s.Totals.Unchanged}; n[c.want] != 1 {
				t.Errorf("recovered %t, run %d: %v, want it %s", recovered, i+1, n, c.want)
			}
			r.conclude()
		}
	}
}

// TestOpenedLater: a page that an earlier run has archived without opening it is asked for without condition when the crawl begins to open such pages, and so is opened; afterwards, one
// that is not to be opened is asked for with condition.
func TestOpenedLater(t *testing.T) {
	var conditions []string
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		if q.URL.Path == "/app.js" {
			return 200, "", ""
		}
		if q.Header.Get("If-None-Match") != "" {
			conditions = append(conditions, q.URL.Path)
			return 304, "ETag: \"1\"\r\n", ""
		}
		if q.URL.Path == "/two" {
			return 200, "Content-Type: text/html\r\nETag: \"1\"\r\n", "<title>ravens</title><p>Ravens nest on the rocks of the coast, in old trees and on towers, as they did long before." + noIcon
		}
		return 200, "Content-Type: text/html\r\nETag: \"1\"\r\n", shell
	})
	mode := ""
	r.edit = func(d *crawl.Definition) {
		d.Browser = mode
		d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"})
	}
	for i, c := range []struct{ mode, opened, conditions string }{
		{crawl.BrowserNever, "", ""}, {crawl.BrowserNever, "", "/ /two"}, {crawl.BrowserAuto, "/", ""}, {crawl.BrowserAuto, "/", "/two"}, {crawl.BrowserAlways, "/ /two", ""},
	} {
		var opened []string
		mode, conditions = c.mode, nil
		r.Browser = scripted(func(_ context.Context, job browser.Job) (browser.Shown, error) {
			opened = append(opened, strings.TrimPrefix(job.URL, strings.TrimSuffix(rigSeed, "/")))
			return browser.Shown{Document: []byte("<title>shown</title>" + noIcon)}, nil
		})
		r.end(r.run())
		r.conclude()
		slices.Sort(opened)
		slices.Sort(conditions)
		if strings.Join(opened, " ") != c.opened || strings.Join(conditions, " ") != c.conditions {
			t.Errorf("run %d, %s: opened %q; with condition %q", i+1, c.mode, opened, conditions)
		}
	}
}

// TestMissedByPage: what a page could not load because a host could not be asked, or was in trouble, the next page of its claim asks for again; the page says what it lacks. What
// robots.txt disallows is not missed.
func TestMissedByPage(t *testing.T) {
	var lists atomic.Int32
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch {
		case q.URL.Path == "/list" && lists.Add(1) == 1:
			return 408, "", "later"
		case q.URL.Path == "/" || q.URL.Path == "/two":
			return 200, "Content-Type: text/html\r\n", shell
		}
		return 200, "", "made"
	})
	r.robots = "User-agent: *\nDisallow: /secret\n"
	var got []string
	r.Browser = asks(&got, "http://unknown.example/", "http://unknown.example/", rigSeed+"list", rigSeed+"list", rigSeed+"secret")
	r.edit = func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}) }
	in := r.run()
	if len(got) != 12 {
		t.Fatalf("the pages get %q", got)
	}
	unknown, before := got[1], "0  "+errBefore.Error()
	want := []string{"200 " + shell + " <nil>", unknown, before, "408 later <nil>", before, "0  " + fetch.ErrDisallowed.Error()}
	want = append(want, want[0], unknown, before, "200 made <nil>", "200 made <nil>", before)
	if !slices.Equal(got, want) || unknown == before {
		t.Errorf("the pages get %q", got)
	}
	entries, closer, err := r.Spool.Batch(in.Crawl, in.Batch).Entries()
	r.must(err)
	defer closer()
	said := map[string]string{}
	for _, e := range entries {
		if e.Kind == crawl.ExchangeOpened {
			said[e.URL] = e.Outcome.Reason
		}
	}
	why := " of its scripts, or of what they asked for, could not be loaded: " + strings.TrimPrefix(unknown, "0  ")
	if said[rigSeed] != "2"+why || said[rigSeed+"two"] != "1"+why {
		t.Errorf("they say %q", said)
	}
}

// TestOpenedAgain: a page that was open when its worker was stopped gets what it has loaded before without another request, and this counts in its budget. A page that was too
// large to be opened is not opened afterwards, either.
func TestOpenedAgain(t *testing.T) {
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch q.URL.Path {
		case "/":
			return 200, "Content-Type: text/html\r\n", shell + "<!--" + strings.Repeat("-", maxParsedEarly) + "-->"
		case "/two":
			return 200, "Content-Type: text/html\r\n", shell
		}
		return 200, "", q.URL.Path
	})
	three := int64(3)
	r.edit = func(d *crawl.Definition) {
		d.Seeds, d.Budget.Requisites = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}), &three
	}
	in := r.open()
	var got, opened []string
	first := asks(&got, rigSeed+"x", rigSeed+"y", rigSeed+"z")
	r.cutOff(in, first)
	again := got
	got = nil
	r.Browser = scripted(func(ctx context.Context, job browser.Job) (browser.Shown, error) {
		opened = append(opened, job.URL)
		return first(ctx, job)
	})
	r.fetch(in)
	want := []string{"200 " + shell + " <nil>", "200 /x <nil>", "200 /y <nil>", "0  " + errSpent.Error()}
	if !slices.Equal(got, want) || !slices.Equal(again, want) {
		t.Errorf("before %q, then %q", again, got)
	}
	if want := []string{"/robots.txt", "/", "/two", "/app.js", "/x", "/y"}; !slices.Equal(r.asked, want) {
		t.Errorf("asked for: %q", r.asked)
	}
	if !slices.Equal(opened, []string{rigSeed + "two"}) {
		t.Errorf("opened: %q", opened)
	}
}

// TestOpenedBehind: a page whose worker was stopped before it had fetched what the page needs is opened when that is fetched, which is asked for once.
func TestOpenedBehind(t *testing.T) {
	stop := make(chan struct{})
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		switch q.URL.Path {
		case "/":
			return 200, "Content-Type: text/html\r\n", shell + "<link rel=stylesheet href=/a.css><script src=/b.js></script>"
		case "/two":
			return 200, "Content-Type: text/html\r\n", shell
		case "/a.css":
			return 200, "Content-Type: text/css\r\n", "p { background: url(/c.png) }"
		case "/b.js":
			select {
			case <-stop:
			default:
				close(stop)
				<-t.Context().Done() // the request is cut off
			}
		}
		return 200, "", q.URL.Path
	})
	var got []string
	r.Browser = asks(&got, rigSeed+"app.js", rigSeed+"b.js", rigSeed+"c.png")
	r.edit = func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}) }
	in := r.open()
	r.env = newEnv(r.Activities)
	r.env.SetWorkerStopChannel(stop)
	if _, err := call[FetchResult](r.rig, r.FetchTargets, in); err == nil || len(got) > 0 {
		t.Fatalf("not cut off, or opened: %v, %q", err, got)
	}
	r.asked, r.env = nil, newEnv(r.Activities)
	r.pageAnswers.clear()
	r.fetch(in)
	if want := []string{"/b.js", "/two"}; !slices.Equal(r.asked, want) {
		t.Errorf("asked for %q, want %q", r.asked, want)
	}
	for _, want := range []string{"200 /app.js <nil>", "200 /b.js <nil>", "200 /c.png <nil>"} {
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s != want })); n != 2 {
			t.Errorf("the pages get %q", got)
		}
	}
}

// TestOpenedWithoutBrowser: a worker that is started again without Chromium while a page is open gives the page back, and those of the batch that it fetches then; that is no attempt,
// and they are opened when there is a browser again.
func TestOpenedWithoutBrowser(t *testing.T) {
	r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
		if q.URL.Path == "/app.js" {
			return 200, "", "make()"
		}
		return 200, "Content-Type: text/html\r\n", shell + q.URL.Path
	})
	r.edit = func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}) }
	in := r.open()
	r.cutOff(in, asks(new([]string)))
	r.Browser, r.NoBrowser = nil, browser.ErrNone.Error()
	r.fetch(in)
	r.end(in)
	states := r.states()
	if states[rigSeed] != "waiting" || states[rigSeed+"two"] != "waiting" {
		t.Errorf("after the batch without a browser: %v", states)
	}
	var opened []string
	r.Browser = scripted(func(_ context.Context, job browser.Job) (browser.Shown, error) {
		opened = append(opened, job.URL)
		return browser.Shown{Document: []byte("<title>shown</title>" + noIcon)}, nil
	})
	in = r.batch()
	out, err := call[OpenResult](r.rig, r.Open, in)
	r.must(err)
	r.fetch(in)
	r.end(in)
	if want := []string{rigSeed, rigSeed + "two"}; !slices.Equal(opened, want) {
		t.Errorf("opened: %q", opened)
	}
	if states := r.states(); states[rigSeed] != "done" || states[rigSeed+"two"] != "done" {
		t.Errorf("with a browser: %v; %+v", states, out)
	}
	r.conclude()
	r.check(r.dir)
}

// TestBrowserNotStarted: a page for which no browser starts goes back without an attempt; one whose browser dies has used one up.
func TestBrowserNotStarted(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{{&browser.StartError{Err: errors.New("no memory")}, "waiting"}, {browser.ErrDied, "delayed"}} {
		r := newOpenedRig(t, func(q *http.Request) (int, string, string) { return 200, "Content-Type: text/html\r\n", shell })
		r.Browser = scripted(func(context.Context, browser.Job) (browser.Shown, error) { return browser.Shown{}, c.err })
		r.end(r.run())
		if state := r.states()[rigSeed]; state != c.want {
			t.Errorf("%v: it is %s, want %s", c.err, state, c.want)
		}
	}
}

// TestPauseAfterOpened: a lane that was killed when it had opened a page owes the pause of its last request.
func TestPauseAfterOpened(t *testing.T) {
	r := newRig(t)
	f := r.fetching(BatchInput{Crawl: rigCrawl, Batch: "b"}, crawl.DefaultDefinition().Politeness, politeness.Clock{}, nil)
	var log []spool.Entry
	for _, x := range []crawl.Exchange{
		{Kind: crawl.ExchangeLoaded, Pause: 10 * time.Second, Delay: 9 * time.Second}, {Kind: crawl.ExchangeView}, {Kind: crawl.ExchangeOpened},
	} {
		x.Claim = "c"
		log = append(log, spool.Entry{Exchange: x})
	}
	f.resume(log)
	now := time.Now()
	if last := f.last["c"]; last == nil || last.Delay != 9*time.Second || !notBefore(now, frontier.Claim{}, last, time.Second).Equal(now.Add(10*time.Second)) {
		t.Errorf("%+v", last)
	}
}

// TestUntilTime: the time of a page that waits for a browser is over when its lease is, also if that was renewed meanwhile.
func TestUntilTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var end atomic.Pointer[time.Time]
		set := func(after time.Duration) {
			at := begun.Add(after)
			end.Store(&at)
		}
		set(time.Minute)
		ctx, cancel := untilTime(t.Context(), time.Now, func() time.Time { return *end.Load() }, errNoTime)
		defer cancel()
		time.Sleep(time.Second)
		set(2 * time.Minute)
		<-ctx.Done()
		if took := time.Since(begun); took != 2*time.Minute || !errors.Is(context.Cause(ctx), errNoTime) {
			t.Errorf("%v after %s", context.Cause(ctx), took)
		}
	})
}

// TestLoadedCounts: what pages load while they are open counts in the bytes of the run, and is no outcome of its URL: what a page loads of another one is fetched as that page,
// too. A commit that is made again from the archive counts alike.
func TestLoadedCounts(t *testing.T) {
	var counted []frontier.Totals
	for _, recovered := range []bool{false, true} {
		r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
			switch q.URL.Path {
			case "/", "/two":
				return 200, "Content-Type: text/html\r\n", shell + q.URL.Path
			}
			return 200, "", strings.Repeat("x", 100_000) + q.URL.Path
		})
		r.edit = func(d *crawl.Definition) { d.Seeds = append(d.Seeds, crawl.Seed{URL: rigSeed + "two"}) }
		r.Browser = asks(new([]string), rigSeed+"app.js", rigSeed+"data", rigSeed+"two")
		in := r.run()
		_, err := call[ProcessResult](r.rig, r.Process, in)
		r.must(err)
		if recovered {
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
		}
		r.must(r.do(r.Commit, in))
		s, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		if s.Totals.RequisiteBytes < 100_000 || !recovered && s.Totals.RequisiteBytes < 200_000 { // the archive knows the compressed size of app.js alone
			t.Errorf("recovered %t: %+v", recovered, s.Totals)
		}
		s.Totals.Bytes, s.Totals.RequisiteBytes = 0, 0
		counted = append(counted, s.Totals)
		states := r.states()
		if _, known := states[rigSeed+"data"]; known || states[rigSeed+"two"] != "done" {
			t.Errorf("recovered %t: %v", recovered, states)
		}
	}
	if counted[0] != counted[1] || counted[0].Pages != 2 || counted[0].Requisites != 1 || counted[0].RequisitesArchived != 1 {
		t.Errorf("live %+v, recovered %+v", counted[0], counted[1])
	}
}

// TestUnloaded: what a page could not load while it was open has a line in the crawl log that says why; of an answer with a faulty header the archive has the bytes, and they count in
// the run. The page has not loaded it, and the answer is none. A commit that is made again from the archive counts alike.
func TestUnloaded(t *testing.T) {
	var counted []frontier.Totals
	for _, recovered := range []bool{false, true} {
		r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
			switch q.URL.Path {
			case "/":
				return 200, "Content-Type: text/html\r\n", shell
			case "/faulty":
				return 200, "X-Nul: a\x00" + strings.Repeat("b", 10_000) + "\r\n", "body"
			}
			return 200, "", q.URL.Path
		})
		r.robots = "User-agent: *\nDisallow: /secret\n"
		var got []string
		r.Browser = asks(&got, rigSeed+"secret", rigSeed+"faulty", rigSeed+"faulty", rigSeed+"data")
		in := r.run()
		if want := []string{"200 " + shell + " <nil>", "0  " + fetch.ErrDisallowed.Error(), "0  " + fetch.ErrFaulty.Error(), "0  " + errBefore.Error(), "200 /data <nil>"}; !slices.Equal(got, want) {
			t.Errorf("the page gets %q", got)
		}
		_, err := call[ProcessResult](r.rig, r.Process, in)
		r.must(err)
		if recovered {
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
		}
		r.must(r.do(r.Commit, in))
		s, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		if s.Totals.RequisiteBytes < 10_000 {
			t.Errorf("recovered %t: %+v", recovered, s.Totals)
		}
		s.Totals.Bytes, s.Totals.RequisiteBytes = 0, 0
		counted = append(counted, s.Totals)
		said, loaded := map[string]string{}, ""
		store, err := archive.OpenDir(r.dir)
		r.must(err)
		r.must(archive.EachLogged(t.Context(), store, archive.CrawlAt{Name: rigCrawl}, func(l archive.Logged) error {
			if l.Kind == archive.LoggedLoaded {
				said[strings.TrimPrefix(l.URL, rigSeed)] = fmt.Sprintf("%d %t %t %s", l.Status, l.Bytes > 0, l.WithoutPage(), l.Reason)
			}
			return nil
		}))
		want := map[string]string{"secret": "0 false true " + fetch.ErrDisallowed.Error(), "faulty": "200 true true the response's header is faulty: a NUL in the header", "data": "200 true false "}
		if !maps.Equal(said, want) {
			t.Errorf("recovered %t: the log says %q", recovered, said)
		}
		r.check(r.dir)
		for _, record := range r.records() {
			if strings.Contains(record, "WARC-Target-URI: "+rigSeed+"faulty\r\n") && strings.Contains(record, "WARC-Type: response\r\n") {
				loaded = record
			}
			if strings.Contains(record, "muninn-loaded: "+rigSeed+"faulty") || strings.Contains(record, "muninn-loaded: "+rigSeed+"secret") {
				t.Errorf("recovered %t: it is said to have been loaded", recovered)
			}
		}
		if !strings.Contains(loaded, "WARC-Truncated: unspecified\r\n") || !strings.Contains(loaded, "X-Nul: a\x00bbb") {
			t.Errorf("recovered %t: archived: %.500q", recovered, loaded)
		}
	}
	if counted[0] != counted[1] {
		t.Errorf("live %+v, recovered %+v", counted[0], counted[1])
	}
}

// TestOpenedCut: what was cut off of a document or a picture its record says, and the metadata of the page, why the document is not whole.
func TestOpenedCut(t *testing.T) {
	for _, c := range []struct {
		shown                   browser.Shown
		document, picture, said string
	}{
		{browser.Shown{}, "", "", crawl.OpenedWhole},
		{browser.Shown{PictureTruncated: "length"}, "", "length", crawl.OpenedWhole},
		{browser.Shown{DocumentTruncated: "length"}, "length", "", "its document is too long, and was cut off"},
		{browser.Shown{Cut: true, DocumentTruncated: "time", PictureTruncated: "time"}, "time", "time", "it asked for more until its time was over"},
	} {
		r := newOpenedRig(t, func(*http.Request) (int, string, string) { return 200, "Content-Type: text/html\r\n", shell })
		r.Browser = scripted(func(context.Context, browser.Job) (browser.Shown, error) {
			c.shown.Document, c.shown.Picture = []byte("<title>shown</title>"), []byte("x")
			return c.shown, nil
		})
		r.end(r.run())
		r.check(r.dir)
		truncated, found := map[string]string{}, 0
		for _, record := range r.records() {
			head, _, _ := strings.Cut(record, "\r\n\r\n")
			_, why, _ := strings.Cut(head, "WARC-Truncated: ")
			why, _, _ = strings.Cut(why, "\r\n")
			for _, name := range []string{"urn:dom:", "urn:view:"} {
				if strings.Contains(head, "WARC-Target-URI: "+name+rigSeed+"\r\n") {
					truncated[name] = why
					found++
				}
			}
			if strings.Contains(record, "muninn-browser: "+c.said+"\r\n") {
				found++
			}
		}
		if found != 3 || truncated["urn:dom:"] != c.document || truncated["urn:view:"] != c.picture {
			t.Errorf("%+v: %d records, truncated: %q", c.shown, found, truncated)
		}
	}
}

// TestLoadedRead: what a page has loaded while it was open is read as other requisites are: a style sheet brings its fonts, images and imports to the crawl, and a frame its links, with
// scores, but for what the page has loaded as well. Of other texts that scripts ask for, nothing is followed. All of it counts in the share of requisites, and a commit that
// is made again from the archive knows as much.
func TestLoadedRead(t *testing.T) {
	var counted []frontier.Totals
	for _, recovered := range []bool{false, true} {
		html, sheet := "Content-Type: text/html\r\n", "Content-Type: text/css\r\n"
		r := newOpenedRig(t, func(q *http.Request) (int, string, string) {
			switch q.URL.Path {
			case "/":
				return 200, html, shell
			case "/late.css":
				return 200, sheet, `@import "i.css"; @font-face { font-family: f; src: url(f.woff) } a:hover { background: url(h.png) } @media print { a { background: url(p.png) } }`
			case "/frame":
				return 200, html, `<title>frame</title><p><a href=/linked>linked</a><img src=/in.png><img src=/loaded.png>`
			case "/nofollow":
				return 200, html, `<meta name=robots content=nofollow><a href=/unfollowed>x</a><img src=/shown.png>`
			case "/partial":
				return 200, html, `<p><a href=/partial-linked>x</a><img src=/partial.png>`
			case "/moved":
				return 302, "Location: /elsewhere\r\n", ""
			case "/text":
				return 200, "Content-Type: text/plain\r\n", "http://a.example/named"
			case "/i.css":
				return 200, sheet, ""
			}
			return 200, "Content-Type: image/png\r\n", "x"
		})
		r.robots = "User-agent: *\nDisallow: /secret\n"
		r.Browser = scripted(func(ctx context.Context, job browser.Job) (browser.Shown, error) {
			for _, ask := range [][2]string{
				{"", "Document"}, {"late.css", "Stylesheet"}, {"i.css", "Stylesheet"}, {"frame", "Document"}, {"nofollow", "Document"}, {"loaded.png", "Image"}, {"partial", "Fetch"}, {"moved", "Document"}, {"text", "XHR"}, {"secret", "Image"},
			} {
				if _, err := job.Load(ctx, browser.Request{URL: job.URL + ask[0], Kind: ask[1]}); (err != nil) != (ask[0] == "secret") {
					t.Errorf("%s: %v", ask, err)
				}
			}
			return browser.Shown{Document: []byte("<title>shown</title><link rel=icon href=data:,>")}, nil
		})
		in := r.run()
		_, err := call[ProcessResult](r.rig, r.Process, in)
		r.must(err)
		if recovered {
			r.must(r.Spool.Batch(in.Crawl, in.Batch).Remove())
		}
		r.must(r.do(r.Commit, in))
		states := map[string]string{}
		for url, state := range r.states() {
			states[strings.TrimPrefix(url, rigSeed)] = state
		}
		want := map[string]string{"": "done", "app.js": "done"}
		for _, name := range []string{"f.woff", "h.png", "p.png", "linked", "in.png", "shown.png"} {
			want[name] = "waiting"
		}
		if !maps.Equal(states, want) {
			t.Errorf("recovered %t: %v", recovered, states)
		}
		s, err := r.Frontier.Crawl(rigCrawl).Status()
		r.must(err)
		if s.Totals.Loads != 9 || s.Totals.Loaded != 8 || s.Totals.Requisites != 6 || s.Totals.RequisitesArchived != 1 || s.Totals.RequisitesText() != "60.0 % of requisites of pages are archived (9 of 15)" {
			t.Errorf("recovered %t: %+v, %s", recovered, s.Totals, s.Totals.RequisitesText())
		}
		s.Totals.Bytes, s.Totals.RequisiteBytes = 0, 0
		counted = append(counted, s.Totals)
		found := map[string]bool{}
		for _, record := range r.records() {
			for _, line := range []string{"outlink: " + rigSeed + "f.woff E css/url\r\n", "outlink: " + rigSeed + "linked L a/@href\r\n"} {
				found[line] = found[line] || strings.Contains(record, line)
			}
		}
		if slices.Contains(slices.Collect(maps.Values(found)), false) {
			t.Errorf("recovered %t: %v", recovered, found)
		}
		r.check(r.dir)
		lost, err := call[frontier.Totals](r.rig, r.LostTotals, LostTotalsInput{Crawl: rigCrawl, Holder: Holder{Worker: r.Settings.Worker}, Run: 1})
		if err != nil || lost.Loads != 9 || lost.Loaded != 8 || lost.RequisitesArchived != 1 {
			t.Errorf("recovered %t: by the segments %+v, %v", recovered, lost, err)
		}
	}
	if counted[0] != counted[1] {
		t.Errorf("live %+v, recovered %+v", counted[0], counted[1])
	}
}

// panicking is a body on which its decoder panics.
type panicking struct{ io.Reader }

func (p panicking) Read(b []byte) (int, error) {
	if n, err := p.Reader.Read(b); err == nil {
		return n, nil
	}
	panic("a raven")
}

// TestAnswerPanics: a body on which a decoder panics is no answer, and ends no worker.
func TestAnswerPanics(t *testing.T) {
	for _, coding := range []string{"br", "zstd", "deflate", "gzip"} {
		x := crawl.Exchange{Status: 200, Encoding: coding}
		if _, err := answerOf(&x, strings.NewReader("HTTP/1.1 200 OK\r\n\r\n"), panicking{strings.NewReader("\x8b\x01\x80\x00\x01\x02\xff")}); !errors.Is(err, errNotWhole) {
			t.Errorf("%s: %v", coding, err)
		}
	}
}
