package cdx

import (
	"bufio"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// maxScan is how many captures in a row a query looks at that do not fit: some seconds.
const maxScan = 1_000_000

// maxTime bounds the time that a query looks for captures, without that in which the client takes its lines.
const maxTime = time.Minute

// errEnough ends a query that has as many lines as it may.
var errEnough = errors.New("enough")

type server struct{ catalogue catalogue.Catalogue }

// New serves the captures of a catalogue under whatever path it is mounted at. It answers GET and HEAD with lines in one of the formats of
// the parameter output, and with status 400 and {"parameter", "message"} if a parameter is wrong.
func New(c catalogue.Catalogue) http.Handler { return server{c} }

func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		fail(w, http.StatusMethodNotAllowed, "", "the method is neither GET nor HEAD")
		return
	}
	params, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		fail(w, http.StatusBadRequest, "", "the query string cannot be read: "+err.Error())
		return
	}
	q, err := parse(params)
	if err != nil {
		failWith(w, err)
		return
	}
	w.Header().Set("Content-Type", q.output.mime)
	if r.Method == http.MethodHead {
		return
	}
	out := &answer{w: w, lines: bufio.NewWriterSize(w, 32<<10), q: &q}
	if q.collapse != nil {
		q.Admits = out.differs
	}
	err = s.catalogue.Query(r.Context(), q.Query, out.take)
	if errors.Is(err, errEnough) {
		err = out.resume()
	}
	if err != nil && !out.sent {
		failWith(w, err)
		return
	}
	if errors.Join(err, out.lines.Flush()) != nil {
		panic(http.ErrAbortHandler) // the client sees that the answer is not whole
	}
}

// answer writes the lines of an answer.
type answer struct {
	w     http.ResponseWriter
	lines *bufio.Writer
	q     *request
	n     int
	last  catalogue.Entry
	group string // of the last line, by which lines are collapsed
	sent  bool   // the client has, or may have, a part of the answer
}

// differs reports whether a capture is not one line with the one before it.
func (a *answer) differs(e *catalogue.Entry) bool {
	group := a.q.collapse(e)
	if a.n > 0 && group == a.group {
		a.last = *e
		return false
	}
	a.group = group
	return true
}

func (a *answer) take(e catalogue.Entry) error {
	if a.n > 0 && a.n == a.q.limit { // the first one of the next group
		return errEnough
	}
	a.n++
	a.last = e
	raw, err := a.q.output.line(&e, a.q.fields)
	if err == nil {
		a.sent = a.sent || a.lines.Available() < len(raw)
		_, err = a.lines.Write(raw)
	}
	if err == nil && a.n == a.q.limit && a.q.collapse == nil {
		err = errEnough
	}
	return err
}

// resume writes where the next page begins, if that was asked for.
func (a *answer) resume() error {
	if !a.q.showResumeKey {
		return nil
	}
	key := a.last.Cursor()
	if a.q.output.name == outputJSON {
		return json.NewEncoder(a.lines).Encode(map[string]string{"resumeKey": key})
	}
	_, err := a.lines.WriteString("\n" + key + "\n")
	return err
}

// failWith says what is wrong with a query, or that there is no answer.
func failWith(w http.ResponseWriter, err error) {
	var wrong *catalogue.QueryError
	switch {
	case errors.As(err, &wrong):
		fail(w, http.StatusBadRequest, wrong.Field, wrong.Error())
	case errors.Is(err, catalogue.ErrScan):
		fail(w, http.StatusBadRequest, "filter", "filter: "+err.Error())
	default: // without the error, which may name files and hosts
		fail(w, http.StatusServiceUnavailable, "", "the catalogue cannot be read")
	}
}

func fail(w http.ResponseWriter, status int, parameter, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Parameter string `json:"parameter,omitempty"`
		Message   string `json:"message"`
	}{parameter, message})
}
