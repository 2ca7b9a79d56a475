package page

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"
	"golang.org/x/text/encoding/unicode"

	"github.com/muninn-archive/muninn/internal/cputime"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

func parse(body string) *Document {
	return Parse(Input{URL: "http://a.test/dir/page.html", MIME: "text/html", Body: []byte(body)}, DefaultLimits())
}

// links writes links as "hop URL|anchor|block".
func links(d *Document) string {
	var out []string
	for _, l := range d.Links {
		block := "-"
		if l.Block >= 0 {
			block = d.Blocks[l.Block]
		}
		out = append(out, l.Hop.String()+" "+strings.TrimPrefix(l.URL, "http://a.test")+"|"+l.Anchor+"|"+block)
	}
	return strings.Join(out, "\n")
}

func TestLinks(t *testing.T) {
	tests := []struct{ name, html, want string }{
		{"anchors and their paragraphs", `<p>One <a href="x">ravens</a> fly</p><p>Two <a href="/y"> more  <b>of</b>
them </a></p>`, "L /dir/x|ravens|One ravens fly\nL /y|more of them|Two more of them"},
		{"no text around", `<div><a href=x><img src=i.png></a></div><p>later</p>`, "L /dir/x||-\nE /dir/i.png||-"},
		{"image with a name", `<a href=x><img src=i.png alt="A raven"></a>`, "L /dir/x|A raven|-\nE /dir/i.png||-"},
		{"title where there is no text", `<p>a<a href=x title="A raven"></a>`, "L /dir/x|A raven|a"},
		{"block inside an anchor", `<ul><li><a href=x><h3>Head</h3></a></li><li>next</li></ul>`, "L /dir/x|Head|Head"},
		{"anchor over empty blocks", `<a href=x><div></div></a><p>later</p>`, "L /dir/x||-"},
		{"the first that says something", `<a href=x></a><p>p <a href=x>ravens</a> <a href=x>crows</a>`, "L /dir/x|ravens|-"},
		{"base", `<base href="/other/"><base href="/third/"><a href=x>x</a>`, "L /other/x|x|x"},
		{"base of another host", `<base href="https://b.test"><p>t<a href=x>x</a>`, "L https://b.test/x|x|tx"},
		{"base that is none", `<base href="javascript:0"><p>t<a href=x>x</a>`, "L /dir/x|x|tx"},
		{"base after links", `<a href=x></a><base href="/other/"><a href=x></a>`, "L /dir/x||-\nL /other/x||-"},
		{"not links", `<a href="#top">a</a><a href="javascript:x()">b</a><a href="mailto:a@b">c</a><a href="">d</a><a>e</a><a href="page.html#x">f</a><a href="http://">g</a>`, ""},
		{"spaces and line breaks", "<p>t<a href=' x\ny '>x</a>", "L /dir/xy|x|tx"},
		{"srcset", "<img src=a.png srcset='b.png 1x, c.png\n2x,d.png , data:image/png;base64,AA= 3x, e,f.png 4x'>", "E /dir/a.png||-\nE /dir/b.png||-\nE /dir/c.png||-\nE /dir/d.png||-\nE /dir/e,f.png||-"},
		{"picture", `<picture><source srcset="a.webp"><img src=b.png></picture>`, "E /dir/a.webp||-\nE /dir/b.png||-"},
		{"meta refresh", `<meta http-equiv="Refresh" content="0; URL='next.html?a=b'">`, "R /dir/next.html?a=b||-"},
		{"meta refresh without the word", `<meta http-equiv=refresh content="5;/next?a=b">`, "R /next?a=b||-"},
		{"meta refresh of itself only", `<meta http-equiv=refresh content="30">`, ""},
		{"frames", `<frameset><frame src=a.html><frame src=b.html></frameset>`, "E /dir/a.html||-\nE /dir/b.html||-"},
		{"iframe", `<p>t <iframe src=a.html>none</iframe>`, "E /dir/a.html||t"},
		{"area", `<p>t <map><area href=a.html alt="East wing"></map>`, "L /dir/a.html|East wing|t"},
		{"head", `<link rel="shortcut icon" href=f.ico><link rel=stylesheet href=s.css><link rel=alternate type=application/rss+xml href=feed><link rel=next href=p2><link rel=dns-prefetch href="//c.test">`,
			"E /dir/f.ico||-\nE /dir/s.css||-\nL /dir/feed||-\nL /dir/p2||-"},
		{"media", `<video src=v.mp4 poster=p.jpg><track src=t.vtt></video><audio src=a.mp3></audio><embed src=e.swf><object data=o.pdf></object><input type=image src=i.png><input type=text src=no>`,
			"E /dir/v.mp4||-\nE /dir/p.jpg||-\nE /dir/t.vtt||-\nE /dir/a.mp3||-\nE /dir/e.swf||-\nE /dir/o.pdf||-\nE /dir/i.png||-"},
		{"noscript", `<noscript><a href=x>x</a></noscript>`, "L /dir/x|x|x"},
		{"comment and script", `<!-- <a href=x>x</a> --><script>"<a href=y>"</script><template><a href=z>z</a></template>`, ""},
		{"link and embed of one URL", `<p>t <a href=i.png>i</a><img src=i.png>`, "L /dir/i.png|i|t i\nE /dir/i.png||t i"},
		{"NUL", "<p>t <a href='/a\x00b'>x\x00y</a>", "L /a%EF%BF%BDb|xy|t xy"},
	}
	for _, test := range tests {
		if got := links(parse(test.html)); got != test.want {
			t.Errorf("%s:\n%s\nwant\n%s", test.name, got, test.want)
		}
	}
}

func TestBlocks(t *testing.T) {
	tests := []struct{ name, html, want string }{
		{"paragraphs", "<h1>Head</h1><p>One\n <b>two</b>&nbsp; three</p>tail", "Head/One two three/tail"},
		{"list and table", "<ul><li>a<li>b</ul><table><tr><td>c<td>d</table>", "a/b/c/d"},
		{"inline", "<span>a</span><i>b</i> c", "ab c"},
		{"ends of lines", "<p><br>a<br>b <br/> c<b>d<br></b>e<br><textarea>x<br></textarea></p>", "a b cd e"},
		{"deep", strings.Repeat("<b>", 1000) + "<p>a<br>b", "a b"},
		{"unseen", "<script>x</script><style>y</style><p>z<textarea>no</textarea><select><option>no</select>", "z"},
		{"NUL bytes", "<p>a\x00b\x00", "ab"},
		{"nothing", " \n ", ""},
	}
	for _, test := range tests {
		if got := strings.Join(parse(test.html).Blocks, "/"); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestMetadata(t *testing.T) {
	d := parse(`<html lang="de-AT"><head><title> A
 title </title><title>no</title><meta name=Description content="What it says"><meta name=generator content="Raven 1">
<meta name=generator content=Other><link rel=canonical href="/canon"></head><body><svg><title>drawing</title></svg>`)
	if d.Title != "A title" || d.Description != "What it says" || d.Generator != "Raven 1" || d.Language != "de" || d.Canonical != "http://a.test/canon" {
		t.Errorf("%+v", d.Page)
	}
}

// TestRobotsDirectives: rules for all robots and for this one count, also beside each other. Those for another one do not. What is kept says for whom each is.
func TestRobotsDirectives(t *testing.T) {
	for _, test := range []struct {
		meta, header      string
		noIndex, noFollow bool
		kept              string
	}{
		{"", "", false, false, ""}, {"index, follow", "all", false, false, "all, index, follow"}, {"NOINDEX", "", true, false, "noindex"}, {"noindex,nofollow", "", true, true, "noindex, nofollow"},
		{"noindex nofollow", "", true, true, "noindex, nofollow"}, {"none", "", true, true, "none"}, {"", "nofollow", false, true, "nofollow"},
		{"max-image-preview:none", "", false, false, "max-image-preview:none"}, {"index, max-image-preview: none, nofollow", "", false, true, "index, max-image-preview:none, nofollow"},
		{"max-snippet:-1, max-image-preview:large, max-video-preview:-1", "", false, false, "max-snippet:-1, max-image-preview:large, max-video-preview:-1"}, {"noindexing", "", false, false, "noindexing"},
		{"", "otherbot: noindex", false, false, "otherbot: noindex"}, {"", "otherbot:none", false, false, "otherbot: none"}, {"", "otherbot : nofollow", false, false, "otherbot: nofollow"},
		{"", "otherbot: noarchive, nofollow", false, false, "otherbot: noarchive, otherbot: nofollow"}, {"noindex", "otherbot: noindex, nofollow", true, false, "otherbot: noindex, otherbot: nofollow, noindex"},
		{"", "muninn: nofollow", false, true, "muninn: nofollow"}, {"", "Muninn: noarchive, nofollow", false, true, "muninn: noarchive, muninn: nofollow"},
		{"", "otherbot: nofollow, muninn: noindex", true, false, "otherbot: nofollow, muninn: noindex"}, {"", "muninn: noindex, otherbot: nofollow", true, false, "muninn: noindex, otherbot: nofollow"},
		{"", "otherbot: nofollow\nnoindex", true, false, "otherbot: nofollow, noindex"}, {"", "*: nofollow", false, true, "*: nofollow"}, {"", "muninnbot: none", false, false, "muninnbot: none"},
		{"", "unavailable_after: Wednesday, 17-Oct-2012 18:00:00 BST, nofollow", false, true, "unavailable_after:wednesday 17-oct-2012 18:00:00 bst, nofollow"},
		{"unavailable_after: Wednesday, 17-Oct-2012 18:00:00 BST, none", "", true, true, "unavailable_after:wednesday 17-oct-2012 18:00:00 bst, none"},
		{"otherbot: noindex, nofollow", "", false, true, "otherbot:noindex, nofollow"}, {"rating: adult, noindex", "", true, false, "rating:adult, noindex"},
		{"", "otherbot: unavailable_after: 25 Jun 2010 15:00:00 PST, none", false, false, "otherbot: unavailable_after:25 jun 2010 15:00:00 pst, otherbot: none"},
		{"nofollow: , noindex:", "", true, true, "nofollow, noindex"}, {" , ,:", ":", false, false, ":"}, {"since 15:00, nofollow", "", false, true, "since, 15:00, nofollow"},
	} {
		d := Parse(Input{URL: "http://a.test/", MIME: "text/html", RobotsTag: test.header, Robot: "Muninn", Body: []byte(`<meta name=ROBOTS content="` + test.meta + `">`)}, DefaultLimits())
		if d.NoIndex != test.noIndex || d.NoFollow != test.noFollow || d.Robots != test.kept {
			t.Errorf("%q, %q: noindex %v, nofollow %v, kept %q", test.meta, test.header, d.NoIndex, d.NoFollow, d.Robots)
		}
	}
	for robot, want := range map[string]string{"Muninn": "noindex, muninn: nofollow", "Raven": "noindex", "": "noindex"} {
		d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Robot: robot, Body: []byte(`<meta name=robots content=noindex><meta name=muninn content=nofollow><meta name="" content=none>`)}, DefaultLimits())
		if !d.NoIndex || d.NoFollow != (robot == "Muninn") || d.Robots != want {
			t.Errorf("to %q: noindex %v, nofollow %v, kept %q", robot, d.NoIndex, d.NoFollow, d.Robots)
		}
	}
	d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte("<meta name=robots content='noindex, max-snippet:-1" + strings.Repeat(", x", 200) + ", " + strings.Repeat("y", 300) + "'>")}, DefaultLimits())
	if want := "noindex, max-snippet:-1, x"; d.Robots != want {
		t.Errorf("kept is %q, want %q", d.Robots, want)
	}
}

func encoded(t *testing.T, e encoding.Encoding, s string) string {
	t.Helper()
	out, err := e.NewEncoder().String(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestCharsets(t *testing.T) {
	const russian, japan, german = "Ворон летит", "渡り鴉が飛ぶ", "Der Rabe fliegt über Äste"
	const (
		japanLong   = "このページは日本語で書かれています。渡り鴉は北の空を飛び、毎晩ひとつの物語を持って帰ってくる。今日は良い天気ですね。"
		chinese     = "渡鸦飞过北方的天空，每天晚上带回来一个故事，讲给老人听。"
		taiwan      = "渡鴉飛過北方的天空，每天晚上帶回來一個故事，講給老人聽。"
		korea       = "큰까마귀는 북쪽 하늘을 날아 매일 밤 이야기를 하나씩 가지고 돌아온다."
		russianLong = "Ворон летит по северному небу и каждый вечер приносит старику одну историю."
		french      = "L’été, les corbeaux élèvent leurs petits à côté d’une forêt où les chênes ont été abîmés."
	)
	utf16 := unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	tests := []struct{ name, mime, head, body, want, charset string }{
		{"header", "text/html; charset=windows-1251", "", encoded(t, charmap.Windows1251, russian), russian, "windows-1251"},
		{"header in quotes", `text/html;charset="Shift_JIS"`, "", encoded(t, japanese.ShiftJIS, japan), japan, "shift_jis"},
		{"meta", "text/html", "<meta charset=shift_jis>", encoded(t, japanese.ShiftJIS, japan), japan, "shift_jis"},
		{"meta http-equiv", "text/html", `<meta http-equiv=content-type content="text/html; charset=koi8-r">`, encoded(t, charmap.KOI8R, russian), russian, "koi8-r"},
		{"header before meta", "text/html; charset=windows-1251", "<meta charset=shift_jis>", encoded(t, charmap.Windows1251, russian), russian, "windows-1251"},
		{"latin", "text/html; charset=iso-8859-1", "", encoded(t, charmap.ISO8859_1, german), german, "windows-1252"},
		{"latin unsaid", "text/html", "", encoded(t, charmap.ISO8859_1, german), german, "windows-1252"},
		{"UTF-8 unsaid", "text/html", "", russian, russian, "utf-8"},
		{"UTF-8 unsaid, after much ASCII", "text/html", "<!--" + strings.Repeat("x", 2000) + "-->", russian, russian, "utf-8"},
		{"BOM", "text/html", "\xef\xbb\xbf", russian, russian, "utf-8"},
		{"UTF-16", "text/html", "", encoded(t, utf16, "<p>"+russian), russian, "utf-16le"},
		{"EUC-JP", "text/html; charset=euc-jp", "", encoded(t, japanese.EUCJP, japan), japan, "euc-jp"},
		{"unknown name", "text/html; charset=runes", "", russian, russian, "utf-8"},
		{"meta behind 1,024 bytes", "text/html", "<script>" + strings.Repeat("x", 5000) + "</script><meta charset=gbk>", encoded(t, simplifiedchinese.GBK, chinese), chinese, "gbk"},
		{"meta in the body", "text/html", "<body><!--" + strings.Repeat("x", 2000) + "--><meta charset=koi8-r>", encoded(t, charmap.ISO8859_1, german), german, "windows-1252"},
		{"meta behind the tag of the body", "text/html", "<html><body><meta charset=koi8-r>", encoded(t, charmap.KOI8R, russian), russian, "koi8-r"},
		{"meta in the body, at the end of 1,024 bytes", "text/html", "<body><!--" + strings.Repeat("x", 1024-len("<body><!----><meta charset=gbk>")) + "--><meta charset=gbk>", encoded(t, simplifiedchinese.GBK, chinese[:12]), chinese[:12], "gbk"},
		{"meta in the body, a byte further", "text/html", "<body><!--" + strings.Repeat("x", 1025-len("<body><!----><meta charset=koi8-r>")) + "--><meta charset=koi8-r>", encoded(t, charmap.ISO8859_1, german), german, "windows-1252"},
		{"meta of UTF-16 in ASCII", "text/html", "<meta charset=utf-16le>", russian, russian, "utf-8"},
		{"meta of nothing, and another", "text/html", "<meta charset=runes><meta http-equiv=refresh content='1; charset=gbk'><meta charset=koi8-r>", encoded(t, charmap.KOI8R, russian), russian, "koi8-r"},
		{"a parameter twice", "text/html; charset=koi8-r; charset=koi8-r", "", encoded(t, charmap.KOI8R, russian), russian, "koi8-r"},
		{"Shift_JIS unsaid", "text/html", "", encoded(t, japanese.ShiftJIS, japanLong), japanLong, "shift_jis"},
		{"EUC-JP unsaid", "text/html", "", encoded(t, japanese.EUCJP, japanLong), japanLong, "euc-jp"},
		{"GBK unsaid", "text/html", "", encoded(t, simplifiedchinese.GBK, chinese), chinese, "gbk"},
		{"Big5 unsaid", "text/html", "", encoded(t, traditionalchinese.Big5, taiwan), taiwan, "big5"},
		{"EUC-KR unsaid", "text/html", "", encoded(t, korean.EUCKR, korea), korea, "euc-kr"},
		{"KOI8-R unsaid, after much ASCII", "text/html", "<!--" + strings.Repeat("x", 2*detectedBy) + "-->", encoded(t, charmap.KOI8R, russianLong), russianLong, "koi8-r"},
		{"windows-1251 unsaid", "text/html", "", encoded(t, charmap.Windows1251, russianLong), russianLong, "windows-1251"},
		{"Latin with few letters above ASCII", "text/html", "", "caf\xe9 na\xefve", "café naïve", "windows-1252"},
		{"French unsaid", "text/html", "", encoded(t, charmap.Windows1252, french), french, "windows-1252"},
		{"UTF-8 with a broken byte", "text/html; charset=utf-8", "", russian + "\xff", russian, "utf-8"},
	}
	for _, test := range tests {
		d := Parse(Input{URL: "http://a.test/", MIME: test.mime, Body: []byte(test.head + test.body)}, DefaultLimits())
		if got := strings.Join(d.Blocks, "/"); got != test.want || d.Charset != test.charset {
			t.Errorf("%s: %q in %s, want %q in %s", test.name, got, d.Charset, test.want, test.charset)
		}
	}
}

func TestKinds(t *testing.T) {
	const html = "<html><p>t<a href=x>x</a>"
	tests := []struct {
		mime, body, want string
		links            int
	}{
		{"text/html; charset", html, "text/html", 1}, {"TEXT/HTML", html, "text/html", 1}, {"", html, "text/html", 1},
		{"", "\xef\xbb\xbf\n<!DOCTYPE html>" + html, "text/html", 1}, {"text/plain", html, "text/html", 1}, {"text/plain", "a <a href=x>", "text/plain", 0},
		{"application/xhtml+xml", html, "application/xhtml+xml", 1}, {"application/octet-stream", "<?xml version='1.0'?><html" + html[5:], "application/xhtml+xml", 1},
		{"image/png", html, "image/png", 0}, {"", "\x89PNG", "application/octet-stream", 0}, {"", "", "application/octet-stream", 0},
		{";;;", html, "text/html", 1}, {"application/pdf", "%PDF", "application/pdf", 0},
	}
	for _, test := range tests {
		d := Parse(Input{URL: "http://a.test/", MIME: test.mime, Body: []byte(test.body)}, DefaultLimits())
		if d.MIME != test.want || len(d.Links) != test.links {
			t.Errorf("%q, %.20q: %s with %d links, want %s with %d", test.mime, test.body, d.MIME, len(d.Links), test.want, test.links)
		}
	}
}

// TestDeep: a page that is nested too deep for the parser is read nevertheless, in bounded time.
func TestDeep(t *testing.T) {
	for name, body := range map[string]string{
		"div":   strings.Repeat("<div>", 100_000) + "<p>bottom <a href=x>x</a>",
		"b":     strings.Repeat("<b>", 100_000) + "<p>bottom <a href=x>x</a>",
		"a":     strings.Repeat("<a href=y><b>", 40_000) + "<p>bottom <a href=x>x</a>",
		"font":  strings.Repeat("<font><p>", 50_000) + "bottom <a href=x>x</a>",
		"table": strings.Repeat("<table><tr><td>", 30_000) + "bottom <a href=x>x</a>",
	} {
		start := cputime.Used()
		d := parse(body)
		if took := cputime.Used() - start; took > 5*time.Second {
			t.Errorf("%s: %s", name, took)
		}
		if got := links(d); !strings.Contains(got, "/dir/x|") {
			t.Errorf("%s: links %.100q", name, got)
		}
		if !strings.Contains(strings.Join(d.Blocks, " "), "bottom") {
			t.Errorf("%s: the text is lost", name)
		}
	}
}

func TestHops(t *testing.T) {
	if d := parse(`<p><a href=x>Ravens<br>fly</a>`); d.Links[0].Anchor != "Ravens fly" {
		t.Errorf("%+v", d.Links[0])
	}
	if d := parse(`<p><a href=x rel="NoFollow ugc">x</a>`); d.Links[0].Rel != "nofollow ugc" || d.Links[0].Context != "a/@href" || d.Links[0].TagPath != "html/body/p/a" || d.Links[0].Hop != crawl.HopLink {
		t.Errorf("%+v", d.Links[0])
	}
}

// TestRefreshHeader: the header is followed like the meta element, for pages of any type, as in browsers.
func TestRefreshHeader(t *testing.T) {
	for _, c := range []struct{ mime, field, want string }{
		{"text/html", "0; url=/next", "http://a.example/next"}, {"text/html", "5;URL='b'", "http://a.example/dir/b"},
		{"text/plain", "0;/next", "http://a.example/next"}, {"text/html", "30", ""}, {"text/html", "", ""},
	} {
		d := Parse(Input{URL: "http://a.example/dir/", MIME: c.mime, Refresh: c.field, Body: []byte("hello")}, DefaultLimits())
		got := ""
		for _, l := range d.Links {
			if l.Hop == crawl.HopRedirect {
				got += l.URL
			}
		}
		if got != c.want {
			t.Errorf("%s %q: %q, want %q", c.mime, c.field, got, c.want)
		}
	}
}

// TestQueriesOfAPage: queries are escaped in the encoding of the page, also behind a base element; those of a page in UTF-8 are not.
func TestQueriesOfAPage(t *testing.T) {
	body := `<base href="/b/"><a href="?q=Эт">x</a>`
	for mime, want := range map[string]string{"text/html; charset=windows-1251": "http://a.test/b/?q=%DD%F2", "text/html; charset=utf-8": "http://a.test/b/?q=%D0%AD%D1%82"} {
		raw := body
		if strings.HasSuffix(mime, "1251") {
			raw = encoded(t, charmap.Windows1251, body)
		}
		d := Parse(Input{URL: "http://a.test/", MIME: mime, Body: []byte(raw)}, DefaultLimits())
		if len(d.Links) != 1 || d.Links[0].URL != want {
			t.Errorf("%s: %+v, want %s", mime, d.Links, want)
		}
	}
}

// TestLongURLs: what a page needs may have longer URLs than a page. Those that are too long count as cut, each once; what leads nowhere does not.
func TestLongURLs(t *testing.T) {
	long, longer := "/"+strings.Repeat("a", 3000), "/"+strings.Repeat("b", urls.MaxLength)
	d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(`<a href="` + long + `">one</a><a href="` + long + `">again</a><a href=/short>two</a>
<p data-picture="` + long + `.png"></p><img src="` + long + `.png"><img src="` + longer + `"><img src="` + longer + `"><a href="http://b.test` + longer + `">x</a>
<img src="data:image/png;base64,` + strings.Repeat("b", 3*urls.MaxLength) + `"><a href="javascript:` + strings.Repeat("b", 3*urls.MaxLength) + `">x</a>`)}, DefaultLimits())
	var got []string
	for _, l := range d.Links {
		got = append(got, l.Hop.String()+" "+strings.ReplaceAll(l.URL, long, "/LONG"))
	}
	if want := []string{"L http://a.test/short", "E http://a.test/LONG.png"}; !slices.Equal(got, want) {
		t.Errorf("links %q, want %q", got, want)
	}
	if d.LinksCut != 4 { // the link, what is probably an image, the longer image and link
		t.Errorf("%d links are cut", d.LinksCut)
	}
}
