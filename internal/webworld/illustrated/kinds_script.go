package illustrated

import "fmt"

// scriptKinds are images that scripts load, by an attribute or by a name that stands in the script.
var scriptKinds = []kind{
	{"lazy-src", func(p *pen) {
		p.lazily(fmt.Sprintf(`<img id="ID" data-src="%s"/>`, p.image()), `e.src = e.dataset.src`)
	}, false},
	{"lazy-srcset", func(p *pen) {
		p.lazily(fmt.Sprintf(`<img id="ID" data-srcset="%s 1x, %s 2x"/>`, p.image(), p.image()), `e.srcset = e.dataset.srcset`)
	}, false},
	{"lazy-original", func(p *pen) {
		p.lazily(fmt.Sprintf(`<img id="ID" class="lazy" data-original="%s"/>`, p.image()), `e.setAttribute("src", e.getAttribute("data-original"))`)
	}, false},
	{"lazy-background", func(p *pen) {
		p.lazily(fmt.Sprintf(`<p id="ID" data-bg="%s">behind a text</p>`, p.image()), `e.style.backgroundImage = "url(" + JSON.stringify(e.dataset.bg) + ")"`)
	}, false},
	{"lazy-url", func(p *pen) {
		p.lazily(fmt.Sprintf(`<p id="ID" data-background-image="url('%s')">behind a text</p>`, p.image()), `e.style.backgroundImage = e.dataset.backgroundImage`)
	}, false},
	{"lazy-poster", func(p *pen) {
		p.lazily(fmt.Sprintf(`<video id="ID" preload="none" width="60" height="40" data-poster="%s"></video>`, p.image()), `e.poster = e.dataset.poster`)
	}, false},
	{"lazy-seen", func(p *pen) { // when it is in view
		p.lazily(fmt.Sprintf(`<img id="ID" width="30" height="20" data-lazy-src="%s"/>`, p.image()),
			`new IntersectionObserver(function (list, watch) { list.forEach(function (x) { if (x.isIntersecting) { x.target.src = x.target.getAttribute("data-lazy-src"); watch.disconnect() } }) }).observe(e)`)
	}, false},
	{"lazy-noscript", func(p *pen) {
		reference := p.image()
		p.lazily(fmt.Sprintf(`<img id="ID" data-src="%s"/><noscript><img src="%s"/></noscript>`, reference, reference), `e.src = e.dataset.src`)
	}, true},
	{"script-image", func(p *pen) {
		path := p.name(".png")
		p.put(p.base, path, "image/png", png(path))
		p.lazily(`<p id="ID">appended</p>`, fmt.Sprintf(`var i = new Image(); i.src = "%s"; e.appendChild(i)`, p.base.Base+path))
	}, false},
	{"script-write", func(p *pen) {
		path := p.name(".png")
		p.put(p.base, path, "image/png", png(path))
		p.say(`<script>document.write('<img src="%s">')</script>`, p.base.Base+path)
	}, true},
	{"script-file", func(p *pen) {
		path := p.name(".png")
		p.put(p.host, path, "image/png", png(path))
		p.made++
		id := fmt.Sprintf("%s-%d", p.kind, p.made)
		p.say(`<p id="%s">by a file</p><script src="%s"></script>`, id, p.near(".js", "text/javascript", func(string) []byte {
			return fmt.Appendf(nil, `(function () { var i = document.createElement("img"); i.src = "%s%s"; document.getElementById("%s").appendChild(i) })()`, p.host.Base, path, id)
		}))
	}, false},
	{"script-module", func(p *pen) {
		p.made++
		id := fmt.Sprintf("%s-%d", p.kind, p.made)
		p.say(`<p id="%s">no module</p><script type="module" src="%s"></script>`, id, p.near(".js", "text/javascript", func(string) []byte {
			return fmt.Appendf(nil, `document.getElementById("%s").textContent = "a module"`, id)
		}))
	}, false},
}

// lazily writes markup in which ID stands for the identity of an element, and a script that does something with the element e when the page is loaded.
func (p *pen) lazily(markup, script string) {
	p.made++
	id := fmt.Sprintf("%s-%d", p.kind, p.made)
	p.say("%s<script>addEventListener(\"load\", function () { var e = document.getElementById(\"%s\"); %s })</script>", identified(markup, id), id, script)
}
