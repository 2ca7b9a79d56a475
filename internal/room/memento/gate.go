package memento

import (
	"context"
	"net/http"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// timeGate sends a client to the memento that it wants (RFC 7089 §4.2.1, a TimeGate that is no original, with a redirect): the one that is the nearest to
// Accept-Datetime, or without it the last one.
func (s *server) timeGate(w http.ResponseWriter, r *http.Request, text string) {
	w.Header().Set("Vary", "accept-datetime")
	u, err := target(text)
	if err != nil {
		failed(w, err)
		return
	}
	wanted, err := acceptDatetime(r.Header)
	if err != nil {
		say(w, http.StatusBadRequest, err.Error())
		return
	}
	first, last, ok, err := s.ends(r.Context(), u.String())
	if err != nil {
		failed(w, err)
		return
	}
	if !ok {
		w.Header().Set("Link", s.related(r, u.String(), nil))
		say(w, http.StatusNotFound, "there is no capture of this URL")
		return
	}
	it, _, err := s.nearest(r.Context(), slashes(text), wanted)
	if err != nil {
		failed(w, err)
		return
	}
	w.Header().Set("Link", s.related(r, u.String(), around(&first, &it, &last)))
	w.Header().Set("Location", s.mementoOf(r, &it))
	w.WriteHeader(http.StatusFound)
}

// ends are the first and the last capture of a URL.
func (s *server) ends(ctx context.Context, url string) (first, last catalogue.Entry, ok bool, err error) {
	if first, ok, err = s.end(ctx, url, catalogue.Forward); err == nil && ok {
		last, ok, err = s.end(ctx, url, catalogue.Reverse)
	}
	return first, last, ok, err
}

// acceptDatetime is the time that a client wants; zero if it does not say.
func acceptDatetime(h http.Header) (time.Time, error) {
	text := h.Get("Accept-Datetime")
	if text == "" {
		return time.Time{}, nil
	}
	t, err := time.Parse(http.TimeFormat, text)
	if err != nil {
		return t, &catalogue.QueryError{Field: "Accept-Datetime", Fault: "is no time in the form Thu, 31 May 2007 20:35:00 GMT"}
	}
	if !catalogue.Dated(t) {
		return t, &catalogue.QueryError{Field: "Accept-Datetime", Fault: "is of a year before 2"}
	}
	return t, nil
}

// dated answers a URL at a time: with the capture of that second, or with where the nearest one is.
func (s *server) dated(w http.ResponseWriter, r *http.Request, stamp, mark, text string) {
	if mark == "" && s.Page != nil {
		s.Page.ServeHTTP(w, r)
		return
	}
	if mark != "" && mark != raw {
		say(w, http.StatusNotFound, "captures are served as they came: ask for "+Prefix+stamp+raw+"/URL")
		return
	}
	u, err := target(text)
	if err != nil {
		failed(w, err)
		return
	}
	at, _, err := catalogue.ParseTime(stamp)
	if err != nil {
		say(w, http.StatusBadRequest, "the time "+stamp+": "+err.Error())
		return
	}
	e, ok, err := s.nearest(r.Context(), slashes(text), at)
	switch {
	case err != nil:
		failed(w, err)
	case !ok:
		w.Header().Set("Link", s.related(r, u.String(), nil))
		say(w, http.StatusNotFound, "there is no capture of this URL")
	case mark == "" || e.Date.UTC().Format(catalogue.Timestamp) != stamp:
		w.Header().Set("Link", s.related(r, u.String(), nil))
		w.Header().Set("Location", s.mementoOf(r, &e))
		w.WriteHeader(http.StatusFound)
	default:
		s.memento(w, r, &e, u.String())
	}
}
