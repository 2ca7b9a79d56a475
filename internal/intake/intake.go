// Package intake is the scored-URL service (paper §4.4): other programs hand URLs with their scores to running crawls, over HTTP and JSON.
// It knows nothing of Temporal: its caller says how a list reaches its crawl.
package intake

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// Limits of the service.
type Limits struct {
	BodyBytes int64         // of a request
	URLs      int           // of a list
	Rate      float64       // requests a second, of all callers together; those without a valid token have another such number
	Burst     int           // requests that may come at once beyond the rate
	Keys      int           // idempotency keys that are remembered
	KeyBytes  int64         // of the answers that are remembered for them
	KeyTime   time.Duration // for how long
	Answer    time.Duration // how long a crawl may take to answer
}

// DefaultLimits are those of `muninn intake`.
func DefaultLimits() Limits {
	return Limits{BodyBytes: 4 << 20, URLs: 10_000, Rate: 20, Burst: 40, Keys: 10_000, KeyBytes: 64 << 20, KeyTime: 24 * time.Hour, Answer: time.Minute}
}

// MinToken is the least length of a token, in bytes.
const MinToken = 16

// maxKey is the greatest length of an idempotency key, in bytes.
const maxKey = 128

// The errors of Submit that say something of the crawl.
var (
	ErrNoCrawl = errors.New("there is no such crawl")
	ErrEnded   = errors.New("the crawl has ended, or is ending: start it again, and submit while it runs")
)

// Submit hands a list to a crawl and returns the answer to each URL, in their order. What is submitted under one id once more gets the
// same answers and changes nothing; an empty id is that of no other list.
type Submit func(ctx context.Context, crawl, id string, list []frontier.Submission) ([]frontier.SubmitAnswer, error)

// Service answers requests.
type Service struct {
	limits  Limits
	tokens  [][sha256.Size]byte
	submit  Submit
	now     func() time.Time
	known   *bucket // of callers with a token
	unknown *bucket // of others
	keys    *keys
}

// New makes a service for callers with one of the tokens. now may be nil.
func New(limits Limits, tokens []string, submit Submit, now func() time.Time) (*Service, error) {
	if now == nil {
		now = time.Now
	}
	s := &Service{limits: limits, submit: submit, now: now, known: newBucket(limits), unknown: newBucket(limits)}
	for _, t := range tokens {
		if len(t) < MinToken {
			return nil, fmt.Errorf("a token has %d bytes, at least %d are needed", len(t), MinToken)
		}
		s.tokens = append(s.tokens, sha256.Sum256([]byte(t)))
	}
	if len(s.tokens) == 0 {
		return nil, errors.New("there is no token: nobody could submit anything")
	}
	s.keys = newKeys(limits, now)
	return s, nil
}

// Handler serves POST /crawls/{crawl}/urls and GET /healthz.
func (s *Service) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /crawls/{crawl}/urls", s.urls)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	return mux
}

// Answered is the answer to a list.
type Answered struct {
	Crawl   string                  `json:"crawl"`
	Counts  map[string]int          `json:"counts"`  // of each answer
	Answers []frontier.SubmitAnswer `json:"answers"` // in the order of the list
}

// refusal is why a request is refused as a whole.
type refusal struct {
	code    int
	Message string       `json:"error"`
	Faults  crawl.Faults `json:"faults,omitempty"` // by field, such as "[3].score"
}

func (r *refusal) Error() string { return r.Message }

func refuse(code int, format string, args ...any) *refusal {
	return &refusal{code: code, Message: fmt.Sprintf(format, args...)}
}

func (s *Service) urls(w http.ResponseWriter, r *http.Request) {
	code, out := http.StatusOK, any(nil)
	answered, err := s.serve(w, r)
	var refused *refusal
	switch {
	case errors.As(err, &refused):
		code, out = refused.code, refused
	case err != nil:
		code, out = http.StatusBadGateway, &refusal{Message: err.Error()}
	default:
		out = answered
	}
	switch code {
	case http.StatusUnauthorized:
		w.Header().Set("WWW-Authenticate", `Bearer realm="muninn"`)
	case http.StatusTooManyRequests:
		w.Header().Set("Retry-After", strconv.Itoa(int(1+1/s.limits.Rate)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(out) // the caller may be gone
}

func (s *Service) serve(w http.ResponseWriter, r *http.Request) (*Answered, error) {
	bucket, known := s.known, s.authorised(r)
	if !known {
		bucket = s.unknown
	}
	switch {
	case !bucket.take(s.now()):
		return nil, refuse(http.StatusTooManyRequests, "more than %v requests a second: wait, and send longer lists", s.limits.Rate)
	case !known:
		return nil, refuse(http.StatusUnauthorized, "give a valid token: Authorization: Bearer TOKEN")
	}
	name, key := r.PathValue("crawl"), r.Header.Get("Idempotency-Key")
	if !crawl.ValidName(name) {
		return nil, refuse(http.StatusNotFound, "no crawl can be named %q", name)
	}
	if len(key) > maxKey {
		return nil, refuse(http.StatusBadRequest, "the header Idempotency-Key has %d bytes, at most %d are allowed", len(key), maxKey)
	}
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); r.Header.Get("Content-Type") != "" && (err != nil || kind != "application/json") {
		return nil, refuse(http.StatusUnsupportedMediaType, "the header Content-Type is %q, must be application/json", r.Header.Get("Content-Type"))
	}
	body, list, err := s.read(w, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), s.limits.Answer)
	defer cancel()
	if key == "" {
		return s.hand(ctx, name, "", list)
	}
	sum := sha256.Sum256(body)
	// The list is in the name of the update: Temporal answers a repeated name by what it answered first, also when this process has
	// forgotten the key.
	id := hashed(name, key, string(sum[:]))
	return s.keys.once(ctx, hashed(name, key), sum, func() (*Answered, error) { return s.hand(ctx, name, id, list) })
}

// hashed makes a name of 32 digits.
func hashed(parts ...string) string {
	return fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(parts, "\x00"))))[:32]
}

// authorised reports whether a request has one of the tokens. It takes the same time whichever it has.
func (s *Service) authorised(r *http.Request) bool {
	given, bearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	sum, found := sha256.Sum256([]byte(given)), 0
	for _, t := range s.tokens {
		found |= subtle.ConstantTimeCompare(sum[:], t[:])
	}
	return bearer && found == 1
}

// hand submits the URLs that a crawl can take, and answers the others itself.
func (s *Service) hand(ctx context.Context, name, id string, list []frontier.Submission) (*Answered, error) {
	out := &Answered{Crawl: name, Counts: map[string]int{}, Answers: make([]frontier.SubmitAnswer, len(list))}
	var taken []frontier.Submission
	var at []int
	for i := range list {
		if out.Answers[i] = frontier.CheckSubmission(list[i].URL); out.Answers[i].Answer == "" {
			taken, at = append(taken, list[i]), append(at, i)
		}
	}
	if len(taken) > 0 {
		answers, err := s.submit(ctx, name, id, taken)
		switch {
		case errors.Is(err, ErrNoCrawl):
			return nil, refuse(http.StatusNotFound, "%s: %v", name, err)
		case errors.Is(err, ErrEnded):
			return nil, refuse(http.StatusConflict, "%s: %v", name, err)
		case ctx.Err() != nil:
			return nil, refuse(http.StatusGatewayTimeout, "the crawl has not answered for %v; send the list again, with the same Idempotency-Key", s.limits.Answer)
		case err != nil:
			return nil, err
		case len(answers) != len(taken):
			return nil, fmt.Errorf("the crawl has answered %d of %d URLs", len(answers), len(taken))
		}
		for i, a := range answers {
			out.Answers[at[i]] = a
		}
	}
	for _, a := range out.Answers {
		out.Counts[a.Answer]++
	}
	return out, nil
}
