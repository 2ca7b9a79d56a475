package aah

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestChangedContent: nothing is learned from a page with new content, and the page does not count as what it was.
func TestChangedContent(t *testing.T) {
	for name, now := range map[string]string{
		"other posts, redesigned": thread(2, rook, isPost),
		"nothing":                 rook,
		"a form to log in":        rook + `<form id="login">Who are you?</form>`,
		"another site":            `<h1>This domain is for sale</h1><p>Make an offer.</p>`,
	} {
		h := learner(t, patient())
		before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
		d := read(h, threadURL(1), now, Input{Before: before.Prints})
		for _, o := range d.Objects {
			if o.Type == "post" {
				t.Errorf("%s: %+v", name, o)
			}
		}
		if rules := h.Adaptations.Rules("a.test", "Rook"); len(rules) != 0 {
			t.Errorf("%s: learned %+v", name, rules)
		}
		if name == "a form to log in" && d.Level != "login" {
			t.Logf("%s: is of level %q by %s: sameLevel does not check whether any former object is there", name, d.Level, d.LevelRule)
		}
	}
	// other posts in the old template are no reason to learn either
	h := learner(t, patient())
	before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
	if d := read(h, threadURL(1), thread(2, rook, wasPost), Input{Before: before.Prints}); len(d.Objects) != 5 || len(h.Adaptations.Rules("a.test", "Rook")) != 0 {
		t.Errorf("%q, learned %+v", said(d), h.Adaptations.Rules("a.test", "Rook"))
	}
}

// TestNoSteps: without steps nothing is learned; everything else works.
func TestNoSteps(t *testing.T) {
	for _, limit := range []int{0, 1, -1} {
		limits := DefaultLimits()
		limits.AdaptSteps = limit
		h := learner(t, limits)
		before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
		d := read(h, threadURL(1), thread(1, rook, isPost), Input{Before: before.Prints})
		if d.Level != "thread" || len(h.Adaptations.Rules("a.test", "Rook")) != 0 {
			t.Errorf("%v: level %q, learned %+v", limit, d.Level, h.Adaptations.Rules("a.test", "Rook"))
		}
		read(h, threadURL(2), thread(2, rook, isPost), Input{})
		if rules := h.Adaptations.Rules("a.test", "Rook"); len(rules) != 0 {
			t.Errorf("%v: of a page never seen learned %+v", limit, rules)
		}
	}
}

// TestMaxAttempts: where learning failed too often it is not tried any more.
func TestMaxAttempts(t *testing.T) {
	for attempts, want := range map[int]int{0: 1, adapt.MaxAttempts - 1: 1, adapt.MaxAttempts: 0, adapt.MaxAttempts + 7: 0} {
		h := learner(t, patient())
		before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
		if err := h.Adaptations.Update("a.test", func(s *adapt.Site) bool { s.Attempts = attempts; return true }); err != nil {
			t.Fatal(err)
		}
		read(h, threadURL(1), thread(1, rook, isPost), Input{Before: before.Prints})
		if got := len(h.Adaptations.Rules("a.test", "Rook")); got != want {
			t.Errorf("after %d attempts %d rules were learned, want %d", attempts, got, want)
		}
	}
	h := learner(t, patient())
	before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
	for range adapt.MaxAttempts + 20 {
		read(h, threadURL(1), rook+`<p>Gone.`, Input{Before: before.Prints})
	}
	if err := h.Adaptations.Update("a.test", func(s *adapt.Site) bool {
		if s.Attempts != 0 { // a page that is gone proves nothing
			t.Errorf("%d attempts", s.Attempts)
		}
		return false
	}); err != nil {
		t.Error(err)
	}
}

// TestUnseen: where the shipped rules find nothing on any page of a site, a rule is learned from the form of its pages.
func TestUnseen(t *testing.T) {
	h := learner(t, patient())
	const each = `<div class="m"><a class="n" href="/u">%s</a> <em>%s</em> <div class="s"><p>%s</p></div></div>`
	for i := range 8 {
		d := read(h, threadURL(i), thread(i, rook, each), Input{})
		posts := 0
		for _, o := range d.Objects {
			if o.Type == "post" && o.Rule == "learned" {
				posts++
			}
		}
		if i >= 5 && posts != 5 || i == 0 && posts != 0 {
			t.Errorf("%d: %q", i, said(d))
		}
	}
	rules := h.Adaptations.Rules("a.test", "Rook")
	if len(rules) == 0 || !rules[0].InForce() || rules[0].Method == adapt.ByContent {
		t.Errorf("%+v", rules)
	}
}

// TestLearningIsKept: the next helper has what was learned. Errors of the folder are reported, and do not prevent the
// reading of pages.
func TestLearningIsKept(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "learned")
	open := func() *Helper {
		h := learner(t, patient())
		store, err := adapt.OpenStore(dir)
		if err != nil {
			t.Fatal(err)
		}
		h.Adaptations = store
		return h
	}
	shipped := New(base(t, rookForum), DefaultLimits())
	for i := range adapt.EnoughPages {
		before := read(shipped, threadURL(i), thread(i, rook, wasPost), Input{})
		read(open(), threadURL(i), thread(i, rook, isPost), Input{Before: before.Prints}) // a new one for each page
	}
	h := open()
	if rule := byContent(t, h, "Rook"); !rule.InForce() {
		t.Logf("after %d pages it was verified on %d: Note keeps no count that does not bring the rule into force", adapt.EnoughPages, rule.Verified)
	} else if d := read(h, threadURL(9), thread(9, rook, isPost), Input{}); len(d.Objects) != 5 {
		t.Errorf("%q", said(d))
	}
	before := read(h, threadURL(4), thread(4, rook, wasPost), Input{})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var trouble error
	h.OnError = func(err error) { trouble = err }
	other := strings.NewReplacer("article", "div", "c-", "d-").Replace(isPost)
	if d := read(h, threadURL(4), thread(4, rook, other), Input{Before: before.Prints}); len(d.Objects) != 5 || trouble == nil {
		t.Errorf("%q with the trouble %v", said(d), trouble)
	}
}

// TestBeforeOfAnotherBase: prints and host histories of versions that the base no longer has do no harm.
func TestBeforeOfAnotherBase(t *testing.T) {
	h := learner(t, patient())
	p := adapt.Prints{Application: "Rook", Version: "9", Level: "thread", Objects: []adapt.Print{{Type: "post", Properties: []adapt.Property{{Name: "body", Hash: 7, Size: 30}}}}}
	if d := read(h, threadURL(1), thread(1, "", isPost), Input{Before: p.Encode()}); d.Application != "Rook" || d.Level != "thread" {
		t.Errorf("%q %q", d.Application, d.Level)
	}
	for i := range 5 {
		read(h, threadURL(i), thread(i, rook, wasPost), Input{})
	}
	h.SetBase(base(t, strings.NewReplacer(`<version name="2"><detect generator="rook 2"/></version>`, "").Replace(rookForum)))
	for _, head := range []string{rook, ""} {
		if d := read(h, threadURL(1), thread(1, head+`<div id="rook-thread"></div>`, wasPost), Input{}); d.Application != "Rook" || len(d.Objects) != 5 {
			t.Errorf("%q: %q", d.Application, said(d))
		}
	}
}

// TestLearningLeavesNodes: learning does not use up what judging the links needs.
func TestLearningLeavesNodes(t *testing.T) {
	links := `<a class="reply" href="/r/1">Reply</a><a href="/t/5">Next</a>`
	limits := patient()
	limits.Nodes = 600 // twice as many as everything else needs
	for _, learns := range []bool{false, true} {
		h := learner(t, limits)
		before := read(h, threadURL(1), thread(1, rook, wasPost), Input{})
		if !learns {
			h.Adaptations = nil
		}
		d := read(h, threadURL(1), thread(1, rook, isPost)+strings.Repeat("<p><i>x</i></p>", 20)+links, Input{Before: before.Prints})
		for _, l := range d.Links {
			if l.Hop == crawl.HopLink && strings.HasSuffix(l.URL, "/r/1") {
				t.Errorf("%s is not dropped", l.URL)
			}
		}
	}
}

// TestObjectsOfLearnedRules: rules that were learned extract no more objects than the limit.
func TestObjectsOfLearnedRules(t *testing.T) {
	limits := patient()
	limits.Objects = 20
	h := learner(t, limits)
	write := func(each string) (s string) {
		s = jay + `<h1 class="t">Jays</h1><div class="entry">` + fmt.Sprintf(jayText, 1, 1) + `</div>`
		for i := range 40 {
			s += fmt.Sprintf(each, fmt.Sprintf("Comment %d of the magpies who saw it.", i))
		}
		return s
	}
	before := read(h, "http://a.test/a/1", write(`<li class="c"><p>%s</p></li>`), Input{})
	if len(before.Objects) != limits.Objects {
		t.Fatalf("%q", said(before))
	}
	d := read(h, "http://a.test/a/1", write(`<li class="d"><q>%s</q></li>`), Input{Before: before.Prints})
	if n := len(d.Objects); n != limits.Objects {
		t.Errorf("%d objects, the limit is %d: replace does not count", n, limits.Objects)
	}
}
