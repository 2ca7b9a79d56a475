package adapt

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// How a rule came to be.
const (
	ByContent = "content" // what was extracted before was found again
	ByShape   = "shape"   // the page has things of the form that the level holds
	ByBase    = "base"    // a rule of another application of the category fits
	ByParts   = "parts"   // parts of what the level holds are still found
	ByRelaxed = "relaxed" // the failing rule, with expressions that are less strict
)

const (
	// EnoughPages pages must have verified a rule before it is in force.
	EnoughPages = 3
	// MaxRules bounds the rules of a site.
	MaxRules = 40
	// MaxEvidence bounds the pages that a rule names as its evidence.
	MaxEvidence = 5
)

// SiteRule is what was learned for one site, with its evidence.
type SiteRule struct {
	Application string `json:"application"`
	Level       string `json:"level"`
	Rule
	Method   string    `json:"method"`
	Instead  string    `json:"instead,omitempty"` // the shipped rule that failed, file:line
	Verified int       `json:"verified"`          // pages on which it extracted what it should
	Failed   int       `json:"failed"`            // … and on which it did not
	Evidence []string  `json:"evidence"`          // URLs of some of them
	Against  []string  `json:"against,omitempty"` // URLs of some on which it failed
	First    time.Time `json:"first"`
	Last     time.Time `json:"last"`
}

// InForce reports whether the rule may be used.
func (r *SiteRule) InForce() bool { return r.Verified >= EnoughPages && r.Failed*2 <= r.Verified }

// same reports whether two rules say the same.
func (r *SiteRule) same(o *SiteRule) bool {
	return r.Application == o.Application && r.Level == o.Level && r.Type == o.Type && r.Each == o.Each && slices.Equal(r.Properties, o.Properties)
}

// Site holds what was learned of one host.
type Site struct {
	Host  string      `json:"host"`
	Rules []*SiteRule `json:"rules"`
	// Attempts counts the pages from which nothing could be learned, since the last from which something was.
	Attempts int `json:"attempts,omitempty"`
}

// methods are the ways in which rules come to be, the surest first.
var methods = []string{ByContent, ByParts, ByRelaxed, ByBase, ByShape}

// rulesFor returns copies of the rules for an application, those in force first, of those the ones that were made in the
// surest way, and the best verified.
func (s *Site) rulesFor(application string) (list []SiteRule) {
	for _, r := range s.Rules {
		if r.Application == application {
			list = append(list, *r)
		}
	}
	slices.SortStableFunc(list, func(a, b SiteRule) int {
		if a.InForce() != b.InForce() {
			if a.InForce() {
				return -1
			}
			return 1
		}
		if by := slices.Index(methods, a.Method) - slices.Index(methods, b.Method); by != 0 {
			return by
		}
		return (b.Verified - b.Failed) - (a.Verified - a.Failed)
	})
	return list
}

// Add takes a rule that was learned from a page; one that is known already is verified by that.
func (s *Site) Add(r SiteRule, url string, now time.Time) *SiteRule {
	for _, known := range s.Rules {
		if known.same(&r) {
			known.verify(url, now)
			return known
		}
	}
	if len(s.Rules) >= MaxRules { // the least proven goes
		worst := 0
		for i, k := range s.Rules {
			if k.Verified-k.Failed < s.Rules[worst].Verified-s.Rules[worst].Failed {
				worst = i
			}
		}
		s.Rules = slices.Delete(s.Rules, worst, worst+1)
	}
	r.First = now
	r.verify(url, now)
	s.Rules = append(s.Rules, &r)
	return &r
}

// noteEvery is how many pages a rule in force does well on between two times that this is kept.
const noteEvery = 20

// Note notes that a rule did well on a page, or not, and reports whether that is worth keeping at once. A rule that
// fails more often than it does well is forgotten.
func (s *Site) Note(copied *SiteRule, well bool, url string, now time.Time) bool {
	for i, r := range s.Rules {
		if !r.same(copied) {
			continue
		}
		before := r.InForce()
		if well {
			r.verify(url, now)
			return before != r.InForce() || r.Verified <= EnoughPages || r.Verified%noteEvery == 0
		}
		if slices.Contains(r.Against, url) {
			return false // the same page proves nothing more
		}
		if len(r.Against) < MaxEvidence {
			r.Against = append(r.Against, url)
		}
		if r.Failed++; r.Failed > r.Verified+2 {
			s.Rules = slices.Delete(s.Rules, i, i+1)
		}
		return true
	}
	return false
}

// Drop forgets a rule; true if it was there.
func (s *Site) Drop(copied *SiteRule) bool {
	n := len(s.Rules)
	s.Rules = slices.DeleteFunc(s.Rules, func(r *SiteRule) bool { return r.same(copied) })
	return len(s.Rules) < n
}

func (r *SiteRule) verify(url string, now time.Time) {
	if slices.Contains(r.Evidence, url) {
		return // the same page proves nothing more
	}
	r.Verified++
	r.Last = now
	if len(r.Evidence) < MaxEvidence {
		r.Evidence = append(r.Evidence, url)
	}
}

// Applications lists those of which rules are in force.
func (s *Site) Applications() (names []string) {
	for _, r := range s.Rules {
		if r.InForce() && !slices.Contains(names, r.Application) {
			names = append(names, r.Application)
		}
	}
	return names
}

// WriteXML writes the rules in force for an application as a file of the knowledge base, with their evidence as
// comments. ns is the namespace, as gives the type of a property's value.
func (s *Site) WriteXML(out io.Writer, application, ns string, as func(property string) string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%s<site xmlns=%q application=%s hosts=%s>\n", xml.Header, ns, quoted(application), quoted(s.Host))
	levels := map[string][]*SiteRule{}
	var names []string
	for _, r := range s.Rules {
		if !r.InForce() || r.Application != application {
			continue
		}
		if levels[r.Level] == nil {
			names = append(names, r.Level)
		}
		levels[r.Level] = append(levels[r.Level], r)
	}
	for _, level := range names {
		fmt.Fprintf(&b, "  <level name=%s>\n", quoted(level))
		for _, r := range levels[level] {
			r.write(&b, as)
		}
		b.WriteString("  </level>\n")
	}
	b.WriteString("</site>\n")
	_, err := io.WriteString(out, b.String())
	return err
}

// DistinguishesLevel reports whether the rule's objects distinguish its level from others: every page has a body.
func (r *SiteRule) DistinguishesLevel() bool {
	return !strings.HasPrefix(r.Each, "//body") && !strings.HasPrefix(r.Each, "//html")
}

func (r *SiteRule) write(b *strings.Builder, as func(string) string) {
	comment := fmt.Sprintf("learned by %s; verified on %d pages, failed on %d; first %s, last %s", r.Method, r.Verified, r.Failed, r.First.Format(time.DateOnly), r.Last.Format(time.DateOnly))
	if r.Instead != "" {
		comment += "; in place of " + r.Instead
	}
	fmt.Fprintf(b, "    <!-- %s\n", separateHyphens(comment))
	for _, url := range r.Evidence {
		fmt.Fprintf(b, "         %s\n", separateHyphens(url))
	}
	b.WriteString("    -->\n")
	if r.DistinguishesLevel() {
		fmt.Fprintf(b, "    <match xpath=%s/>\n", quoted(r.Each))
	}
	fmt.Fprintf(b, "    <object type=%s each=%s>\n", quoted(r.Type), quoted(r.Each))
	for _, p := range r.Properties {
		kind := ""
		if k := as(p.Name); k != "" {
			kind = " as=" + quoted(k)
		}
		if p.Name == "tags" {
			kind += ` many="true"`
		}
		if p.Match != "" {
			kind += " match=" + quoted(p.Match)
		}
		for _, attr := range [][2]string{{"without", p.Without}, {"append", p.Append}, {"append-match", p.AppendMatch}, {"between", p.Between}} {
			if attr[1] != "" {
				kind += " " + attr[0] + "=" + quoted(attr[1])
			}
		}
		fmt.Fprintf(b, "      <property name=%s xpath=%s%s/>\n", quoted(p.Name), quoted(p.XPath), kind)
	}
	b.WriteString("    </object>\n")
}

// separateHyphens puts blanks between hyphens: two of them may not stand together in a comment.
func separateHyphens(s string) string {
	for strings.Contains(s, "--") {
		s = strings.ReplaceAll(s, "--", "- -")
	}
	return s
}

func quoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	_ = xml.EscapeText(&b, []byte(s))
	b.WriteByte('"')
	return b.String()
}
