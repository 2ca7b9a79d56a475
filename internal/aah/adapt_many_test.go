package aah

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// jayPosts is as jayBlog, with comments whose parts stand in a row.
var jayPosts = strings.NewReplacer(`xpath="b"`, `xpath="div/b"`, `xpath="p"`, `xpath="div/p"`, "/a/", "/p/").Replace(jayBlog)

// discussed writes an article with comments, flat or as answers to each other: every third answers the one before it. With
// renamed, another template says the same.
func discussed(comments int, nested, renamed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, jay+`<h1 class="t">The jays</h1><div class="entry"><p>`+jayText+`</p></div><ol class="list">`, 7, 7)
	for i := range comments {
		fmt.Fprintf(&b, `<li class="c" id="c-%d"><div class="row"><b>%s</b><p>Comment %d says that the jays hid %d acorns.</p></div>`, i, []string{"Hugin", "Munin", "Odin"}[i%3], i, 3*i)
		if nested && i%3 < 2 && i+1 < comments {
			b.WriteString(`<ol class="answers">`)
			continue
		}
		b.WriteString(`</li>`)
		if nested {
			b.WriteString(strings.Repeat(`</ol></li>`, i%3))
		}
	}
	b.WriteString(`</ol><ul class="menu"><li class="item"><a href="/">Home</a></li></ul>`)
	if !renamed {
		return b.String()
	}
	return strings.NewReplacer(`class="c"`, `class="mo"`, `class="entry"`, `class="ta"`, `class="row"`, `class="ro"`, `class="list"`, `class="li"`, `<b>`, `<strong>`, `</b>`, `</strong>`).Replace(b.String())
}

// jayLists is as jayBlog, with comments that are the terms and the definitions of a list.
var jayLists = strings.NewReplacer(`//li[has-class('c')]`, `//dd[has-class('c')]`, `xpath="b"`, `xpath="preceding-sibling::dt[1]"`, `xpath="p"`, `xpath="."`, "/a/", "/l/").Replace(jayBlog)

// listed writes an article with comments whose authors stand beside them, on a page of many elements; some are signed in another way.
func listed(comments int, renamed bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, jay+`<h1 class="t">The jays</h1><div class="entry"><p>`+jayText+`</p></div><ul class="menu">`, 7, 7)
	for i := range 2000 {
		fmt.Fprintf(&b, `<li class="item m%d"><a href="/%d">Home %d</a></li>`, i%7, i, i)
	}
	b.WriteString(`</ul><dl class="list">`)
	for i := range comments {
		fmt.Fprintf(&b, `<dt class="who"><a href="/u/%d">Jay %d, November %d</a></dt>`, i, i, i)
		if i%20 == 19 {
			b.WriteString(`<dt class="role">moderates</dt>`)
		}
		fmt.Fprintf(&b, `<dd class="c"><p>Comment %d says that the jays hid %d acorns.</p></dd>`, i, 3*i)
	}
	b.WriteString(`</dl>`)
	if !renamed {
		return b.String()
	}
	return strings.NewReplacer(`class="c"`, `class="mo"`, `class="entry"`, `class="ta"`, `class="who"`, `class="ro"`, `class="list"`, `class="li"`, `class="role"`, `class="be"`).Replace(b.String())
}

// TestRecrawlOfMany: all objects of a page are found again, however many there are, of several types, one in another or not.
func TestRecrawlOfMany(t *testing.T) {
	for name, page := range map[string]func(n int, renamed bool) string{
		"/p/ flat":   func(n int, renamed bool) string { return discussed(n, false, renamed) },
		"/p/ nested": func(n int, renamed bool) string { return discussed(n, true, renamed) },
		"/l/ listed": listed,
	} {
		for _, n := range []int{5, 61, 100, 153, 300} {
			h := learner(t, DefaultLimits())
			if strings.HasPrefix(name, "/l/") {
				h.SetBase(base(t, jayLists))
			} else {
				h.SetBase(base(t, jayPosts))
			}
			url := "http://a.test" + name[:3] + "1"
			before := read(h, url, page(n, false), Input{})
			if len(before.Objects) != n+1 {
				t.Fatalf("%s, %d comments: %d objects", name, n, len(before.Objects))
			}
			now := read(h, url, page(n, true), Input{Before: before.Prints})
			if got, want := bodies(now), bodies(before); !slices.Equal(got, want) {
				t.Errorf("%s: %d of %d objects are found again", name, len(now.Objects), n+1)
			}
		}
	}
}

// bodies are the types and texts of the objects of a page.
func bodies(d *crawl.Parsed) (list []string) {
	for _, o := range d.Objects {
		list = append(list, o.Type+" "+o.Properties.Get("body"))
	}
	return list
}
