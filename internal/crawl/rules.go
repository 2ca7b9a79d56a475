package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// Rule is a rule of a scope: exactly one of its fields is set. It decides about the URLs that its conditions hold for.
type Rule struct {
	Accept *Conditions `json:"accept,omitempty"` // they belong to the crawl
	Reject *Conditions `json:"reject,omitempty"` // they do not
}

// Conditions are what a rule of the scope asks of a URL. They hold if each that is given holds; one with a list of values holds if one of the values
// does. A number is given as "3", "at most 3", "at least 3", "more than 3", "less than 3" or "3 to 5".
type Conditions struct {
	// Everything holds for every URL; the word everything may stand in place of all conditions.
	Everything bool `json:"everything,omitempty"`

	Host      Texts  `json:"host,omitempty"`      // host names, without the hosts below them
	PLD       Texts  `json:"pld,omitempty"`       // pay-level domains, with all their hosts
	SURT      Texts  `json:"surt,omitempty"`      // SURT prefixes, such as "org,example,)/blog/"
	URL       Texts  `json:"url,omitempty"`       // regular expressions (RE2) that the URL matches somewhere
	Scheme    Texts  `json:"scheme,omitempty"`    // http or https
	Port      Ranges `json:"port,omitempty"`      // the port, that of the scheme if the URL names none
	Extension Texts  `json:"extension,omitempty"` // of the last name of the path, without dot, in any case: "pdf"
	// Depth is how many names the path has: 0 of "/", 2 of "/a/b" and of "/a/b/".
	Depth       Ranges `json:"depth,omitempty"`
	QueryLength Ranges `json:"query_length,omitempty"` // bytes after the question mark, 0 without a query

	Hops Ranges `json:"hops,omitempty"` // links and sitemaps from a seed
	// HopsOffSite is how many hops ago the crawl left the pay-level domains of the definition's seeds: 0 on one of them, at least 1 elsewhere.
	HopsOffSite Ranges `json:"hops_off_site,omitempty"`
	// HopPath are regular expressions (RE2) that the hop path matches somewhere, such as "LE$"; of a long path only the last letters are kept.
	HopPath   Texts `json:"hop_path,omitempty"`
	Requisite *bool `json:"requisite,omitempty"` // whether a page embeds it: an image, a style sheet, a script, a frame

	Score       Ranges `json:"score,omitempty"`        // of the link, in [0,1]: "at least 0.3"
	ViaLanguage Texts  `json:"via_language,omitempty"` // of the page that links: codes of two letters, or "unknown"

	// MIME are media types of the answer, such as "text/html" or "image/*". Like Language they are known once the URL is fetched: it is fetched, and
	// archived, unless another condition rejects it; if the rules reject it then, its links are not followed.
	MIME     Texts `json:"mime,omitempty"`
	Language Texts `json:"language,omitempty"` // of the page itself: codes of two letters, or "unknown"

	All []Conditions `json:"all,omitempty"` // each of these holds
	Any []Conditions `json:"any,omitempty"` // one of these holds
	Not *Conditions  `json:"not,omitempty"` // these do not hold
}

// LanguageUnknown stands for the language of a page that has none, or whose language is not known.
const LanguageUnknown = "unknown"

// Limits of the rules of a scope.
const (
	MaxRules     = 1000   // in a definition
	MaxRuleDepth = 8      // all, any and not within each other
	MaxRuleTexts = 50_000 // values of one condition
)

// Texts is one text, or a list of texts.
type Texts []string

// UnmarshalJSON takes a bare string for a list of one.
func (t *Texts) UnmarshalJSON(b []byte) error {
	var one string
	if json.Unmarshal(b, &one) == nil {
		*t = Texts{one}
		return nil
	}
	var many []string
	if err := json.Unmarshal(b, &many); err != nil {
		return errors.New("must be a text or a list of texts")
	}
	*t = many
	return nil
}

// Ranges is one range of numbers, or a list of ranges, as ParseRange reads them.
type Ranges []string

// UnmarshalJSON takes a number for the range that is this number alone, and a bare range for a list of one.
func (r *Ranges) UnmarshalJSON(b []byte) error {
	var many []json.RawMessage
	if json.Unmarshal(b, &many) != nil {
		many = []json.RawMessage{b}
	}
	*r = make(Ranges, len(many))
	for i, raw := range many {
		var text string
		var number json.Number
		switch {
		case json.Unmarshal(raw, &text) == nil:
			(*r)[i] = text
		case json.Unmarshal(raw, &number) == nil:
			(*r)[i] = number.String()
		default:
			return errors.New(rangeHelp)
		}
	}
	return nil
}

const rangeHelp = `must be a number, "at most 3", "at least 3", "more than 3", "less than 3" or "3 to 5"`

// Range is a range of numbers. Its ends are part of it, unless Open says that they are not.
type Range struct {
	From, To float64
	Open     bool
}

// Has reports whether a number is in the range.
func (r Range) Has(x float64) bool {
	if r.Open {
		return x > r.From && x < r.To
	}
	return x >= r.From && x <= r.To
}

// ParseRange reads a range as a definition has it; the error continues the name of a field.
func ParseRange(text string) (Range, error) {
	fail := fmt.Errorf("is %q, %s", text, rangeHelp)
	r := Range{From: math.Inf(-1), To: math.Inf(1)}
	number := func(s string, into *float64) bool {
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		*into = x
		return err == nil && x >= 0 && x <= math.MaxInt32
	}
	text = strings.Join(strings.Fields(text), " ")
	ok := false
	for words, end := range map[string]*float64{"at most ": &r.To, "less than ": &r.To, "at least ": &r.From, "more than ": &r.From} {
		if rest, found := strings.CutPrefix(text, words); found {
			r.Open, ok = strings.HasSuffix(words, "than "), number(rest, end)
			if !ok {
				return r, fail
			}
			return r, nil
		}
	}
	if from, to, between := strings.Cut(text, " to "); between {
		ok = number(from, &r.From) && number(to, &r.To) && r.From <= r.To
	} else {
		ok = number(text, &r.From)
		r.To = r.From
	}
	if !ok {
		return r, fail
	}
	return r, nil
}

// UnmarshalJSON takes the word everything for conditions that always hold.
func (c *Conditions) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		var word string
		if err := json.Unmarshal(b, &word); err != nil || word != "everything" {
			return errors.New(`must be the word everything, or conditions such as {host: example.org}`)
		}
		*c = Conditions{Everything: true}
		return nil
	}
	type plain Conditions
	return json.Unmarshal(b, (*plain)(c))
}

// Inner are the conditions that these are made of, with the field that each stands in.
func (c *Conditions) Inner() (list []*Conditions, fields []string) {
	for i := range c.All {
		list, fields = append(list, &c.All[i]), append(fields, fmt.Sprintf("all[%d]", i))
	}
	for i := range c.Any {
		list, fields = append(list, &c.Any[i]), append(fields, fmt.Sprintf("any[%d]", i))
	}
	if c.Not != nil {
		list, fields = append(list, c.Not), append(fields, "not")
	}
	return list, fields
}

// Uses reports whether a condition is used in a rule, at any depth.
func (s Scope) Uses(is func(*Conditions) bool) bool {
	var uses func(*Conditions) bool
	uses = func(c *Conditions) bool {
		if c == nil {
			return false
		}
		if is(c) {
			return true
		}
		inner, _ := c.Inner()
		for _, c := range inner {
			if uses(c) {
				return true
			}
		}
		return false
	}
	for _, r := range s.Rules {
		if uses(r.Accept) || uses(r.Reject) {
			return true
		}
	}
	return false
}

// accepts reports whether a rule accepts URLs.
func (s Scope) accepts() bool {
	for _, r := range s.Rules {
		if r.Accept != nil {
			return true
		}
	}
	return false
}

func (v *validator) rules(path string, rules []Rule) {
	v.check(len(rules) <= MaxRules, path, fmt.Sprintf("has %d rules, at most %d are allowed: one condition takes a list of values", len(rules), MaxRules))
	for i, r := range rules {
		at := fmt.Sprintf("%s[%d]", path, i)
		v.check((r.Accept == nil) != (r.Reject == nil), at, "must have exactly one of accept and reject")
		if r.Accept != nil {
			v.conditions(at+".accept", r.Accept, 0)
		}
		if r.Reject != nil {
			v.conditions(at+".reject", r.Reject, 0)
		}
	}
}

// textConditions are the conditions on texts by the names of their fields, each with what is wrong with a value; empty: nothing.
func textConditions(c *Conditions) map[string]struct {
	values Texts
	fault  func(string) string
} {
	type texts = struct {
		values Texts
		fault  func(string) string
	}
	return map[string]texts{
		"host": {c.Host, hostFault}, "pld": {c.PLD, hostFault}, "url": {c.URL, exprFault}, "hop_path": {c.HopPath, exprFault},
		"surt": {c.SURT, formFault(surtForm, "a SURT prefix such as org,example,)/blog/")}, "scheme": {c.Scheme, formFault(schemeForm, "http or https")},
		"extension":    {c.Extension, formFault(extensionForm, "letters and digits without a dot, such as pdf")},
		"via_language": {c.ViaLanguage, formFault(languageForm, "a code of two letters such as en (ISO 639-1), or unknown")},
		"language":     {c.Language, formFault(languageForm, "a code of two letters such as en (ISO 639-1), or unknown")},
		"mime":         {c.MIME, formFault(mimeForm, "a media type such as text/html or image/*")},
	}
}

var (
	surtForm      = regexp.MustCompile(`^[^\s]+$`)
	schemeForm    = regexp.MustCompile(`^https?$`)
	extensionForm = regexp.MustCompile(`^[0-9A-Za-z]{1,16}$`)
	languageForm  = regexp.MustCompile(`^([a-z]{2}|unknown)$`)
	mimeForm      = regexp.MustCompile(`^([a-z0-9.+_-]+/([a-z0-9.+_-]+|\*)|unknown)$`)
)

func hostFault(text string) string {
	if text == "" || strings.ContainsAny(text, "/ *@") {
		return "must be a bare host name such as example.org"
	}
	return ""
}

func exprFault(text string) string {
	if text == "" {
		return "is empty"
	}
	if _, err := regexp.Compile(text); err != nil {
		return "is not a regular expression: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
	}
	return ""
}

func formFault(form *regexp.Regexp, what string) func(string) string {
	return func(text string) string {
		if !form.MatchString(text) {
			return "must be " + what
		}
		return ""
	}
}

func (v *validator) conditions(path string, c *Conditions, depth int) {
	if depth > MaxRuleDepth {
		v.check(false, path, fmt.Sprintf("lies deeper than %d all, any and not", MaxRuleDepth))
		return
	}
	given := c.Everything || c.Requisite != nil
	for name, of := range textConditions(c) {
		given = given || len(of.values) > 0
		v.check(of.values == nil || len(of.values) > 0 && len(of.values) <= MaxRuleTexts, path+"."+name, fmt.Sprintf("has %d values, must have 1 to %d", len(of.values), MaxRuleTexts))
		for i, text := range of.values {
			if fault := of.fault(text); fault != "" {
				v.check(false, valueAt(path+"."+name, i, len(of.values)), fmt.Sprintf("%q %s", text, fault))
			}
		}
	}
	for name, ranges := range map[string]Ranges{
		"port": c.Port, "depth": c.Depth, "query_length": c.QueryLength, "hops": c.Hops, "hops_off_site": c.HopsOffSite, "score": c.Score,
	} {
		given = given || len(ranges) > 0
		v.check(ranges == nil || len(ranges) > 0, path+"."+name, "is empty")
		for i, text := range ranges {
			r, err := ParseRange(text)
			if err != nil {
				v.check(false, valueAt(path+"."+name, i, len(ranges)), err.Error())
				continue
			}
			highest := max(r.From, 0)
			if !math.IsInf(r.To, 1) {
				highest = r.To
			}
			v.check(name != "score" || highest <= 1, valueAt(path+"."+name, i, len(ranges)), fmt.Sprintf("is %q, must be in [0,1]", text))
		}
	}
	inner, fields := c.Inner()
	v.check(given || len(inner) > 0, path, "has no condition: name one such as host: example.org, or write everything")
	v.check(c.All == nil || len(c.All) > 0, path+".all", "is empty")
	v.check(c.Any == nil || len(c.Any) > 0, path+".any", "is empty")
	for i := range inner {
		v.conditions(path+"."+fields[i], inner[i], depth+1)
	}
}

// valueAt is the path of a value: a single one stands in the field itself.
func valueAt(field string, i, n int) string {
	if n == 1 {
		return field
	}
	return fmt.Sprintf("%s[%d]", field, i)
}
