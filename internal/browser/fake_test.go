package browser

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/internal/urls"
)

// TestMain plays a browser where it is started like one.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "--remote-debugging-pipe") {
		playBrowser(strings.TrimPrefix(os.Args[len(os.Args)-1], "--play="))
		return
	}
	os.Exit(m.Run())
}

// fake is a pool of programs that play a browser, in a way that has a name.
func fake(t *testing.T, way string) *Pool {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return scripted(t, `exec "`+self+`" "$@" --play=`+way)
}

// scripted is a pool whose program is a script of the shell.
func scripted(t *testing.T, script string) *Pool {
	t.Helper()
	path := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	p, err := New(Program{Path: path, Folder: filepath.Join(t.TempDir(), "browsers[1]")}, DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// playBrowser answers commands as Chromium does for a page that says "well".
func playBrowser(way string) {
	in, out := bufio.NewReader(os.NewFile(3, "commands")), os.NewFile(4, "answers")
	say := func(format string, args ...any) { _, _ = fmt.Fprintf(out, format+"\x00", args...) }
	const document = "<p>well</p>"
	for {
		raw, err := in.ReadBytes(0)
		if err != nil {
			return
		}
		var m message
		_ = json.Unmarshal(raw[:len(raw)-1], &m)
		script := string(m.Params)
		result := map[string]string{
			"Target.createBrowserContext": `{"browserContextId":"c"}`, "Target.createTarget": `{"targetId":"t"}`, "Target.attachToTarget": `{"sessionId":"s"}`,
			"Page.navigate": `{"frameId":"t"}`, "Page.createIsolatedWorld": `{"executionContextId":1}`,
		}[m.Method]
		switch {
		case m.Method == "Page.navigate":
			playPage(way, say)
			if way == "deaf" { // it reads no more
				select {}
			}
		case m.Method == "Target.disposeBrowserContext" && way == "polls":
			say(`{"method":"Fetch.requestPaused","sessionId":"s","params":{"requestId":"9","frameId":"t","resourceType":"Fetch","request":{"url":"http://a.test/news","method":"GET"}}}`)
		case m.Method == "Target.disposeBrowserContext" && way == "unclosed":
			say(`{"id":%d,"error":{"message":"no"}}`, m.ID)
			continue
		case m.Method == "Page.captureScreenshot":
			result = `{"data":"eA=="}`
		case m.Method != "Runtime.evaluate":
		case strings.Contains(script, "readyState"):
			result = `{"result":{"value":true}}`
		case strings.Contains(script, "globalThis.kept = text"):
			size := len(document)
			if way == "long-document" {
				size = maxDocument + 1
			}
			result = fmt.Sprintf(`{"result":{"value":%d}}`, size)
		case strings.Contains(script, "charCodeAt"):
			result = fmt.Sprintf(`{"result":{"value":{"text":"%s","end":%d}}}`, document, len(document))
		case strings.Contains(script, "scrollTo(0, 0)") && way == "tall":
			result = fmt.Sprintf(`{"result":{"value":%d}}`, maxHeight+1)
		case strings.Contains(script, "new Set"):
			result = `{"result":{"value":[]}}`
		case strings.Contains(script, "location.hash"):
			result = `{"result":{"value":""}}`
		default:
			result = `{"result":{"value":0}}`
		}
		if result == "" {
			result = "{}"
		}
		say(`{"id":%d,"result":%s}`, m.ID, result)
	}
}

// playPage is what a page does that is opened.
func playPage(way string, say func(format string, args ...any)) {
	paused := func(n int, kind, frame, method, url, body string) {
		say(`{"method":"Fetch.requestPaused","sessionId":"s","params":{"requestId":"%d","frameId":"%s","resourceType":"%s","request":{"url":"%s","method":"%s","headers":{},"postData":"%s"}}}`, n, frame, kind, url, method, body)
	}
	paused(0, "Document", "t", "GET", "http://a.test/", "")
	way, mark, _ := strings.Cut(way, "=")
	switch way {
	case "queries": // 100 MB in all
		body := strings.Repeat("x", 1<<14)
		for n := range 3 * maxQueries {
			paused(n+1, "Fetch", "t", []string{"POST", "GET"}[n%2], fmt.Sprintf("http://a.test/%d", n), body)
		}
		_ = os.WriteFile(mark, nil, 0o600)
	case "leaves":
		for n := range 10 * maxLeft {
			paused(n+1, "Document", "t", "GET", fmt.Sprintf("http://a.test/%d?%s", n/2, strings.Repeat("x", n%3*urls.MaxPage/2)), "")
		}
	case "long":
		long := strings.Repeat("x", 1<<20)
		say(`{"method":"Runtime.consoleAPICalled","sessionId":"s","params":{"text":"%s"}}`, strings.Repeat(long, maxMessage>>20))
	case "crashes":
		say(`{"method":"Inspector.targetCrashed","sessionId":"s","params":{}}`)
		paused(1, "Image", "t", "GET", "http://a.test/held", "")
	case "asks":
		paused(1, "Image", "t", "GET", "http://a.test/held", "")
	case "dies":
		os.Exit(1)
	}
}

// held answers requests but those of /held, which wait for their end.
func held(ctx context.Context, r Request) (Response, error) {
	if strings.HasSuffix(r.URL, "/held") {
		<-ctx.Done()
	}
	return Response{Status: 200}, nil
}

// TestQueue: requests that a page makes faster than they are answered do not pile up, and their bodies are not kept.
func TestQueue(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "all")
	p := fake(t, "queries="+mark)
	grown, asked := heap(), 0
	shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: func(ctx context.Context, r Request) (Response, error) {
		if asked++; asked == 1 { // all others come meanwhile
			await(t, ctx, mark)
		}
		return Response{Status: 200}, nil
	}})
	if most := grown(); most > 40<<20 {
		t.Errorf("the heap grows by %d MiB", most>>20)
	}
	if err != nil || asked > maxQueries || asked < maxQueries/2 || shown.Blocked != 3*maxQueries+1-asked {
		t.Errorf("%d are answered, %d are not, %v", asked, shown.Blocked, err)
	}
}

// await waits for a file.
func await(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
		select {
		case <-ctx.Done():
			t.Errorf("%s does not come", name)
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// TestLeft: of the URLs that a page wants to go to the first are known, each once, and none that is too long.
func TestLeft(t *testing.T) {
	shown, err := fake(t, "leaves").Open(t.Context(), Job{URL: "http://a.test/", Load: held})
	if err != nil || len(shown.Left) != maxLeft || shown.Left[0] != "http://a.test/0?" {
		t.Errorf("%d, %v", len(shown.Left), err)
	}
	slices.Sort(shown.Left)
	if len(slices.Compact(shown.Left)) != maxLeft || slices.ContainsFunc(shown.Left, func(u string) bool { return len(u) > urls.MaxPage }) {
		t.Errorf("%q", shown.Left)
	}
}

// TestTruncated: of what a page shows it is known what was cut off, and why.
func TestTruncated(t *testing.T) {
	for way, want := range map[string][2]string{"well": {"", ""}, "long-document": {"length", ""}, "tall": {"", "length"}, "asks": {"time", "time"}} {
		p := fake(t, way)
		p.limits.Time = 2 * time.Second
		shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held})
		if got := [2]string{shown.DocumentTruncated, shown.PictureTruncated}; err != nil || got != want || len(shown.Document) == 0 || string(shown.Picture) != "x" {
			t.Errorf("%s: %q, want %q; %v", way, got, want, err)
		}
	}
}

// TestFaults: what ends a page is said, and the next is shown by another browser.
func TestFaults(t *testing.T) {
	for way, want := range map[string]string{"long": errLong.Error(), "crashes": "the browser gave no document: " + errCrashed.Error(), "dies": ErrDied.Error()} {
		p := fake(t, way)
		begun := time.Now()
		if _, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held}); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %q", way, err, want)
		}
		if took := time.Since(begun); took > p.limits.Time/2 {
			t.Errorf("%s: it takes %s", way, took)
		}
	}
}

// TestLateLoad: what a page still asks for when its document is read holds its browser no longer.
func TestLateLoad(t *testing.T) {
	p := fake(t, "asks")
	p.limits.Time = time.Second
	var ended error
	shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: func(ctx context.Context, r Request) (Response, error) {
		answer, err := held(ctx, r)
		if strings.HasSuffix(r.URL, "/held") {
			ended = context.Cause(ctx)
		}
		return answer, err
	}})
	if err != nil || !shown.Cut || string(shown.Document) != "<p>well</p>" || !errors.Is(ended, context.Canceled) {
		t.Errorf("%q, cut %t, %v; the load ended: %v", shown.Document, shown.Cut, err, ended)
	}
}

// TestUnclosed: a browser that does not close a page shows no other.
func TestUnclosed(t *testing.T) {
	p := fake(t, "unclosed")
	for range 2 {
		if shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held}); err != nil || string(shown.Document) != "<p>well</p>" {
			t.Errorf("%q, %v", shown.Document, err)
		}
		if b := <-p.free; b != nil {
			t.Error("it is kept")
		}
		p.free <- nil
	}
}

// TestPolls: a page that asks for something while it is closed does not hold its browser.
func TestPolls(t *testing.T) {
	p := fake(t, "polls")
	if shown, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held}); err != nil || string(shown.Document) != "<p>well</p>" {
		t.Errorf("%q, %v", shown.Document, err)
	}
	b := <-p.free
	if b == nil {
		t.Error("the browser is ended")
	}
	p.free <- b
}

// TestDeaf: a browser that reads nothing more holds neither the page nor the worker when the time of the page is over.
func TestDeaf(t *testing.T) {
	b, err := launch(t.Context(), fake(t, "deaf").program, 1<<30, false)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err = b.show(ctx, Job{URL: "http://a.test/", Load: func(context.Context, Request) (Response, error) {
		go func() { // when the answer is being written
			for b.conn.write.TryLock() {
				b.conn.write.Unlock()
				time.Sleep(time.Millisecond)
			}
			cancel()
		}()
		return Response{Status: 200, Body: make([]byte, 1<<20)}, nil
	}}, DefaultLimits())
	if !errors.Is(err, context.Canceled) || !b.lost() {
		t.Errorf("%v, the browser is lost: %t", err, b.lost())
	}
	<-b.done
}

// TestStart: a program that does not start is no page's fault, and is said when it happens repeatedly; it leaves nothing.
func TestStart(t *testing.T) {
	p := scripted(t, "echo no room >&2; exit 1")
	for n := range maxFailures {
		if why := p.Fault(); why != "" {
			t.Errorf("after %d: %q", n, why)
		}
		_, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held})
		if !errors.As(err, new(*StartError)) || !strings.Contains(err.Error(), "it ended at once, and said: no room") {
			t.Errorf("%v", err)
		}
	}
	if why := p.Fault(); !strings.Contains(why, p.program.Path) || !strings.Contains(why, "no room") {
		t.Errorf("%q", why)
	}
	if left, err := os.ReadDir(p.program.Folder); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// TestStartEnds: a program that says nothing does not hold a worker that stops.
func TestStartEnds(t *testing.T) {
	mark := filepath.Join(t.TempDir(), "started")
	p := scripted(t, `echo > "`+mark+`"; exec sleep 100`)
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		await(t, t.Context(), mark)
		cancel()
	}()
	begun := time.Now()
	if _, err := p.Open(ctx, Job{URL: "http://a.test/", Load: held}); !errors.Is(err, context.Canceled) || errors.As(err, new(*StartError)) {
		t.Errorf("%v", err)
	}
	if took := time.Since(begun); took > startTime/2 {
		t.Errorf("it takes %s", took)
	}
	if why := p.Fault(); why != "" || p.failures > 0 {
		t.Errorf("%d failures, %q", p.failures, why)
	}
}

// TestStartsAgain: after a while a browser is started without a page, and only if it does start pages are fetched again.
func TestStartsAgain(t *testing.T) {
	p := fake(t, "well")
	start := p.program.Path
	p.program.Path = filepath.Join(t.TempDir(), "chromium")
	for range maxFailures {
		_, _ = p.Open(t.Context(), Job{URL: "http://a.test/", Load: held})
	}
	tries := func(failures int) { // the next look starts one
		t.Helper()
		p.mu.Lock()
		p.failed = p.failed.Add(-2 * failureTime)
		p.mu.Unlock()
		if why := p.Fault(); why == "" {
			t.Error("there is no fault before one has started")
		}
		for trying := true; trying; time.Sleep(time.Millisecond) {
			p.mu.Lock()
			trying = p.trying
			p.mu.Unlock()
		}
		if p.failures != failures || (p.Fault() == "") != (failures == 0) {
			t.Errorf("%d failures, want %d; %q", p.failures, failures, p.Fault())
		}
	}
	tries(maxFailures + 1)
	p.program.Path = start
	tries(0)
	b := <-p.free
	if b == nil {
		t.Error("the browser is not kept for the next page")
	}
	p.free <- b
}

// TestIsolated: a browser that does not start in a network namespace is started without one; the next is tried in one again, until several in a row have failed so.
func TestIsolated(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.Readlink("/proc/self/ns/net")
	if err != nil {
		t.Skip("this system has no network namespaces")
	}
	tries, ends := filepath.Join(t.TempDir(), "tries"), filepath.Join(t.TempDir(), "ends")
	p := scripted(t, `echo >> "`+tries+`"; [ -e "`+ends+`" ] && [ "$(readlink /proc/self/ns/net)" != "`+own+`" ] && exit 1; exec "`+self+`" "$@" --play=well`)
	warned := 0
	p.program.Warn = func(string, ...any) { warned++ }
	count := 0
	begins := func(starts, warnings int) {
		t.Helper()
		b, err := p.start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		b.end()
		raw, err := os.ReadFile(tries)
		if len(raw) != count+starts || err != nil || warned != warnings {
			t.Errorf("%d starts, %d warnings, %v; want %d, %d", len(raw)-count, warned, err, starts, warnings)
		}
		count = len(raw)
	}
	write := func() {
		if err := os.WriteFile(ends, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write()
	begins(2, 1)
	if err := os.Remove(ends); err != nil {
		t.Fatal(err)
	}
	begins(1, 1)
	write()
	for n := range maxFailures {
		begins(2, 2+n)
	}
	begins(1, 1+maxFailures)
	p.open = time.Now().Add(-time.Second) // that time is over
	begins(2, 2+maxFailures)
	begins(1, 2+maxFailures)
}

// TestProfiles: a browser knows no secrets of the worker, a pool that is closed leaves nothing, and one that begins deletes what a killed worker has left.
func TestProfiles(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("MUNINN_S3_SECRET_KEY", "raven")
	env := filepath.Join(t.TempDir(), "env")
	p := scripted(t, `env > "`+env+`"; exec "`+self+`" "$@" --play=well`)
	if _, err := p.Open(t.Context(), Job{URL: "http://a.test/", Load: held}); err != nil {
		t.Fatal(err)
	}
	said, err := os.ReadFile(env)
	if err != nil || strings.Contains(string(said), "raven") || !strings.Contains(string(said), "HOME="+p.program.Folder) || !strings.Contains(string(said), "PATH=") {
		t.Errorf("%s, %v", said, err)
	}
	folder := func() int {
		list, err := os.ReadDir(p.program.Folder)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	if n := folder(); n != 1 {
		t.Errorf("%d profiles", n)
	}
	p.Close()
	if n := folder(); n != 0 {
		t.Errorf("%d profiles are left", n)
	}
	if err := os.MkdirAll(filepath.Join(p.program.Folder, profiles+"1", "Default"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := New(p.program, DefaultLimits()); err != nil || folder() != 0 {
		t.Errorf("%d old profiles, %v", folder(), err)
	}
}
