package aah

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/kb"
)

const rowForum = `<application xmlns="` + kb.Namespace + `" name="Row" category="forum"><detect generator="row"/>
<level name="thread" terminal="true"><match url="/t/"/>
<object type="post" each="//tr[td/span[has-class('name')] and .//span[has-class('postbody')]]"><property name="author" xpath=".//span[has-class('name')]"/>
<property name="body" xpath=".//span[has-class('postbody')]" match="^(.*?)(?:\s*_{9,}.*)?$"/></object>
</level></application>`

// rows writes a thread whose posts are three rows each of a table without names, as subSilver of phpBB 2 has them.
func rows(posts int, renamed bool) string {
	var b strings.Builder
	b.WriteString(`<meta name="generator" content="row"><table class="forumline"><tr><th>Author</th><th>Message</th></tr>`)
	for i := range posts {
		fmt.Fprintf(&b, `<tr><td class="row1"><span class="name">Jay %d</span><br><span class="details">Joined in %d</span></td>
<td class="row1"><table><tr><td><span class="details">Posted on day %d</span></td></tr><tr><td colspan="2"><span class="postbody">Post %d says that %d acorns are in the wall.</span></td></tr></table></td></tr>
<tr><td class="row1"><span class="nav"><a href="#top">Back to top</a></span></td><td class="row1"><span class="details"><a href="/u/%d">Profile</a></span></td></tr>
<tr><td class="space" colspan="2"><img src="/spacer.gif"></td></tr>`, i, 1990+i, i, i, 7*i, i)
	}
	b.WriteString(`</table><p>The ravens and the jays of this wall have been here for as long as anybody can tell, and write every day of what they have seen from it in all weathers.</p>`)
	if !renamed {
		return b.String()
	}
	return strings.NewReplacer(`class="name"`, `class="mo"`, `class="postbody"`, `class="ta"`, `class="forumline"`, `class="ro"`, `class="row1"`, `class="li"`).Replace(b.String())
}

// TestRecrawlOfRows: posts are found again among rows that are no posts and are named like them.
func TestRecrawlOfRows(t *testing.T) {
	for _, n := range []int{1, 2, 3, 15, 80} {
		h := learner(t, DefaultLimits())
		h.SetBase(base(t, rowForum))
		before := read(h, "http://a.test/t/1", rows(n, false), Input{})
		if len(before.Objects) != n {
			t.Fatalf("%d posts: %.300q", n, said(before))
		}
		now := read(h, "http://a.test/t/1", rows(n, true), Input{Before: before.Prints})
		if got, want := fmt.Sprint(bodies(now)), fmt.Sprint(bodies(before)); got != want {
			t.Errorf("%d posts: %.300s", n, got)
		}
	}
}

// TestThreadIsNoArticle: where the posts of a thread are not found, the thread is not taken for an article.
func TestThreadIsNoArticle(t *testing.T) {
	h := New(base(t, rowForum), DefaultLimits())
	d := read(h, "http://a.test/t/1", rows(3, true)+strings.Repeat(`<p>The ravens and the jays of this wall have been here for as long as anybody can tell, and write every day.</p>`, 9), Input{})
	if d.Level != "thread" || !d.Terminal || len(d.Objects) != 0 {
		t.Errorf("%s: %.300q", d.Level, said(d))
	}
	if d.Content == nil {
		t.Error("no text of the page is content: the topic is looked for nowhere")
	}
}
