package extract

import (
	"fmt"
	"strings"
	"testing"
)

// TestTextsOfParagraphs: the paragraphs of a post are one text, whether all posts have one or one of them has two.
func TestTextsOfParagraphs(t *testing.T) {
	for name, between := range map[string][3]string{
		"beside each other":     {"<p>", "</p>"},
		"in elements":           {"<div class=part><p>", "</p></div>"},
		"in elements with none": {"<div class=part><div><p>", "</p></div></div>"},
		"with a quotation":      {"<p>", "</p>", "<blockquote><a class=username>Hugo</a> said so</blockquote>"},
		"with a quoting box":    {"<p>", "</p>", "<div class='bbcode Quote-head'><a class=username>Hugo</a> said so</div>"},
	} {
		var b strings.Builder
		b.WriteString(`<h1>Where ravens sleep</h1><section>`)
		for i := range 5 {
			text := between[0] + prose(32) + between[1]
			if i == 2 {
				text += between[2] + between[0] + prose(20) + between[1]
			}
			fmt.Fprintf(&b, `<div class=post><a class=username href=/members/%d>writer%c</a><span class=date>%d May 2014</span><div class=content>%s</div></div>`, i, 'A'+rune(i%3), 5+i, text)
		}
		var set Set
		if !pageOf(t, b.String()+`</section>`).Thread(&set) || len(set.Objects) != 5 {
			t.Errorf("%s: %d posts", name, len(set.Objects))
			continue
		}
		for i, o := range set.Objects {
			want := 32
			if i == 2 {
				want = 52
			}
			body := strings.Replace(o.Properties.Get("body"), "Hugo said so", "", 1)
			if got := countWords(body); got != want || o.Properties.Get("author") != "writer"+string('A'+rune(i%3)) || !strings.HasPrefix(o.Properties.Get("published"), fmt.Sprintf("2014-05-%02d", 5+i)) {
				t.Errorf("%s: post %d has %d words, want %d: %+v", name, i, got, want, o.Properties)
			}
		}
	}
}

// TestTextsOfParagraphsAndLists: where a post has paragraphs side by side, these are not the texts of the others either: one has a list.
func TestTextsOfParagraphsAndLists(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><section>`)
	more := []string{"", "<ul><li>" + prose(10) + "</li></ul>", "<p>" + prose(20) + "</p>", "", ""}
	for i, text := range more {
		fmt.Fprintf(&b, `<div class=post><a class=username href=/members/%d>writer%c</a><span class=date>%d May 2014</span><div class=content><p>%s</p>%s</div></div>`, i, 'A'+rune(i%3), 5+i, prose(40), text)
	}
	var set Set
	if !pageOf(t, b.String()+`</section>`).Thread(&set) || len(set.Objects) != 5 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, want := range []int{40, 50, 60, 40, 40} {
		if got := countWords(set.Objects[i].Properties.Get("body")); got != want {
			t.Errorf("post %d has %d words, want %d", i, got, want)
		}
	}
}

// TestTextsWithHeads: texts beside each other with the head of a post between them are those of two posts, though one element holds all of them.
func TestTextsWithHeads(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><div><section>`)
	for i, day := range []string{"29 July", "30 July 2012, 00:15", "31 July 2012, 09:26", "1 August 2012, 23:45", "2 August 2012, 08:00"} {
		if i > 1 {
			b.WriteString(`</section><section>`)
		}
		fmt.Fprintf(&b, `<p class=date>%s</p><a class=username href=/members/%d>writer%c</a><div class=content><p>%s</p></div>`, day, i, 'A'+rune(i%3), prose(30+i))
	}
	var set Set
	if !pageOf(t, b.String()+`</section></div>`).Thread(&set) || len(set.Objects) != 5 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, want := range []string{"", "2012-07-30", "2012-07-31", "2012-08-01", "2012-08-02"} {
		o := set.Objects[i].Properties
		if got := o.Get("published"); !strings.HasPrefix(got, want) || want == "" && got != "" || countWords(o.Get("body")) != 30+i {
			t.Errorf("post %d is of %q, want %q: %+v", i, got, want, o)
		}
	}
}

// TestTextsBelowHeads: where one element holds head and paragraphs, it is not the text of the post: the first paragraph is, and no second post is made.
func TestTextsBelowHeads(t *testing.T) {
	var b strings.Builder
	b.WriteString(`<h1>Where ravens sleep</h1><section>`)
	for i := range 5 {
		text := "<p>" + prose(32) + "</p>"
		if i == 2 {
			text += "<p>" + prose(20) + "</p>"
		}
		fmt.Fprintf(&b, `<div class=post><a class=username href=/members/%d>writer%c</a><span class=date>%d May 2014</span>%s</div>`, i, 'A'+rune(i%3), 5+i, text)
	}
	var set Set
	if !pageOf(t, b.String()+`</section>`).Thread(&set) || len(set.Objects) != 5 {
		t.Fatalf("%d posts", len(set.Objects))
	}
	for i, o := range set.Objects {
		if got := o.Properties.Get("author"); got != "writer"+string('A'+rune(i%3)) || strings.Contains(o.Properties.Get("body"), "writer") {
			t.Errorf("post %d: %+v", i, o.Properties)
		}
	}
}
