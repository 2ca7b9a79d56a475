package adapt

import (
	"fmt"
	"testing"
	"time"
)

var day = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)

// ravenRule is a rule of a forum; name distinguishes it from others.
func ravenRule(name string) SiteRule {
	return SiteRule{Application: "phpBB", Level: "thread", Method: ByContent, Rule: Rule{
		Type: "post", Each: "//div[has-class('" + name + "')]", Properties: []PropertyRule{{Name: "author", XPath: ".//b"}, {Name: "body", XPath: ".//p"}},
	}}
}

func url(i int) string { return fmt.Sprintf("http://a.test/t/%d", i) }

// TestVerified: a rule comes into force after several different pages, not after the same page several times.
func TestVerified(t *testing.T) {
	s := &Site{Host: "a.test"}
	for i, step := range []struct {
		url      string
		verified int
		inForce  bool
	}{{url(1), 1, false}, {url(1), 1, false}, {url(2), 2, false}, {url(1), 2, false}, {url(3), 3, true}, {url(3), 3, true}, {url(4), 4, true}} {
		r := s.Add(ravenRule("a"), step.url, day.AddDate(0, 0, i))
		if r.Verified != step.verified || r.InForce() != step.inForce || len(s.Rules) != 1 {
			t.Errorf("%d: verified %d, in force %v, want %+v", i, r.Verified, r.InForce(), step)
		}
	}
	r := s.Rules[0]
	if !r.First.Equal(day) || !r.Last.Equal(day.AddDate(0, 0, 6)) || len(r.Evidence) != 4 {
		t.Errorf("%+v", r)
	}
	for i := range 20 {
		s.Add(ravenRule("a"), url(10+i), day)
	}
	if len(r.Evidence) != MaxEvidence || r.Verified != 24 {
		t.Errorf("%d pages as evidence of %d", len(r.Evidence), r.Verified)
	}
}

// TestSameRule: rules are the same if they have the same expressions for the same pages, however they were learned.
func TestSameRule(t *testing.T) {
	change := func(fn func(*SiteRule)) SiteRule {
		r := ravenRule("a")
		fn(&r)
		return r
	}
	tests := []struct {
		name  string
		other SiteRule
		same  bool
	}{
		{"itself", ravenRule("a"), true},
		{"learned in another way", change(func(r *SiteRule) { r.Method, r.Instead, r.Support, r.Expected = ByShape, "x.xml:1", 3, 4 }), true},
		{"another expression", ravenRule("b"), false},
		{"another application", change(func(r *SiteRule) { r.Application = "SMF" }), false},
		{"another level", change(func(r *SiteRule) { r.Level = "article" }), false},
		{"another type", change(func(r *SiteRule) { r.Type = "comment" }), false},
		{"another property", change(func(r *SiteRule) { r.Properties = r.Properties[:1] }), false},
		{"other places", change(func(r *SiteRule) {
			r.Properties = []PropertyRule{{Name: "author", XPath: ".//i"}, {Name: "body", XPath: ".//p"}}
		}), false},
	}
	for _, test := range tests {
		s := &Site{}
		s.Add(ravenRule("a"), url(1), day)
		s.Add(test.other, url(2), day)
		if got := len(s.Rules) == 1; got != test.same {
			t.Errorf("%s: the same: %v", test.name, got)
		}
		if known := s.Note(&test.other, false, url(3), day); !known {
			t.Errorf("%s: is not known", test.name)
		}
	}
}

func TestInForce(t *testing.T) {
	for _, test := range []struct {
		verified, failed int
		want             bool
	}{{0, 0, false}, {2, 0, false}, {3, 0, true}, {3, 1, true}, {3, 2, false}, {4, 2, true}, {100, 50, true}, {100, 51, false}} {
		if got := (&SiteRule{Verified: test.verified, Failed: test.failed}).InForce(); got != test.want {
			t.Errorf("%+v: %v", test, got)
		}
	}
}

// TestNote: a change that must be stored is reported, and a rule that fails is forgotten.
func TestNote(t *testing.T) {
	s := &Site{}
	rule := ravenRule("a")
	if s.Note(&rule, true, url(0), day) || len(s.Rules) != 0 {
		t.Error("a rule that is not known is noted")
	}
	s.Add(rule, url(1), day)
	for i, test := range []struct {
		well, keep       bool
		verified, failed int
	}{{true, true, 2, 0}, {true, true, 3, 0}, {true, false, 4, 0}, {false, true, 4, 1}, {false, true, 4, 2}, {false, true, 4, 3}, {true, false, 5, 3}, {true, true, 6, 3}} {
		keep := s.Note(&rule, test.well, url(i+2), day)
		if r := s.Rules[0]; keep != test.keep || r.Verified != test.verified || r.Failed != test.failed {
			t.Errorf("%d: keep %v, %d and %d, want %+v", i, keep, r.Verified, r.Failed, test)
		}
	}
	for i := 0; len(s.Rules) > 0; i++ {
		if i > 10 {
			t.Fatalf("a rule that fails is not forgotten: %+v", s.Rules[0])
		}
		s.Note(&rule, false, url(100+i), day)
	}
	s.Add(rule, url(1), day)
	if r := s.Rules[0]; r.Verified != 1 || r.Failed != 0 {
		t.Errorf("learned again it has a past: %+v", r)
	}
}

// TestForgottenSoon: a rule that works only on the page it was made from is forgotten soon.
func TestForgottenSoon(t *testing.T) {
	s := &Site{}
	rule := ravenRule("a")
	s.Add(rule, url(1), day)
	n := 0
	for ; len(s.Rules) > 0 && n < 100; n++ {
		s.Note(&rule, false, url(n), day)
	}
	if n != 4 {
		t.Errorf("forgotten after %d pages", n)
	}
}

// TestMaxRules: a new rule replaces the rule with the least evidence, never one in force.
func TestMaxRules(t *testing.T) {
	s := &Site{}
	proven := ravenRule("proven")
	for i := range 5 {
		s.Add(proven, url(i), day)
	}
	for i := range 3 * MaxRules {
		s.Add(ravenRule(fmt.Sprint("x", i)), url(i), day)
		if len(s.Rules) > MaxRules {
			t.Fatalf("%d rules", len(s.Rules))
		}
	}
	if s.Rules[0].Each != proven.Each || !s.InForce() {
		t.Errorf("the proven rule is gone, the first is %s", s.Rules[0].Each)
	}
	newest := s.Rules[len(s.Rules)-1]
	if newest.Each != "//div[has-class('x"+fmt.Sprint(3*MaxRules-1)+"')]" {
		t.Errorf("the newest is %s", newest.Each)
	}
}

// TestOf: Of returns copies of the rules of one application, those in force first.
func TestOf(t *testing.T) {
	s := &Site{}
	other := ravenRule("other")
	other.Application = "SMF"
	s.Add(other, url(0), day)
	for i, pages := range []int{1, 4, 2, 7, 3} {
		for p := range pages {
			s.Add(ravenRule(fmt.Sprint(i)), url(p), day)
		}
	}
	failing := ravenRule("3")
	for i := range 4 { // 7 well, 4 not: no longer in force, though better than others
		s.Note(&failing, false, url(i), day)
	}
	got := ""
	list := s.rulesFor("phpBB")
	for _, r := range list {
		got += string(r.Each[len("//div[has-class('")])
	}
	if got != "14320" && got != "14302" {
		t.Errorf("the order is %s", got)
	}
	list[0].Verified = 100
	if s.rulesFor("phpBB")[0].Verified == 100 {
		t.Error("they are no copies")
	}
	if list := s.rulesFor("WordPress"); list != nil {
		t.Errorf("of an application without rules: %+v", list)
	}
}
