package room_test

import (
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// hostile are texts by which pages try to become markup, scripts, or something else than they are.
var hostile = []string{
	`<script>alert(1)</script>`,
	`</title></textarea></style></script><script>alert(1)</script>`,
	`"><img src=x onerror=alert(1)>`,
	`' onmouseover='alert(1)' x='`,
	"`${alert(1)}` {{.}} {{template \"top\"}} <%= 1 %>",
	`javascript:alert(1)`,
	"java\tscript:alert(1)",
	`data:text/html,<script>alert(1)</script>`,
	"\u202egnp.exe\u202c \u2066isolated\u2069 \u200bnothing\ufeff",
	"line\u2028separator\u2029 \x00nul \x1b[31mred \x07",
	`<!--<svg onload=alert(1)>--><base href=//evil.example/><meta http-equiv=refresh content=0;url=//evil.example>`,
	`&lt;script&gt;alert(1)&lt;/script&gt; &#x3c;b&#x3e;`,
	"\xff\xfe\xc3( broken UTF-8",
	`]]></a></p></main></body></html><h1>another page`,
}

// hostileRig is an archive each text of which is hostile.
func hostileRig(t *testing.T) (r *rig, targets []string) {
	r = newRig(t)
	var list []exchange
	for i, text := range hostile {
		object := crawl.Object{Type: text, Properties: crawl.Properties{{Name: "title", Value: text}, {Name: "author", Value: text}, {Name: "body", Value: "raven " + text}}, Confidence: 1}
		address := "http://a.example/" + strings.ReplaceAll(url.PathEscape(text), "%27", "'") + "?q=" + url.QueryEscape(text)
		body := "<title>" + html.EscapeString(text) + "</title><p>raven " + html.EscapeString(text) + "</p><a href=\"" + html.EscapeString(text) + "\">" + html.EscapeString(text) + "</a><a href=/next>next " + html.EscapeString(text) + "</a>"
		list = append(list,
			exchange{url: address, body: body, title: text, at: time.Duration(i) * time.Second, objects: []crawl.Object{object}, score: 0.5,
				log: []archive.Logged{{Time: epoch, URL: text, Kind: archive.LoggedKind("failed"), Reason: text, Via: text}}},
			exchange{url: address, body: body + "<p>changed " + html.EscapeString(text), title: text + "2", at: time.Hour + time.Duration(i)*time.Second, objects: []crawl.Object{object}},
			exchange{url: address, mime: "text/html; charset=" + strings.Map(printable, text), status: 404, body: text, at: 2*time.Hour + time.Duration(i)*time.Second})
		q := "url=" + url.QueryEscape(address)
		targets = append(targets, "/capture?at=2026030405&"+q, "/capture?at=2026030407&"+q, "/object?at=2026030405&n=0&"+q, "/calendar?"+q, "/compare?before=2026030405&after=2026030406&"+q,
			"/compare?lines=all&before=2026030405&after=2026030406&"+q, "/replay?at=2026030405&"+q)
		text = url.QueryEscape(text)
		targets = append(targets, "/search?q="+text, "/search?q=raven+%22"+text+"%22", "/capture?url="+text, "/calendar?url="+text+"&year="+text, "/host?host="+text, "/crawl?name="+text, "/capture?"+q+"&at="+text+"&crawl="+text,
			"/object?"+q+"&n="+text, "/file?crawl=c&name="+text, "/raw?"+q+"&part="+text, "/"+text)
	}
	r.segment("c", "a.example-1@w.1", 1, list...)
	r.put("c/definitions/run-1.json", `{"name":"c","description":`+quoted(hostile[0])+`,"topic":{"keywords":[`+quoted(hostile[2])+`]},"seeds":[`+quoted(hostile[5])+`,{"url":`+quoted(hostile[1])+`}],"budget":{"x":`+quoted(hostile[1])+`}}`)
	r.put("c/definitions/run-2.json", hostile[0])
	r.put("c/topic/run-1@w.json", `{"terms":[{"text":`+quoted(hostile[1])+`}]}`)
	return r, append(targets, "/", "/search?q=raven", "/search?q=raven+type:post", "/search?q=next", "/host?host=a.example", "/crawl?name=c", "/crawls")
}

func printable(c rune) rune {
	if c < ' ' || c > '~' {
		return '_'
	}
	return c
}

func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

// TestHostileTexts: no text of an archived page becomes an element, an attribute, a script or a link to somewhere else, and none turns the text
// around it; in JSON none ends a script that a page may put it in.
func TestHostileTexts(t *testing.T) {
	r, targets := hostileRig(t)
	_, h := r.open()
	seen := 0
	for _, target := range targets {
		w := ask(t, h, target)
		if w.Code >= 500 {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if w.Code == 200 {
			seen++
		}
		for _, fault := range harm(w.Body.String(), strings.HasPrefix(target, "/replay")) {
			t.Errorf("%s: %s", target, fault)
		}
		twin := ask(t, h, target+map[bool]string{true: "&", false: "?"}[strings.Contains(target, "?")]+"format=json").Body.String()
		if strings.ContainsAny(twin, "<>") || strings.Contains(twin, "\u2028") {
			if !strings.HasPrefix(target, "/raw") && !strings.HasPrefix(target, "/file") {
				t.Errorf("%s: JSON has < or >", target)
			}
		}
	}
	if seen < 8*len(hostile) {
		t.Errorf("only %d of %d pages were shown", seen, len(targets))
	}
}

// elements are those that pages of the room have.
var elements = map[string]bool{}

func init() {
	for _, name := range strings.Fields("html head meta title link body a header p nav ul li main form div label input button h1 h2 h3 ol dl dt dd span time bdi mark aside svg rect footer code details summary table caption thead tbody tr th td ins del strong pre br iframe script") {
		elements[name] = true
	}
}

// harm lists what must not be in a page of the room.
func harm(body string, replay bool) (faults []string) {
	scripts, titles := 0, 0
	tokens := html.NewTokenizer(strings.NewReader(body))
	for {
		switch tokens.Next() {
		case html.ErrorToken:
			if scripts > 1 || scripts == 1 && !replay || titles != 1 {
				faults = append(faults, "it has scripts, or another number of titles")
			}
			for _, c := range body {
				if c == '\n' || c == '\u202f' { // between thousands
					continue
				}
				if unicode.IsControl(c) || unicode.Is(unicode.Cf, c) || c == '\u2028' || c == '\u2029' {
					return append(faults, "it has the control character "+strings.ToUpper(url.QueryEscape(string(c))))
				}
			}
			return faults
		case html.StartTagToken, html.SelfClosingTagToken:
			token := tokens.Token()
			if !elements[token.Data] {
				faults = append(faults, "it has the element "+token.Data)
			}
			switch token.Data {
			case "script":
				scripts++
			case "title":
				titles++
			}
			attributes := map[string]string{}
			for _, a := range token.Attr {
				attributes[a.Key] = a.Val
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "srcdoc" || a.Key == "http-equiv" {
					faults = append(faults, "it has the attribute "+a.Key+" of "+token.Data)
				}
			}
			for _, name := range []string{"href", "src", "action"} {
				to, has := attributes[name]
				own := strings.HasPrefix(to, "/") && !strings.HasPrefix(to, "//") || to == "#main" || to == "#archived"
				marked := token.Data == "a" && (strings.HasPrefix(to, "http://") || strings.HasPrefix(to, "https://")) && strings.Contains(attributes["rel"], "noopener noreferrer")
				framed := token.Data == "iframe" && strings.HasPrefix(to, "http://127.0.0.1:8481/room/frame?")
				if has && !own && !marked && !framed {
					faults = append(faults, "it leads to "+to)
				}
			}
		}
	}
}
