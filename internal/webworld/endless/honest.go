package endless

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// HonestSites are sites that end.
func HonestSites() []Site {
	var users []string
	for i := range 25 {
		users = append(users, fmt.Sprintf("user%02d.blogs.example.net", i))
	}
	list := []Site{
		{Host: "events.example", answer: events},
		{Host: "press.example", answer: press},
		{Host: "pager.example", answer: pager},
		{Host: "shop.example", answer: shop},
		{Host: "gallery.example", answer: gallery},
		{Host: "journal.example", answer: journal},
		{Host: "repository.example", answer: repository},
		{Host: "tree.example", answer: tree},
		{Host: "comic.example", answer: comic},
		{Host: "members.example", answer: members},
		{Host: "blogs.example.net", More: users, answer: blogs(users)},
		{Host: "forum.example", answer: forum},
		{Host: "glossary.example", answer: glossary},
		{Host: "docs.example", answer: docs},
		{Host: "index.example", answer: directory},
		{Host: "languages.example", answer: languages},
		{Host: "tags.example", answer: tags},
		{Host: "diary.example", answer: diary},
		{Host: "video.example", answer: video},
		{Host: "results.example", answer: results},
		{Host: "spa.example", answer: application},
		{Host: "filters.example", answer: filters},
		{Host: "browse.example", answer: browse},
		{Host: "volumes.example", answer: volumes},
		{Host: "family.example", answer: family},
	}
	return honest(list)
}

// honest marks sites as honest.
func honest(list []Site) []Site {
	for i := range list {
		list[i].Honest = true
	}
	return list
}

// route takes a path of numbers apart: format has a %d for each.
func route(u *url.URL, format string) (n [3]int, ok bool) {
	at := []any{&n[0], &n[1], &n[2]}[:strings.Count(format, "%d")]
	uri := u.RequestURI()
	if _, err := fmt.Sscanf(uri, format, at...); err != nil {
		return n, false
	}
	var values []any
	for i := range at {
		values = append(values, n[i])
	}
	return n, fmt.Sprintf(format, values...) == uri
}

// list is a page of links to things that are numbered from one to another.
func (p *pen) list(title, format, anchor string, from, to int) (out page) {
	out.title = title
	for i := from; i < to; i++ {
		out.links = append(out.links, link{fmt.Sprintf(format, i), fmt.Sprintf(anchor, i)})
	}
	return out
}

func (p *pen) article(nav ...link) page {
	return page{title: p.word() + " " + p.word() + " " + p.word(), text: p.sentences(10), links: nav}
}

var home = link{"/", "Home"}

// events is a calendar of 30 months, two thirds of which have events.
func events(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/month?m=%d"); ok && n[0] < 30 {
		out := page{title: "Month " + strconv.Itoa(n[0]), text: "What happens in this month.", links: []link{home}}
		if n[0] > 0 {
			out.links = append(out.links, link{fmt.Sprintf("/month?m=%d", n[0]-1), "before"})
		}
		if n[0] < 29 {
			out.links = append(out.links, link{fmt.Sprintf("/month?m=%d", n[0]+1), "after"})
		}
		for i := range n[0] % 3 {
			out.links = append(out.links, link{fmt.Sprintf("/event/%d", n[0]*3+i), p.word() + " " + p.word()})
		}
		return out, true
	}
	if n, ok := route(u, "/event/%d"); ok && n[0] < 90 {
		return p.article(home), true
	}
	return page{title: "Village hall", text: p.sentences(4), links: []link{{"/month?m=12", "Calendar"}}}, u.Path == "/"
}

// press is an archive by day.
func press(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/2026/%d/%d/"); ok && n[0] >= 1 && n[0] <= 9 && n[1] >= 1 && n[1] <= 28 {
		out := p.list("News of the day", fmt.Sprintf("/2026/%d/%d/story-%%d.html", n[0], n[1]), "Story %d", 0, 1+n[1]%3)
		out.links = append(out.links, home, link{fmt.Sprintf("/2026/%d/%d/", n[0], n[1]%28+1), "tomorrow"})
		return out, true
	}
	if n, ok := route(u, "/2026/%d/%d/story-%d.html"); ok && n[0] <= 9 && n[1] <= 28 && n[2] < 3 {
		return p.article(home), true
	}
	return p.list("Press", "/2026/%d/1/", "Month %d", 1, 10), u.Path == "/"
}

// pager is a blog with 60 pages of posts, all of which its index names first.
func pager(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/page/%d"); ok && n[0] < 60 {
		out := page{title: "Posts"}
		for i := n[0] * 3; i < n[0]*3+3; i++ {
			out.links = append(out.links, link{fmt.Sprintf("/post/%d", i), p.random("post %d", i).sentences(1)})
		}
		if n[0] < 59 {
			out.links = append(out.links, link{fmt.Sprintf("/page/%d", n[0]+1), "older"})
		}
		return out, true
	}
	if n, ok := route(u, "/post/%d"); ok && n[0] < 180 {
		return p.article(home), true
	}
	out := p.list("All posts", "/post/%d", "Post %d", 0, 180)
	out.links = append([]link{{"/page/0", "Newest"}}, out.links...)
	return out, u.Path == "/"
}

// shop has filters with a few hundred combinations.
func shop(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/list?color=%d&size=%d&sort=%d"); ok && n[0] < 5 && n[1] < 5 && n[2] < 2 {
		out := page{title: "Shirts", text: "Our shirts.", links: []link{home}}
		for i := range 200 {
			if i%5 == n[0] && i/5%5 == n[1] {
				out.links = append(out.links, link{fmt.Sprintf("/shirt/%d", i), p.random("shirt %d", i).word() + " shirt"})
			}
		}
		for c := range 5 {
			out.links = append(out.links, link{fmt.Sprintf("/list?color=%d&size=%d&sort=%d", c, n[1], n[2]), "color"},
				link{fmt.Sprintf("/list?color=%d&size=%d&sort=%d", n[0], c, 1-n[2]), "size"})
		}
		return out, true
	}
	if n, ok := route(u, "/shirt/%d"); ok && n[0] < 200 {
		return page{title: p.word() + " shirt", text: p.sentences(3) + " Put it into the cart.", images: []string{fmt.Sprintf("/shirt%d.jpg", n[0])}, links: []link{home}}, true
	}
	return page{title: "Shop", text: p.sentences(3), links: []link{{"/list?color=0&size=0&sort=0", "Shirts"}}}, u.Path == "/"
}

// gallery has pictures, and the same words on every page.
func gallery(_ *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/photo/%d"); ok && n[0] < 120 {
		out := page{title: "Photo", text: "Click on the picture to see the next one.", images: []string{fmt.Sprintf("/img/%d.jpg", n[0])}}
		out.links = []link{home, {fmt.Sprintf("/photo/%d", (n[0]+1)%120), "next"}, {fmt.Sprintf("/photo/%d", (n[0]+119)%120), "previous"}, {fmt.Sprintf("/photo/%d", (n[0]+10)%120), "ten on"}}
		return out, true
	}
	return page{title: "Photos", text: "All my photos.", links: []link{{"/photo/0", "start"}}}, u.Path == "/"
}

// journal has volumes that differ in numbers alone.
func journal(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/vol/%d/"); ok && n[0] < 40 {
		out := p.list(fmt.Sprintf("Volume %d", n[0]), fmt.Sprintf("/vol/%d/issue-%%d.html", n[0]), "Issue %d", 1, 5)
		out.links = append(out.links, home)
		return out, true
	}
	if n, ok := route(u, "/vol/%d/issue-%d.html"); ok && n[0] < 40 && n[1] < 5 {
		return p.article(home), true
	}
	return p.list("Journal", "/vol/%d/", "Volume %d", 0, 40), u.Path == "/"
}

// repository has items with invented names, which lead to others.
func repository(p *pen, u *url.URL) (page, bool) {
	id := func(n int) string { return "/items/" + p.random("item %d", n).hex() }
	for n := range 150 {
		if u.Path == id(n) {
			out := page{title: p.word() + " " + p.word(), text: p.sentences(14)}
			for _, k := range []int{2*n + 1, 2*n + 2, 3*n + 50, n + 75} {
				if k < 150 {
					out.links = append(out.links, link{id(k), p.word()})
				}
			}
			return out, true
		}
	}
	return page{title: "Repository", text: p.sentences(2), links: []link{{id(0), "The first item"}, {id(1), "The second"}}}, u.Path == "/"
}

// tree has no link back.
func tree(p *pen, u *url.URL) (page, bool) {
	if strings.Count(u.Path, "/") > 4 || strings.Trim(u.Path, "/12345") != "" {
		return page{}, false
	}
	out := p.article()
	if strings.Count(u.Path, "/") < 4 {
		for i := 1; i <= 5; i++ {
			out.links = append(out.links, link{strings.TrimSuffix(u.Path, "/") + "/" + strconv.Itoa(i), p.word()})
		}
	}
	return out, true
}

// comic is a chain of pictures.
func comic(_ *pen, u *url.URL) (page, bool) {
	n, ok := route(u, "/strip/%d")
	if !ok && u.Path != "/" || n[0] >= 100 {
		return page{}, false
	}
	out := page{title: "Comic", text: "A new strip every day. Read it aloud!", images: []string{fmt.Sprintf("/strips/%d.png", n[0])}}
	if n[0] < 99 {
		out.links = []link{{fmt.Sprintf("/strip/%d", n[0]+1), "next"}}
	}
	return out, true
}

// members have pages that say nothing but a name.
func members(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/member.php?u=%d"); ok && n[0] < 100 {
		return page{title: "Member", text: "This member has not written anything about himself. You must log in to send a message to " + p.word() + ".", links: []link{home, {"/login?return=/member.php?u=" + strconv.Itoa(n[0]), "Log in"}}}, true
	}
	if u.Path == "/login" {
		return page{title: "Log in", text: "Please write your name and your password here.", links: []link{home}}, true
	}
	return p.list("Members", "/member.php?u=%d", "Member %d", 0, 100), u.Path == "/"
}

// blogs are hosts of users.
func blogs(users []string) func(p *pen, u *url.URL) (page, bool) {
	return func(p *pen, u *url.URL) (page, bool) {
		if n, ok := route(u, "/post-%d"); ok && n[0] < 5 {
			return p.article(home), true
		}
		out := p.article()
		for i := range 5 {
			out.links = append(out.links, link{fmt.Sprintf("/post-%d", i), p.word()})
		}
		if u.Host == "blogs.example.net" {
			for _, host := range users {
				out.links = append(out.links, link{"//" + host + "/", host})
			}
		}
		return out, u.Path == "/"
	}
}

// forum has threads of several pages, and forms that want a login.
func forum(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/thread?t=%d&page=%d"); ok && n[0] < 60 && n[1] < 3 {
		out := p.article(home, link{fmt.Sprintf("/reply?t=%d", n[0]), "Reply"}, link{fmt.Sprintf("/quote?t=%d&p=%d", n[0], n[1]), "Quote"})
		for i := range 3 {
			out.links = append(out.links, link{fmt.Sprintf("/thread?t=%d&page=%d", n[0], i), strconv.Itoa(i)})
		}
		return out, true
	}
	if u.Path == "/reply" || u.Path == "/quote" {
		return page{title: "Log in", text: "You must log in to write here. It costs nothing.", links: []link{home}}, true
	}
	return p.list("Forum", "/thread?t=%d&page=0", "Thread %d", 0, 60), u.Path == "/"
}

// glossary has entries of a line.
func glossary(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/term/%d"); ok && n[0] < 150 {
		return page{title: p.word(), text: p.sentences(1), links: []link{home, {fmt.Sprintf("/term/%d", p.IntN(150)), "see also"}}}, true
	}
	return p.list("Glossary", "/term/%d", "Term %d", 0, 150), u.Path == "/"
}

// docs has four versions of the same pages, which differ little.
func docs(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/v%d/chapter/%d"); ok && n[0] < 5 && n[1] < 40 {
		out := page{title: fmt.Sprintf("Chapter %d", n[1]), text: p.random("chapter %d", n[1]).sentences(12) + fmt.Sprintf(" This is of version %d.", n[0]), links: []link{home}}
		return out, true
	}
	if n, ok := route(u, "/v%d/"); ok && n[0] < 5 {
		return p.list("Documentation", fmt.Sprintf("/v%d/chapter/%%d", n[0]), "Chapter %d", 0, 40), true
	}
	return p.list("Versions", "/v%d/", "Version %d", 1, 5), u.Path == "/"
}

// directory lists folders and files, as servers do, with links that sort them.
func directory(p *pen, u *url.URL) (page, bool) {
	if strings.HasSuffix(u.Path, ".txt.html") {
		return p.article(), strings.Count(u.Path, "/") < 5
	}
	if !strings.HasSuffix(u.Path, "/") || strings.Count(u.Path, "/") > 4 {
		return page{}, false
	}
	out := page{title: "Index of " + u.Path, links: []link{{"?C=N;O=D", "Name"}, {"?C=M;O=A", "Last modified"}, {"?C=S;O=A", "Size"}, {"../", "Parent Directory"}}}
	if u.Path == "/" {
		out.links = out.links[:3]
	}
	r := p.random("folder %s", u.Path)
	for range 3 {
		out.links = append(out.links, link{u.Path + r.word() + ".txt.html", "a text"})
		if strings.Count(u.Path, "/") < 4 {
			out.links = append(out.links, link{u.Path + r.word() + "/", "a folder"})
		}
	}
	return out, true
}

// languages has the same pages under four languages, most of which are not translated.
func languages(p *pen, u *url.URL) (page, bool) {
	var lang string
	var n int
	if _, err := fmt.Sscanf(strings.ReplaceAll(u.Path, "/", " "), " %s %d", &lang, &n); err == nil && n < 50 && strings.Contains("en de fr es", lang) {
		out := page{title: fmt.Sprintf("Page %d", n), text: p.random("language page %d", n).sentences(9), links: []link{home}}
		for _, l := range []string{"en", "de", "fr", "es"} {
			out.links = append(out.links, link{fmt.Sprintf("/%s/%d", l, n), l})
		}
		return out, true
	}
	return p.list("Languages", "/en/%d", "Page %d", 0, 50), u.Path == "/"
}

// tags has lists of posts by tag, which overlap.
func tags(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/tag/%d"); ok && n[0] < 60 {
		out := page{title: "Posts with this tag", links: []link{home}}
		for i := range 100 {
			if p.IntN(10) == 0 {
				out.links = append(out.links, link{fmt.Sprintf("/post/%d", i), p.random("post %d", i).word()})
			}
		}
		return out, true
	}
	if n, ok := route(u, "/post/%d"); ok && n[0] < 100 {
		out := p.article(home)
		for range 4 {
			out.links = append(out.links, link{fmt.Sprintf("/tag/%d", p.IntN(60)), "tag"})
		}
		return out, true
	}
	return p.list("Posts", "/post/%d", "Post %d", 0, 20), u.Path == "/"
}

// diary has a short entry each day, and a month of links beside it.
func diary(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/2025/%d/%d"); ok && n[0] >= 1 && n[0] <= 8 && n[1] >= 1 && n[1] <= 28 {
		out := page{title: "Diary", text: p.sentences(3), links: []link{home}}
		for d := 1; d <= 28; d++ {
			out.links = append(out.links, link{fmt.Sprintf("/2025/%d/%d", n[0], d), strconv.Itoa(d)})
		}
		out.links = append(out.links, link{fmt.Sprintf("/2025/%d/1", n[0]%8+1), "next month"})
		return out, true
	}
	return page{title: "My diary", text: p.sentences(2), links: []link{{"/2025/1/1", "Start"}}}, u.Path == "/"
}

// video has pages with invented names, a preview picture each, and related ones.
func video(p *pen, u *url.URL) (page, bool) {
	id := func(n int) string { return p.random("video %d", n).hex()[:11] }
	for n := range 150 {
		if u.Query().Get("v") == id(n) || n == 0 && u.Path == "/" {
			out := page{title: p.word() + " " + p.word(), text: p.sentences(1)}
			for range 8 {
				k := p.IntN(150)
				out.images = append(out.images, "/preview/"+id(k)+".jpg")
				out.links = append(out.links, link{"/watch?v=" + id(k), p.random("title %d", k).sentences(1)})
			}
			out.links = append(out.links, link{"/watch?v=" + id((n+1)%150), "next"})
			return out, true
		}
	}
	return page{}, false
}

// results are tables of numbers.
func results(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/season/%d/day/%d"); ok && n[0] < 10 && n[1] < 20 {
		out := page{title: fmt.Sprintf("Day %d", n[1]), links: []link{home}}
		for range 6 {
			out.text += fmt.Sprintf("%s against %s %d:%d. ", p.word(), p.word(), p.IntN(5), p.IntN(5))
		}
		out.links = append(out.links, link{fmt.Sprintf("/season/%d/day/%d", n[0], n[1]+1), "next day"})
		return out, true
	}
	return p.list("Results", "/season/%d/day/0", "Season %d", 0, 10), u.Path == "/"
}

// application is a shell that scripts fill: all its pages read alike.
func application(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/view/%d"); ok && n[0] < 60 {
		return page{title: "App", text: "You need to enable JavaScript to run this application.", links: []link{home}}, true
	}
	return p.list("Views", "/view/%d", "View %d", 0, 60), u.Path == "/"
}

// filters has a list for each choice of color, size and price, in one folder. The front page names all that they list.
func filters(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/shirt/%d"); ok && n[0] < 90 {
		return p.article(home), true
	}
	rest, ok := strings.CutPrefix(u.Path, "/list/")
	if !ok {
		out := p.list("Shop", "/shirt/%d", "Shirt %d", 0, 90)
		out.links = append(out.links, link{"/list/red", "filter"})
		return out, u.Path == "/"
	}
	values := [][]string{{"red", "blue", "black", "white", "green"}, {"tiny", "small", "medium", "large", "huge"}, {"cheap", "fair", "dear", "luxury"}}
	var chosen [3]string
	for f := range values {
		for _, v := range values[f] {
			if strings.Contains("-"+rest+"-", "-"+v+"-") {
				chosen[f] = v
			}
		}
	}
	out := page{title: "Shirts", text: "Our shirts.", links: []link{home}}
	for n := range 90 {
		fits := true
		for f, v := range chosen {
			fits = fits && (v == "" || v == values[f][p.random("shirt %d %d", n, f).IntN(len(values[f]))])
		}
		if fits {
			out.links = append(out.links, link{fmt.Sprintf("/shirt/%d", n), "shirt"})
		}
	}
	for f := range values {
		for _, v := range values[f] {
			var name []string
			for g, now := range chosen {
				if g == f {
					now = v
				}
				if now != "" {
					name = append(name, now)
				}
			}
			out.links = append(out.links, link{"/list/" + strings.Join(name, "-"), v})
		}
	}
	return out, true
}

// browse has names by their first two letters: lists of lists, with hardly a word.
func browse(p *pen, u *url.URL) (page, bool) {
	if rest, ok := strings.CutPrefix(u.Path, "/browse/"); ok && len(rest) <= 2 {
		out := page{title: "Browse", text: "Choose a letter.", links: []link{home}}
		if len(rest) == 2 {
			for i := range 3 {
				out.links = append(out.links, link{fmt.Sprintf("/name/%s%d", rest, i), p.word()})
			}
			return out, true
		}
		for c := 'a'; c <= 'z'; c++ {
			out.links = append(out.links, link{"/browse/" + rest + string(c), rest + string(c)})
		}
		return out, true
	}
	if strings.HasPrefix(u.Path, "/name/") {
		return page{title: p.word(), text: p.sentences(2), links: []link{home}}, true
	}
	return page{title: "Names", text: p.sentences(2), links: []link{{"/browse/", "Browse"}}}, u.Path == "/"
}

// volumes has a list of lists in one folder with what they list.
func volumes(p *pen, u *url.URL) (page, bool) {
	volume := func(n int) string { return fmt.Sprintf("/papers/%s-%d", p.random("volume %d", n).word(), n) }
	paper := func(n, k int) string {
		return fmt.Sprintf("/papers/on-%s-%d-%d", p.random("paper %d %d", n, k).word(), n, k)
	}
	out := page{title: "Journal", text: p.sentences(2)}
	for n := range 40 {
		if u.Path == volume(n) {
			out := page{title: "Volume " + strconv.Itoa(n), links: []link{home}}
			for k := range 4 {
				out.links = append(out.links, link{paper(n, k), p.random("title %d %d", n, k).sentences(1)})
			}
			return out, true
		}
		for k := range 4 {
			if u.Path == paper(n, k) {
				return p.article(home), true
			}
		}
		out.links = append(out.links, link{volume(n), "Volume " + strconv.Itoa(n)})
	}
	return out, u.Path == "/"
}

// family has 600 persons with a line each of the same few words, and their children.
func family(p *pen, u *url.URL) (page, bool) {
	names := strings.Fields("Anna Brown Clara Fisher Hull John Leeds Mason Oscar Potter Ripon Rose Selby Smith Turner Walker York Young")
	n, ok := route(u, "/person.php?id=%d")
	if !ok || n[0] >= 600 {
		return page{title: "Our family", text: p.sentences(3), links: []link{{"/person.php?id=0", "The first"}}}, u.Path == "/"
	}
	name := func() string { return names[p.IntN(len(names))] }
	out := page{title: name() + " " + name(), text: fmt.Sprintf("Born %d in %s. Died %d in %s.", 1800+p.IntN(90), name(), 1890+p.IntN(60), name()), links: []link{home}}
	for child := 3*n[0] + 1; child <= 3*n[0]+3 && child < 600; child++ {
		out.links = append(out.links, link{fmt.Sprintf("/person.php?id=%d", child), "child"})
	}
	return out, true
}
