package page

import (
	"strings"
	"testing"
)

func TestRelated(t *testing.T) {
	const ld = `<script type="application/ld+json">`
	for _, test := range []struct{ name, html, want string }{
		{"relations", `<link rel=amphtml href=amp><link rel=shortlink href="/?p=1"><link rel=last href=9><link rel=author href=/me><link rel=pingback href=/rpc><link rel="alternate" hreflang=de href=/de>`,
			"L /dir/amp||-\nL /?p=1||-\nL /dir/9||-\nL /me||-\nL /de||-"},
		{"Open Graph", `<meta property="og:url" content="http://a.test/og"><meta property="og:image" content="http://a.test/i.png"><meta property="article:author" content="A. Raven"><meta property="og:see_also" content=" http://b.test/ ">`,
			"L /og||-\nL http://b.test/||-"},
		{"JSON-LD", ld + `{"@context":"http://schema.org","@id":"#me","url":"http://a.test/1","image":{"url":"http://a.test/i.png"},"mainEntityOfPage":{"@id":"/2"},"publisher":{"@type":"Organization","sameAs":["http://b.test/","http://c.test/"],"logo":"http://a.test/l.png"},` +
			`"itemListElement":[{"item":{"@id":"http://a.test/3","name":"x"}},{"item":"http://a.test/4"}],"name":"http://a.test/no"}</script>`,
			"L /1||-\nL /2||-\nL http://b.test/||-\nL http://c.test/||-\nL /3||-\nL /4||-"},
		{"JSON-LD that breaks off", ld + `[{"url":"http://a.test/1"},{"url":`, "L /1||-"},
		{"JSON-LD that is deep", ld + `{"url":"http://a.test/1","a":` + strings.Repeat(`[{"url":`, 20) + `"http://a.test/deep"` + strings.Repeat(`}]`, 20) + `}</script>`, "L /1||-"},
		{"other scripts", `<script type="application/json">{"url":"http://a.test/1"}</script>`, ""},
		{"broken references", `<a href="www.b.test/x">a</a><a href="http:/b.test/y">b</a><a href="http//b.test/z">c</a><a href="http://http://b.test/v">d</a><a href="https://https//b.test/u">e</a><a href="http;//b.test/t">f</a><a href="www.html">g</a><a href="httpd">h</a>`,
			"L /dir/www.b.test/x|a|abcdefgh\nL http://www.b.test/x||abcdefgh\nL /b.test/y|b|abcdefgh\nL http://b.test/y||abcdefgh\nL /dir/http//b.test/z|c|abcdefgh\nL http://b.test/z||abcdefgh\n" +
				"L http://http//b.test/v|d|abcdefgh\nL http://b.test/v||abcdefgh\nL https://https//b.test/u|e|abcdefgh\nL https://b.test/u||abcdefgh\nL /dir/http;//b.test/t|f|abcdefgh\nL http://b.test/t||abcdefgh\nL /dir/www.html|g|abcdefgh\nL /dir/httpd|h|abcdefgh"},
	} {
		if got := links(parse(test.html)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestLinkFields(t *testing.T) {
	for fields, want := range map[string]string{
		`</2>; rel="next", </i.css>; rel=preload; as=style`:                                                                           "L /2|\nE /i.css|",
		`<https://b.test/a,b>; title="x, <y>; z"; REL="Prev  up" , <c>;rel=first`:                                                     "L https://b.test/a,b|\nL /dir/c|",
		`</i.png>; rel=preload; as=image; imagesrcset="/j.png 1x, k.png 2x", </s.css>; rel=stylesheet, </f.ico>; rel="shortcut icon"`: "E /i.png|\nE /j.png|\nE /dir/k.png|\nE /s.css|\nE /f.ico|",
		`</c>; rel=canonical; imagesrcset="/j.png 1x"`:                                                                                "L /c|",
		`</c>; rel=canonical`:                   "L /c|",
		`</wp-json/>; rel="https://api.w.org/"`: "",
		`</x>; rev; rel=next`:                   "L /x|",
		`</x>`:                                  "", `</x`: "", `;;,<>;rel=next`: "", `<a>; rel="next`: "L /dir/a|",
		strings.Repeat("<>,", 99) + "</in>;rel=next,</out>;rel=next": "L /in|",
	} {
		d := Parse(Input{URL: "http://a.test/dir/", MIME: "image/png", Link: fields}, DefaultLimits())
		if got := strings.ReplaceAll(links(d), "|-", ""); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", fields, got, want)
		}
	}
	d := Parse(Input{URL: "http://a.test/dir/", MIME: "text/html", Link: "</c>; rel=canonical"}, DefaultLimits())
	if d.Canonical != "http://a.test/c" {
		t.Error(d.Canonical)
	}
}

// FuzzLinkFields: any field is read to its end.
func FuzzLinkFields(f *testing.F) {
	f.Add(`</2>; rel="next", </i.css>; rel=preload; as=style`)
	f.Add(`<a>;=;"`)
	f.Fuzz(func(t *testing.T, fields string) {
		d := Parse(Input{URL: "http://a.test/", MIME: "image/png", Link: fields}, DefaultLimits())
		if len(d.Links) > maxHeaderLinks {
			t.Errorf("%d links", len(d.Links))
		}
		Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(`<script type="application/ld+json">` + fields)}, DefaultLimits())
		parse(`<a href="` + fields + `">x</a>`)
	})
}
