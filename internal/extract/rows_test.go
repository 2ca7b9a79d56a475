package extract

import (
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestWithoutTags: what is no tag, because it has no end, stays once.
func TestWithoutTags(t *testing.T) {
	for text, want := range map[string]string{"<p>a  b</p>": "a b", "<p>a b <c": "a b <c", "a <b> c": "a <b> c", "<": "<", "<p>": ""} {
		if got := withoutTags(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// dataOf is what the data of a page say of its posts: their texts, and the authors of all but the first.
func dataOf(texts ...string) *Set {
	set := &Set{}
	for i, text := range texts {
		o := crawl.Object{Type: "post", Rule: bySchema, Properties: crawl.Properties{{Name: "body", Value: text}}}
		if i > 0 {
			o.Properties = append(o.Properties, crawl.Property{Name: "author", Value: "of " + text[:12]})
		}
		set.Objects = append(set.Objects, o)
	}
	return set
}

// TestRowsThatBeginAlike: what the data say of a post goes to the row with most of its text, not to one that begins with the same greeting.
func TestRowsThatBeginAlike(t *testing.T) {
	post := func(text string) string { return `<article class=post><div class=text>` + text + `</div></article>` }
	body := post("where do ravens sleep in winter") + post("<p>Hi</p><p>mine does not sleep</p>") + post("in trees") + post("<p>Hi</p><p>there are two of them</p>") +
		post("<p>Hi there, I have seen them</p><p>near the bridge</p>")
	set := dataOf("where do ravens sleep in winter", "Hi there, I have seen them near the bridge", "Hi there are two of them")
	if !pageOf(t, body).Rows(set) || len(set.Objects) != 5 {
		t.Fatalf("%+v", set.Objects)
	}
	for i, want := range []string{"", "", "", "of Hi there are", "of Hi there, I "} {
		if got := set.Objects[i].Properties.Get("author"); got != want {
			t.Errorf("post %d is by %q, want %q", i, got, want)
		}
	}
	for name, c := range map[string]struct{ body, text string }{
		"a greeting is no text": {body, "Hi, none of the rows of this page has this text"},
		"the first text is in no row": {post("where do ravens sleep") + `<article class=post><div class=text>Hugo wrote this</div><div class=text>where do ravens sleep in winter</div></article>` +
			post("in trees, I think"), "in trees, I think"},
	} {
		set := dataOf("where do ravens sleep in winter", c.text)
		if pageOf(t, c.body).Rows(set) || len(set.Objects) != 2 {
			t.Errorf("%s: %+v", name, set.Objects)
		}
	}
}
