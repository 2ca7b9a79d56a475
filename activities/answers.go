package activities

import (
	"bytes"
	"io"
	"strings"
	"sync"

	"github.com/muninn-archive/muninn/internal/browser"
	"github.com/muninn-archive/muninn/internal/cache"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/fetch"
	"github.com/muninn-archive/muninn/internal/pipeline"
	"github.com/muninn-archive/muninn/internal/spool"
)

// answers are what pages that are open were answered with: what pages share is asked for once. The least recently used are forgotten beyond maxAnswers. The zero answers are
// ready.
type answers struct {
	mu      sync.Mutex
	entries *cache.LRU[answerKey, browser.Response]
	bytes   int
	reading sync.Mutex // one answer is read at a time: each lane may have one
}

type answerKey struct {
	archive string
	run     uint32
	url     string
}

// Bounds of what is kept for pages that are open.
const (
	maxAnswer        = 16 << 20 // bytes of an answer, without its encodings as well
	maxAnswers       = 64 << 20 // bytes of the answers of all crawls that stay in memory
	maxAnswerEntries = 10_000   // answers that stay in memory
)

func (a *answers) get(key answerKey) (browser.Response, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil {
		return browser.Response{}, false
	}
	return a.entries.Get(key)
}

func (a *answers) put(key answerKey, r browser.Response) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.entries == nil {
		a.entries = cache.NewLRU(maxAnswerEntries, func(_ answerKey, r browser.Response) { a.bytes -= len(r.Body) })
	}
	a.entries.Remove(key)
	a.entries.Put(key, r)
	for a.bytes += len(r.Body); a.bytes > maxAnswers && a.entries.Len() > 1; {
		a.entries.RemoveOldest()
	}
}

func (a *answers) clear() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.entries, a.bytes = nil, 0
}

// answerKey is what an answer is known by: each run of a crawl asks for itself, and each archive has all of it.
func (r *requisites) answerKey(url string) answerKey { return answerKey{r.archive, r.planned.Run, url} }

// lasts reports whether an exchange may answer all pages of its run: it is archived, whole, and what the host would say again. A 304 is no answer to a page, which has asked
// without condition.
func lasts(x *crawl.Exchange, size int64) bool {
	return x.Status != 304 && !inTrouble(x.Status) && x.Outcome.Kind == crawl.OutcomeDone && x.Truncated == "" && x.Status >= 200 && x.Status < 500 && size <= maxAnswer
}

// inTrouble reports whether a status says that the same request may be answered otherwise at another time.
func inTrouble(status int) bool {
	switch status {
	case 408, 425, 429, 503:
		return true
	}
	return false
}

// remember keeps an exchange as an answer to pages of the same run, if it lasts, and to the page that has just asked for it.
func (r *requisites) remember(x *fetch.Exchange, e *spool.Entry) {
	loaded := x.Kind == crawl.ExchangeLoaded
	if !r.browses() || x.Response == nil || loaded && x.Outcome.Kind != crawl.OutcomeDone || !loaded && (x.Kind != crawl.ExchangePage || !crawl.IsRequisite(x.Path)) {
		return
	}
	var answer browser.Response
	var err error
	switch {
	case lasts(&x.Exchange, x.Size):
		if answer, err = r.a.pageAnswers.keep(r.answerKey(x.URL), &x.Exchange, x.Head(), x.Body()); err != nil {
			r.failed[x.URL] = true
			return
		}
		r.mu.Lock()
		r.answers[x.URL] = e
		r.mu.Unlock()
	case loaded && x.Truncated == "" && x.Size <= maxAnswer && x.Status != 304:
		answer, err = answerOf(&x.Exchange, x.Head(), x.Body())
	default:
		return
	}
	if loaded && err == nil {
		r.answered = &answer
	}
}

// answerTo is what a page gets that asks for a URL that the run has fetched: it lies in memory, or in the spool of the batch.
func (r *requisites) answerTo(url string) (browser.Response, bool) {
	key := r.answerKey(url)
	if known, is := r.a.pageAnswers.get(key); is {
		return known, true
	}
	r.mu.Lock()
	e := r.answers[url]
	r.mu.Unlock()
	if e == nil {
		return browser.Response{}, false
	}
	known, err := r.a.pageAnswers.keep(key, &e.Exchange, e.Header(), e.Body())
	return known, err == nil
}

// keep reads an answer, and puts it if it is whole.
func (a *answers) keep(key answerKey, x *crawl.Exchange, head, body io.Reader) (browser.Response, error) {
	a.reading.Lock()
	defer a.reading.Unlock()
	answer, err := answerOf(x, head, body)
	if err == nil {
		a.put(key, answer)
	}
	return answer, err
}

// answerOf is an exchange as a browser takes it: without its encodings, and the header fields that speak of them or of the connection. Half a script is worse than
// none: what is too long without its encodings, or breaks off, is no answer.
func answerOf(x *crawl.Exchange, head, body io.Reader) (browser.Response, error) {
	r := browser.Response{Status: x.Status}
	raw, _ := io.ReadAll(head)                   // what cannot be read ARCHIVE reports
	_, fields, _ := bytes.Cut(raw, []byte("\n")) // after the status line
	for line := range bytes.Lines(fields) {
		name, value, is := bytes.Cut(line, []byte(":"))
		if !is || len(bytes.TrimSpace(name)) != len(name) {
			continue
		}
		switch strings.ToLower(string(name)) {
		case "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "trailer", "upgrade", "strict-transport-security", "alt-svc":
			continue
		}
		r.Header = append(r.Header, [2]string{string(name), strings.ToValidUTF8(string(bytes.TrimSpace(value)), "?")})
	}
	var err error
	if r.Body, err = pipeline.DecodedBody(x, body, maxAnswer+1); err != nil || len(r.Body) > maxAnswer {
		return browser.Response{}, errNotWhole
	}
	return r, nil
}
