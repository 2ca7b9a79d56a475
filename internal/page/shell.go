package page

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Bounds of what an empty shell has to read, in bytes without markup: more than that is a page.
const (
	maxShellText    = 250 // whatever else it has
	maxAppShellText = 900 // of a page with an empty place for an application
)

// The reasons of Shell.
const (
	ShellRoot     = "an empty element for an application"
	ShellNoScript = "it asks for scripts to be turned on"
	ShellBare     = "scripts, and nothing to read or to follow"
)

// Shell says why a page is an empty shell, which its scripts fill when a browser opens it; "" if it is none, or no page whose tree could be built. A shell has scripts
// and little to read, and one of these: an element for an application with nothing in it (by its name, or the only one of the body that scripts can mean), a note for
// browsers without scripts that asks for them, or no link at all.
func (d *Document) Shell() string {
	if d.Root == nil || d.textBytes(maxAppShellText) > maxAppShellText {
		return ""
	}
	var s shell
	s.walk(d.Root, 0)
	read := d.textBytes(maxAppShellText) - s.asideBytes
	switch {
	case s.scripts == 0 || s.frames > 0 || s.refresh:
		return ""
	case s.roots > 0 && read <= maxAppShellText:
		return ShellRoot
	case s.asks && s.filled == 0 && read <= maxShellText && s.links <= maxShellLinks:
		return ShellNoScript
	case s.links == 0 && s.shown == 0 && read <= maxShellText:
		return ShellBare
	}
	return ""
}

// maxShellLinks is how many anchors a shell may have beside its note for browsers without scripts: to a help page, and the like.
const maxShellLinks = 3

// textBytes is the size of the text, counted no further than a bound.
func (d *Document) textBytes(most int) (n int) {
	for _, b := range d.Blocks {
		if n += len(b); n > most {
			break
		}
	}
	return n
}

// shell is what a page has by which it is a shell, or a short page.
type shell struct {
	scripts    int  // that run
	roots      int  // empty elements that an application fills
	filled     int  // such elements with something in them
	links      int  // anchors
	shown      int  // images, forms, drawings: what a page without text shows
	frames     int  // the page is in them
	asks       bool // a note asks for scripts
	refresh    bool // the page leads to another by itself
	asideBytes int  // of notes for browsers without scripts
}

func (s *shell) walk(n *html.Node, depth int) {
	if n.Type == html.ElementNode {
		switch n.DataAtom {
		case atom.Script:
			if kind := strings.ToLower(attr(n, "type")); kind == "" || kind == "module" || strings.HasSuffix(kind, "javascript") {
				s.scripts++
			}
			return
		case atom.Noscript:
			text := textOf(n)
			s.asideBytes += len(text)
			s.asks = s.asks || strings.Contains(strings.ToLower(text), "javascript")
			return
		case atom.Style, atom.Template:
			return
		case atom.A:
			s.links++
		case atom.Img, atom.Form, atom.Svg, atom.Object, atom.Embed, atom.Video, atom.Audio, atom.Map:
			s.shown++
		case atom.Frame, atom.Frameset, atom.Iframe:
			s.frames++
		case atom.Meta:
			s.refresh = s.refresh || strings.EqualFold(attr(n, "http-equiv"), "refresh")
		}
		if isAppRoot(n) {
			if isHollow(n) {
				s.roots++
			} else {
				s.filled++
			}
		}
	}
	if depth < maxShellDepth {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			s.walk(c, depth+1)
		}
	}
}

// maxShellDepth is how deep a page is looked at: shells are flat, and what has more levels has more to show.
const maxShellDepth = 64

// appNames are the parts that the names of elements for applications are made of, such as react-root, __next, app-container and q-app.
var appNames = []string{"app", "root", "next", "nuxt", "gatsby", "svelte", "react", "vue", "angular", "ember", "application", "spa", "mount", "outlet"}

// isAppRoot reports whether an element stands for an application: by a part of its ID, or because it is a custom element that is named so.
func isAppRoot(n *html.Node) bool {
	name := attr(n, "id")
	if name == "" && strings.Contains(n.Data, "-") {
		name = n.Data
	}
	if name == "" || len(name) > 40 {
		return attr(n, "ng-app") != "" || attr(n, "data-reactroot") != "" || attr(n, "ng-view") != "" || attr(n, "ui-view") != ""
	}
	parts := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return r == '-' || r == '_' || r == ':' || r == '.' })
	return slices.ContainsFunc(parts, func(part string) bool { return slices.Contains(appNames, part) })
}

// isHollow reports whether an element holds nothing that is shown but a sign that something is loaded: no link, image or form, and a word or two.
func isHollow(n *html.Node) bool {
	text, room := 0, 40 // elements
	var look func(n *html.Node) bool
	look = func(n *html.Node) bool {
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				if text += len(strings.TrimSpace(c.Data)); text > maxHollowText {
					return false
				}
			case c.Type == html.ElementNode:
				switch c.DataAtom {
				case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg:
					continue
				case atom.A, atom.Img, atom.Form, atom.Input, atom.Iframe, atom.Table, atom.Video:
					if c.DataAtom != atom.Img { // a logo or a spinner
						return false
					}
				}
				if room--; room < 0 || !look(c) {
					return false
				}
			}
		}
		return true
	}
	return look(n)
}

// maxHollowText bounds the text of an element that waits to be filled, in bytes: "Loading…".
const maxHollowText = 60
