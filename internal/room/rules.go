package room

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// maxRules bounds the rules of a file: each is a part of every query.
const maxRules = 100

const day = 24 * time.Hour

// maxEmbargo is the longest time that captures are closed.
const maxEmbargo = 200 * 365 * day

// Rules say which captures readers see. The first rule that fits a capture decides; without one, Otherwise does.
type Rules struct {
	Otherwise Access `yaml:"otherwise"` // open if it is empty
	List      []Rule `yaml:"rules"`
}

// Access is open or closed.
type Access string

// What a rule says.
const (
	Open   Access = "open"
	Closed Access = "closed"
)

// Rule is about the captures that fit all of its fields; empty ones fit all.
type Rule struct {
	Crawl string `yaml:"crawl"`
	Host  string `yaml:"host"` // one host
	Site  string `yaml:"site"` // a pay-level domain with all its hosts

	Access Access `yaml:"access"` // open if it is empty
	From   string `yaml:"from"`   // 2027-01-31: closed before this day, UTC
	// Embargo is how long after its date a capture is closed: 30d, 2y. It ends with a day, UTC.
	Embargo string `yaml:"embargo"`

	from    time.Time
	embargo time.Duration
}

// ReadRules reads a file of rules (YAML). All that is wrong with it is reported at once.
func ReadRules(raw []byte) (Rules, error) {
	var r Rules
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&r); err != nil && !errors.Is(err, io.EOF) {
		return Rules{}, fmt.Errorf("rules: %w", err)
	}
	return r, r.check()
}

func (r *Rules) check() error {
	var faults []error
	fault := func(where, format string, args ...any) {
		faults = append(faults, fmt.Errorf("%s: %s", where, fmt.Sprintf(format, args...)))
	}
	if r.Otherwise != "" && r.Otherwise != Open && r.Otherwise != Closed {
		fault("otherwise", "%q is neither open nor closed", r.Otherwise)
	}
	if len(r.List) > maxRules {
		fault("rules", "there are %d: write at most %d", len(r.List), maxRules)
	}
	for i := range r.List {
		rule, at := &r.List[i], fmt.Sprintf("rules[%d].", i)
		if err := checkName(rule.Crawl); err != nil {
			fault(at+"crawl", "%v", err)
		}
		if rule.Host != "" && rule.Site != "" {
			fault(at+"site", "stands beside host: write one of them")
		}
		for _, part := range rule.parts() {
			if _, err := query.Parse(part.text()); err != nil {
				fault(at+part.field, "%q: %v", part.value, err)
			}
		}
		if rule.Access != "" && rule.Access != Open && rule.Access != Closed {
			fault(at+"access", "%q is neither open nor closed", rule.Access)
		}
		var err error
		if rule.From != "" {
			if rule.from, err = time.Parse(time.DateOnly, rule.From); err != nil {
				fault(at+"from", "%q is no day: write 2027-01-31", rule.From)
			}
		}
		if rule.embargo, err = period(rule.Embargo); err != nil {
			fault(at+"embargo", "%v", err)
		}
		if rule.Access == Closed && rule.From+rule.Embargo != "" {
			fault(at+"access", "is closed, and has a time from which on it is open: leave one of them out")
		}
	}
	return errors.Join(faults...)
}

func checkName(name string) error {
	if name != "" && !crawl.ValidName(name) {
		return fmt.Errorf("no crawl can be named %q", name)
	}
	return nil
}

// period reads a time span in days or years (365 days).
func period(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	units := map[byte]time.Duration{'d': day, 'y': 365 * day}
	unit := units[text[len(text)-1]]
	n, err := strconv.ParseUint(strings.TrimSpace(text[:len(text)-1]), 10, 16)
	if err != nil || unit == 0 || time.Duration(n)*unit > maxEmbargo {
		return 0, fmt.Errorf("%q is no time span: write a number with d or y, such as 30d, of 200 years at most", text)
	}
	return time.Duration(n) * unit, nil
}
