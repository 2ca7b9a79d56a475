package activities

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/crawl"
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
