package endless

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Sites are all sites: traps first.
func Sites() []Site { return append(Traps(), HonestSites()...) }

// Traps are the sites without end.
func Traps() []Site {
	var hosts []string
	for i := range 120 {
		hosts = append(hosts, fmt.Sprintf("%s%s.wild.example.com", consonants(i), consonants(i*7+3)))
	}
	list := []Site{
		{Host: "session.example", Worth: 5, answer: session},
		{Host: "spider.example", answer: spider},
		{Host: "params.example", answer: params},
		{Host: "samedup.example", answer: sameDup},
		{Host: "soft404.example", answer: softMissing},
		{Host: "neardup.example", answer: nearDup},
		{Host: "calendar.example", answer: calendar},
		{Host: "repeat.example", answer: repeat},
		{Host: "wild.example.com", More: hosts, answer: wild(hosts)},
		// Beyond the shapes of the review.
		{Host: "facets.example", answer: facets},
		{Host: "noevents.example", answer: noEvents},
		{Host: "search.example", answer: search},
		{Host: "babble.example", answer: babble},
		{Host: "pagerend.example", Worth: 3, answer: pagerEnd},
		{Host: "hashes.example", answer: hashes},
	}
	for i := range list {
		list[i].Worth = max(list[i].Worth, 1)
	}
	return list
}

func consonants(i int) string {
	const c = "bcdfghjklmnpqrstvwxz"
	return string([]byte{c[i%20], "aeiou"[i%5], c[i/20%20], c[(i*3+1)%20]})
}

// session has five pages, to which each visit makes new URLs: in the path, as a parameter of it, as an argument.
func session(p *pen, u *url.URL) (page, bool) {
	name := "front"
	for _, n := range []string{"about", "news", "products", "contact"} {
		if strings.Contains(u.Path, n) {
			name = n
		}
	}
	out := page{title: "The " + name + " page", text: p.random("session %s", name).sentences(6)}
	id := p.hex() + p.hex()
	for i, n := range []string{"about", "news", "products", "contact"} {
		to := "/" + n + ";jsessionid=" + strings.ToUpper(id)
		switch i % 3 {
		case 1:
			to = "/" + n + "?visit=" + id
		case 2:
			to = "/s/" + id + "/" + n
		}
		out.links = append(out.links, link{to, "The " + n + " page"})
	}
	return out, true
}

// spider has random links and nothing else.
func spider(p *pen, _ *url.URL) (page, bool) {
	out := page{title: "Index"}
	for range 12 {
		w := make([]byte, 8)
		for i := range w {
			w[i] = byte('a' + p.IntN(26))
		}
		out.links = append(out.links, link{"/" + string(w), string(w)})
	}
	return out, true
}

// params has one page with many orders of its arguments.
func params(p *pen, _ *url.URL) (page, bool) {
	out := page{title: "A list", text: p.random("params").sentences(8)}
	names := []string{"sort", "dir", "view", "lang", "size", "color", "ref", "page"}
	for range 8 {
		p.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var args []string
		for _, n := range names[:3+p.IntN(6)] {
			args = append(args, n+"="+strconv.Itoa(p.IntN(3)))
		}
		out.links = append(out.links, link{"/list?" + strings.Join(args, "&"), "as you like it"})
	}
	return out, true
}

// sameDup has the same bytes everywhere.
func sameDup(p *pen, u *url.URL) (page, bool) {
	out := page{title: "Welcome", text: p.random("same").sentences(5)}
	for i := range 6 {
		out.links = append(out.links, link{strings.TrimSuffix(u.Path, "/") + "/p" + strconv.Itoa(i), "more"})
	}
	if strings.Count(u.Path, "/") > 8 {
		out.links = out.links[:1]
	}
	return out, true
}

// softMissing says that nothing is there, with status 200, and where else to look.
func softMissing(p *pen, _ *url.URL) (page, bool) {
	out := page{title: "Not found", text: "Sorry, this page does not exist any more. Perhaps one of these helps."}
	for range 5 {
		out.links = append(out.links, link{"/" + p.word() + "/" + p.word() + "-" + p.word() + ".html", "this one"})
	}
	return out, true
}

// nearDup has one text with a number in it.
func nearDup(p *pen, u *url.URL) (page, bool) {
	out := page{title: "Item", text: p.random("near").sentences(12) + fmt.Sprintf(" Item number %d was seen %d times by %s.", p.IntN(1e6), p.IntN(1e4), p.word())}
	for range 6 {
		out.links = append(out.links, link{"/item.php?id=" + strconv.Itoa(p.IntN(1e9)), "another item"})
	}
	return out, true
}

// calendar has a page a day and a month, without events.
func calendar(_ *pen, u *url.URL) (page, bool) {
	date, err := time.Parse(time.DateOnly, u.Query().Get("date"))
	if err != nil {
		date = time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	}
	out := page{title: "Calendar of " + date.Format("January 2006"), text: "No events on " + date.Format("Monday 2 January 2006") + "."}
	for _, next := range []time.Time{date.AddDate(0, -1, 0), date.AddDate(0, 1, 0), date.AddDate(1, 0, 0), date.AddDate(0, 0, 1), date.AddDate(0, 0, 2), date.AddDate(0, 0, 3)} {
		out.links = append(out.links, link{"/cal?date=" + next.Format(time.DateOnly), next.Format("2 January")})
	}
	return out, true
}

// repeat has relative links that lead deeper and deeper.
func repeat(p *pen, u *url.URL) (page, bool) {
	out := page{title: "A folder", text: p.random("repeat").sentences(4)}
	base := u.Path[:strings.LastIndex(u.Path, "/")+1]
	for _, n := range []string{"a", "b"} {
		out.links = append(out.links, link{base + n + "/", n})
	}
	return out, true
}

// wild has a host for each name that anybody thinks of.
func wild(hosts []string) func(p *pen, u *url.URL) (page, bool) {
	return func(p *pen, u *url.URL) (page, bool) {
		if u.Path != "/" {
			return page{}, false
		}
		out := page{title: "Domain", text: "This name may be for sale. " + p.random("wild").sentences(3)}
		for range 8 {
			out.links = append(out.links, link{"//" + hosts[p.IntN(len(hosts))] + "/", "a partner"})
		}
		return out, true
	}
}

// facets has a query that grows with each click.
func facets(p *pen, u *url.URL) (page, bool) {
	out := page{title: "Shoes", text: p.random("facets").sentences(6)}
	for _, f := range []string{"color=red", "color=blue", "size=41", "size=42", "brand=acme", "brand=zeta", "sale=1"} {
		query := f
		if u.RawQuery != "" {
			query = u.RawQuery + "&" + f
		}
		if len(query) < 2000 {
			out.links = append(out.links, link{"/shoes?" + query, f})
		}
	}
	return out, true
}

// noEvents has a page for each day, in folders of years and months, and says so in other words each week.
func noEvents(p *pen, u *url.URL) (page, bool) {
	var y, m, d int
	if _, err := fmt.Sscanf(u.Path, "/events/%d/%d/%d", &y, &m, &d); err != nil {
		y, m, d = 2026, 11, 1
	}
	date := time.Date(y, time.Month(m), d, 0, 0, 0, 0, time.UTC)
	_, week := date.ISOWeek()
	out := page{title: date.Format("Monday, January 2, 2006"), text: "There is nothing on that day. " + p.random("week %d", week%4).sentences(2)}
	for _, n := range []int{-30, -7, -1, 1, 7, 30, 365} {
		to := date.AddDate(0, 0, n)
		out.links = append(out.links, link{to.Format("/events/2006/01/02/"), to.Format("Jan 2")})
	}
	return out, true
}

// search finds nothing, and proposes other words.
func search(p *pen, u *url.URL) (page, bool) {
	out := page{title: "Search", text: "Nothing was found for " + u.Query().Get("q") + ". Check the spelling, use fewer words, or try one of these related searches. " + p.random("search").sentences(4)}
	for range 6 {
		out.links = append(out.links, link{"/search?q=" + p.word() + "+" + p.word(), p.word()})
	}
	return out, true
}

// babble is made of links whose words come from a dictionary.
func babble(p *pen, u *url.URL) (page, bool) {
	out := page{title: p.word() + " " + p.word()}
	for range 10 {
		to := "/" + p.word() + "/" + p.word() + "/" + p.word()
		out.links = append(out.links, link{to, p.word() + " " + p.word()})
	}
	return out, true
}

// pagerEnd is a list of three pages whose pager does not end.
func pagerEnd(p *pen, u *url.URL) (page, bool) {
	n := 1
	_, _ = fmt.Sscanf(u.Path, "/page/%d/", &n)
	out := page{title: "Posts", text: "No posts were found on this page. " + p.random("pager").sentences(2)}
	if n < 4 {
		out.text = p.sentences(6)
	}
	for _, next := range []int{n + 1, n + 2, n + 10} {
		out.links = append(out.links, link{fmt.Sprintf("/page/%d/", next), "next"})
	}
	return out, true
}

// hashes has pages of one random sentence whose names are random, too.
func hashes(p *pen, _ *url.URL) (page, bool) {
	out := page{title: "Entry " + p.hex(), text: p.sentences(1)}
	for range 7 {
		out.links = append(out.links, link{"/entry/" + p.hex() + p.hex(), p.word()})
	}
	return out, true
}
