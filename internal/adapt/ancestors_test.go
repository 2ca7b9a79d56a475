package adapt

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// withLearner runs fn with a learner on a page, and with the elements that an expression selects there.
func withLearner(t *testing.T, page, each string, fn func(l *learner, refs []xpath.Ref)) {
	t.Helper()
	e, ran := opened(t, page), false
	withinSteps(e, ample, func(l *learner) {
		refs, err := e.Select(l.parse(each), e.Tree.Root(), maxObjects)
		if err != nil {
			t.Fatal(err)
		}
		fn(l, refs)
		ran = true
	})
	if !ran {
		t.Fatal("there are no steps for the page")
	}
}

const named = `<div class="m"><a href="/u/{author}">{author}</a><div class="text">{body}</div></div>`

// TestSameTexts: an expression finds the texts that objects were made with; where no text is known, none does.
func TestSameTexts(t *testing.T) {
	withLearner(t, paged("", named, some), "//div[has-class('m')]", func(l *learner, refs []xpath.Ref) {
		var objects []*found
		for _, r := range refs {
			at, ok, err := l.eval.First(l.parse(".//div[has-class('text')]"), r)
			if !ok || err != nil {
				t.Fatal(ok, err)
			}
			objects = append(objects, &found{parts: map[string]xpath.Ref{"body": at}})
		}
		if text := ".//div[has-class('text')]"; !l.sameTexts(text, refs, objects) {
			t.Errorf("%s does not find the texts it is", text)
		}
		if l.sameTexts(".//a", refs, objects) {
			t.Error("names of writers are the texts")
		}
		for _, f := range objects {
			delete(f.parts, "body")
		}
		if l.sameTexts(".//a", refs, objects) || l.sameTexts(".//a", refs, nil) {
			t.Error("where no text is known, anything is the same")
		}
	})
}

// TestKeepFailing: an expression of the failing rule takes the place of all that were found for its property.
func TestKeepFailing(t *testing.T) {
	withLearner(t, paged("", named, some), "//div[has-class('m')]", func(l *learner, refs []xpath.Ref) {
		var objects []*found
		for _, r := range refs {
			at, _, _ := l.eval.First(l.parse(".//div[has-class('text')]"), r)
			objects = append(objects, &found{parts: map[string]xpath.Ref{"body": at}})
		}
		r := Rule{Type: "post", Each: "//div[has-class('m')]", Properties: []PropertyRule{{Name: "body", XPath: "div[1]"}, {Name: "author", XPath: "a[1]"}, {Name: "body", XPath: "div"}}}
		l.keepFailing(&r, []PropertyRule{{Name: "body", XPath: ".//div[has-class('text')]"}, {Name: "permalink", XPath: ".//a[contains(@href, '/u/')]"}}, objects)
		want := []PropertyRule{{Name: "body", XPath: ".//div[has-class('text')]"}, {Name: "author", XPath: "a[1]"}, {Name: "permalink", XPath: ".//a[contains(@href, '/u/')]"}}
		if len(r.Properties) != len(want) {
			t.Fatalf("%+v", r.Properties)
		}
		for i := range want {
			if r.Properties[i] != want[i] {
				t.Errorf("property %d is %+v, want %+v", i, r.Properties[i], want[i])
			}
		}
	})
}
