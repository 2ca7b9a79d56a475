package activities

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
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
	got := answerOf(&x, strings.NewReader(head), strings.NewReader("3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"))
	if got.Status != 200 || string(got.Body) != "abcde" || len(got.Header) != 2 || got.Header[0] != [2]string{"Content-Type", "text/plain"} || got.Header[1] != [2]string{"X-Raven", "a: b"} {
		t.Errorf("%+v, %q", got, got.Body)
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
		return browser.Shown{Document: []byte("<title>shown</title>")}, nil
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
