package room

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// shownKinds are the media types of bodies that browsers show by themselves; all others are given as bytes to be stored.
var shownKinds = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true, "text/plain": true}

// raw serves the body of a capture without its codings, its header block, or the record as it lies in the archive (part=record). The origin of the
// room never runs any of it.
func (r *Room) raw(w http.ResponseWriter, req *http.Request) error {
	v, ctx := req.URL.Query(), req.Context()
	e, err := r.find(ctx, v.Get("url"), v.Get("at"), v.Get("crawl"))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Security-Policy", sealed)
	h.Set("Memento-Datetime", e.Date.UTC().Format(http.TimeFormat))
	name := "capture-" + e.Date.UTC().Format(stamp)
	switch v.Get("part") {
	case "record":
		return r.rawRecord(w, req, &e, name)
	case "header":
		return r.answer(ctx, &e, func(a *http.Response) error {
			h.Set("Content-Type", "text/plain; charset=utf-8")
			if a.Proto == "" {
				return missing("this capture has no header")
			}
			_, _ = fmt.Fprintf(w, "%s %s\r\n", a.Proto, a.Status)
			return a.Header.Write(w)
		})
	case "":
	default:
		return wrong("part is record or header, or it is missing")
	}
	o, err := r.original(ctx, e)
	if err != nil {
		return err
	}
	return r.answer(ctx, &o, func(a *http.Response) error {
		kind, _, _ := strings.Cut(strings.ToLower(a.Header.Get("Content-Type")), ";")
		kind = strings.TrimSpace(kind)
		if shownKinds[kind] {
			h.Set("Content-Type", kind)
		} else {
			h.Set("Content-Type", "application/octet-stream")
			h.Set("Content-Disposition", `attachment; filename="`+name+`.bin"`)
		}
		_, _ = io.Copy(w, a.Body) // what breaks off is sent up to there
		return nil
	})
}

func (r *Room) rawRecord(w http.ResponseWriter, req *http.Request, e *Entry, name string) error {
	of, err := r.store(e)
	if err != nil {
		return err
	}
	from, err := of.Store.GetRange(req.Context(), e.WARC, e.Offset, e.Length)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	h := w.Header()
	h.Set("Content-Type", "application/warc")
	h.Set("Content-Disposition", `attachment; filename="`+name+`.warc.gz"`)
	h.Set("Content-Length", strconv.FormatInt(e.Length, 10))
	_, _ = io.Copy(w, io.LimitReader(from, e.Length))
	return nil
}
