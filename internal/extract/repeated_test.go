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
		"few words":  strings.ReplaceAll(teaser(1)+teaser(2), "The ravens of a place called", "Ravens"),
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

// TestThreadOfNames: headings that are the names of writers, or lead to places of the page, are no titles of a list.
func TestThreadOfNames(t *testing.T) {
	for name, heading := range map[string]string{"names": `<h3><a href=/members/$>Writer the $th</a></h3>`, "places": `<h3><a href=/t1#p$>Answer number $</a></h3>`} {
		page := threadOf("3 May 2020", "4 May 2020", "5 May 2020")
		for i := range 3 {
			page = strings.Replace(page, "<div class=content>", strings.ReplaceAll(heading, "$", fmt.Sprint(i))+"<div class=text>", 1)
		}
		var set Set
		if !pageOf(t, page).Thread(&set) || len(set.Objects) != 3 {
			t.Errorf("%s: %d posts", name, len(set.Objects))
		}
	}
}

// TestThreadOfFullNames: headings of two words are no titles of a list if they are the names of the writers; titles below such names are.
func TestThreadOfFullNames(t *testing.T) {
	names, users := []string{"Ann Corvi", "Hugo von Raben", "Edda Crow", "Munin Rook"}, []string{"anncorvi", "hugo_von_raben", "edda.crow", "muninrook"}
	page := func(head, title string) string {
		var b strings.Builder
		b.WriteString(`<h1>Where ravens sleep</h1>`)
		for i, name := range names {
			h := strings.NewReplacer("NAME", name, "USER", users[i], "PATH", strings.ToLower(strings.ReplaceAll(name, " ", "-")), "N", fmt.Sprint(i)).Replace(head + title)
			fmt.Fprintf(&b, `<div class=post>%s<span class=date>%d May 2014</span><div class=content><p>%s</p></div></div>`, h, 5+i, prose(30+i))
		}
		return b.String()
	}
	for name, head := range map[string]string{
		"the writer":            `<h3 class=author><a href="/PATH">NAME</a></h3>`,
		"the name beside it":    `<h3><a href="/PATH">NAME</a></h3><span class=username>NAME</span>`,
		"a user name beside it": `<h3><a href="/PATH">NAME</a></h3><span class=username>USER</span>`,
	} {
		var set Set
		if !pageOf(t, page(head, "")).Thread(&set) || len(set.Objects) != 4 {
			t.Errorf("%s: %d posts", name, len(set.Objects))
		}
		set = Set{}
		if pageOf(t, page(head, `<h2><a href="/N">The nest N</a></h2>`)).Thread(&set) {
			t.Errorf("%s: a list is a thread", name)
		}
	}
}

// TestThreadWithoutADay: a post whose day cannot be found, as where an end tag is damaged, is a post of the thread, and the others keep their days.
func TestThreadWithoutADay(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><ol>`)
	for i, day := range []string{"29 July 2012, <i>11:41", "30 July 2012, <i>00:15</i>", "30 July 2012, <i>09:26</i>", "1 August 2012, <i>23:45</i>"} {
		fmt.Fprintf(&b, `<li class=post><span class=date>%s</span><a class=username href=/members/%d>writer%c</a><div class=content><p>%s</p></div></li>`, day, i, 'A'+rune(i%3), prose(30+i))
		if i == 0 {
			b.WriteString(`<li class=sponsor>Buy seed</li>`)
		}
	}
	page, set := strings.Replace(b.String(), "</span>", "</sp>", 1)+`</ol>`, Set{}
	if !pageOf(t, page).Thread(&set) || len(set.Objects) != 4 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, want := range []string{"", "2012-07-30T00:15", "2012-07-30T09:26", "2012-08-01T23:45"} {
		if got := set.Objects[i].Properties.Get("published"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("post %d is of %q, want %q", i, got, want)
		}
		if got := set.Objects[i].Properties.Get("body"); len(got) < 60 {
			t.Errorf("post %d: %q", i, got)
		}
	}
}

// TestThreadWithADayInItsText: a date in the text of a post that has no day is not its day.
func TestThreadWithADayInItsText(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><ol>`)
	for i, day := range []string{"29 April 2026", "", "1 May 2026", "2 May 2026", "3 May 2026"} {
		text := prose(30 + i)
		if day == "" {
			text = "Meet on 12 May 2026 at noon"
		} else {
			day = `<span class=date>` + day + `</span>`
		}
		fmt.Fprintf(&b, `<li class=post>%s<a class=username href=/members/%d>writer%c</a><p>%s</p></li>`, day, i, 'A'+rune(i%3), text)
	}
	var set Set
	if !pageOf(t, b.String()+`</ol>`).Thread(&set) || len(set.Objects) != 5 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, want := range []string{"2026-04-29", "", "2026-05-01", "2026-05-02", "2026-05-03"} {
		if got := set.Objects[i].Properties.Get("published"); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("post %d is of %q, want %q", i, got, want)
		}
	}
}

// TestThreadOfHeads: where head and text of a post are elements beside each other, the text belongs to the head above it, or to the foot below it; what is
// behind all posts decides which of them it is.
func TestThreadOfHeads(t *testing.T) {
	for name, above := range map[string]bool{"head above": true, "foot below": false} {
		var b strings.Builder
		b.WriteString(`<h1>Where ravens sleep</h1><section>`)
		for i, day := range []string{"29 July 2012, 11:41", "30 July 2012, 00:15", "31 July 2012, 09:26", "1 August 2012, 23:45"} {
			head, text := fmt.Sprintf(`<div class=head><span class=date>%s</span><a class=username href=/members/%d>writer%c</a></div>`, day, i, 'A'+rune(i%3)), fmt.Sprintf(`<div class=text><p>%s</p></div>`, prose(30+i))
			if above {
				b.WriteString(head + text)
			} else {
				b.WriteString(text + head)
			}
		}
		b.WriteString(`</section><div class=foot>All times are UTC</div>`)
		var set Set
		if !pageOf(t, b.String()).Thread(&set) || len(set.Objects) != 4 {
			t.Fatalf("%s: %d posts", name, len(set.Objects))
		}
		for i, want := range []string{"2012-07-29", "2012-07-30", "2012-07-31", "2012-08-01"} {
			o := &set.Objects[i]
			if day, body := o.Properties.Get("published"), o.Properties.Get("body"); !strings.HasPrefix(day, want) || body != strings.TrimSpace(prose(30+i)) || o.Properties.Get("author") != "writer"+string('A'+rune(i%3)) {
				t.Errorf("%s: post %d is %+v", name, i, o)
			}
		}
	}
}

// TestThreadInOneRow: two posts that stand in one row, because the first has no day and they are no elements beside the others, keep their texts apart:
// the first does not get the day of the second.
func TestThreadInOneRow(t *testing.T) {
	for name, above := range map[string]bool{"day above": true, "day below": false} {
		var b strings.Builder
		b.WriteString(`<h1>Where ravens sleep</h1><div><section>`)
		for i, day := range []string{"29 July", "30 July 2012, 00:15", "31 July 2012, 09:26", "1 August 2012, 23:45", "2 August 2012, 08:00"} {
			if i > 1 {
				b.WriteString(`</section><section>`)
			}
			head, text := `<p class=date>`+day+`</p>`, fmt.Sprintf(`<a class=username href=/members/%d>writer%c</a><div class=content><p>%s</p></div>`, i, 'A'+rune(i%3), prose(30+i))
			if !above {
				head, text = text, head
			}
			b.WriteString(`<div class=post>` + head + text + `</div>`)
		}
		var set Set
		if !pageOf(t, b.String()+`</section></div>`).Thread(&set) || len(set.Objects) != 5 {
			t.Fatalf("%s: %d posts", name, len(set.Objects))
		}
		for i, want := range []string{"", "2012-07-30", "2012-07-31", "2012-08-01", "2012-08-02"} {
			if got := set.Objects[i].Properties.Get("published"); !strings.HasPrefix(got, want) || want == "" && got != "" {
				t.Errorf("%s: post %d is of %q, want %q", name, i, got, want)
			}
		}
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
