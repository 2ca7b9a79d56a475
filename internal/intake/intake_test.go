package intake

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/frontier"
)

const token = "0123456789abcdef"

// rig is a service whose crawls take everything.
type rig struct {
	*testing.T
	*Service
	mu  sync.Mutex
	ids []string
	got [][]frontier.Submission
	err error
	now time.Time
}

func newRig(t *testing.T, edit func(*Limits)) *rig {
	t.Helper()
	r := &rig{T: t, now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	limits := DefaultLimits()
	if edit != nil {
		edit(&limits)
	}
	s, err := New(limits, []string{"another token of ours", token}, r.submit, func() time.Time { return r.now })
	if err != nil {
		t.Fatal(err)
	}
	r.Service = s
	return r
}

func (r *rig) submit(_ context.Context, crawl, id string, list []frontier.Submission) (out []frontier.SubmitAnswer, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.ids, r.got = append(r.ids, id), append(r.got, list)
	for _, u := range list {
		out = append(out, frontier.SubmitAnswer{URL: u.URL, Answer: frontier.SubmitAccepted})
	}
	return out, r.err
}

// post sends a list and returns the code and the body of the answer.
func (r *rig) post(path, body string, header ...string) (int, string) {
	r.Helper()
	req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.Handler().ServeHTTP(w, req)
	return w.Code, w.Body.String()
}

const one = `[{"url": "http://a.example/1", "score": 0.5}]`

func TestSubmit(t *testing.T) {
	r := newRig(t, nil)
	code, body := r.post("/crawls/ravens/urls", `[{"url": "http://a.example/1", "score": 0.25, "via": "http://b.example", "anchor": "a raven"},
		{"url": "ftp://a.example/"}, {"url": "http://[/", "score": 1}, {"url": "http://a.example/2", "blacklisted": true}, {"url": "http://a.example/3", "score": 0}]`)
	if code != http.StatusBadRequest || !strings.Contains(body, `"path":"[1].score"`) || len(r.got) != 0 {
		t.Fatal(code, body)
	}
	code, body = r.post("/crawls/ravens/urls", `[{"url": "http://a.example/1", "score": 0.25, "via": "http://b.example", "anchor": "a raven"},
		{"url": "http://[/", "score": 1}, {"url": "http://u:p@a.example/", "score": 1}, {"url": "http://a.example/2", "blacklisted": true}, {"url": "http://a.example/3", "score": 0}]`)
	var out Answered
	if err := json.Unmarshal([]byte(body), &out); err != nil || code != http.StatusOK {
		t.Fatal(code, body, err)
	}
	if out.Crawl != "ravens" || out.Counts["accepted"] != 3 || out.Counts["malformed"] != 2 || len(out.Answers) != 5 || out.Answers[1].Answer != "malformed" || out.Answers[3].URL != "http://a.example/2" {
		t.Errorf("%+v", out)
	}
	if strings.Contains(body, "u:p") {
		t.Errorf("it shows user and password: %s", body)
	}
	first := r.got[0][0]
	if first.Score != 0.25 || first.Via != "http://b.example/" || first.Anchor != "a raven" || first.Path != "" || !r.got[0][1].Blacklisted || r.ids[0] != "" {
		t.Errorf("%+v", r.got[0])
	}
}

// What is wrong with a request is said by field, and nothing of it is taken.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		path, body string
		header     []string
		err        error
		code       int
		says       string
	}{
		{path: "/crawls/ravens/urls", body: one, header: []string{"Authorization", "Bearer 0123456789abcdeX"}, code: 401, says: "valid token"},
		{path: "/crawls/ravens/urls", body: one, header: []string{"Authorization", token}, code: 401, says: "valid token"},
		{path: "/crawls/ravens/urls", body: one, header: []string{"Authorization", ""}, code: 401, says: "valid token"},
		{path: "/crawls/a%2Fb/urls", body: one, code: 404, says: "can be named"},
		{path: "/crawls/ravens/urls", body: one, err: ErrNoCrawl, code: 404, says: "no such crawl"},
		{path: "/crawls/ravens/urls", body: one, err: ErrEnded, code: 409, says: "has ended"},
		{path: "/crawls/ravens/urls", body: one, err: errors.New("Temporal is away"), code: 502, says: "Temporal is away"},
		{path: "/crawls/ravens/urls", body: one, header: []string{"Content-Type", "text/plain"}, code: 415, says: "Content-Type"},
		{path: "/crawls/ravens/urls", body: one, header: []string{"Idempotency-Key", strings.Repeat("k", 129)}, code: 400, says: "Idempotency-Key"},
		{path: "/crawls/ravens/urls", body: `{"url": 1}`, code: 400, says: "must be a list"},
		{path: "/crawls/ravens/urls", body: `[]`, code: 400, says: "empty"},
		{path: "/crawls/ravens/urls", body: `[` + strings.Repeat(one[1:len(one)-1]+",", 5) + one[1:], code: 413, says: "at most 5"},
		{path: "/crawls/ravens/urls", body: one + strings.Repeat(" ", 2000), code: 413, says: "the body has more than"},
		{path: "/crawls/ravens/urls", body: `[{"score": 1}]`, code: 400, says: `[0].url is missing`},
		{path: "/crawls/ravens/urls", body: `[{"url": "http://a.example/", "score": 1.5}]`, code: 400, says: `[0].score is 1.5`},
		{path: "/crawls/ravens/urls", body: `[{"url": "http://a.example/", "score": "high"}]`, code: 400, says: `[0].score is a string`},
		{path: "/crawls/ravens/urls", body: `[{"url": "http://a.example/", "scor": 1}]`, code: 400, says: `[0].scor is not known`},
		{path: "/crawls/ravens/urls", body: `[{"url": "http://a.example/", "score": 1, "via": "nothing"}]`, code: 400, says: `[0].via is not a URL`},
		{path: "/crawls/ravens/urls", body: `["http://a.example/"]`, code: 400, says: `[0] must be a mapping`},
	} {
		r := newRig(t, func(l *Limits) { l.URLs, l.BodyBytes = 5, 1500 })
		r.err = c.err
		code, body := r.post(c.path, c.body, c.header...)
		var out struct{ Error string }
		if err := json.Unmarshal([]byte(body), &out); err != nil || code != c.code || !strings.Contains(out.Error, c.says) {
			t.Errorf("%s %.60s: %d, %s, want %d: %q", c.path, c.body, code, body, c.code, c.says)
		}
		if c.err == nil && len(r.got) > 0 {
			t.Errorf("%.60s: it is submitted", c.body)
		}
	}
}

// A request with a key is submitted once, under an id of the key and the crawl; as long as the key is remembered.
func TestIdempotency(t *testing.T) {
	r := newRig(t, func(l *Limits) { l.Keys = 2 })
	post := func(crawl, key, body string) (int, string) {
		t.Helper()
		return r.post("/crawls/"+crawl+"/urls", body, "Idempotency-Key", key)
	}
	r.err = errors.New("Temporal is away")
	if code, _ := post("ravens", "k", one); code != 502 {
		t.Fatal(code)
	}
	r.err = nil
	_, first := post("ravens", "k", one)
	if code, again := post("ravens", "k", one); code != 200 || again != first || len(r.got) != 2 || r.ids[0] != r.ids[1] {
		t.Errorf("%d, %s, %q", code, again, r.ids)
	}
	if code, body := post("ravens", "k", `[{"url": "http://a.example/other", "score": 1}]`); code != 422 || !strings.Contains(body, "another list") {
		t.Error(code, body)
	}
	if post("crows", "k", one); len(r.ids) != 3 || r.ids[2] == r.ids[1] {
		t.Errorf("ids %q", r.ids)
	}
	post("ravens", "l", one)
	post("ravens", "m", one)
	if r.keys.by.Len() > 2 {
		t.Errorf("%d keys are remembered", r.keys.by.Len())
	}
	if post("ravens", "k", one); len(r.ids) != 6 || r.ids[5] != r.ids[0] {
		t.Errorf("a key that is forgotten gives the id %q", r.ids)
	}
	r.now = r.now.Add(25 * time.Hour)
	if post("ravens", "m", one); len(r.ids) != 7 || r.keys.by.Len() != 1 {
		t.Errorf("%d submitted, %d keys are remembered", len(r.ids), r.keys.by.Len())
	}
}

// Of requests with one key at a time, one is submitted, and the others wait for its answer.
// TestAnswersAreBounded: the oldest answers are forgotten when all together take more than is allowed.
func TestAnswersAreBounded(t *testing.T) {
	r := newRig(t, func(l *Limits) { l.KeyBytes = 290 })
	for n, held := range []int{1, 2, 2, 2} { // of 90, 100, 110 and 120 bytes
		body := fmt.Sprintf(`[{"url": "http://a.example/%0*d", "score": 0.5}]`, 1+10*n, n)
		if code, text := r.post("/crawls/ravens/urls", body, "Idempotency-Key", fmt.Sprint(n)); code != 200 {
			t.Fatal(code, text)
		}
		if r.keys.by.Len() != held || r.keys.bytes > 290 {
			t.Errorf("after answer %d %d are remembered, %d bytes; want %d", n, r.keys.by.Len(), r.keys.bytes, held)
		}
	}
	long := `[{"url": "http://a.example/` + strings.Repeat("x", 400) + `", "score": 0.5}]`
	if r.post("/crawls/ravens/urls", long, "Idempotency-Key", "long"); r.keys.by.Len() != 0 || r.keys.bytes != 0 {
		t.Errorf("%d answers are remembered, %d bytes", r.keys.by.Len(), r.keys.bytes)
	}
}

// TestIdempotencyAfterRestart: another process, which does not remember the key, names the update of the same list alike, and that of
// another list otherwise: Temporal would answer it as it answered the first.
func TestIdempotencyAfterRestart(t *testing.T) {
	ids := map[string]string{}
	for _, body := range []string{one, one, strings.Replace(one, "0.5", "0.6", 1)} {
		r := newRig(t, nil)
		if code, text := r.post("/crawls/ravens/urls", body, "Idempotency-Key", "k"); code != 200 {
			t.Fatal(code, text)
		}
		if was, known := ids[body]; known && was != r.ids[0] {
			t.Errorf("the same list has the update %s, then %s", was, r.ids[0])
		}
		ids[body] = r.ids[0]
	}
	if len(ids) != 2 || ids[one] == ids[strings.Replace(one, "0.5", "0.6", 1)] {
		t.Errorf("updates %v", ids)
	}
}

func TestIdempotencyAtOnce(t *testing.T) {
	r := newRig(t, nil)
	r.mu.Lock() // nothing is answered yet
	answers := make(chan string, 5)
	for range cap(answers) {
		go func() {
			code, body := r.post("/crawls/ravens/urls", one, "Idempotency-Key", "k")
			answers <- fmt.Sprint(code, body)
		}()
	}
	r.mu.Unlock()
	first := <-answers
	for range cap(answers) - 1 {
		if next := <-answers; next != first {
			t.Errorf("%s, want %s", next, first)
		}
	}
	if len(r.got) != 1 {
		t.Errorf("%d were submitted", len(r.got))
	}
}

// Callers without a token use up only what is theirs.
func TestRate(t *testing.T) {
	r := newRig(t, func(l *Limits) { l.Rate, l.Burst = 2, 3 })
	codes := func(n int, header ...string) (list []int) {
		for range n {
			code, _ := r.post("/crawls/ravens/urls", one, header...)
			list = append(list, code)
		}
		return list
	}
	if got := fmt.Sprint(codes(5, "Authorization", "")); got != "[401 401 401 429 429]" {
		t.Error(got)
	}
	if got := fmt.Sprint(codes(4)); got != "[200 200 200 429]" {
		t.Error(got)
	}
	r.now = r.now.Add(time.Second)
	if got := fmt.Sprint(codes(3)); got != "[200 200 429]" {
		t.Error(got)
	}
}

func TestTokens(t *testing.T) {
	for _, tokens := range [][]string{nil, {"short"}, {token, "short"}} {
		if _, err := New(DefaultLimits(), tokens, nil, nil); err == nil {
			t.Errorf("tokens %q are taken", tokens)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(one)
	f.Add(`[{"url": "http://a.example/", "blacklisted": true, "via": "x"}, 3]`)
	f.Fuzz(func(t *testing.T, body string) {
		s, err := New(DefaultLimits(), []string{token}, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, list, err := s.read(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/crawls/c/urls", strings.NewReader(body)))
		for _, u := range list {
			if err == nil && (u.URL == "" || !(u.Score >= 0 && u.Score <= 1)) {
				t.Errorf("%q gives %+v", body, u)
			}
		}
	})
}
