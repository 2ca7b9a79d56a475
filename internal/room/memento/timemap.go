package memento

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// The formats of TimeMaps.
const (
	formatLink = "link"
	formatJSON = "json"
	formatCDXJ = "cdxj"
)

// mapPage is how many mementos a page of a TimeMap lists.
const mapPage = 1000

// pageMark stands before the place at which a page of a TimeMap begins.
const pageMark = "@"

// timeMap lists the mementos of a URL (RFC 7089 §5), in pages: FORMAT/URL, FORMAT/@PLACE/URL.
func (s *server) timeMap(w http.ResponseWriter, r *http.Request, rest string) {
	format, text, _ := strings.Cut(rest, "/")
	write := formats[format]
	if write == nil {
		say(w, http.StatusNotFound, "there is no TimeMap of this format: use link, json or cdxj")
		return
	}
	place := ""
	if rest, ok := strings.CutPrefix(text, pageMark); ok {
		place, text, _ = strings.Cut(rest, "/")
	}
	u, err := target(text)
	if err != nil {
		failed(w, err)
		return
	}
	page := timeMap{self: s.mapOf(r, format, u.String()), original: u.String(), gate: s.gateOf(r, u.String())}
	if place != "" {
		page.self = s.mapOf(r, format, pageMark+place+"/"+u.String())
	}
	q := catalogue.Query{URL: u.String(), After: place, Limit: mapPage + 1}
	err = s.catalogue.Query(r.Context(), q, func(e catalogue.Entry) error {
		page.list = append(page.list, memento{e, s.mementoOf(r, &e)})
		return nil
	})
	if err != nil {
		failed(w, err)
		return
	}
	if len(page.list) == 0 {
		w.Header().Set("Link", s.related(r, u.String(), nil))
		say(w, http.StatusNotFound, "there is no capture of this URL")
		return
	}
	if len(page.list) > mapPage {
		page.list = page.list[:mapPage]
		page.next = s.mapOf(r, format, pageMark+page.list[mapPage-1].Cursor()+"/"+u.String())
	}
	page.first, page.final = place == "", page.next == ""
	out := bufio.NewWriter(w)
	write(w.Header(), out, &page)
	_ = out.Flush()
}

// timeMap is a page of a TimeMap.
type timeMap struct {
	self, original, gate string
	next                 string // the next page; empty if there is none
	list                 []memento
	first, final         bool // the page has the first memento, the last one
}

type memento struct {
	catalogue.Entry
	url string
}

var formats = map[string]func(http.Header, *bufio.Writer, *timeMap){formatLink: writeLinks, formatJSON: writeJSON, formatCDXJ: writeCDXJ}

// rel is the relation of the i-th memento.
func (m *timeMap) rel(i int) string {
	rel := "memento"
	if i == len(m.list)-1 && m.final {
		rel = "last " + rel
	}
	if i == 0 && m.first {
		rel = "first " + rel
	}
	return rel
}

// writeLinks writes application/link-format (RFC 7089 §5.1, RFC 6690).
func writeLinks(h http.Header, out *bufio.Writer, m *timeMap) {
	h.Set("Content-Type", "application/link-format")
	from, until := httpTime(m.list[0].Date), httpTime(m.list[len(m.list)-1].Date)
	lines := []string{
		link(m.original, "rel", "original"),
		link(m.self, "rel", "self", "type", "application/link-format", "from", from, "until", until),
		link(m.gate, "rel", "timegate"),
	}
	if m.next != "" {
		lines = append(lines, link(m.next, "rel", "timemap", "type", "application/link-format", "from", until))
	}
	for i, e := range m.list {
		lines = append(lines, link(e.url, "rel", m.rel(i), "datetime", httpTime(e.Date)))
	}
	_, _ = out.WriteString(strings.Join(lines, ",\n") + "\n")
}

// jsonMap is a TimeMap in JSON, in the form of MemGator's.
type jsonMap struct {
	Original string            `json:"original_uri"`
	Self     string            `json:"self"`
	Gate     string            `json:"timegate_uri"`
	Next     string            `json:"next,omitempty"`
	Mementos map[string]any    `json:"mementos"`
	Maps     map[string]string `json:"timemap_uri"`
}

type jsonMemento struct {
	Datetime string `json:"datetime"`
	URI      string `json:"uri"`
	Status   int    `json:"status,omitempty"`
	MIME     string `json:"mime"`
	Digest   string `json:"digest"`
}

func writeJSON(h http.Header, out *bufio.Writer, m *timeMap) {
	h.Set("Content-Type", "application/json")
	var list []jsonMemento
	for _, e := range m.list {
		list = append(list, jsonMemento{e.Date.UTC().Format("2006-01-02T15:04:05Z"), e.url, e.Status, e.MIME, e.Digest})
	}
	mementos := map[string]any{"list": list}
	if m.first {
		mementos["first"] = list[0]
	}
	if m.final {
		mementos["last"] = list[len(list)-1]
	}
	maps := map[string]string{}
	for _, format := range []string{formatLink, formatJSON, formatCDXJ} {
		maps[format+"_format"] = strings.Replace(m.self, "timemap/"+formatJSON+"/", "timemap/"+format+"/", 1)
	}
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(jsonMap{m.original, m.self, m.gate, m.next, mementos, maps})
}

// writeCDXJ writes a line for each memento, behind lines that begin with '!' for the others (ODU's CDXJ).
func writeCDXJ(h http.Header, out *bufio.Writer, m *timeMap) {
	h.Set("Content-Type", "application/cdxj+ors")
	var value strings.Builder
	enc := json.NewEncoder(&value)
	enc.SetEscapeHTML(false)
	object := func(pairs ...string) string {
		text := "{"
		for i := 0; i+1 < len(pairs); i += 2 {
			value.Reset()
			_ = enc.Encode(pairs[i+1])
			if i > 0 {
				text += ", "
			}
			text += `"` + pairs[i] + `": ` + strings.TrimSpace(value.String())
		}
		return text + "}"
	}
	_, _ = fmt.Fprintf(out, "!context [\"http://tools.ietf.org/html/rfc7089\"]\n!id %s\n!keys [\"memento_datetime_YYYYMMDDhhmmss\"]\n", object("uri", m.self))
	_, _ = fmt.Fprintf(out, "!meta %s\n!meta %s\n", object("original_uri", m.original), object("timegate_uri", m.gate))
	if m.next != "" {
		_, _ = fmt.Fprintf(out, "!meta %s\n", object("next", m.next))
	}
	for i, e := range m.list {
		_, _ = fmt.Fprintf(out, "%s %s\n", e.Date.UTC().Format(catalogue.Timestamp),
			object("uri", e.url, "rel", m.rel(i), "datetime", httpTime(e.Date), "mime", e.MIME, "status", e.Field("status"), "digest", e.Field("digest")))
	}
}
