package illustrated

import "fmt"

// cssKinds are rules of style sheets. A third of the pages have them in a style element, the others in a sheet of their own.
var cssKinds = []kind{
	{"css-background", func(p *pen) { p.rule(`%s { background: #eee url(%s) repeat-x 5px 5px }`, p.box("x"), p.cssImage()) }, false},
	{"css-quoted", func(p *pen) { p.rule(`%s { background-image: url( "%s" ) }`, p.box("x"), p.cssImage()) }, false},
	{"css-several", func(p *pen) {
		p.rule(`%s { background: url(%s) no-repeat, url('%s') no-repeat 40px 0 }`, p.box("x"), p.cssImage(), p.cssImage())
	}, false},
	{"css-border-image", func(p *pen) {
		p.rule(`%s { border: 8px solid; border-image: url(%s) 4 round }`, p.box("x"), p.cssImage())
	}, false},
	{"css-list", func(p *pen) {
		p.say(`<ul class="u%d"><li>a raven in a list</li></ul>`, p.n)
		p.rule(`.u%d { list-style: square inside url(%s) }`, p.n, p.cssImage())
	}, false},
	{"css-content", func(p *pen) { p.rule(`%s::before { content: url(%s) }`, p.box("x"), p.cssImage()) }, false},
	{"css-mask", func(p *pen) {
		p.rule(`%s { background: #27c; -webkit-mask: url(%s); mask: url(%s) }`, p.box(""), p.cssImage(), p.cssImage())
	}, false},
	{"css-variable", func(p *pen) { p.rule(`%s { --raven: url("%s"); background: var(--raven) }`, p.box("x"), p.cssImage()) }, false},
	{"css-image-set", func(p *pen) {
		p.rule(`%s { background: image-set(url(%s) 1x, url(%s) 2x) }`, p.box("x"), p.cssImage(), p.cssImage())
	}, false},
	{"css-webkit-image-set", func(p *pen) { p.rule(`%s { background: -webkit-image-set(url(%s) 1x) }`, p.box("x"), p.cssImage()) }, false},
	{"css-cross-fade", func(p *pen) {
		p.rule(`%s { background: -webkit-cross-fade(url(%s), url(%s), 50%%) }`, p.box("x"), p.cssImage(), p.cssImage())
	}, false},
	{"css-cursor", func(p *pen) { p.rule(`%s { cursor: url(%s), auto }`, p.box("x"), p.cssImage()) }, false},
	{"css-layer", func(p *pen) { p.rule(`@layer l%d { %s { background: url(%s) } }`, p.n, p.box("x"), p.cssImage()) }, false},
	{"css-media", func(p *pen) {
		class := p.box("x")
		p.rule(`@media (min-width: 900px) { %s { background: url(%s) } } @media print { %s { background: url(%s) } }`, class, p.cssImage(), class, p.cssImage())
	}, false},
	{"css-supports", func(p *pen) {
		p.rule(`@supports (display: grid) { %s { background: url(%s) } }`, p.box("x"), p.cssImage())
	}, false},
	{"css-nested", func(p *pen) { p.rule(`%s { & b { background: url(%s) } }`, p.box("<b>nested</b>"), p.cssImage()) }, false},
	{"css-shape", func(p *pen) {
		p.rule(`%s { float: left; shape-outside: url(%s); background: url(%s) }`, p.box("x"), p.cssImage(), p.cssImage())
		p.say(`<p style="clear: both">after it</p>`)
	}, false},
	{"css-font", func(p *pen) {
		p.rule(`@font-face { font-family: raven%d; src: url("%s") format("truetype") } %s { font-family: raven%d; width: auto }`, p.n, p.font(), p.box("RAVENS"), p.n)
	}, false},
	{"css-font-second", func(p *pen) { // a browser takes the first format that it knows
		p.rule(`@font-face { font-family: second%d; src: local("No Such Font"), url(%s) format("unheard-of"), url(%s) format("truetype") } %s { font-family: second%d; width: auto }`,
			p.n, p.font(), p.font(), p.box("RAVENS"), p.n)
	}, false},
	{"css-import", func(p *pen) {
		fmt.Fprintf(&p.imports, "@import url(%s);\n", p.imported(fmt.Sprintf("%s { background: url(%%s) }", p.box("x"))))
	}, false},
	{"css-import-text", func(p *pen) {
		fmt.Fprintf(&p.imports, "@import \"%s\" screen;\n", p.imported(fmt.Sprintf("%s { background: url(%%s) }", p.box("x"))))
	}, false},
	{"css-import-layer", func(p *pen) {
		fmt.Fprintf(&p.imports, "@import url(\"%s\") layer(l%d) supports(display: grid);\n", p.imported(fmt.Sprintf("%s { background: url(%%s) }", p.box("x"))), p.n)
	}, false},
	{"css-import-nested", func(p *pen) {
		inner := p.other()
		path := p.name(".css")
		p.put(inner, path, "text/css", fmt.Appendf(nil, "%s { background: url(%s) }", p.box("x"), p.imageFrom(inner)))
		outer, name := p.other(), p.name(".css")
		p.put(outer, name, "text/css", fmt.Appendf(nil, "@import '%s';\n%s { background: url(%s) }", p.reference(outer, inner, path), p.box("x"), p.imageFrom(outer)))
		fmt.Fprintf(&p.imports, "@import url(%s);\n", p.reference(p.sheet, outer, name))
	}, false},
	{"style-attribute", func(p *pen) {
		p.say(`<p style="background: url('%s')">a raven in an attribute</p>`, text(p.imageFrom(p.base)))
	}, false},
	{"style-attribute-quoted", func(p *pen) {
		p.say(`<p style="background: url(&quot;%s&quot;)">a raven in quotes</p>`, text(p.imageFrom(p.base)))
	}, false},
	{"sheet-media", func(p *pen) {
		for _, media := range []string{"print", "(min-width: 10px)"} {
			class := p.box("x")
			on, path := p.other(), p.name(".css")
			p.put(on, path, "text/css", fmt.Appendf(nil, "%s { background: url(%s) }", class, p.imageFrom(on)))
			p.top(`<link rel="stylesheet" media="%s" href="%s"/>`+"\n", media, text(p.reference(p.base, on, path)))
		}
	}, false},
	{"sheet-charset", func(p *pen) { // a sheet of another encoding, with the letters of an address in it
		path := p.name("-Übersicht.png")
		p.put(p.host, escaped(path), "image/png", png(path))
		on, name := p.host, p.name(".css")
		p.put(on, name, "text/css; charset=iso-8859-1", []byte(latin(fmt.Sprintf("%s { background: url(%s) } %s::after { content: 'Räbin' }", p.box("x"), path, p.box("x")))))
		p.top(`<link rel="stylesheet" href="%s"/>`+"\n", text(p.reference(p.base, on, name)))
	}, false},
}

// font adds a font to one of the hosts.
func (p *pen) font() string {
	on, path := p.other(), p.name(".ttf")
	p.put(on, path, "font/ttf", font(uint16(300+len(path)*7+p.n%50*20)))
	return p.reference(p.sheet, on, path)
}

// imported adds a sheet with an image to one of the hosts, and returns how the page's sheet refers to it.
func (p *pen) imported(format string) string {
	on, path := p.other(), p.name(".css")
	p.put(on, path, "text/css", fmt.Appendf(nil, format, p.imageFrom(on)))
	return p.reference(p.sheet, on, path)
}
