package selection

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Verdict is what becomes of a capture.
type Verdict string

// The verdicts. A rule with Ask marks what a person has to look at; a decision with Ask takes earlier ones back.
const (
	Keep Verdict = "keep"
	Drop Verdict = "drop"
	Ask  Verdict = "ask"
)

// Verdicts are all of them.
var Verdicts = []Verdict{Keep, Drop, Ask}

// Entry is an entry of a selection: what one person did at one time. It is put once and never changed.
type Entry struct {
	Form int       `json:"form"` // of the entry: entryForm
	ID   string    `json:"id"`   // 16 random hexadecimal digits: by them a writer knows its own entry again
	Who  string    `json:"who"`  // did it
	When time.Time `json:"when"` // by the clock of that machine; the order is that of the entries' numbers
	Why  string    `json:"why,omitempty"`
	// Of what the entry does, at least one: the first entry of a selection creates it.
	Create    *Creation  `json:"create,omitempty"`
	Rules     []Rule     `json:"rules,omitempty"`     // added behind those that there are
	Withdrawn []uint64   `json:"withdrawn,omitempty"` // numbers of entries whose rules no longer count
	Decisions []Decision `json:"decisions,omitempty"`
	Accepted  []Proposal `json:"accepted,omitempty"`
}

// Creation says what a selection is about.
type Creation struct {
	About  string   `json:"about,omitempty"`
	Crawls []string `json:"crawls,omitempty"` // names; none: all of the archive
}

// Rule gives captures a verdict. Of several that match a capture, the last one counts.
type Rule struct {
	Query   string  `json:"query"`
	Verdict Verdict `json:"verdict"`
}

// Decision is what a person wants with the captures of a URL or of a group.
type Decision struct {
	URL     string  `json:"url,omitempty"` // canonical
	Group   Group   `json:"group,omitempty"`
	Verdict Verdict `json:"verdict"`
}

// Proposal is a proposal of a model that a person has accepted without having seen the page.
type Proposal struct {
	URL       string  `json:"url"`       // canonical
	Verdict   Verdict `json:"verdict"`   // not Ask
	Certainty float64 `json:"certainty"` // in [0.5,1]: the probability of the verdict
}

// entryForm is the version of the form of an entry.
const entryForm = 1

// The limits of an entry.
const (
	maxEntry     = 4 << 20  // bytes
	maxDecisions = 10_000   // decisions, proposals or rules of an entry
	maxWho       = 256      // bytes
	maxWhy       = 4 << 10  // bytes: reasons, and what a selection is about
	maxQuery     = 16 << 10 // bytes
	maxCrawls    = 1000     // that a selection names
)

// idForm is the form of the ID of an entry.
var idForm = regexp.MustCompile(`^[0-9a-f]{16}$`)

// ErrEntry says that an entry cannot be a part of a selection.
var ErrEntry = errors.New("not an entry of a selection")

func faulty(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrEntry, fmt.Sprintf(format, args...))
}

// encode checks an entry and writes it as JSON.
func (e Entry) encode() ([]byte, error) {
	if err := e.check(); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // "&" is a part of many URLs
	if err := enc.Encode(e); err != nil {
		return nil, err
	}
	if b.Len() > maxEntry {
		return nil, faulty("it has %d bytes, and at most %d can be put at once: divide it", b.Len(), maxEntry)
	}
	return b.Bytes(), nil
}

// decodeEntry reads an entry and checks it. Fields that are not known are an error: their meaning would be lost.
func decodeEntry(raw []byte) (e Entry, err error) {
	if len(raw) > maxEntry {
		return e, faulty("it has more than %d bytes", maxEntry)
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&e); err != nil {
		return Entry{}, faulty("%v", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Entry{}, faulty("something follows its JSON object")
	}
	if err := e.check(); err != nil {
		return Entry{}, err
	}
	return e, nil
}

func (e *Entry) check() error {
	switch {
	case e.Form != entryForm:
		return faulty("form is %d, and this version knows %d", e.Form, entryForm)
	case !idForm.MatchString(e.ID):
		return faulty("id must have 16 hexadecimal digits")
	case e.Who == "" || len(e.Who) > maxWho || !plain(e.Who):
		return faulty("who must be a name of at most %d bytes without control characters", maxWho)
	case e.When.IsZero() || e.When.Year() < 1 || e.When.Year() > 9999:
		return faulty("when must be a time")
	case len(e.Why) > maxWhy || !utf8.ValidString(e.Why):
		return faulty("why must be a text of at most %d bytes", maxWhy)
	case e.Create == nil && len(e.Rules)+len(e.Withdrawn)+len(e.Decisions)+len(e.Accepted) == 0:
		return faulty("it does nothing")
	case max(len(e.Rules), len(e.Withdrawn), len(e.Decisions), len(e.Accepted)) > maxDecisions:
		return faulty("it has more than %d decisions, proposals or rules", maxDecisions)
	}
	if err := e.Create.check(); err != nil {
		return err
	}
	for i, r := range e.Rules {
		if r.Query == "" || len(r.Query) > maxQuery || !utf8.ValidString(r.Query) || !slices.Contains(Verdicts, r.Verdict) {
			return faulty("rules[%d] needs a query of at most %d bytes and a verdict: %q", i, maxQuery, Verdicts)
		}
	}
	for i, d := range e.Decisions {
		if err := d.check(); err != nil {
			return faulty("decisions[%d]: %v", i, err)
		}
	}
	for i, p := range e.Accepted {
		if err := checkURL(p.URL); err != nil {
			return faulty("accepted[%d]: %v", i, err)
		}
		if p.Verdict != Keep && p.Verdict != Drop || !(p.Certainty >= 0.5 && p.Certainty <= 1) {
			return faulty("accepted[%d] needs keep or drop, and a certainty from 0.5 to 1", i)
		}
	}
	return nil
}

func (c *Creation) check() error {
	if c == nil {
		return nil
	}
	if len(c.About) > maxWhy || !utf8.ValidString(c.About) {
		return faulty("about must be a text of at most %d bytes", maxWhy)
	}
	if len(c.Crawls) > maxCrawls {
		return faulty("more than %d crawls", maxCrawls)
	}
	for i, name := range c.Crawls {
		if !crawl.ValidName(name) {
			return faulty("crawls[%d]: no crawl can be named %q", i, cut(name))
		}
	}
	return nil
}

func (d *Decision) check() error {
	if !slices.Contains(Verdicts, d.Verdict) {
		return fmt.Errorf("verdict is %q, must be one of %q", cut(string(d.Verdict)), Verdicts)
	}
	if d.Group == "" {
		return checkURL(d.URL)
	}
	if d.URL != "" {
		return errors.New("a decision is of a url or of a group, not of both")
	}
	g, err := ParseGroup(string(d.Group))
	if err == nil && g != d.Group {
		err = fmt.Errorf("group %q must be written %q", cut(string(d.Group)), g)
	}
	return err
}

// checkURL reports whether a URL is one, in canonical form.
func checkURL(text string) error {
	own, err := CanonicalURL(text)
	if err == nil && own != text {
		err = fmt.Errorf("url %q must be written %q", cut(text), cut(own))
	}
	return err
}

// CanonicalURL is the form in which an archive knows a URL that a person has typed.
func CanonicalURL(text string) (string, error) {
	u, err := urls.Parse(text)
	if err != nil {
		return "", fmt.Errorf("url %q: %w", cut(text), err)
	}
	return u.String(), nil
}

// plain reports whether a text is UTF-8 without control characters, so that it can be shown on one line.
func plain(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// maxShown is how much of a text an error shows, in bytes.
const maxShown = 120

// cut shortens a text for an error.
func cut(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}
