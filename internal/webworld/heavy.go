package webworld

import (
	"bufio"
	"fmt"
	"net/http"
)

// heavyPages are what each host of a heavy world links to from its front page. All are cheap to serve.
var heavyPages = []struct {
	path   string
	answer rawAnswer
}{
	{"/flood", flood}, // a body without end
	{"/bomb", bomb},   // 10 MB of gzip that hold 10 GB
	{"/links", endlessly("<title>links</title>\n", `<a href="/link/%d">%[1]d</a>`+"\n", 1_000_000)},
	{"/elements", endlessly("<title>elements</title>\n", "<b><i><u>%d", 1_000_000)},
	{"/attributes", endlessly("<title>attributes</title>\n<p ", "a%d ", 3_000_000)},
	{"/fragments", endlessly("<title>fragments</title>\n", `<a href="/links#%d">x</a>`+"\n", 1_000_000)},
}

// NewHeavy is a world whose pages take much memory to understand: bodies without end, gzip bombs, pages of a million
// links, elements or attributes. Each host has one of each.
func NewHeavy(o Options, hosts int) *World {
	o = o.withDefaults()
	p := &planner{next: o.FirstIP}
	name := func(i int) string { return fmt.Sprintf("h%d.heavy.test", i) }
	for i := range hosts {
		p.add(name(i), "heavy")
	}
	return newWorld(o, p.sites, func(b *builder) {
		for i := range hosts {
			s := b.sites[name(i)]
			s.setRobots(rules{}, "")
			front := plainView{Title: s.Host, Paragraphs: b.lib.paragraphs(b.random(s, "front"), world, 1)}
			for at := range heavyPages { // hosts begin with different ones
				h := heavyPages[(at+i)%len(heavyPages)]
				front.Links = append(front.Links, entry{Title: "Heavy", URL: h.path})
				s.addHTML(h.path, "heavy", false, nil).raw = h.answer
			}
			s.addHTML("/", "heavy", false, b.render("plain", front))
			b.seeds = append(b.seeds, s.base+"/")
		}
		b.finish()
	})
}

// endlessly writes a form n times behind a head, with the number of each.
func endlessly(head, form string, n int) rawAnswer {
	return func(_ *exchange, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		out := bufio.NewWriterSize(w, 64<<10)
		_, err := out.WriteString(head)
		for i := 0; i < n && err == nil; i++ {
			_, err = fmt.Fprintf(out, form, i)
		}
		_ = out.Flush()
	}
}
