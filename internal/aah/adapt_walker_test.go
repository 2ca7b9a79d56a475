package aah

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

const walkerBlog = `<application xmlns="` + kb.Namespace + `" name="Walker" category="blog"><detect generator="walker"/>
<level name="article" terminal="true"><match url="/p/"/>
<object type="article" each="//body"><property name="title" xpath=".//h1"/><property name="body" xpath=".//div[has-class('entry')]"/></object>
<object type="comment" each="//li[has-class('comment')]"><property name="author" xpath=".//cite[has-class('fn')]"/>
<property name="published" xpath=".//*[has-class('meta')]/a" as="dateTime"/>
<property name="body" xpath=".//*[has-class('comment-content')]"/>
<property name="body" xpath="*[starts-with(@id, 'div-comment-')][count(p) = 1]/p"/>
<property name="body" xpath="*[starts-with(@id, 'div-comment-')]" match="^.{1,160}?[0-9]{1,2}:[0-9]{2}(?: ?[AaPp]m)? +(.+?)(?: (?:Reply))?$"/></object>
</level></application>`

// walked writes an article with comments as WordPress's walker for XHTML does: paragraphs stand beside name and date.
func walked(comments int, renamed bool) string {
	var b strings.Builder
	b.WriteString(`<meta name="generator" content="walker"><h1>The wall</h1><div class="entry">`)
	for i := range 6 {
		fmt.Fprintf(&b, "<p>On day %d the ravens and the jays of this wall wrote down all that they had seen from it, in all weathers.</p>", i)
	}
	b.WriteString(`</div><ol class="list">`)
	for i := range comments {
		fmt.Fprintf(&b, `<li class="comment depth-1" id="comment-%d"><div id="div-comment-%d" class="comment-body"><div class="vcard"><cite class="fn"><a href="/u/%d">Jay %d</a></cite> <span class="says">says:</span></div>
<div class="meta"><a href="/p/1#comment-%d">July %d, 2011 at 2:54 pm</a></div><p>Comment %d says that %d acorns are in the wall.</p>`, 100+i, 100+i, i, i, 100+i, 1+i%28, i, 7*i)
		if i%3 == 1 {
			fmt.Fprintf(&b, `<p>And that %d of them are old.</p>`, i)
		}
		fmt.Fprintf(&b, `<div class="reply"><a href="/p/1?to=%d">Reply</a></div></div></li>`, i)
	}
	b.WriteString(`</ol>`)
	if !renamed {
		return b.String()
	}
	return strings.NewReplacer(`class="comment `, `class="co `, `id="div-comment-`, `id="tu`, `id="comment-`, `id="ka`, `"fn"`, `"ga"`, `"vcard"`, `"po"`, `"entry"`, `"si"`).Replace(b.String())
}

// TestRecrawlOfWalker: comments of which some are a paragraph, and of others an element a part of which is the text, are found again as
// they were.
func TestRecrawlOfWalker(t *testing.T) {
	for _, n := range []int{1, 2, 12, 80} {
		h := learner(t, DefaultLimits())
		h.SetBase(base(t, walkerBlog))
		before := read(h, "http://a.test/p/1", walked(n, false), Input{})
		if len(before.Objects) != n+1 {
			t.Fatalf("%d comments: %.300q", n, said(before))
		}
		now := read(h, "http://a.test/p/1", walked(n, true), Input{Before: before.Prints})
		if got, want := fmt.Sprint(bodies(now)), fmt.Sprint(bodies(before)); got != want {
			t.Errorf("%d comments: %.900s\nwant %.900s", n, got, want)
		}
	}
}
