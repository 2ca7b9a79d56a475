package catalogue

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

// maxFilter bounds the text of a filter, in bytes.
const maxFilter = 1000

// maxProgram bounds the regular expressions of all filters of a query in steps: the time of their matches is this number times the length of the values.
const maxProgram = 500

// Filter is a condition on a field of a capture, as pywb's CDX server has it.
type Filter struct {
	steps int    // of the regular expression
	field string // empty: the whole line
	not   bool
	fits  func(value string) bool
	where func(e *Entry) bool // in place of the others
}

// ParseFilter reads [!][=|~]field:value. Without a mark the field contains the value, with = it is the value, with ~ the regular expression
// fits from its start on; ! is the opposite. Without a field the filter is on the line as Entry.Line has it; what stands before a colon is none if it
// could not be a name (a.example:80), or if // follows (http://a.example/).
func ParseFilter(text string) (Filter, error) {
	bad := func(fault string, args ...any) (Filter, error) {
		return Filter{}, &QueryError{"filter", fmt.Sprintf("%.60q ", text) + fmt.Sprintf(fault, args...)}
	}
	if len(text) > maxFilter {
		return bad("is longer than %d bytes", maxFilter)
	}
	var f Filter
	rest, not := strings.CutPrefix(text, "!")
	f.not = not
	mark := ""
	if rest != "" && (rest[0] == '=' || rest[0] == '~') {
		mark, rest = rest[:1], rest[1:]
	}
	value := rest
	if field, after, colon := strings.Cut(rest, ":"); colon {
		known, ok := FieldName(field)
		switch {
		case ok:
			f.field, value = known, after
		case !strings.HasPrefix(after, "//") && !strings.ContainsFunc(field, outsideName):
			return bad("names no field: use one of %s", strings.Join(Fields, ", "))
		}
	}
	switch mark {
	case "=":
		f.fits = func(v string) bool { return v == value }
	case "~":
		expr, steps, err := compile(`^(?:` + value + `)`)
		if err != nil {
			return bad("has no regular expression that can be used: %v", err)
		}
		f.fits, f.steps = expr.MatchString, steps
	default:
		f.fits = func(v string) bool { return strings.Contains(v, value) }
	}
	return f, nil
}

// outsideName reports whether a letter stands in no name of a field, also of other servers.
func outsideName(c rune) bool {
	return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_' && c != '-'
}

// compile compiles a regular expression whose matching takes a bounded time. steps is the length of its program.
func compile(text string) (expr *regexp.Regexp, steps int, err error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, err
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, err
	}
	if steps = len(program.Inst); steps > maxProgram {
		return nil, 0, fmt.Errorf("it repeats too much: it has %d steps, %d is the most", steps, maxProgram)
	}
	expr, err = regexp.Compile(text)
	return expr, steps, err
}

// checkFilters finds filters that together take too long.
func checkFilters(list []Filter) error {
	steps := 0
	for _, f := range list {
		steps += f.steps
	}
	if steps > maxProgram {
		return &QueryError{"filter", fmt.Sprintf("is given with regular expressions that have %d steps together, %d is the most", steps, maxProgram)}
	}
	return nil
}

// Fits reports whether a capture fulfils the condition.
func (f Filter) Fits(e *Entry) bool {
	if f.where != nil {
		return f.where(e)
	}
	value := ""
	if f.field == "" {
		value = e.Line()
	} else {
		value = e.Field(f.field)
	}
	return f.fits(value) != f.not
}

// Fields are the names of the fields of a capture: pywb's, in the order of its lines, and Muninn's.
var Fields = []string{
	"urlkey", "timestamp", "url", "mime", "status", "digest", "length", "offset", "filename",
	"score", "application", "language", "title", "crawl", "run", "segment",
}

// otherNames are the names that other CDX servers have for fields.
var otherNames = map[string]string{
	"original": "url", "mimetype": "mime", "statuscode": "status", "key": "urlkey", "lang": "language", "app": "application",
}

// FieldName is the name of a field, by that or by the name that another CDX server has for it; false if there is none.
func FieldName(name string) (string, bool) {
	if other, ok := otherNames[name]; ok {
		name = other
	}
	return name, slices.Contains(Fields, name)
}

// Timestamp is the form of times in CDX: 14 digits, UTC.
const Timestamp = "20060102150405"

// Field is the value of a field; empty if the capture has none.
func (e *Entry) Field(name string) string {
	switch name {
	case "urlkey":
		return e.Key
	case "timestamp":
		return e.Date.UTC().Format(Timestamp)
	case "url":
		return e.URL
	case "mime":
		return e.MIME
	case "status":
		if e.Status != 0 {
			return strconv.Itoa(e.Status)
		}
	case "digest":
		return strings.TrimPrefix(e.Digest, "sha1:") // as pywb has it
	case "length":
		return strconv.FormatInt(e.Length, 10)
	case "offset":
		return strconv.FormatInt(e.Offset, 10)
	case "filename":
		return e.WARC[strings.LastIndexByte(e.WARC, '/')+1:]
	case "score":
		if e.Score >= 0 {
			return strconv.FormatFloat(e.Score, 'f', 4, 64)
		}
	case "application":
		return e.Application
	case "language":
		return e.Language
	case "title":
		return e.Title
	case "crawl":
		return e.Crawl.Name
	case "run":
		if e.Run != 0 {
			return strconv.FormatUint(uint64(e.Run), 10)
		}
	case "segment":
		return e.Segment
	}
	return ""
}

// Line is the capture as a line of pywb's text form: nine fields with blanks between them, '-' for those that it does not have.
func (e *Entry) Line() string {
	var b strings.Builder
	for i, name := range Fields[:9] {
		if i > 0 {
			b.WriteByte(' ')
		}
		if v := e.Field(name); v != "" {
			b.WriteString(v)
		} else {
			b.WriteByte('-')
		}
	}
	return b.String()
}
