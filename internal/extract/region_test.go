package extract

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// text of the blocks that are marked.
func marked(p *Page, marks []bool) string {
	var list []string
	for i, m := range marks {
		if m {
			list = append(list, p.Doc.Blocks[i])
		}
	}
	return strings.Join(list, "|")
}

// TestRegion: what a page shows in short texts is found by its element, without menus, whatever these are called.
func TestRegion(t *testing.T) {
	menu := `<div><a href=/1>Home</a><p></p><a href=/2>Shop</a><p></p><a href=/3>Sale</a><p></p><a href=/4>Jobs</a></div>`
	entry := func(title string) string {
		return `<div class=e><a href=/x>` + title + `</a><p>by <a href=/u>Hugo</a></p><p>12</p></div>`
	}
	list := `<div id=l>` + strings.Repeat(entry("a long title of an entry that is linked"), 12) + `</div>`
	p := pageOf(t, menu+list+menu)
	r, ok := p.region()
	if !ok || attr(p.Eval.Tree.Node(r), "id") != "l" {
		t.Fatalf("region: %v %v", r, ok)
	}
	got := marked(p, p.Segments(true))
	if strings.Count(got, "a long title") != 12 || strings.Contains(got, "Home") || strings.Contains(got, "12") || strings.Contains(got, "Hugo") {
		t.Errorf("content of a list: %q", got)
	}
	code := `<div id=l>` + strings.Repeat(`<p>a text of a few words in it</p><dl><dt>name</dt><dd>its sense</dd></dl>`, 20) + `</div>`
	p = pageOf(t, menu+code)
	if got := marked(p, p.Segments(true)); strings.Count(got, "name") != 20 {
		t.Errorf("definitions are left out: %q", got)
	}
	if p := pageOf(t, menu+menu); p.Segments(true) == nil {
		t.Error("a page of menus has no content")
	}
}

// TestRows: of a thread whose data have the first post alone, the other posts are found by their form; without others like it nothing changes.
func TestRows(t *testing.T) {
	post := func(text string) string {
		return `<article class="post x"><h4 class=name>Hugo</h4><div class="text wrap"><div>` + text + `</div></div><p class=text-foot>Reply</p></article>`
	}
	first := func(text string) *Set {
		return &Set{Objects: []crawl.Object{{Type: "post", Rule: bySchema, Properties: crawl.Properties{{Name: "title", Value: "Ravens"}, {Name: "body", Value: text}}}}}
	}
	body := post("where do ravens sleep in winter") + `<div class=ad>Buy seed</div>` + post("in trees") + post("mine does not")
	for _, text := range []string{"where do ravens sleep in winter", "where do ravens sleep in…", `<a name="p"></a>where do ravens sleep in winter`} {
		set := first(text)
		if !pageOf(t, body).Rows(set) || len(set.Objects) != 3 || len(set.Located) != 3 {
			t.Fatalf("%q: %+v", text, set.Objects)
		}
		for i, want := range []string{"where do ravens sleep in winter", "in trees", "mine does not"} {
			if o := set.Objects[i]; o.Properties.Get("body") != want || o.Type != "post" || o.Properties.Get("title") != "Ravens" {
				t.Errorf("%q: post %d is %+v", text, i, o)
			}
		}
	}
	for name, page := range map[string]string{"one post": post("where do ravens sleep in winter"), "another text": post("no such text here") + post("nor here")} {
		if set := first("where do ravens sleep in winter"); pageOf(t, page).Rows(set) || len(set.Objects) != 1 {
			t.Errorf("%s: %+v", name, set.Objects)
		}
	}
	answers := first("where do ravens sleep in winter")
	answers.Objects[0].Type = "question"
	if !pageOf(t, body).Rows(answers) || answers.Objects[0].Type != "question" || answers.Objects[1].Type != "answer" {
		t.Errorf("a question: %+v", answers.Objects)
	}
}

// TestRowsOfSeveral: what the data of a page say of a post that is not the first stays with it; if one is in no row, the data stay as they are.
func TestRowsOfSeveral(t *testing.T) {
	post := func(text string) string { return `<article class=post><div class=text>` + text + `</div></article>` }
	page := post("where do ravens sleep in winter") + post("in trees, I think") + post("mine does not sleep")
	known := func(second string) *Set {
		return &Set{Objects: []crawl.Object{
			{Type: "post", Rule: bySchema, Properties: crawl.Properties{{Name: "body", Value: "where do ravens sleep in winter"}}},
			{Type: "comment", Rule: bySchema, Properties: crawl.Properties{{Name: "author", Value: "Munin"}, {Name: "body", Value: second}}},
		}}
	}
	set := known("mine does not sleep")
	if !pageOf(t, page).Rows(set) || len(set.Objects) != 3 {
		t.Fatalf("%+v", set.Objects)
	}
	for i, want := range []string{"", "", "Munin"} {
		if o := set.Objects[i]; o.Properties.Get("author") != want || o.Type != "post" {
			t.Errorf("post %d is %+v", i, o)
		}
	}
	set = known("a text that nobody sees")
	if pageOf(t, page).Rows(set) || len(set.Objects) != 2 || set.Objects[1].Properties.Get("author") != "Munin" {
		t.Errorf("what the data say is lost: %+v", set.Objects)
	}
}

// TestManyAlike: where several alike elements hold the texts of a page, one="true" takes none for all; an article above its comments stays one.
func TestManyAlike(t *testing.T) {
	element := func(class string, n int) string {
		return "<article class=" + class + "><p>" + prose(n) + "</p></article>"
	}
	for _, c := range []struct {
		body string
		want int
	}{
		{strings.Repeat(element("post", 60), 5), 5},
		{element("story", 100) + strings.Repeat(element("comment", 60), 5), 1},
		{element("post", 300) + strings.Repeat(element("post", 40), 3), 1},
	} {
		p := pageOf(t, c.body)
		refs := p.Select(expression(t, "//article"), nil, p.Eval.Tree.Root(), 100)
		if got := len(p.one(refs, "true")); got != c.want {
			t.Errorf("%.60s: %d elements, want %d", c.body, got, c.want)
		}
	}
}

// TestListed: the content of a list of threads is their titles, without who began them when; of a list whose bodies are few, all that it lists.
func TestListed(t *testing.T) {
	row := `<li><a class=t href=/1>where do the ravens sleep</a> <p>started by Hugo on 3 May</p><p>12</p></li>`
	p := pageOf(t, "<ul>"+strings.Repeat(row, 6)+"</ul>")
	var list []Located
	for _, at := range p.Select(expression(t, "//li"), nil, p.Eval.Tree.Root(), 100) {
		for _, title := range p.Select(expression(t, ".//a"), nil, at, 1) {
			list = append(list, Located{Type: "thread", At: at, Parts: []Part{{Name: "title", At: title}}})
			list[len(list)-1].Parts[0].At.Attr = -1
		}
	}
	if got := marked(p, p.Listed(list, nil)); strings.Count(got, "ravens") != 6 || strings.Contains(got, "Hugo") {
		t.Errorf("titles of threads: %q", got)
	}
	for i := range list {
		list[i].Type = "product"
	}
	if got := marked(p, p.Listed(list, nil)); strings.Count(got, "Hugo") != 6 {
		t.Errorf("other entries have teasers: %q", got)
	}
	few := make([]bool, len(p.Doc.Blocks))
	few[0] = true
	if got := marked(p, p.Listed(nil, few)); strings.Count(got, "ravens") != 6 {
		t.Errorf("one body of many: %q", got)
	}
}

// TestLittle: a body that holds a small part of what the page shows in short texts is not the body.
func TestLittle(t *testing.T) {
	cards := `<div id=c><div id=a><p>` + prose(100) + `</p></div>` + strings.Repeat(`<div class=card><h3>a service that we offer</h3><p>short words on it</p></div>`, 40) + `</div>`
	p := pageOf(t, cards)
	little := p.Select(expression(t, "//*[@id='a']"), nil, p.Eval.Tree.Root(), 1)[0]
	whole := p.Select(expression(t, "//*[@id='c']"), nil, p.Eval.Tree.Root(), 1)[0]
	if !p.isLittle(little) || p.isLittle(whole) {
		t.Error("a third of what the page shows is not distinguished from all of it")
	}
}

// TestWordsOfSigns: of scripts without spaces, two letters count as a word.
func TestWordsOfSigns(t *testing.T) {
	for text, want := range map[string]int{"two words": 2, "鴉は森で眠る": 3, "": 0, "три слова тут": 3} {
		if got := countWords(text); got != want {
			t.Errorf("%q: %d words, want %d", text, got, want)
		}
	}
}
