package illustrated

import (
	"fmt"

	"github.com/muninn-archive/muninn/internal/webworld"
)

const svgNS = `xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"`

// svgKinds are drawings.
var svgKinds = []kind{
	{"svg-img", func(p *pen) { p.say(`<img src="%s"/>`, p.near(".svg", "image/svg+xml", drawing)) }, false},
	{"svg-inline-image", func(p *pen) {
		p.say(`<svg %s width="120" height="40"><image href="%s" width="40" height="30"/><image x="60" xlink:href="%s" width="40" height="30"/></svg>`, svgNS, p.image(), p.image())
	}, false},
	{"svg-use", func(p *pen) { // of a drawing of the page's own origin
		p.say(`<svg %s width="120" height="40"><use href="%s#shape"/></svg>`, svgNS, p.near(".svg", "image/svg+xml", drawing))
	}, false},
	{"svg-use-xlink", func(p *pen) {
		p.say(`<svg %s width="120" height="40"><use xlink:href="%s#shape"/></svg>`, svgNS, p.near(".svg", "image/svg+xml", drawing))
	}, false},
	{"svg-filter", func(p *pen) {
		p.say(`<svg %s width="120" height="40"><filter id="f%d"><feImage href="%s" width="40" height="30"/></filter><rect width="90" height="30" filter="url(#f%d)"/></svg>`, svgNS, p.n, p.image(), p.n)
	}, false},
	{"svg-style", func(p *pen) {
		p.say(`<svg %s width="120" height="40"><style>.s%d { mask: url(%s) }</style><rect class="s%d" width="90" height="30" fill="#936"/></svg>`, svgNS, p.n, p.image(), p.n)
	}, false},
	{"svg-background", func(p *pen) {
		p.say(`<p style="background: url('%s')">a drawing behind a text</p>`, p.far(".svg", "image/svg+xml", func(_ *webworld.Host, name string) []byte { return drawing(name) }))
	}, false},
}

// drawing is a drawing with a shape that can be used by others.
func drawing(name string) []byte {
	h := hash(name)
	return fmt.Appendf(nil, `<?xml version="1.0"?>
<svg %s width="%d" height="%d" viewBox="0 0 60 40"><g id="shape"><circle cx="%d" cy="20" r="%d" fill="%s"/></g></svg>
`, svgNS, 50+h%40, 30+h%20, 15+h%30, 8+h%10, colour(name))
}

// drawn adds a drawing that refers to an image and a style sheet.
func (p *pen) drawn() string {
	sheet := p.name(".css")
	p.put(p.host, sheet, "text/css", []byte("rect { fill: "+colour(sheet)+" }"))
	picture, path := p.imageFrom(p.host), p.name(".svg")
	p.put(p.host, path, "image/svg+xml", fmt.Appendf(nil, `<?xml version="1.0"?>
<?xml-stylesheet type="text/css" href="%s"?>
<svg %s width="110" height="36"><rect width="30" height="30"/><image x="40" href="%s" width="40" height="30"/><text x="84" y="20">%d</text></svg>
`, sheet, svgNS, text(picture), p.n))
	return text(p.reference(p.base, p.host, path))
}
