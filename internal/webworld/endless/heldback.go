package endless

import (
	"encoding/hex"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// HeldBackTraps are sites without end that were written, and committed, before the rules had been run on them; some rules were changed for them since.
func HeldBackTraps() []Site {
	return []Site{
		{Host: "diffs.example", Worth: 61, answer: diffs},
		{Host: "tagged.example", Worth: 72, answer: tagged},
		{Host: "weather.example", Worth: 1, answer: weather},
		{Host: "login.example", Worth: 13, answer: login},
		{Host: "translate.example", Worth: 9, answer: translate},
		{Host: "clicks.example", Worth: 13, answer: clicks},
		// Written after the rules had changed for those above.
		{Host: "feed.example", Worth: 31, answer: feed},
		{Host: "tarpit.example", Worth: 1, answer: tarpit},
	}
}

// HeldBackHonest are sites that end, of the same kind.
func HeldBackHonest() []Site {
	return honest([]Site{
		{Host: "wiki.example", answer: wiki},
		{Host: "facetshop.example", answer: facetShop},
		{Host: "photos.example", answer: photos},
		{Host: "dictionary.example", answer: dictionary},
		{Host: "board.example", answer: board},
		{Host: "apidocs.example", answer: apiDocs},
		{Host: "timetable.example", answer: timetable},
		// Written after the rules had changed for those above.
		{Host: "law.example", answer: law},
		{Host: "comments.example", answer: comments},
	})
}

// feed has 30 posts, and a list that continues without end with some of them, from a mark that only the server understands.
func feed(p *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/post/%d"); ok && n[0] < 30 {
		return p.article(home), true
	}
	if u.Path != "/" && u.Path != "/feed" {
		return page{}, false
	}
	out := page{title: "Latest posts"}
	for range 8 {
		n := p.IntN(30)
		out.text += p.random("teaser %d", n).sentences(1) + " "
		out.links = append(out.links, link{fmt.Sprintf("/post/%d", n), "Read more"})
	}
	for range 3 {
		out.links = append(out.links, link{"/feed?cursor=" + p.hex() + "&size=8", "Load more"})
	}
	return out, true
}

// tarpit is made for crawlers that ask for too much: prose by chance, and links of words to more of it.
func tarpit(p *pen, u *url.URL) (page, bool) {
	out := page{title: p.word() + " " + p.word(), text: p.sentences(7)}
	base := u.Path[:strings.LastIndex(u.Path, "/")+1]
	if strings.Count(base, "/") > 5 {
		base = "/"
	}
	for range 6 {
		to := base + p.word() + "-" + p.word()
		if p.IntN(2) == 0 {
			to += "/" + p.word()
		}
		out.links = append(out.links, link{to, p.word() + " " + p.word()})
	}
	return out, true
}

// law has 80 sections of a code, each as it stood on five dates: few have changed.
func law(p *pen, u *url.URL) (page, bool) {
	dates := []string{"1998-01-01", "2004-07-01", "2011-03-15", "2018-05-25", "2024-01-01"}
	text := func(n, at int) string {
		version := 0
		for v := 1; v <= at; v++ {
			if p.random("section %d changed on %d", n, v).IntN(3) == 0 {
				version = v
			}
		}
		return p.random("section %d of %d", n, version).sentences(2 + n%3)
	}
	var n int
	if _, err := fmt.Sscanf(u.Path, "/code/section-%d", &n); err == nil && u.Path == fmt.Sprintf("/code/section-%d", n) && n >= 1 && n <= 80 {
		at := len(dates) - 1
		if u.RawQuery != "" {
			if at = slices.Index(dates, strings.TrimPrefix(u.RawQuery, "asof=")); at < 0 {
				return page{}, false
			}
		}
		out := page{title: fmt.Sprintf("Section %d", n), text: text(n, at), links: []link{home}}
		for _, d := range dates {
			out.links = append(out.links, link{fmt.Sprintf("/code/section-%d?asof=%s", n, d), "as of " + d})
		}
		for _, next := range []int{n - 1, n + 1} {
			if next >= 1 && next <= 80 {
				out.links = append(out.links, link{fmt.Sprintf("/code/section-%d", next), fmt.Sprintf("Section %d", next)})
			}
		}
		return out, true
	}
	return page{title: "The code", text: p.sentences(2), links: []link{{"/code/section-1", "Section 1"}}}, u.Path == "/"
}

// comments is a blog whose articles are repeated above each page of their comments, and in a form for printing.
func comments(p *pen, u *url.URL) (page, bool) {
	var n, at int
	whole := func(n int) string { return p.random("blog %d", n).sentences(8) }
	own := func(n int) string { return fmt.Sprintf("/2026/%02d/%s-%d/", 1+n%12, p.random("slug %d", n).word(), n) }
	for n = range 36 {
		if !strings.HasPrefix(u.Path, own(n)) {
			continue
		}
		out := page{title: p.random("blog %d", n).word(), links: []link{home, {own(n), "Article"}, {own(n) + "?print=1", "Print"}}}
		for c := 1; c <= 3; c++ {
			out.links = append(out.links, link{fmt.Sprintf("%scomment-page-%d/", own(n), c), strconv.Itoa(c)})
		}
		for _, near := range []int{n - 1, n + 1} {
			if near >= 0 && near < 36 {
				out.links = append(out.links, link{own(near), "near"})
			}
		}
		_, err := fmt.Sscanf(strings.TrimPrefix(u.Path, own(n)), "comment-page-%d/", &at)
		switch {
		case u.Path == own(n) && (u.RawQuery == "" || u.RawQuery == "print=1"):
			out.text = whole(n)
			return out, true
		case err == nil && at >= 1 && at <= 3 && u.RawQuery == "":
			out.text = whole(n) + " " + p.random("comment %d %d", n, at).sentences(2)
			return out, true
		}
	}
	return page{title: "Blog", text: p.sentences(2), links: []link{{own(35), "The newest article"}}}, u.Path == "/"
}

// diffs is a repository viewer: 60 commits are worth it, and it compares each of them with each.
func diffs(p *pen, u *url.URL) (page, bool) {
	id := func(n int) string { return p.random("commit %d", n).hex() + p.random("more of %d", n).hex()[:8] }
	find := func(of string) int {
		for n := range 60 {
			if id(n) == of {
				return n
			}
		}
		return -1
	}
	change := func(n int) string { return p.random("change %d", n).sentences(2) }
	q := u.Query()
	switch at, with := find(q.Get("id")), find(q.Get("id2")); {
	case u.Path == "/commit" && at >= 0:
		out := page{title: "Commit " + id(at)[:10], text: change(at)}
		for _, k := range []int{1, 2, 5, 11, 23} {
			if k <= at {
				out.links = append(out.links, link{"/commit?id=" + id(at-k), "parent"}, link{"/diff?id=" + id(at) + "&id2=" + id(at-k), "diff"})
			}
		}
		return out, true
	case u.Path == "/diff" && at >= 0 && with >= 0:
		out := page{title: "Diff", text: fmt.Sprintf("Diff from %s to %s.", id(with)[:10], id(at)[:10])}
		for n := min(at, with); n < max(at, with) && n < min(at, with)+8; n++ {
			out.text += " " + change(n)
		}
		context := q.Get("context")
		for _, k := range []int{1, 3, 7, 17, 29} {
			out.links = append(out.links, link{"/diff?id=" + id((at+k)%60) + "&id2=" + id(with), "newer"}, link{"/diff?id=" + id(at) + "&id2=" + id((with+k)%60), "older"})
		}
		more, _ := strconv.Atoi(context)
		out.links = append(out.links, link{fmt.Sprintf("/diff?id=%s&id2=%s&context=%d", id(at), id(with), more+1), "more context"})
		return out, true
	}
	out := page{title: "Log", text: p.sentences(2)}
	for n := range 60 {
		out.links = append(out.links, link{"/commit?id=" + id(n), p.random("change %d", n).word()})
	}
	return out, u.Path == "/"
}

// tagged has 60 questions and 11 tags, and a list for each choice and each order of tags.
func tagged(p *pen, u *url.URL) (page, bool) {
	names := make([]string, 11)
	for i := range names {
		names[i] = p.random("tag %d", i).word() + strconv.Itoa(i)
	}
	has := func(question, tag int) bool { return p.random("question %d has %d", question, tag).IntN(3) == 0 }
	if n, ok := route(u, "/questions/%d"); ok && n[0] < 60 {
		out := p.article(home)
		for i, name := range names {
			if has(n[0], i) {
				out.links = append(out.links, link{"/tagged/" + name, name})
			}
		}
		return out, true
	}
	if rest, ok := strings.CutPrefix(u.Path, "/tagged/"); ok {
		var chosen []int
		for _, name := range strings.Split(rest, "+") {
			i := slices.Index(names, name)
			if i < 0 || slices.Contains(chosen, i) {
				return page{}, false
			}
			chosen = append(chosen, i)
		}
		out := page{title: "Questions tagged " + strings.Join(strings.Split(rest, "+"), " and "), links: []link{home}}
		for n := range 60 {
			if !slices.ContainsFunc(chosen, func(i int) bool { return !has(n, i) }) {
				out.links = append(out.links, link{fmt.Sprintf("/questions/%d", n), p.random("question %d", n).sentences(1)})
			}
		}
		if len(out.links) == 1 {
			out.text = "There are no questions with all of these tags."
		}
		for i, name := range names {
			if !slices.Contains(chosen, i) {
				out.links = append(out.links, link{u.Path + "+" + name, name})
			}
		}
		return out, true
	}
	return p.list("Questions", "/questions/%d", "Question %d", 0, 60), u.Path == "/"
}

// weather has a forecast for each place that anybody can name by its coordinates.
func weather(p *pen, u *url.URL) (page, bool) {
	var lat, lon float64
	if _, err := fmt.Sscanf(u.Path, "/forecast/%f,%f", &lat, &lon); err != nil {
		lat, lon = 47.25, 8.50
	}
	skies := []string{"sunny", "cloudy", "rain", "showers", "fog", "snow", "thunderstorms", "clear", "overcast", "drizzle"}
	out := page{title: fmt.Sprintf("Weather at %.2f, %.2f", lat, lon)}
	for _, day := range []string{"Today", "Tomorrow", "On Wednesday", "On Thursday", "On Friday"} {
		out.text += fmt.Sprintf("%s %s in the morning, %s later, %d to %d degrees. ", day, skies[p.IntN(10)], skies[p.IntN(10)], p.IntN(10), 10+p.IntN(15))
	}
	for _, d := range [][2]float64{{.25, 0}, {-.25, 0}, {0, .25}, {0, -.25}, {.25, .25}, {-.25, -.25}} {
		out.links = append(out.links, link{fmt.Sprintf("/forecast/%.2f,%.2f", lat+d[0], lon+d[1]), "nearby"})
	}
	return out, true
}

// login has 12 articles, and forms that remember where the reader came from, and from where he came there.
func login(p *pen, u *url.URL) (page, bool) {
	from := url.QueryEscape(u.RequestURI())
	forms := []link{{"/login?return=" + from, "Log in"}, {"/register?return=" + from, "Register"}, {"/help?from=" + from, "Help"}}
	if len(from) > 1500 {
		forms = nil
	}
	switch u.Path {
	case "/login":
		return page{title: "Log in", text: "Please write your name and your password. If you have no account yet, you can make one.", links: append(forms, home)}, true
	case "/register":
		return page{title: "Register", text: "Choose a name, and a password of at least twelve letters. We will send you a message.", links: append(forms, home)}, true
	case "/help":
		return page{title: "Help", text: p.random("help").sentences(5), links: append(forms, home)}, true
	}
	if n, ok := route(u, "/article/%d"); ok && n[0] < 12 {
		out := p.article(home)
		out.links = append(out.links, forms...)
		return out, true
	}
	out := p.list("Magazine", "/article/%d", "Article %d", 0, 12)
	out.links = append(out.links, forms...)
	return out, u.Path == "/"
}

// translate has 8 pages, which it translates from each of its languages into each, without noticing that it has done so before.
func translate(p *pen, u *url.URL) (page, bool) {
	rest, endings := u.Path, ""
	for strings.HasPrefix(rest, "/translate/") {
		lang, left, ok := strings.Cut(strings.TrimPrefix(rest, "/translate/"), "/")
		if !ok {
			return page{}, false
		}
		at := slices.Index([]string{"de", "fr", "es", "it"}, lang)
		if at < 0 {
			return page{}, false
		}
		endings, rest = endings+[]string{"en", "eux", "os", "ini"}[at], "/"+left
	}
	n, ok := route(&url.URL{Path: rest}, "/page/%d")
	if !ok && rest != "/" || n[0] >= 8 {
		return page{}, false
	}
	words := strings.Fields(p.random("page %s", rest).sentences(8))
	for i := range words {
		words[i] += endings
	}
	prefix := strings.TrimSuffix(strings.TrimSuffix(u.Path, rest), "/")
	out := page{title: "Our company" + endings, text: strings.Join(words, " ")}
	for i := range 8 {
		out.links = append(out.links, link{fmt.Sprintf("%s/page/%d", prefix, i), words[i]})
	}
	if len(u.Path) < 1000 {
		for _, lang := range []string{"de", "fr", "es", "it"} {
			out.links = append(out.links, link{"/translate/" + lang + u.Path, lang})
		}
	}
	return out, true
}

// clicks has 12 articles. Each link counts the click, and each page has other advertisements.
func clicks(p *pen, u *url.URL) (page, bool) {
	n, ok := route(&url.URL{Path: u.Path}, "/article/%d")
	if !ok && u.Path != "/" || n[0] >= 12 {
		return page{}, false
	}
	out := page{title: p.random("article %d", n[0]).sentences(1), text: p.random("text %s", u.Path).sentences(8) + " Advertisement: " + p.sentences(3)}
	for range 5 {
		out.links = append(out.links, link{fmt.Sprintf("/article/%d?t=%d&click=%s", p.IntN(12), 1_790_000_000+p.IntN(1e6), p.hex()), p.word()})
	}
	return out, true
}

// wiki has 25 articles with their histories, old versions and differences.
func wiki(p *pen, u *url.URL) (page, bool) {
	const articles, versions = 25, 6
	name := func(n int) string { return fmt.Sprintf("Article_%s_%d", p.random("name %d", n).word(), n) }
	text := func(n, version int) string {
		out := p.random("wiki %d", n).sentences(9)
		for v := range version {
			out += " " + p.random("wiki %d version %d", n, v).sentences(1)
		}
		return out
	}
	for n := range articles {
		index := "/w/index.php?title=" + name(n)
		tabs := []link{{"/wiki/" + name(n), "Article"}, {index + "&action=history", "History"}, {"/wiki/Main_Page", "Main page"}}
		if u.Path == "/wiki/"+name(n) {
			out := page{title: name(n), text: text(n, versions), links: tabs}
			for range 4 {
				out.links = append(out.links, link{"/wiki/" + name(p.IntN(articles)), p.word()})
			}
			return out, true
		}
		q := u.Query()
		if u.Path != "/w/index.php" || q.Get("title") != name(n) {
			continue
		}
		if q.Get("action") == "history" {
			out := page{title: "History of " + name(n), links: tabs}
			for v := range versions {
				out.links = append(out.links, link{fmt.Sprintf("%s&oldid=%d", index, n*100+v), p.random("editor %d %d", n, v).word() + " wrote"},
					link{fmt.Sprintf("%s&diff=%d", index, n*100+v), "difference"})
			}
			return out, true
		}
		for v := range versions {
			id := strconv.Itoa(n*100 + v)
			if q.Get("oldid") == id {
				return page{title: name(n), text: "This is an old version of this page. " + text(n, v), links: tabs}, true
			}
			if q.Get("diff") == id {
				around := []link{{fmt.Sprintf("%s&oldid=%s", index, id), "This version"}}
				return page{title: "Difference", text: "Added: " + p.random("wiki %d version %d", n, v).sentences(1), links: append(around, tabs...)}, true
			}
		}
	}
	out := page{title: "Main page", text: p.random("main").sentences(4)}
	for n := range articles {
		out.links = append(out.links, link{"/wiki/" + name(n), name(n)})
	}
	return out, u.Path == "/" || u.Path == "/wiki/Main_Page"
}

// facetShop has 120 shoes, and folders for each choice of brand, color and price, many of which are empty.
func facetShop(p *pen, u *url.URL) (page, bool) {
	facets := [][]string{{"acme", "zeta", "north", "river"}, {"red", "blue", "black", "white"}, {"cheap", "medium", "dear"}}
	of := func(shoe, facet int) string {
		values := facets[facet]
		return values[p.random("shoe %d facet %d", shoe, facet).IntN(len(values))]
	}
	if n, ok := route(u, "/product/%d"); ok && n[0] < 120 {
		return page{
			title: of(n[0], 0) + " " + p.word(), text: fmt.Sprintf("Brand %s, color %s, price %d. %s In stock. Add it to the cart.", of(n[0], 0), of(n[0], 1), 20+p.IntN(200), p.sentences(1)),
			images: []string{fmt.Sprintf("/images/shoe-%d.jpg", n[0])}, links: []link{home, {"/shoes/", "Shoes"}},
		}, true
	}
	rest, ok := strings.CutPrefix(u.Path, "/shoes/")
	if !ok {
		return page{title: "The shoe shop", text: p.sentences(3), links: []link{{"/shoes/", "Shoes"}}}, u.Path == "/"
	}
	chosen, last := map[int]string{}, -1
	for _, value := range strings.Split(strings.TrimSuffix(rest, "/"), "/") {
		if value == "" {
			continue
		}
		at := slices.IndexFunc(facets, func(values []string) bool { return slices.Contains(values, value) })
		if at <= last {
			return page{}, false
		}
		chosen[at], last = value, at
	}
	out := page{title: "Shoes", text: "Choose among our shoes.", links: []link{home}}
	for n := range 120 {
		if !slices.ContainsFunc([]int{0, 1, 2}, func(f int) bool { return chosen[f] != "" && chosen[f] != of(n, f) }) {
			out.links = append(out.links, link{fmt.Sprintf("/product/%d", n), of(n, 0) + " shoe " + strconv.Itoa(n)})
		}
	}
	if len(out.links) == 1 {
		out.text = "No shoes match your choice. Remove some of it."
	}
	for f, values := range facets {
		for _, value := range values {
			path := "/shoes/"
			for g := range facets {
				if now := chosen[g]; g == f {
					path += value + "/"
				} else if now != "" {
					path += now + "/"
				}
			}
			out.links = append(out.links, link{path, value})
		}
	}
	return out, true
}

// photos is an album whose pages differ in a number and a picture, which a script serves.
func photos(_ *pen, u *url.URL) (page, bool) {
	if n, ok := route(u, "/displayimage.php?album=%d&pos=%d"); ok && n[0] < 3 && n[1] < 40 {
		at := func(pos int) string { return fmt.Sprintf("/displayimage.php?album=%d&pos=%d", n[0], (pos+40)%40) }
		return page{
			title: fmt.Sprintf("Holidays - Picture %d of 40", n[1]+1), text: "Click to view the full size. Rate this file. File information. Add your comment.",
			images: []string{fmt.Sprintf("/image.php?pid=%d", n[0]*40+n[1])},
			links:  []link{home, {at(n[1] - 1), "previous"}, {at(n[1] + 1), "next"}, {at(n[1] + 5), "5 on"}, {fmt.Sprintf("/thumbnails.php?album=%d", n[0]), "album"}},
		}, true
	}
	if n, ok := route(u, "/thumbnails.php?album=%d"); ok && n[0] < 3 {
		out := page{title: "Album", text: "Click on a picture.", links: []link{home}}
		for i := range 8 {
			out.links = append(out.links, link{fmt.Sprintf("/displayimage.php?album=%d&pos=%d", n[0], i*5), ""})
			out.images = append(out.images, fmt.Sprintf("/thumb.php?pid=%d", n[0]*40+i*5))
		}
		return out, true
	}
	return page{title: "Our albums", text: "Pictures of our family.", links: []link{{"/thumbnails.php?album=0", "one"}, {"/thumbnails.php?album=1", "two"}, {"/thumbnails.php?album=2", "three"}}}, u.Path == "/"
}

// dictionary has 260 words with a short line each, and its neighbours.
func dictionary(p *pen, u *url.URL) (page, bool) {
	word := func(n int) string { n = (n + 260) % 260; return p.random("entry %d", n).word() + strconv.Itoa(n) }
	if rest, ok := strings.CutPrefix(u.Path, "/define/"); ok {
		for n := range 260 {
			if word(n) == rest {
				return page{title: rest, text: []string{"noun", "adverb", "adjective"}[p.IntN(3)] + ". " + p.word() + " " + p.word() + " " + p.word() + ".", links: []link{
					home, {"/define/" + word(n-1), word(n - 1)}, {"/define/" + word(n+1), word(n + 1)}, {"/define/" + word(p.IntN(260)), "synonym"}, {"/define/" + word(p.IntN(260)), "antonym"},
				}}, true
			}
		}
		return page{}, false
	}
	out := page{title: "Dictionary"}
	for n := range 26 {
		out.links = append(out.links, link{"/define/" + word(n*10), word(n * 10)})
	}
	return out, u.Path == "/"
}

// board has threads of pages, a page for each post, and members.
func board(p *pen, u *url.URL) (page, bool) {
	post := func(n int) string { return p.random("post %d", n).sentences(1 + n%3) }
	if n, ok := route(u, "/viewtopic.php?f=%d&t=%d&page=%d"); ok && n[0] < 3 && n[1] < 20 && n[2] < 3 {
		out := page{title: fmt.Sprintf("Topic %d", n[1]), links: []link{home, {fmt.Sprintf("/viewforum.php?f=%d&page=%d", n[0], n[1]/10), "forum"}}}
		for i := range 4 {
			id := ((n[0]*20+n[1])*3+n[2])*4 + i
			out.text += post(id) + " "
			out.links = append(out.links, link{fmt.Sprintf("/viewpost.php?p=%d", id), "permalink"}, link{fmt.Sprintf("/memberlist.php?u=%d", id%40), "author"})
		}
		for i := range 3 {
			out.links = append(out.links, link{fmt.Sprintf("/viewtopic.php?f=%d&t=%d&page=%d", n[0], n[1], i), strconv.Itoa(i + 1)})
		}
		return out, true
	}
	if n, ok := route(u, "/viewpost.php?p=%d"); ok && n[0] < 720 {
		return page{title: "Single post", text: post(n[0]), links: []link{home, {fmt.Sprintf("/memberlist.php?u=%d", n[0]%40), "author"}}}, true
	}
	if n, ok := route(u, "/memberlist.php?u=%d"); ok && n[0] < 40 {
		return page{title: "Member", text: "Joined in " + strconv.Itoa(2000+n[0]%20) + ". Posts: " + strconv.Itoa(p.IntN(500)) + ". Last visit: yesterday.", links: []link{home, {fmt.Sprintf("/search.php?author=%d", n[0]), "posts"}}}, true
	}
	if n, ok := route(u, "/search.php?author=%d"); ok && n[0] < 40 {
		out := page{title: "Search", text: "18 posts were found.", links: []link{home}}
		for i := range 18 {
			out.links = append(out.links, link{fmt.Sprintf("/viewpost.php?p=%d", i*40+n[0]), p.random("post %d", i*40+n[0]).word()})
		}
		return out, true
	}
	if n, ok := route(u, "/viewforum.php?f=%d&page=%d"); ok && n[0] < 3 && n[1] < 2 {
		out := page{title: "Forum", links: []link{home, {fmt.Sprintf("/viewforum.php?f=%d&page=%d", n[0], 1-n[1]), "other page"}}}
		for i := range 10 {
			out.links = append(out.links, link{fmt.Sprintf("/viewtopic.php?f=%d&t=%d&page=0", n[0], n[1]*10+i), p.word() + " " + p.word()})
		}
		return out, true
	}
	out := page{title: "Board"}
	for f := range 3 {
		out.links = append(out.links, link{fmt.Sprintf("/viewforum.php?f=%d&page=0", f), p.random("forum %d", f).word()})
	}
	return out, u.Path == "/"
}

// apiDocs describes 45 classes in 5 versions, each of which links to its neighbours and to itself in other versions.
func apiDocs(p *pen, u *url.URL) (page, bool) {
	class := func(n int) string {
		return strings.ToUpper(p.random("class %d", n).word()[:1]) + "class" + hex.EncodeToString([]byte{byte(n)})
	}
	var version int
	var name string
	if _, err := fmt.Sscanf(strings.ReplaceAll(u.Path, "/", " "), " %d.0 api %s", &version, &name); err == nil && version >= 1 && version <= 5 {
		for n := range 45 {
			if name != class(n)+".html" {
				continue
			}
			out := page{title: "Class " + class(n), text: p.random("api %d", n).sentences(7)}
			for v := range version {
				if p.random("api %d of %d", n, v).IntN(4) == 0 {
					out.text += fmt.Sprintf(" Since version %d: %s", v, p.random("api news %d of %d", n, v).sentences(1))
				}
			}
			for v := 1; v <= 5; v++ {
				out.links = append(out.links, link{fmt.Sprintf("/%d.0/api/%s.html", v, class(n)), fmt.Sprintf("version %d", v)})
			}
			out.links = append(out.links, link{fmt.Sprintf("/%d.0/api/%s.html", version, class((n+1)%45)), "next class"}, link{fmt.Sprintf("/%d.0/api/%s.html", version, class((n+44)%45)), "previous class"})
			return out, true
		}
		return page{}, false
	}
	if n, ok := route(u, "/%d.0/api/"); ok && n[0] >= 1 && n[0] <= 5 {
		out := page{title: "All classes"}
		for i := range 45 {
			out.links = append(out.links, link{fmt.Sprintf("/%d.0/api/%s.html", n[0], class(i)), class(i)})
		}
		return out, true
	}
	return p.list("API documentation", "/%d.0/api/", "Version %d", 1, 6), u.Path == "/"
}

// timetable has the times of 30 stops on each day of the week, and no other words.
func timetable(p *pen, u *url.URL) (page, bool) {
	days := []string{"monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"}
	var stop int
	var day string
	if _, err := fmt.Sscanf(strings.ReplaceAll(u.Path, "/", " "), " stop %d %s", &stop, &day); err == nil && stop < 30 && slices.Contains(days, day) {
		out := page{title: fmt.Sprintf("Line 5, stop %d", stop), text: "Departures on " + day + ":", links: []link{home}}
		for hour := 5; hour < 23; hour++ {
			out.text += fmt.Sprintf(" %d:%02d %d:%02d", hour, p.IntN(30), hour, 30+p.IntN(30))
		}
		for _, d := range days {
			out.links = append(out.links, link{fmt.Sprintf("/stop/%d/%s", stop, d), d})
		}
		out.links = append(out.links, link{fmt.Sprintf("/stop/%d/%s", (stop+1)%30, day), "next stop"})
		return out, true
	}
	return page{title: "Timetable of line 5", text: p.sentences(1), links: []link{{"/stop/0/monday", "First stop"}}}, u.Path == "/"
}
