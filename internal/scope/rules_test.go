package scope

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// scopeOf compiles the scope of a definition whose scope is given in YAML.
func scopeOf(t testing.TB, text string) (*Scope, crawl.Definition) {
	t.Helper()
	d, err := crawl.ParseDefinition([]byte("name: a\nseeds: ['http://a.example.org/', 'http://seed.example.com/']\nscope:\n" + text))
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(d, Bounds(d, []string{d.Seeds[0].URL, d.Seeds[1].URL}))
	if err != nil {
		t.Fatal(err)
	}
	return s, d
}

// TestRules lists after each scope the answers for links: "path URL" and further facts, then "yes", "no" or "maybe", and the number of the rule.
func TestRules(t *testing.T) {
	for _, c := range []struct{ rules, want string }{
		{"  rules: [{accept: {host: [a.example, Bücher.example]}}]", `
			L http://a.example/x yes 0
			L http://xn--bcher-kva.example/ yes 0
			L http://b.a.example/ no
			L http://a.example.org/ no`},
		{"  rules: [{reject: {host: a.example.org}}]", `
			L http://a.example.org/ no 0
			E http://a.example.org/ no 0
			L http://b.example.org/ yes
			L http://b.example/ no`},
		{"  rules: [{accept: {pld: example.net, not: {host: b.example.net}}}, {reject: everything}]\n  within: pld", `
			L http://c.example.net/ yes 0
			L http://b.example.net/ no 1
			L http://a.example.org/ no 1`},
		{"  rules: [{accept: {surt: ['org,b,', 'http://(org,a,)/x', 'org,b,www,)/'], scheme: https}}]", `
			L https://b.org/ yes 0
			L https://www.b.org/a yes 0
			L https://bb.org/ no
			L https://a.org/xy yes 0
			L https://a.org/ no
			L https://sub.a.org/x no
			L http://b.org/ no`},
		{"  rules: [{accept: {url: ['(?i)raven', '^https://crow']}}]", `
			L http://a/RAVEN yes 0
			L https://crow.example/ yes 0
			L http://crow.example/ no`},
		{"  rules: [{accept: {port: [80, 8000 to 8999]}}]", `
			L http://a.example/ yes 0
			L https://a.example/ no
			L https://a.example:8443/ yes 0
			L http://a.example:7999/ no`},
		{"  rules: [{accept: {hops: at most 2}}]", `
			SLL http://a.example/ yes 0
			SLRLE http://a.example/ yes 0
			SLLL http://a.example/ no
			7+LL http://a.example/ no`},
		{"  rules: [{accept: {hop_path: 'LE$'}}]", `
			SLE http://a.example/ yes 0
			SLL http://a.example/ no
			7+SLE http://a.example/ yes 0
			3@7+SLE http://a.example/ yes 0`},
		{"  rules: [{reject: {requisite: true, extension: [mp4, webm]}}, {accept: {requisite: false, extension: PDF}}]\n  within: pld", `
			LE http://cdn.example/a.MP4?b.c no 0
			LE http://cdn.example/a.png yes
			LL http://cdn.example/a.pdf yes 1
			LL http://cdn.example/pdf no
			LL http://cdn.example/a.pdf/b no
			LE http://cdn.example/a.pdf yes`},
		{"  rules: [{reject: {depth: more than 2}}, {reject: {query_length: at least 4}}]\n  within: pld", `
			L http://a.example.org/ yes
			L http://a.example.org/a//b/?c=d yes
			L http://a.example.org/a/b/c no 0
			L http://a.example.org/?c=de no 1`},
		{"  rules: [{accept: {hops_off_site: at most 2}}]", `
			SL http://www.example.org/ yes 0
			SL http://b.example/ yes 0
			1@SLL http://b.example/ yes 0
			2@SLLL http://b.example/ no
			2@SLLLR http://b.example/ yes 0
			2@SLLLE http://b.example/ yes 0
			9@SLLL http://example.com/ yes 0`},
		{"  rules: [{accept: {score: at least 0.3}}]", `
			L http://a.example/ score=0.3 yes 0
			L http://a.example/ score=0.29 no
			L http://a.example/ score=-1 maybe 0`},
		{"  rules: [{reject: {score: less than 0.3}}]\n  within: pld", `
			L http://a.example.org/ score=0.3 yes
			L http://a.example.org/ score=0.29 no 0
			L http://a.example.org/ score=-1 yes`},
		{"  rules: [{accept: {via_language: [is, unknown]}}]", `
			L http://a.example/ via=is yes 0
			L http://a.example/ via=unknown yes 0
			L http://a.example/ via=en no
			L http://a.example/ maybe 0`},
		{"  rules: [{accept: {language: de, host: a.example}}, {reject: {mime: [video/*, text/plain]}}]\n  within: pld", `
			L http://a.example/ maybe 0
			L http://b.example/ no
			L http://a.example/ mime=text/html language=de yes 0
			L http://a.example/ mime=text/html language=en no
			L http://a.example.org/ yes
			L http://a.example.org/ mime=video/mp4 no 1
			L http://a.example.org/ mime=text/plain no 1
			L http://a.example.org/ mime=text/html yes`},
		{"  rules: [{accept: {all: [{any: [{host: a.example}, {mime: text/html}]}, {not: {any: [{depth: 2}, {language: de}]}}]}}]", `
			L http://a.example/ maybe 0
			L http://a.example/b/c no
			L http://b.example/ maybe 0
			L http://a.example/ mime=image/png language=en yes 0
			L http://a.example/ mime=image/png language=de no
			L http://b.example/ mime=image/png language=en no`},
		{"  rules: [{accept: everything}]\n  exclude: ['*.zip']\n  blacklist: [spam.example]\n  max_hops: 2\n  max_redirects: 1", `
			L http://b.example/ yes 0
			L http://b.example/a.zip no
			L http://spam.example/ no
			LLL http://b.example/ no
			LRR http://b.example/ no`},
	} {
		s, d := scopeOf(t, c.rules)
		for line := range strings.Lines(strings.TrimSpace(c.want)) {
			fields := strings.Fields(line)
			l := Link{Path: fields[0], URL: parse(t, fields[1]), Score: -1}
			for _, f := range fields[2:] {
				switch name, value, _ := strings.Cut(f, "="); name {
				case "score":
					if _, err := fmt.Sscan(value, &l.Score); err != nil {
						t.Fatal(err)
					}
				case "via":
					l.ViaLanguage = value
				case "mime":
					l.MIME, l.Language = value, crawl.LanguageUnknown
				case "language":
					l.Language = value
				}
			}
			decision := s.Check(l)
			got := "no"
			if decision.InScope {
				got = "yes"
			}
			if decision.Doubt {
				got = "maybe"
			}
			if decision.By == ByRule {
				got += fmt.Sprint(" ", decision.Rule)
			}
			if !strings.HasSuffix(strings.TrimSpace(line), " "+got) {
				t.Errorf("%s: %s gives %s", c.rules, strings.TrimSpace(line), got)
			}
			if words := decision.Words(d.Scope); words == "" || decision.Doubt != strings.Contains(words, "not known before") {
				t.Errorf("%s: %q", c.rules, words)
			}
		}
	}
}

// TestFetched: rules that ask for the MIME type or the language of the page itself say whether its links are followed.
func TestFetched(t *testing.T) {
	s, _ := scopeOf(t, "  within: web\n  rules: [{reject: {language: en, not: {host: a.example}}}, {reject: {mime: image/*}}]")
	for line, want := range map[string]string{
		"http://b.example/ SL text/html en": "scope.rules[0]",
		"http://b.example/ S text/html en":  "",
		"http://b.example/ SR text/html en": "scope.rules[0]",
		"http://a.example/ SL text/html en": "",
		"http://b.example/ SL text/html ":   "",
		"http://b.example/ SL image/png ":   "scope.rules[1]",
		"no-url SL image/png ":              "",
	} {
		f := strings.Split(line, " ")
		if got, ok := s.Fetched(f[0], f[1], f[2], f[3]); got != want || ok != (want == "") {
			t.Errorf("%s: %q, %v, want %q", line, got, ok, want)
		}
	}
	if got, _ := (&Scope{}).Fetched("http://a.example/", "SL", "a/b", "en"); got != "" {
		t.Errorf("a scope without rules: %q", got)
	}
}

// TestMarkPath follows a crawl off the seeds' sites and back.
func TestMarkPath(t *testing.T) {
	s, _ := scopeOf(t, "  within: web\n  rules: [{reject: {hops_off_site: more than 99}}]")
	path := "S"
	for _, step := range []struct{ hop, url, want string }{
		{"L", "http://b.example.org/", "SL"},
		{"L", "http://b.example/", "1@SLL"},
		{"L", "http://c.example/", "2@SLLL"},
		{"R", "http://d.example/", "2@SLLLR"},
		{"L", "http://e.example/", "3@SLLLRL"},
		{"L", "http://example.com/", "SLLLRLL"},
		{"R", "http://b.example/", "1@SLLLRLLR"},
		{"E", "http://b.example/", "1@SLLLRLLRE"},
	} {
		path = s.MarkPath(parse(t, step.url), path+step.hop)
		if path != step.want {
			t.Fatalf("%s to %s gives %s, not %s", step.hop, step.url, path, step.want)
		}
	}
	long := s.MarkPath(parse(t, "http://b.example/"), "S"+strings.Repeat("L", 60))
	if got := Abbreviate("4@" + UnmarkedPath(long)); got != "4@10+"+strings.Repeat("L", 50) || Hops(got) != 60 || Redirects(got+"RR") != 2 || !embedded("1@E") {
		t.Errorf("abbreviated: %s, %d hops", got, Hops(got))
	}
	plain, _ := scopeOf(t, "  within: web")
	if got := plain.MarkPath(parse(t, "http://b.example/"), "SL"); got != "SL" {
		t.Errorf("without such a rule: %s", got)
	}
}

func TestWords(t *testing.T) {
	for text, want := range map[string]string{
		"  within: web":  "the whole web",
		"  within: host": "the hosts of the seeds (a.example.org, seed.example.com)",
		"  max_hops: 3":  "the pay-level domains of the seeds (example.org, example.com); at most 3 hops from a seed",
		"  hosts: [a, b, c, d, e, f, g]\n  exclude: ['*.zip']\n  blacklist: [h]": "hosts a, b, c, d, e and 2 more; without what matches *.zip; without h",
		"  rules: [{accept: {host: a}}, {reject: everything}]":                   "what scope.rules accept; 2 rules come before",
	} {
		_, d := scopeOf(t, text)
		if got := Words(d, Bounds(d, []string{d.Seeds[0].URL, d.Seeds[1].URL})); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	_, d := scopeOf(t, "  rules: [{accept: {host: [a, b], hops: [1, at least 3], not: {any: [{scheme: http}, {requisite: true, extension: [a, b, c, d, e, f]}]}}}]")
	want := "accept if the host is a or b and the hops from a seed are 1 or at least 3 and not ((the scheme is http, or the extension is a or b or c or d or e or one of 1 more and a page embeds it))"
	if got := RuleWords(d.Scope.Rules[0]); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// The examples of the page on definitions are read.
func TestDocumentedRules(t *testing.T) {
	page, err := os.ReadFile("../../docs/DEFINITION.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile(`(?m)^    scope:\n((?:      .*\n)+)`).FindAllSubmatch(page, -1)
	if len(examples) == 0 {
		t.Fatal("the page has no example")
	}
	for _, e := range examples {
		scopeOf(t, string(e[1]))
	}
}

func BenchmarkCheck(b *testing.B) {
	for name, text := range map[string]string{
		"fields": "  within: pld\n  exclude: ['*calendar*']",
		"rules": `  within: pld
  rules:
    - reject: {query_length: more than 100}
    - reject: {extension: [zip, iso, exe], requisite: false}
    - reject: {host: [x.example.org, y.example.org], depth: more than 5}
    - accept: {surt: ["org,b,", "org,c,)/x"], hops: at most 3}
    - accept: {pld: [b.example, c.example], score: at least 0.3}`,
		"expression": "  within: pld\n  rules: [{reject: {url: ['/calendar/[0-9]{4}', 'session=']}}]",
	} {
		b.Run(name, func(b *testing.B) {
			s, _ := scopeOf(b, text)
			var links []Link
			for i := range 64 {
				u, err := urls.Parse(fmt.Sprintf("https://www%d.example.org/section/%d/page-%d.html?q=%d", i%4, i, i, i))
				if err != nil {
					b.Fatal(err)
				}
				links = append(links, Link{URL: u, Path: "SLLL", Score: 0.4, ViaLanguage: "en"})
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				s.Check(links[i%len(links)])
			}
		})
	}
}
