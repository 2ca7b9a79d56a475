package text

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/lab/recognition"
)

const (
	shownElements = 60  // elements with most words
	shownLetters  = 110 // of a block
)

// Show prints what people need to make gold of a page: its head data, its text blocks, the elements with most words, with an expression
// for each, and what its gold selects, if list has a line for it. Blocks of the body begin with a star.
func Show(out io.Writer, dir, file string, list []Gold) error {
	index, err := recognition.Read(dir, "")
	if err != nil {
		return err
	}
	at := slices.IndexFunc(index, func(l recognition.Labelled) bool { return l.File == file })
	if at < 0 {
		return fmt.Errorf("%s is not in the index of %s", file, dir)
	}
	p, err := open(dir, index[at])
	if err != nil {
		return err
	}
	host, alone := hostOf(index[at]), singleHosts(index)
	fmt.Fprintf(out, "%s: %s, %s, %s, for %s\n", file, p.Application, index[at].Level, p.URL, UseOf(host, alone[p.Application]))
	d := p.document()
	author, published := d.Byline()
	fmt.Fprintf(out, "title %q\nmeta elements: author %q, published %q\n\n", d.Title, author, published)

	var body Body
	var fault error // what is wrong with the gold; the rest is printed to correct it by
	if at := slices.IndexFunc(list, func(g Gold) bool { return g.File == file }); at >= 0 {
		if body, fault = bodyOf(d.Root, &list[at]); fault != nil {
			fault = fmt.Errorf("gold: %s: %w", file, fault)
		}
	}
	for i, block := range d.Blocks {
		star := " "
		if i < len(d.Starts) && body.in[d.Starts[i]] {
			star = "*"
		}
		fmt.Fprintf(out, "%s%4d %4d  %s\n", star, i, len(Tokens(block)), clip(block, shownLetters))
	}
	fmt.Fprintln(out)
	if err := showElements(out, d.Root); err != nil {
		return err
	}
	if body.Sum != "" {
		fmt.Fprintf(out, "\nbody: \"sum\":%q,\"words\":%d\nbegins: %s\nends:   …%s\n", body.Sum, len(Tokens(body.Text)), clip(body.Text, shownLetters), tail(body.Text, shownLetters))
	}
	return fault
}

// element is an element with the words below it, and those of them in links.
type element struct {
	node          *html.Node
	number        int // in document order
	words, linked int
}

// showElements prints the elements with most words, in document order.
func showElements(out io.Writer, root *html.Node) error {
	all := map[*html.Node]*element{}
	var list []*element
	var count func(n *html.Node, link bool)
	count = func(n *html.Node, link bool) {
		if n.Type == html.ElementNode {
			if silent(n.DataAtom) {
				return
			}
			e := &element{node: n, number: len(list)}
			all[n], list = e, append(list, e)
			link = link || n.DataAtom == atom.A
		}
		if n.Type == html.TextNode {
			words := len(Tokens(n.Data))
			for up := n.Parent; up != nil; up = up.Parent {
				if e := all[up]; e != nil {
					e.words += words
					if link {
						e.linked += words
					}
				}
			}
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			count(c, link)
		}
	}
	count(root, false)
	slices.SortStableFunc(list, func(a, b *element) int { return cmp.Compare(b.words, a.words) })
	list = list[:min(len(list), shownElements)]
	slices.SortFunc(list, func(a, b *element) int { return a.number - b.number })
	w := tabwriter.NewWriter(out, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "words\tin links\telement")
	for _, e := range list {
		fmt.Fprintf(w, "%d\t%d\t%s  %s\n", e.words, e.linked, pathOf(e.node), names(e.node))
	}
	return w.Flush()
}

// pathOf is an expression that selects an element by the positions of those above it.
func pathOf(n *html.Node) string {
	if n.Parent == nil || n.Type != html.ElementNode {
		return ""
	}
	place, others := 1, 0
	for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == html.ElementNode && c.Data == n.Data {
			others++
			if c == n {
				place = others
			}
		}
	}
	step := "/" + n.Data
	if strings.Trim(n.Data, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" || n.Namespace != "" {
		step, others = "/*", 2
		place = 1
		for c := n.PrevSibling; c != nil; c = c.PrevSibling {
			if c.Type == html.ElementNode {
				place++
			}
		}
	}
	if others > 1 {
		step += fmt.Sprintf("[%d]", place)
	}
	return pathOf(n.Parent) + step
}

// names are an element's id and classes.
func names(n *html.Node) string {
	var b strings.Builder
	for _, a := range n.Attr {
		switch a.Key {
		case "id":
			b.WriteString(" #" + a.Val)
		case "class":
			b.WriteString(" ." + strings.Join(strings.Fields(a.Val), "."))
		}
	}
	return clip(b.String(), shownLetters)
}

func clip(s string, letters int) string {
	if r := []rune(s); len(r) > letters {
		return string(r[:letters]) + "…"
	}
	return s
}

func tail(s string, letters int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-letters):])
}
