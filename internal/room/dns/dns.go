package dns

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

const (
	// defaultLimit is how many names or addresses an answer lists if the query does not say.
	defaultLimit = 1000
	// maxLimit is the most that a query may ask for.
	maxLimit = 10_000
	// maxScan is how many answers in a row a query looks at that do not fit, because of their times or because readers may not see them: some seconds.
	maxScan = 1_000_000
)

// never is later than all answers.
var never = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)

// History is what an archive knows of a name or of an address.
type History struct {
	Name    string `json:"name,omitempty"`
	Address string `json:"address,omitempty"`
	List    []Span `json:"answers"`
	// Next is the parameter after of the next page; empty if this is the last one.
	Next string `json:"next,omitempty"`
}

// Span is a name or an address, and when it was given as an answer. Between the first and the last time there may have been others.
type Span struct {
	Name    string    `json:"name,omitempty"`
	Address string    `json:"address,omitempty"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Times   int       `json:"times"` // how many answers are archived
}

type server struct{ catalogue catalogue.Catalogue }

// New serves the history of names and addresses as JSON: GET with name or address, from, to, limit, after. An error is status 400 and
// {"parameter", "message"}.
func New(c catalogue.Catalogue) http.Handler { return server{c} }

func (s server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
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
	q, limit, err := parse(params)
	var h History
	if err == nil {
		h, err = s.history(r, q, limit)
	}
	var wrong *catalogue.QueryError
	switch {
	case errors.As(err, &wrong):
		fail(w, http.StatusBadRequest, wrong.Field, wrong.Error())
	case errors.Is(err, catalogue.ErrScan):
		fail(w, http.StatusBadRequest, "from", "the query looks at too many answers that do not fit: name other times")
	case err != nil:
		fail(w, http.StatusServiceUnavailable, "", "the catalogue cannot be read")
	case r.Method == http.MethodGet:
		_ = json.NewEncoder(w).Encode(h)
	}
}

var errEnough = errors.New("enough")

// history puts answers together that differ in their time alone.
func (s server) history(r *http.Request, q catalogue.AnswerQuery, limit int) (h History, err error) {
	h, q.MaxScan = History{Name: catalogue.NormalName(q.Name), List: []Span{}}, maxScan
	if q.Address.IsValid() {
		h.Address = q.Address.Unmap().String()
	}
	err = s.catalogue.Answers(r.Context(), q, func(a catalogue.Answer) error {
		span := Span{Address: a.Address.String(), First: a.Date, Last: a.Date, Times: 1}
		if q.Address.IsValid() {
			span.Name, span.Address = a.Name, ""
		}
		if n := len(h.List); n > 0 && h.List[n-1].Name == span.Name && h.List[n-1].Address == span.Address {
			h.List[n-1].Last = a.Date
			h.List[n-1].Times++
			return nil
		}
		if len(h.List) == limit {
			h.Next = h.List[limit-1].Name + h.List[limit-1].Address
			return errEnough
		}
		h.List = append(h.List, span)
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return h, err
}

// parse reads the parameters of a query.
func parse(p url.Values) (q catalogue.AnswerQuery, limit int, err error) {
	bad := func(name, format string, args ...any) (catalogue.AnswerQuery, int, error) {
		return q, 0, &catalogue.QueryError{Field: name, Fault: fmt.Sprintf(format, args...)}
	}
	q.Name = p.Get("name")
	address := p.Get("address")
	switch {
	case q.Name == "" && address == "":
		return bad("name", "is missing: give name or address")
	case q.Name != "" && address != "":
		return bad("address", "and name are given: use one of them")
	case address != "":
		if q.Address, err = netip.ParseAddr(address); err != nil || q.Address.Zone() != "" {
			return bad("address", "is %.60q, which is no IP address", address)
		}
	case catalogue.NormalName(q.Name) == "":
		return bad("name", "is no name of a host")
	}
	for name, to := range map[string]*time.Time{"from": &q.From, "to": &q.To} {
		if v := p.Get(name); v != "" {
			first, last, err := catalogue.ParseTime(v)
			if err != nil {
				return bad(name, "is %.40q: %v", v, err)
			}
			if *to = first; name == "to" {
				*to = last
			}
		}
	}
	if !q.From.IsZero() && !q.To.IsZero() && q.To.Before(q.From) {
		return bad("to", "is before from")
	}
	limit = defaultLimit
	if v := p.Get("limit"); v != "" {
		if limit, err = strconv.Atoi(v); err != nil || limit < 1 || limit > maxLimit {
			return bad("limit", "is %.40q: use a whole number from 1 to %d", v, maxLimit)
		}
	}
	if v := p.Get("after"); v != "" {
		q.After = &catalogue.Answer{Name: v, Date: never}
		if q.Name != "" {
			if q.After.Address, err = netip.ParseAddr(v); err != nil {
				return bad("after", "is %.60q, which no former answer has given as next", v)
			}
		}
	}
	return q, limit, nil
}

func fail(w http.ResponseWriter, status int, parameter, message string) {
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(struct {
		Parameter string `json:"parameter,omitempty"`
		Message   string `json:"message"`
	}{parameter, message})
}
