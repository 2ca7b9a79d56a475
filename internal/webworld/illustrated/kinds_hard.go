package illustrated

import (
	"fmt"
	"strings"
)

// hardKinds are kinds that ReplayWeb.page does not show although they are archived: pages of their own have them.
var hardKinds = []kind{
	// Browsers do not ask service workers for what object and embed elements load.
	{"object-image", func(p *pen) {
		p.say(`<object data="%s" type="image/png" width="40" height="30">no object</object>`, p.near(".png", "image/png", png))
	}, false},
	{"embed-image", func(p *pen) {
		p.say(`<embed src="%s" type="image/png" width="40" height="30"/>`, p.near(".png", "image/png", png))
	}, false},
	{"object-document", func(p *pen) {
		p.say(`<object type="text/html" width="200" height="60" data="%s"></object>`, p.document(p.host, "a raven in an object"))
	}, false},
	{"svg-object", func(p *pen) { // a drawing that has an image
		p.say(`<object type="image/svg+xml" width="120" height="40" data="%s"></object>`, p.drawn())
	}, false},
	{"svg-embed", func(p *pen) { p.say(`<embed type="image/svg+xml" width="120" height="40" src="%s"/>`, p.drawn()) }, false},
	// The player does not rewrite XML.
	{"iframe-xml", func(p *pen) { // a document with a style sheet of its own
		sheet := p.name(".css")
		p.put(p.host, sheet, "text/css", fmt.Appendf(nil, "raven { display: block; background: url(%s); font-size: 12px }", p.imageFrom(p.host)))
		path := p.name(".xml")
		p.put(p.host, path, "application/xml", fmt.Appendf(nil, "<?xml version=\"1.0\"?>\n<?xml-stylesheet type=\"text/css\" href=\"%s\"?>\n<ravens><raven>a raven in XML</raven></ravens>\n", sheet))
		p.say(`<iframe width="200" height="60" src="%s"></iframe>`, text(p.reference(p.base, p.host, path)))
	}, false},
	{"svg-frame", func(p *pen) { p.say(`<iframe width="160" height="60" src="%s"></iframe>`, p.drawn()) }, false},
	// Nor does it know all forms of CSS.
	{"css-escaped", func(p *pen) {
		p.rule(`%s { background: u\72l(%s) }`, p.box("x"), strings.Replace(p.cssImage(), "png", `p\06e g`, 1))
	}, false},
	{"css-image-set-text", func(p *pen) {
		p.rule(`%s { background: image-set("%s" 1x, "%s" 2x) }`, p.box("x"), p.cssImage(), p.cssImage())
	}, false},
	// Nor what a document in an attribute refers to.
	{"iframe-srcdoc", func(p *pen) {
		p.say(`<iframe width="200" height="60" srcdoc="%s"></iframe>`,
			text(fmt.Sprintf(`<style>p { background: url(%s) }</style><p>a raven in an attribute</p><img src="%s">`, p.image(), p.image())))
	}, false},
	// Letters of URLs are taken for UTF-8 whatever the encoding of the page is.
	{"img-letters-encoded", func(p *pen) { named(p, p.form.word) }, false},
	{"img-query-encoded", func(p *pen) {
		path := p.name(".png") + "?q="
		p.put(p.base, path+p.query(p.form.word), "image/png", png(path))
		p.say(`<img src="%s"/>`, text(path+p.form.word))
	}, false},
}
