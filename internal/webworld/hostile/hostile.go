// Package hostile has pages that attack the browser that shows them, and the program that drives it: each aims at one bound of internal/browser.
package hostile

import "strings"

// Page is a page that attacks.
type Page struct {
	Name  string
	Body  string
	Shown bool // it takes so little that a document must come of it, with the word "said"; others may cost themselves
}

// Slow is the path of a script whose answer a test may hold back, so that what the page asks for meanwhile waits.
const Slow = "/slow.js"

// script is a page that says something, and runs a script.
func script(name string, code ...string) Page {
	return Page{Name: name, Body: "<!DOCTYPE html><body>said<script>" + strings.Join(code, "\n") + "</script>", Shown: true}
}

// costly is a page that runs a script, and need not be shown.
func costly(name string, code ...string) Page {
	p := script(name, code...)
	p.Shown = false
	return p
}

// Pages are all pages that attack.
func Pages() []Page {
	return []Page{
		// the memory of the program that drives the browser
		costly("requests with large bodies", `const s = document.createElement("script"); s.src = "`+Slow+`"; document.body.append(s);
			const body = "x".repeat(4 << 20); for (let i = 0; i < 100; i++) fetch("/body" + i, {method: "POST", body}).catch(() => 0)`),
		costly("requests without end", `for (let i = 0; ; i++) { const m = new Image(); m.src = "/image" + i; if (i % 100 == 0) await0(); } function await0() { const r = new XMLHttpRequest(); }`),
		costly("many requests", `for (let i = 0; i < 20000; i++) fetch("/many" + i).catch(() => 0)`),
		costly("long addresses", `for (let i = 0; i < 200; i++) fetch("/" + i + "x".repeat(1 << 20)).catch(() => 0)`),
		script("prototypes", `const long = "x".repeat(1 << 28), many = Array(1 << 20).fill("#/" + "x".repeat(200));
			String.prototype.slice = String.prototype.substring = function () { return long };
			String.prototype.replace = function () { return long };
			Array.prototype.slice = function () { return many };
			Array.prototype.push = function () { return 0 };
			Element.prototype.getHTML = function () { return long };
			Object.defineProperty(Element.prototype, "innerHTML", {get: () => long, configurable: true});
			JSON.stringify = () => long; Math.max = () => 1e9; Set.prototype.add = function () { return this };`),
		script("names", `for (const n of ["body", "documentElement", "readyState", "querySelectorAll", "scrollingElement", "getElementsByTagName"]) { const i = document.createElement("img"); i.name = n; document.body.append(i) }
			const f = document.createElement("form"); for (const n of ["attributes", "shadowRoot", "localName", "remove", "scrollHeight"]) { const i = document.createElement("input"); i.name = n; f.append(i) } document.body.append(f)`),
		costly("console", `const long = "x".repeat(64 << 20); let i = 0; setInterval(() => { if (i++ < 40) console.log(long + i) }, 50)`),
		costly("errors", `const long = "x".repeat(64 << 20); let i = 0; setInterval(() => { if (i++ < 40) throw new Error(long + i) }, 50)`),
		costly("dialogs", `setTimeout(() => { for (let i = 0; i < 3000; i++) alert("x".repeat(1 << 16)) }, 0)`),
		costly("a long document", `document.body.append("é".repeat(1 << 26))`),
		costly("many elements", `for (let i = 0; i < 400000; i++) document.body.append(document.createElement("a"))`),
		costly("views", `for (let i = 0; i < 100; i++) { const a = document.createElement("a"); a.href = "#/" + i; a.textContent = "x".repeat(1 << 16); document.body.append(a) }`),
		costly("long fragments", `for (let i = 0; i < 500; i++) { const a = document.createElement("a"); a.href = "#/" + i + "x".repeat(1 << 20); document.body.append(a) }`),
		costly("frames", `for (let i = 0; i < 600; i++) { const f = document.createElement("iframe"); f.src = "/frame" + i; document.body.append(f) }`),
		costly("frames in frames", `let at = document; for (let i = 0; i < 200; i++) { const f = at.createElement("iframe"); at.body.append(f); at = f.contentDocument }`),
		costly("history", `let i = 0; setInterval(() => { for (let n = 0; n < 100; n++) try { history.pushState("x".repeat(1 << 16), "", "/?" + i++ + "x".repeat(1 << 12)) } catch {} }, 10)`),
		// elsewhere
		costly("leaves often", `let i = 0; setInterval(() => { location = "/left" + i++ }, 2)`),
		script("leaves by address", `location = "/" + "x".repeat(1 << 20)`),
		costly("leaves for nothing", `setTimeout(() => { location = "about:blank" }, 100)`),
		costly("leaves for a blob", `setTimeout(() => { location = URL.createObjectURL(new Blob(["<body>blob<script>setInterval(() => location.reload(), 10)</"+"script>"], {type: "text/html"})) }, 100)`),
		costly("submits", `const f = document.createElement("form"); f.method = "post"; f.action = "/form"; document.body.append(f); setInterval(() => f.submit(), 5)`),
		{Name: "refreshes", Body: `<!DOCTYPE html><meta http-equiv=refresh content="0;url=/refreshed"><body>said`, Shown: true},
		// what outlives a page, or is of another process
		costly("workers", `const u = URL.createObjectURL(new Blob(["setInterval(() => { for (let i = 0; i < 50; i++) fetch('http://a.test/w' + i, {method: 'POST', body: 'x'.repeat(1 << 16)}).catch(() => 0) }, 10)"])); for (let i = 0; i < 20; i++) new Worker(u)`),
		script("service workers", `const f = document.createElement("iframe"); document.body.append(f); for (const w of [window, f.contentWindow]) w.navigator.serviceWorker?.register("/sw.js").catch(() => 0)`),
		script("sockets", `for (let i = 0; i < 5000; i++) try { new WebSocket("ws://a.test/" + i) } catch {}`),
		script("peers", `const f = document.createElement("iframe"); document.body.append(f); for (let i = 0; i < 100; i++) try { const c = new f.contentWindow.RTCPeerConnection(); c.createDataChannel("x"); c.createOffer().then((o) => c.setLocalDescription(o)) } catch {}`),
		script("downloads", `for (let i = 0; i < 300; i++) { const a = document.createElement("a"); a.download = "f" + i; a.href = URL.createObjectURL(new Blob(["x"])); a.click() }`),
		script("windows", `const f = document.createElement("iframe"); document.body.append(f); for (let i = 0; i < 300; i++) { f.contentWindow.open("about:blank"); const a = document.createElement("a"); a.target = "_blank"; a.href = "/w" + i; document.body.append(a); a.click() }`),
		script("prerenders", `const s = document.createElement("script"); s.type = "speculationrules"; s.textContent = JSON.stringify({prerender: [{source: "list", urls: ["/p1", "/p2"], eagerness: "immediate"}], prefetch: [{source: "list", urls: ["/q1"], eagerness: "immediate"}]}); document.head.append(s)`),
		// the memory of the browser
		costly("arrays", `const a = []; setInterval(() => { for (let i = 0; i < 40; i++) a.push(new Uint8Array(1 << 20).fill(7)) }, 20)`),
		costly("blobs", `const a = []; setInterval(() => { for (let i = 0; i < 10; i++) a.push(new Blob([crypto.getRandomValues(new Uint8Array(1 << 16)), new Uint8Array(8 << 20).fill(i)])) }, 20)`),
		costly("canvases", `const a = []; setInterval(() => { const c = document.createElement("canvas"); c.width = c.height = 2000; const x = c.getContext("2d"); x.fillRect(0, 0, 2000, 2000); document.body.append(c); a.push(c) }, 20)`),
		costly("shared memory", `const a = []; setInterval(() => { const m = new WebAssembly.Memory({initial: 512, maximum: 512, shared: true}); new Uint8Array(m.buffer).fill(7); a.push(m) }, 20)`),
		costly("stored", `const r = indexedDB.open("x"); r.onupgradeneeded = () => r.result.createObjectStore("s"); r.onsuccess = () => { let i = 0; const more = () => { const t = r.result.transaction("s", "readwrite"); t.objectStore("s").put(new Uint8Array(16 << 20).fill(i), i++); t.oncomplete = more }; more() }`),
		// its time
		costly("a loop", `for (;;);`),
		costly("a loop at the end", `document.addEventListener("scroll", () => { for (;;); }, true); document.body.style.height = "9000px"`),
		costly("growth", `setInterval(() => { for (let i = 0; i < 100; i++) document.body.append(document.createElement("p"), "more") }, 1)`),
	}
}
