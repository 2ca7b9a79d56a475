package room

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"
)

// statusError is an error with the status of its answer.
type statusError struct {
	status int
	says   string
}

func (e *statusError) Error() string { return e.says }

func missing(format string, args ...any) error {
	return &statusError{http.StatusNotFound, fmt.Sprintf(format, args...)}
}

// Wrong is an error of a catalogue that says what is wrong with what a reader has asked for.
func Wrong(err error) error { return &statusError{http.StatusBadRequest, err.Error()} }

func wrong(format string, args ...any) error {
	return &statusError{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// view is a page: its template, and the data that its JSON is.
type view struct {
	Name, Title string
	Data        any
	Status      int    // 0: 200
	Frame       string // the origin that it has a frame of
	Twin        string // the address of its JSON; empty: that of the page with format=json
	Sends       bool   // it has a form that writes: browsers say from which site it was sent
}

func asJSON(req *http.Request) bool {
	switch req.URL.Query().Get("format") {
	case "json":
		return true
	case "":
		return strings.HasPrefix(req.Header.Get("Accept"), "application/json")
	}
	return false
}

func (r *Room) page(show func(*http.Request) (view, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		ctx, cancel := context.WithTimeout(req.Context(), requestTime)
		defer cancel()
		v, err := show(req.WithContext(ctx))
		if err != nil {
			r.fail(w, req, err)
			return
		}
		r.write(w, req, max(v.Status, http.StatusOK), v)
	})
}

// failing makes a handler of a function that answers by itself, unless it fails before it has written.
func (r *Room) failing(serve func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if err := serve(w, req); err != nil {
			r.fail(w, req, err)
		}
	}
}

type faultPage struct {
	Status int    `json:"status"`
	Error  string `json:"error"`
}

// noted is what readers learn of an error: errors of stores name files and hosts, which the log has.
func (r *Room) noted(what string, err error) string {
	var known *statusError
	if errors.As(err, &known) {
		return known.says
	}
	if r.Log != nil {
		r.Log.Error(what, "error", err)
	}
	return what + " could not be read: the log of the server says why"
}

func (r *Room) fail(w http.ResponseWriter, req *http.Request, err error) {
	known := &statusError{http.StatusInternalServerError, "the archive could not be read: the log of the server says why"}
	if !errors.As(err, &known) && r.Log != nil && req.Context().Err() == nil {
		r.Log.Error("request", "path", req.URL.Path, "error", err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		known = &statusError{http.StatusGatewayTimeout, "it takes too long: ask for less, such as a shorter time"}
	}
	r.write(w, req, known.status, view{Name: "fault", Title: http.StatusText(known.status), Data: faultPage{known.status, known.says}})
}

// failPlain answers as text, on the origin of replay.
func failPlain(w http.ResponseWriter, _ *http.Request, err error) {
	known := &statusError{http.StatusInternalServerError, "the archive could not be read"}
	errors.As(err, &known)
	http.Error(w, known.says, known.status)
}

// chrome is what all pages have around their data.
type chrome struct {
	Title, Twin string
	Data        any
	State       State
	Here        string
	Selections  bool
}

// write renders a page, or its data as JSON.
func (r *Room) write(w http.ResponseWriter, req *http.Request, status int, v view) {
	h := w.Header()
	h.Del("Content-Disposition")
	if asJSON(req) {
		raw, err := jsonOf(v.Data)
		if err == nil {
			h.Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(status)
			_, _ = w.Write(raw)
			return
		}
		status, v = http.StatusInternalServerError, view{Name: "fault", Title: "Fault", Data: faultPage{500, "the answer could not be written"}}
	}
	t, err := templates()
	if err == nil {
		t = t.Lookup(v.Name + ".html")
	}
	if err != nil || t == nil {
		http.Error(w, "the page has no template", http.StatusInternalServerError)
		return
	}
	query := req.URL.Query()
	query.Set("format", "json")
	c := chrome{Title: v.Title, Twin: req.URL.Path + "?" + query.Encode(), Data: v.Data, Here: req.URL.Path, Selections: r.Desk != nil && v.Name != "login"}
	c.Twin = cmp.Or(v.Twin, c.Twin)
	if v.Sends {
		h.Set("Referrer-Policy", "same-origin") // with no-referrer, browsers send forms without their origin
	}
	if r.State != nil && v.Name != "login" {
		c.State = r.State()
	}
	var out strings.Builder
	if err := t.Execute(&out, c); err != nil {
		if r.Log != nil {
			r.Log.Error("template", "name", v.Name, "error", err)
		}
		http.Error(w, "the page could not be made", http.StatusInternalServerError)
		return
	}
	h.Set("Content-Security-Policy", policy(v.Frame))
	h.Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, out.String())
}

// templates are parsed once.
var templates = sync.OnceValues(func() (*template.Template, error) {
	return template.New("").Funcs(functions).ParseFS(files, "templates/*.html")
})
