package cdx

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// maxFilters bounds the filters of a query: each is tried on each capture.
const maxFilters = 20

// request is what the parameters ask for.
type request struct {
	catalogue.Query
	output        *output
	fields        []string
	limit         int                           // of lines, after they are collapsed
	collapse      func(*catalogue.Entry) string // the group of a capture, of which neighbours are collapsed; nil: none are
	showResumeKey bool
}

// unsupported are parameters of other servers that would change the answer, with what to do.
var unsupported = map[string]string{
	"page": "use limit, showResumeKey and resumeKey", "pageSize": "use limit, showResumeKey and resumeKey", "showNumPages": "use limit, showResumeKey and resumeKey",
	"showPagedIndex": "there is no secondary index",
	"offset":         "use resumeKey", "fastLatest": "use sort=reverse", "collapseToLast": "use collapse", "collapseToFirst": "use collapse",
}

// parameters reads parameters up to the first fault.
type parameters struct {
	url.Values
	err error
}

func (p *parameters) fault(name, text string, args ...any) {
	if p.err == nil {
		p.err = &catalogue.QueryError{Field: name, Fault: fmt.Sprintf(text, args...)}
	}
}

// choice is the value of a parameter with a few values; empty is the first.
func (p *parameters) choice(name string, values ...string) string {
	v := p.Get(name)
	if v == "" {
		return values[0]
	}
	if !slices.Contains(values, v) {
		p.fault(name, "is %.40q: use one of %s", v, strings.Join(values, ", "))
	}
	return v
}

func (p *parameters) truth(name string) bool {
	return p.choice(name, "false", "true", "0", "1") == "true" || p.Get(name) == "1"
}

func (p *parameters) number(name string, least int) int {
	v := p.Get(name)
	if v == "" {
		return 0
	}
	n, err := strconv.Atoi(v)
	if err != nil || n < least {
		p.fault(name, "is %.40q: use a whole number from %d on", v, least)
	}
	return n
}

// parse reads the parameters of a query.
func parse(values url.Values) (q request, err error) {
	p := &parameters{Values: values}
	for name, instead := range unsupported {
		if p.Has(name) {
			p.fault(name, "is not supported: %s", instead)
		}
	}
	p.place(&q)
	p.times(&q)
	p.form(&q)
	list := p.Values["filter"]
	if len(list) > maxFilters {
		p.fault("filter", "is given %d times, %d is the most", len(list), maxFilters)
	}
	for _, text := range list[:min(len(list), maxFilters)] {
		f, err := catalogue.ParseFilter(text)
		if err != nil && p.err == nil {
			p.err = err
		}
		q.Filters = append(q.Filters, f)
	}
	q.limit = p.number("limit", 1)
	q.MaxScan, q.MaxTime = maxScan, maxTime
	q.After = p.Get("resumeKey")
	q.showResumeKey = p.truth("showResumeKey")
	return q, p.err
}

// place reads which URLs are asked for.
func (p *parameters) place(q *request) {
	q.URL, q.Key, q.Until = p.Get("url"), p.Get("urlkey"), p.Get("urlTo")
	if q.Digest = p.Get("digest"); q.Digest != "" && !strings.Contains(q.Digest, ":") {
		q.Digest = "sha1:" + q.Digest
	}
	match := p.choice("matchType", "exact", "prefix", "host", "domain", "range")
	if !p.Has("matchType") || p.Get("matchType") == "" {
		scheme, rest := catalogue.SplitScheme(q.URL)
		switch host, isDomain := strings.CutPrefix(rest, "*."); {
		case rest == "*":
			q.URL, match = "", "range"
		case isDomain:
			q.URL, match = scheme+strings.TrimSuffix(host, "*"), "domain"
		case strings.HasSuffix(rest, "*"):
			q.URL, match = strings.TrimSuffix(q.URL, "*"), "prefix"
		}
	}
	q.Match = map[string]catalogue.Match{
		"exact": catalogue.Exact, "prefix": catalogue.Prefix, "host": catalogue.Host, "domain": catalogue.Domain, "range": catalogue.Range,
	}[match]
	switch {
	case q.URL != "" && q.Key != "":
		p.fault("urlkey", "and url are given: use one of them")
	case q.URL == "" && q.Key == "" && q.Digest == "" && match != "range":
		p.fault("url", "is missing")
	case q.Until != "" && match != "range":
		p.fault("urlTo", "needs matchType=range")
	}
}

// times reads from, to and the order.
func (p *parameters) times(q *request) {
	q.From, _ = p.time("from")
	_, q.To = p.time("to")
	sort := p.choice("sort", "default", "reverse", "closest")
	closest, _ := p.time("closest")
	switch {
	case sort == "reverse" && closest.IsZero():
		q.Sort = catalogue.Reverse
	case !closest.IsZero(): // alone, too: as pywb
		q.Sort, q.Closest = catalogue.Closest, closest
	case sort == "closest" && !p.Has("closest"):
		p.fault("closest", "is missing: sort=closest needs a time")
	}
}

// time reads a time of 4 to 14 digits: the first and the last second of what it names.
func (p *parameters) time(name string) (first, last time.Time) {
	v := p.Get(name)
	if v == "" {
		return first, last
	}
	first, last, err := catalogue.ParseTime(v)
	if err != nil {
		p.fault(name, "is %.40q: %v", v, err)
	}
	return first, last
}

// form reads what lines look like.
func (p *parameters) form(q *request) {
	q.output = outputs[p.choice("output", outputCDXJ, outputJSON, outputText)]
	if q.output == nil {
		q.output = outputs[outputCDXJ]
	}
	name := "fl"
	if !p.Has(name) && p.Has("fields") {
		name = "fields"
	}
	q.fields = q.output.fields
	if v := p.Get(name); v != "" {
		q.fields = nil
		for field := range strings.SplitSeq(v, ",") {
			known, ok := catalogue.FieldName(strings.TrimSpace(field))
			if !ok {
				p.fault(name, "names %.40q: use some of %s", field, strings.Join(catalogue.Fields, ", "))
			}
			if !slices.Contains(q.fields, known) {
				q.fields = append(q.fields, known)
			}
		}
	}
	p.collapsed(q)
}

// collapsed reads which neighbours are one line: those with the same beginning of a field, or, as pywb has it, with the same beginning of the time and the same
// status.
func (p *parameters) collapsed(q *request) {
	n := p.number("collapseTime", 1)
	if n > 0 {
		q.collapse = func(e *catalogue.Entry) string { return beginning(e.Field("timestamp"), n) + " " + e.Field("status") }
	}
	v := p.Get("collapse")
	if v == "" {
		return
	}
	name, digits, cut := strings.Cut(v, ":")
	field, ok := catalogue.FieldName(name)
	length, err := strconv.Atoi(digits)
	switch {
	case !ok:
		p.fault("collapse", "names %.40q: use one of %s", name, strings.Join(catalogue.Fields, ", "))
	case cut && (err != nil || length < 1):
		p.fault("collapse", "is %.40q: behind the colon stands a number of characters", v)
	case n > 0:
		p.fault("collapse", "and collapseTime are given: use one of them")
	}
	q.collapse = func(e *catalogue.Entry) string {
		if !cut {
			return e.Field(field)
		}
		return beginning(e.Field(field), length)
	}
}

func beginning(text string, n int) string { return text[:min(n, len(text))] }
