package faults

import (
	"bufio"
	"fmt"
	"net/http"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// heavyPages are what each host of a heavy world links to from its front page. All are cheap to serve.
var heavyPages = []struct {
	path   string
	answer webworld.RawAnswer
}{
	{"/flood", flood}, // a body without end
	{"/bomb", bomb},   // 10 MB of gzip that hold 10 GB
	{"/links", endlessly("<title>links</title>\n", `<a href="/link/%d">%[1]d</a>`+"\n", 1_000_000)},
	{"/elements", endlessly("<title>elements</title>\n", "<b><i><u>%d", 1_000_000)},
	{"/attributes", endlessly("<title>attributes</title>\n<p ", "a%d ", 3_000_000)},
	{"/fragments", endlessly("<title>fragments</title>\n", `<a href="/links#%d">x</a>`+"\n", 1_000_000)},
}

// NewHeavy is a world whose pages take much memory to parse: endless bodies, gzip bombs, pages with a million links,
// elements or attributes. Each host has one of each.
func NewHeavy(o webworld.Options, hosts int) *webworld.World {
	o = o.WithDefaults()
	p := &webworld.Planner{Next: o.FirstIP}
	name := func(i int) string { return fmt.Sprintf("h%d.heavy.test", i) }
	for i := range hosts {
		p.Add(name(i), "heavy")
	}
	return webworld.New(o, p.Sites, func(b *webworld.Builder) {
		for i := range hosts {
			s := b.ByName[name(i)]
			s.SetRobots(webworld.Rules{}, "")
			front := webworld.PlainView{Title: s.Host, Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), webworld.TheWorld, 1)}
			for at := range heavyPages { // hosts begin with different ones
				h := heavyPages[(at+i)%len(heavyPages)]
				front.Links = append(front.Links, webworld.Entry{Title: "Heavy", URL: h.path})
				s.AddHTML(h.path, "heavy", false, nil).Raw = h.answer
			}
			s.AddHTML("/", "heavy", false, b.Render("plain", front))
			b.Seeds = append(b.Seeds, s.Base+"/")
		}
		b.Finish()
	})
}

// endlessly writes a form n times behind a head, with the number of each.
func endlessly(head, form string, n int) webworld.RawAnswer {
	return func(_ *webworld.Exchange, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		out := bufio.NewWriterSize(w, 64<<10)
		_, err := out.WriteString(head)
		for i := 0; i < n && err == nil; i++ {
			_, err = fmt.Fprintf(out, form, i)
		}
		_ = out.Flush()
	}
}
