package extract

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// threadOf is a page in the form of old forums: heads in rows of their own, writers in a column beside the texts, and days on which they joined.
func threadOf(days ...string) string {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><ol>`)
	for i, day := range days {
		fmt.Fprintf(&b, `<li class=head>%s <a href=#%d>#%d</a></li><li class=row><div class=who><a class=username href=/members/%d>writer%c</a><p class=joined>5 May 20%02d</p></div><div class=content><p>%s</p></div></li>`,
			day, i, i, i, 'A'+rune(i%3), 19-i, prose(30+i))
	}
	return b.String() + `</ol>`
}

// TestThread: the posts of a page without data are found by their days and the names of their writers, those being in order.
func TestThread(t *testing.T) {
	var set Set
	if !pageOf(t, threadOf("3 May 2020, 10:15", "4 May 2020, 11:00", "Yesterday", "6 May 2020, 12:00")).Thread(&set) || len(set.Objects) != 4 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, want := range []string{"2020-05-03", "2020-05-04", "", "2020-05-06"} {
		o := set.Objects[i]
		if got := o.Properties.Get("published"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("post %d is of %q, want %q", i, got, want)
		}
		if got := o.Properties.Get("author"); got != "writer"+string('A'+rune(i%3)) {
			t.Errorf("post %d is by %q", i, got)
		}
		if o.Type != "post" || o.Properties.Get("title") != "Where ravens sleep" || strings.Contains(o.Properties.Get("body"), "writer") || len(o.Properties.Get("body")) < 60 {
			t.Errorf("post %d: %+v", i, o.Properties)
		}
	}
}

// TestNoThread: teasers of a list, comments below an article, and rows of which few have a day or a writer are no posts of a thread.
func TestNoThread(t *testing.T) {
	teaser := func(n int) string {
		return fmt.Sprintf(`<div class=t><h2><a href=/%d>The ravens of a place called %c</a></h2><a class=author href=/author/%d>Writer%c</a><time datetime=2020-05-0%d>May</time><p>%s</p></div>`, n, 'A'+rune(n), n, 'A'+rune(n), n+1, prose(40))
	}
	for name, page := range map[string]string{
		"teasers":    teaser(1) + teaser(2) + teaser(3),
		"comments":   `<p>` + prose(200) + `</p>` + threadOf("3 May 2020", "4 May 2020", "5 May 2020", "6 May 2020", "7 May 2020", "8 May 2020", "9 May 2020"),
		"no days":    strings.ReplaceAll(threadOf("today", "today", "today"), "5 May", ""),
		"no writers": strings.ReplaceAll(threadOf("3 May 2020", "4 May 2020", "5 May 2020"), "username href=/members/", "x href=/y/"),
	} {
		var set Set
		if pageOf(t, page).Thread(&set) {
			t.Errorf("%s: %d posts, the first %+v", name, len(set.Objects), set.Objects[0])
		}
	}
	set := Set{Objects: []crawl.Object{{Type: "product"}}}
	if pageOf(t, threadOf("3 May 2020", "4 May 2020")).Thread(&set) {
		t.Error("a product is a thread")
	}
}

// TestRowsBylines: posts that are found beside the first one have the authors and days that stand at the same place of each.
func TestRowsBylines(t *testing.T) {
	post := func(name, day, text string) string {
		return `<article class=post><a class=username href=/u/1>` + name + `</a><time datetime=` + day + `>then</time><div class=text>` + text + `</div></article>`
	}
	set := &Set{Objects: []crawl.Object{{Type: "post", Properties: crawl.Properties{{Name: "body", Value: "where do ravens sleep in winter"}}}}}
	page := post("hugo", "2020-05-03", "where do ravens sleep in winter") + post("munin", "2020-05-04", "in trees") + post("hugo", "2020-05-05", "thanks")
	if !pageOf(t, page).Rows(set) || len(set.Objects) != 3 {
		t.Fatalf("%+v", set.Objects)
	}
	if o := set.Objects[1].Properties; o.Get("author") != "munin" || !strings.HasPrefix(o.Get("published"), "2020-05-04") {
		t.Errorf("the second post: %+v", o)
	}
}
