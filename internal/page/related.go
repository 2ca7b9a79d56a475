package page

import (
	"strings"

	"github.com/go-faster/jx"
	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// Bounds of what a page says of itself for programs.
const (
	maxStructured      = 256 << 10 // bytes of JSON-LD of a script
	maxStructuredDepth = 30        // objects and lists in each other
	maxHeaderLinks     = 100       // links of Link fields
)

// relation says what a link with some relations is (HTML §4.6.7, RFC 8288), 0 if it is not followed, and whether it names the page itself. as is
// what is prefetched.
func relation(rel, as, href string) (hop crawl.Hop, canonical bool) {
	for word := range strings.FieldsSeq(rel) {
		switch word {
		case "stylesheet", "icon", "preload", "manifest", "modulepreload", "mask-icon",
			"apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image":
			hop = crawl.HopEmbed // whatever else it is, such as an alternate style sheet
		case "prefetch":
			if hop == 0 {
				hop = prefetched(as, href)
			}
		case "next", "prev", "previous", "first", "last", "alternate", "contents", "toc", "index", "up", "start", "chapter", "section", "canonical",
			"amphtml", "shortlink", "archives", "author", "license", "copyright", "help", "glossary", "appendix", "bookmark":
			canonical = canonical || word == "canonical"
			if hop == 0 {
				hop = crawl.HopLink
			}
		}
	}
	return hop, canonical
}

// impliedIcon takes the icon of the host, which browsers load for a page that names none (HTML §4.6.7.10).
func (b *builder) impliedIcon(page string) {
	u, err := urls.Trusted(page)
	if err != nil || b.icon {
		return
	}
	if at := b.link(u.Origin()+crawl.IconPath, crawl.HopEmbed, crawl.ContextIcon, "", ""); at >= 0 {
		b.doc.Links[at].Block = -1
	}
}

// canonical notes what a page says that its address is.
func (b *builder) canonical(href string) {
	if u, err := b.base.Resolve(href); err == nil && b.valid {
		b.doc.Canonical = u.String()
	}
}

// linkFields takes the links of Link fields (RFC 8288 §3), several joined by commas.
func (b *builder) linkFields(fields string) {
	for range maxHeaderLinks {
		_, rest, found := strings.Cut(fields, "<")
		if !found {
			return
		}
		href, rest, found := strings.Cut(rest, ">")
		if !found {
			return
		}
		var p linkParameters
		fields = p.read(rest)
		rel := strings.ToLower(p.rel)
		hop, canonical := relation(rel, strings.ToLower(p.as), href)
		if canonical {
			b.canonical(href)
		}
		if hop != 0 {
			b.link(href, hop, "Link", "", rel)
		}
		if hop == crawl.HopEmbed {
			for _, ref := range srcset(p.images) {
				b.link(ref, hop, "Link", "", rel)
			}
		}
	}
}

// linkParameters are parameters of a link in a Link field; the first of a name counts.
type linkParameters struct {
	rel, as string
	images  string // imagesrcset
}

// read reads them up to the comma behind the link.
func (p *linkParameters) read(s string) (rest string) {
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || s[0] != ';' {
			return s
		}
		s = strings.TrimLeft(s[1:], " \t")
		end := strings.IndexAny(s, "=;,")
		if end < 0 || s[end] != '=' {
			s = s[max(end, 0):]
			if end < 0 {
				return ""
			}
			continue
		}
		name, value := strings.ToLower(strings.TrimSpace(s[:end])), strings.TrimLeft(s[end+1:], " \t")
		if quoted, found := strings.CutPrefix(value, `"`); found {
			value, s, _ = strings.Cut(quoted, `"`)
		} else {
			end := strings.IndexAny(value, ";,")
			if end < 0 {
				end = len(value)
			}
			value, s = strings.TrimSpace(value[:end]), value[end:]
		}
		for _, known := range []struct {
			name string
			to   *string
		}{{"rel", &p.rel}, {"as", &p.as}, {"imagesrcset", &p.images}} {
			if name == known.name && *known.to == "" {
				*known.to = value
			}
		}
	}
}

// openGraph takes the addresses of pages that a meta element names (ogp.me, and its extensions). Images are left out: no browser loads them.
func (w *walker) openGraph(n *html.Node, content string) {
	switch property := attr(n, "property"); property {
	case "og:url", "og:see_also", "al:web:url", "article:author", "article:publisher", "book:author", "music:musician", "music:album", "video:series":
		if content = strings.TrimSpace(content); absolute(content) { // authors are also given by name
			w.link(n, property, content, crawl.HopLink, "")
		}
	}
}

// structured takes the addresses of pages from JSON-LD (json-ld.org, schema.org).
func (w *walker) structured(n *html.Node) {
	if n.FirstChild == nil || len(n.FirstChild.Data) > maxStructured || w.mute > 0 || !strings.EqualFold(strings.TrimSpace(attr(n, "type")), "application/ld+json") {
		return
	}
	json := jx.GetDecoder()
	defer jx.PutDecoder(json)
	json.ResetBytes([]byte(n.FirstChild.Data))
	_ = w.things(json, 0) // what breaks off gives what stood before
}

// things reads a value, and takes the addresses in it.
func (w *walker) things(json *jx.Decoder, depth int) error {
	if depth > maxStructuredDepth {
		return json.Skip()
	}
	switch json.Next() {
	case jx.Array:
		return json.Arr(func(json *jx.Decoder) error { return w.things(json, depth+1) })
	case jx.Object:
		return json.ObjBytes(func(json *jx.Decoder, key []byte) error {
			switch string(key) {
			case "@context", "image", "logo", "thumbnail", "photo", "primaryImageOfPage":
				return json.Skip()
			case "@id", "url", "mainEntityOfPage", "item", "sameAs", "discussionUrl", "relatedLink", "significantLink", "isPartOf", "hasPart", "embedUrl", "isBasedOn", "citation":
				return w.addresses(json, depth+1)
			}
			return w.things(json, depth+1)
		})
	}
	return json.Skip()
}

// addresses reads a value that is an address, a thing that has one, or a list of them.
func (w *walker) addresses(json *jx.Decoder, depth int) error {
	switch {
	case depth > maxStructuredDepth:
		return json.Skip()
	case json.Next() == jx.Array:
		return json.Arr(func(json *jx.Decoder) error { return w.addresses(json, depth+1) })
	case json.Next() != jx.String:
		return w.things(json, depth)
	}
	ref, err := json.Str()
	if err == nil && (absolute(ref) || strings.HasPrefix(ref, "/")) { // names of blank nodes and terms are no addresses
		w.linkIn(ref, crawl.HopLink, "script/ld+json")
	}
	return err
}

// repaired is what the author of a broken reference has meant; empty if it is not broken in a usual way.
func repaired(ref string) string {
	ref = strings.TrimSpace(ref)
	low := strings.ToLower(ref[:min(len(ref), 24)])
	switch {
	case strings.HasPrefix(low, "www.") && strings.Count(strings.TrimSuffix(hostOf(low), "."), ".") >= 2:
		return "http://" + ref
	case strings.HasPrefix(low, "htt"):
	default:
		return ""
	}
	for _, scheme := range []string{"https", "http"} {
		rest, is := strings.CutPrefix(low, scheme)
		if !is {
			continue
		}
		body := ref[len(scheme):]
		switch {
		case strings.HasPrefix(rest, "://http://"), strings.HasPrefix(rest, "://https://"): // twice
			return body[len("://"):]
		case strings.HasPrefix(rest, "://http//"), strings.HasPrefix(rest, "://https//"): // twice, as browsers write it
			inner, _, _ := strings.Cut(body[len("://"):], "//")
			return inner + ":" + body[len("://")+len(inner):]
		case strings.HasPrefix(rest, "://"):
			return ""
		case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, ";//"), strings.HasPrefix(rest, ":/"):
			return scheme + "://" + strings.TrimLeft(body, ":;/")
		}
		return ""
	}
	return ""
}

// hostOf is what stands before the first slash, or the like.
func hostOf(ref string) string {
	if end := strings.IndexAny(ref, "/?#: "); end >= 0 {
		return ref[:end]
	}
	return ref
}

// meant adds the link that a broken reference stands for, beside the one that browsers follow.
func (w *walker) meant(n *html.Node, ref string) {
	rest, whole := strings.CutPrefix(ref, "https://")
	if !whole {
		rest, whole = strings.CutPrefix(ref, "http://")
	}
	if whole && !strings.HasPrefix(rest, "http") {
		return
	}
	if to := repaired(ref); to != "" {
		w.link(n, "href", to, crawl.HopLink, "")
	}
}
