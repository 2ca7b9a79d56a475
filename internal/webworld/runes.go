package webworld

import (
	"html/template"
	"net/http"
	"time"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
)

// archiveDelay is the Crawl-delay of the archive, the only site that asks for one.
const archiveDelay = time.Second

// PlainView is what the template "plain" gets.
type PlainView struct {
	Title       string
	Head, Extra template.HTML
	Paragraphs  []string
	Links       []Entry
}

// writeRunes is the site of special cases: encodings, redirects, and links in every element that can have them.
func writeRunes(b *Builder, s *Host) {
	s.SetRobots(Rules{}, "")
	s.Gzip, s.ETag = true, true
	writeEncodings(s)
	writeRedirects(b, s)
	writeElements(b, s)
	chunked := PlainView{Title: "Ansuz, in chunks", Paragraphs: b.Text.Paragraphs(b.Random(s, "chunked"), Norse, 12)}
	s.AddHTML("/chunked.html", "page", true, b.Render("plain", chunked)).chunked = true
	front := PlainView{
		Title: "Rune oddities", Head: `<meta charset="utf-8">`,
		Paragraphs: b.Text.Paragraphs(b.Random(s, "front"), Norse, 2),
		Links: []Entry{
			{Title: "Вороны (windows-1251)", URL: "/ru/voron.html"}, {Title: "Karasu (Shift_JIS)", URL: "/ja/karasu.html"},
			{Title: "Korpar och kråkor (ISO-8859-1)", URL: "/sv/korp.html"}, {Title: "Chunked rune Ansuz", URL: "/chunked.html"},
			{Title: "Moved rune Fehu", URL: "/old/fehu"}, {Title: "Rune Fehu, for now", URL: "/old/fehu-found"},
			{Title: "Rune Fehu, for ever", URL: "/old/fehu-permanent"}, {Title: "A hop, a skip and a rune", URL: "/hop/1"},
			{Title: "Lost rune", URL: "/lost.html"}, {Title: "Gone rune", URL: "/gone.html"},
			{Title: "Runes in frames, maps and pictures", URL: "/elements/deep/er/index.html"},
		},
	}
	s.AddHTML("/", "list", true, b.Render("plain", front))
	s.add("/favicon.ico", "image", false, "image/x-icon", picture(b.Random(s, "icon"), 16)) // which some pages imply
}

// writeEncodings adds three pages about ravens that are not in UTF-8.
func writeEncodings(s *Host) {
	russian := `<html><head><meta http-equiv="Content-Type" content="text/html; charset=windows-1251"><title>Ворон</title></head>
<body><h1>Ворон (Corvus corax, raven)</h1><p>Хугин и Мунин — вороны Одина: мысль и память. Каждое утро они облетают мир.</p>
<p>Raven pairs keep the same nest for years. <a href="/">Назад к рунам</a></p></body></html>
`
	body, _ := charmap.Windows1251.NewEncoder().Bytes([]byte(russian)) // every letter above exists in windows-1251
	s.add("/ru/voron.html", "page", true, "text/html", body)

	karasu := `<html><head><title>カラス</title></head><body><h1>カラスと神話 (raven)</h1><p>フギンとムニンはオーディンのワタリガラスである。</p>
<p>Corvids in myth: Huginn and Muninn. <a href="/">ルーンへ戻る</a></p></body></html>
`
	body, _ = japanese.ShiftJIS.NewEncoder().Bytes([]byte(karasu))
	s.add("/ja/karasu.html", "page", true, "text/html; charset=Shift_JIS", body)

	swedish := `<html><head><title>Korpar och kråkor</title></head><body><h1>Korpar och kråkor</h1><p>Korpen är större än kråkan; Hugin och Munin är Odens korpar. Ravens and crows på Gotland.</p>
<p><a href="/">Åter till runorna</a></p></body></html>
`
	body, _ = charmap.ISO8859_1.NewEncoder().Bytes([]byte(swedish))
	s.add("/sv/korp.html", "page", true, "text/html; charset=ISO-8859-1", body)
}

func writeRedirects(b *Builder, s *Host) {
	fehu := PlainView{Title: "The rune Fehu", Paragraphs: b.Text.Paragraphs(b.Random(s, "fehu"), Norse, 3)}
	s.AddHTML("/runes/fehu.html", "page", true, b.Render("plain", fehu))
	s.Redirect("/old/fehu", http.StatusMovedPermanently, s.Base+"/runes/fehu.html")
	s.Redirect("/old/fehu-found", http.StatusFound, "../runes/fehu.html")
	s.Redirect("/old/fehu-permanent", http.StatusPermanentRedirect, "/runes/fehu.html")
	s.Redirect("/hop/1", http.StatusFound, "2")
	s.Redirect("/hop/2", http.StatusTemporaryRedirect, "?three")
	s.Redirect("/hop/2?three", http.StatusSeeOther, b.ByName[blogHost].Base+"/about/")
	gone := s.AddHTML("/gone.html", "missing", false, []byte("<title>Gone</title><p>This rune was cut away.</p>\n"))
	gone.Status = http.StatusGone
}

// writeElements adds one page with links in all kinds of elements, and what they lead to.
func writeElements(b *Builder, s *Host) {
	leaf := func(path string) {
		r := b.Random(s, "%s", path)
		v := PlainView{Title: b.Text.Title(r, Ravens), Paragraphs: b.Text.Paragraphs(r, Ravens, 2)}
		s.AddHTML(path, "page", true, b.Render("plain", v))
	}
	for _, path := range []string{
		"/elements/area.html", "/elements/frame.html", "/elements/inner.html", "/elements/based.html", "/elements/up.html",
		"/elements/nofollow.html", "/elements/refreshed.html", "/elements/space%20and%20umlaut-%C3%BC.html", "/elements/next.html",
	} {
		leaf(path)
	}
	for _, path := range []string{"/elements/small.png", "/elements/large.png", "/elements/map.png", "/elements/wide.png"} {
		s.add(path, "image", false, "image/png", picture(b.Random(s, "%s", path), 24))
	}
	s.add("/elements/raven.js", "script", false, "text/javascript", []byte("document.title += ' *';\n"))
	s.AddHTML("/elements/frames.html", "page", false, []byte(`<html><head><title>Frames</title></head><frameset cols="50%,50%"><frame src="frame.html"><frame src="./inner.html"></frameset></html>
`))
	s.AddHTML("/elements/refresh.html", "page", false, []byte(`<html><head><title>Wait</title><meta http-equiv="Refresh" content="0; url=refreshed.html"></head><body>One moment.</body></html>
`))
	elements := PlainView{
		Title: "Links in every element", Head: `<meta charset="utf-8"><base href="/elements/"><link rel="next" href="next.html"><script src="raven.js"></script>`,
		Paragraphs: b.Text.Paragraphs(b.Random(s, "elements"), Ravens, 2),
		Extra: `<map name="m"><area shape="rect" coords="0,0,9,9" href="area.html" alt="A raven on the map"></map><img usemap="#m" src="map.png" alt="">
<picture><source srcset="wide.png 2x"><img src="small.png" srcset="small.png 24w, large.png 48w" alt="raven feather"></picture>
<iframe src="frames.html"></iframe>
<p><a href="based.html">Against the base: raven nests</a> <a href="deep/er/../../up.html">Up and up again: crow roosts</a>
<a rel="nofollow ugc" href="nofollow.html">Ravens, not endorsed</a> <a href="refresh.html">Refreshing rooks</a>
<a href=" space and umlaut-ü.html
">Spaces around jackdaws</a> <a href="#part">This page</a> <a href="">Itself</a>
<a href="mailto:norns@runes.test">Mail</a> <a href="javascript:history.back()">Back</a> <a href="tel:+3545551234">Call</a> <a href="data:text/plain,raven">Data</a>
<a href="//runes.test:bad/">Broken</a> <a href="http://[::1/">Broken too</a> <a name="part">Part</a></p>`,
	}
	s.AddHTML("/elements/deep/er/index.html", "page", true, b.Render("plain", elements))
}
