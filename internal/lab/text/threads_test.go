package text

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muninn-archive/muninn/kb"
)

// forum is the template of threads of a program for forums, of which no rule is known here. In a post stand @NAME, @DATE and @TEXT, and @N, its
// number.
type forum struct {
	name, title, lang, layout string
	head, first, post         string // first is the first post, if it differs
	foot                      string
}

// What people say in the posts.
var sayings = []string{
	"Has anybody seen the two ravens of the old tower this week? They were not on the lower wall when I passed there on Monday, and the keeper does not answer the telephone.",
	"I saw one of them near the bridge.",
	"The keeper told my brother that they come back each evening for the meat, so I would not worry about them before the end of the month. Last year they were away for ten days.",
	"Thanks, that is good to know! I shall go there on Saturday and look for them myself.",
	"Please tell us what you have seen. The school counts the birds along the river in spring, and it would be good to know whether the two of the tower are to be counted or not.",
	"They are back. Both of them sat on the wall at noon.",
	"Very good.",
}

var members = []string{"corvina", "Hugo17", "edda", "Poe_fan", "corvina", "blackbird", "Hugo17"}

// page is a thread of so many posts, and the day of its first one.
func (f *forum) page(posts int) (body string, day string) {
	at := time.Date(2015, 3, 5, 10, 20, 0, 0, time.UTC)
	day = at.Format(time.DateOnly)
	var b strings.Builder
	fmt.Fprintf(&b, `<!DOCTYPE html><html lang="%s"><head><meta charset="utf-8"><title>%s - The Tower Forum</title></head><body>
<div id="top"><a href="/"><img src="/logo.png" alt="The Tower Forum"></a><ul class="nav"><li><a href="/forum">Forum</a></li><li><a href="/members">Members</a></li><li><a href="/search">Search</a></li><li><a href="/login">Log in</a></li></ul></div>
<div class="crumbs"><a href="/">Board index</a> » <a href="/f2">Birds</a></div>`, f.lang, f.title)
	b.WriteString(f.head)
	for i := range posts {
		row := f.post
		if i == 0 && f.first != "" {
			row = f.first
		}
		b.WriteString(strings.NewReplacer("@NAME", members[i], "@DATE", at.Format(f.layout), "@STAMP", at.Format(time.RFC3339), "@UNIX", fmt.Sprint(at.Unix()), "@TEXT", sayings[i], "@N", fmt.Sprint(i+1)).Replace(row))
		at = at.Add(26*time.Hour + 7*time.Minute)
	}
	b.WriteString(f.foot)
	b.WriteString(`<div class="similar"><h3>Similar topics</h3><table><tr><td><a href="/t7">Crows of the moor</a></td><td>12</td><td>07 Feb 2014</td></tr><tr><td><a href="/t9">Jays in the garden</a></td><td>3</td><td>11 Jun 2016</td></tr></table></div>
<div id="footer">All times are UTC. It is currently Fri Jul 01, 2016 9:15 am. Powered by Raven Board &copy; 2004-2016</div></body></html>`)
	return b.String(), day
}

// dayOf is the day that a system gives a page.
func dayOf(t *testing.T, s System, url, body string) string {
	t.Helper()
	a, err := s.Extract(&Page{URL: url, Raw: []byte(body)})
	if err != nil {
		t.Fatal(err)
	}
	if a.Published.IsZero() {
		return ""
	}
	return a.Published.Format(time.DateOnly)
}

// TestThreads: the generic layer finds the day of the first post of threads in the templates of programs for forums, whether there are one, two
// or more posts. The floors are a little below what was measured.
func TestThreads(t *testing.T) {
	base, err := GenericBase(kb.Files())
	if err != nil {
		t.Fatal(err)
	}
	generic := Muninn("generic", base, false)
	for _, half := range []struct {
		name  string
		list  []forum
		floor float64
	}{{"chosen", chosen, 0.8}, {"kept", kept, 0.76}} {
		right, given, all := 0, 0, 0
		for _, f := range half.list {
			for _, posts := range []int{1, 2, len(members)} {
				body, want := f.page(posts)
				got := dayOf(t, generic, "http://forum.tower.test/topic/5-ravens", body)
				all++
				if got != "" {
					given++
				}
				if got == want {
					right++
				} else {
					t.Logf("%s, %d posts: %q, want %q", f.name, posts, got, want)
				}
			}
		}
		if float64(right) < half.floor*float64(all) {
			t.Errorf("%s: %d of %d are right, %d given; the floor is %.2f", half.name, right, all, given, half.floor)
		}
	}
}
