package scope

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

func parse(t *testing.T, raw string) urls.URL {
	t.Helper()
	u, err := urls.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// TestCheck lists after each scope the answers of Check for a hop path and a URL: "path URL" if it is in scope,
// "path URL reason" if it is refused.
func TestCheck(t *testing.T) {
	topic := crawl.Topic{Keywords: []string{"raven"}}
	seeds := []string{"http://www.example.org/start", "https://ravens.blogspot.com/", "http://192.0.2.1:8080/", "no URL"}
	for _, c := range []struct {
		name  string
		topic crawl.Topic
		scope crawl.Scope
		want  []string
	}{
		{"host", topic, crawl.Scope{Within: crawl.WithinHost}, []string{
			"L http://www.example.org/a",
			"L https://www.example.org:8443/a",
			"L http://example.org/ out of scope",
			"L http://a.www.example.org/ out of scope",
			"L http://ravens.blogspot.com/a",
			"L http://192.0.2.1/",
			"L http://192.0.2.2/ out of scope",
		}},
		{"pld", topic, crawl.Scope{Within: crawl.WithinPLD}, []string{
			"L http://a.b.example.org/",
			"L http://www.ravens.blogspot.com/",
			"L http://crows.blogspot.com/ out of scope",
			"L http://notexample.org/ out of scope",
			"L http://192.0.2.2/ out of scope",
		}},
		{"pld is the default without a topic", crawl.Topic{}, crawl.Scope{Exclude: []string{"*.zip"}}, []string{
			"L http://a.example.org/", "L http://a.example.org/a.zip excluded", "L http://other.example/ out of scope",
		}},
		{"web", topic, crawl.Scope{}, []string{"L http://other.example/", "LLLLLLLLLLLL http://other.example/"}},
		{"rules alone", topic, crawl.Scope{Hosts: []string{"Bücher.example", "b.example:8080", "c.example."}, PLDs: []string{"D.example.com"}}, []string{
			"L http://www.example.org/start out of scope",
			"L http://xn--bcher-kva.example/",
			"L http://a.xn--bcher-kva.example/ out of scope",
			"L http://b.example/", "L http://c.example/",
			"L http://d.example.com/ out of scope", // its PLD is example.com
		}},
		{"rules beside a bound", topic, crawl.Scope{Within: crawl.WithinHost, Hosts: []string{"a.example"}, PLDs: []string{"example.com"}}, []string{
			"L http://www.example.org/", "L http://a.example/", "L http://b.example.com/", "L http://b.a.example/ out of scope",
		}},
		{"include", topic, crawl.Scope{Include: []string{"https://a.example/blog/*", "surt:org,example,", "re:/raven[0-9]+$"}}, []string{
			"L https://a.example/blog/", "L https://a.example/blog/2026/b?c",
			"L http://a.example/blog/ out of scope", "L https://a.example/blog out of scope", "L https://a.example/x/https://a.example/blog/ out of scope",
			"L http://example.org/", "L https://deep.www.example.org:81/a", "L http://example.organic/ out of scope", "L http://example.com/org,example,/ out of scope",
			"L http://any.example/raven12", "L http://any.example/raven12/ out of scope",
		}},
		{"exclude before all inclusion", topic, crawl.Scope{
			Within: crawl.WithinWeb, Hosts: []string{"a.example"}, Include: []string{"*"},
			Exclude: []string{"*calendar*", "surt:http://(org,example,)/private/", "re:(?i)\\.ZIP$"},
		}, []string{
			"L http://a.example/", "L http://a.example/calendar/ excluded", "L http://a.example/?calendar excluded",
			"L http://example.org/private/a excluded", "L https://example.org/private/ excluded", "L http://www.example.org/private/a",
			"L http://a.example/b.zip excluded", "E http://a.example/b.zip excluded",
		}},
		{"black list", topic, crawl.Scope{Blacklist: []string{"spam.org", "www.B.example.com"}}, []string{
			"L http://spam.org/ black list", "L http://a.spam.org/ black list", "E http://spam.org/a.png black list",
			"L http://www.b.example.com/ black list", "L http://b.example.com/",
		}},
		{"embedded", topic, crawl.Scope{Within: crawl.WithinHost}, []string{
			"LE http://cdn.example/a.png", "E http://cdn.example/a.png", "LEE http://cdn.example/a.woff", "LEEEE http://cdn.example/a.woff", "LEEEEE http://cdn.example/a.woff out of scope",
			"LER http://cdn.example/a.png", "LRE http://cdn.example/a.png", "LERE http://cdn.example/b.png", "LEREEREE http://cdn.example/b.png out of scope",
			"LX http://cdn.example/a.png", "LEX http://cdn.example/a.png", "LXR http://cdn.example/a.png", "LXX http://cdn.example/a.png out of scope", "LXE http://cdn.example/a.png out of scope",
			"LEEEX http://cdn.example/a.png", "LEEEEX http://cdn.example/a.png out of scope",
			"LEL http://cdn.example/ out of scope", "LR http://cdn.example/ out of scope", "R http://cdn.example/ out of scope", " http://cdn.example/ out of scope",
		}},
		{"redirects", topic, crawl.Scope{MaxRedirects: 2}, []string{
			"SRR http://a.example/", "SRRR http://a.example/ too many redirects in a row", "SRRLRR http://a.example/", "LRRE http://a.example/",
			"LERRR http://a.example/ too many redirects in a row", "12+RRR http://a.example/ too many redirects in a row",
		}},
		{"redirects by default", topic, crawl.Scope{}, []string{
			"S" + strings.Repeat("R", 20) + " http://a.example/", "S" + strings.Repeat("R", 21) + " http://a.example/ too many redirects in a row",
		}},
		{"lengths", topic, crawl.Scope{Rules: []crawl.Rule{{Accept: &crawl.Conditions{Scheme: crawl.Texts{"http"}}}}}, []string{
			"L " + long(urls.MaxPage), "L " + long(urls.MaxPage+1) + " too long", "S " + long(urls.MaxPage+1) + " too long", "LX " + long(urls.MaxPage+1) + " too long",
			"LE " + long(urls.MaxPage+1), "LER " + long(urls.MaxLength),
		}},
		{"hops", topic, crawl.Scope{MaxHops: 2}, []string{
			"L http://a.example/", "LL http://a.example/", "LLL http://a.example/ too many hops", "LLLE http://a.example/ too many hops",
			"LLE http://a.example/", "LLRR http://a.example/", "SLRLE http://a.example/", "ML http://a.example/", "MLL http://a.example/ too many hops",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := New(crawl.Definition{Topic: c.topic, Scope: c.scope}, Bounds(crawl.Definition{Topic: c.topic, Scope: c.scope}, seeds))
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range c.want {
				path, rest, _ := strings.Cut(line, " ")
				raw, want, _ := strings.Cut(rest, " ")
				if d := s.Check(Link{URL: parse(t, raw), Path: path}); d.InScope != (want == "") || want != "" && d.Reason() != want {
					t.Errorf("%s %s: %+v, want %q", path, raw, d, want)
				}
			}
		})
	}
}

// long is a URL of so many bytes.
func long(n int) string {
	return "http://a.example/" + strings.Repeat("a", n-len("http://a.example/"))
}

// TestAbbreviate holds in paths "L*60" for sixty L.
func TestAbbreviate(t *testing.T) {
	long := func(path string) string {
		return regexp.MustCompile(`(\w)\*(\d+)`).ReplaceAllStringFunc(path, func(s string) string {
			n, _ := strconv.Atoi(s[2:])
			return strings.Repeat(s[:1], n)
		})
	}
	for _, c := range []struct{ path, want string }{
		{"", ""},
		{"S", "S"},
		{"SL*49", "SL*49"},
		{"SL*50", "0+L*50"}, // the seed is no hop
		{"SL*51", "1+L*50"},
		{"SML*50", "1+L*50"},
		{"SL*62", "12+L*50"},
		{"12+L*50", "12+L*50"},
		{"12+L*51", "13+L*50"},
		{"12+L*48", "12+L*48"},
		{"99+L*51", "100+L*50"},
		{"7+R*20L*40", "7+R*10L*40"},  // redirects
		{"7+E*20L*40", "7+E*10L*40"},  // and what is embedded are no hops
		{"7+M*20L*40", "17+M*10L*40"}, // what a sitemap names is
		{"SL*20R*30L*10", "10+L*10R*30L*10"},
		{"SL*30R*60", "30+R*50"},
	} {
		if got := Abbreviate(long(c.path)); got != long(c.want) {
			t.Errorf("%s becomes %q, not %q", c.path, got, long(c.want))
		}
	}
}

// A path that is abbreviated at each step has the same number of hops, and the same end, as the full path.
func TestAbbreviatedStepByStep(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		whole, short := "S", "S"
		links := 0
		for range 300 {
			hop := crawl.Hop("LLLREM"[random.IntN(6)])
			if hop == crawl.HopLink || hop == crawl.HopSitemap {
				links++
			}
			whole, short = whole+hop.String(), Abbreviate(short+hop.String())
			if got := Hops(short); got != links || Hops(whole) != links {
				t.Fatalf("%s has %d hops, and %d as %s", whole, links, got, short)
			}
			if len(short) > maxPath+len("300+") || !strings.HasSuffix(whole, short[strings.Index(short, "+")+1:]) {
				t.Fatalf("%s became %s", whole, short)
			}
			if embedded(short) != embedded(whole) && !strings.HasSuffix(whole, strings.Repeat("R", maxPath-1)) {
				t.Fatalf("%s: embedded %v, as %s %v", whole, embedded(whole), short, embedded(short))
			}
		}
	}
}

// TestManyHops: the bound also holds where paths are abbreviated, and counts neither redirects nor embeds.
func TestManyHops(t *testing.T) {
	const most = 60
	s, err := New(crawl.Definition{Scope: crawl.Scope{Within: crawl.WithinWeb, MaxHops: most}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []string{"L", "M", "RL", "LRR", "REL"} {
		path, u := "S", parse(t, "http://a.example/")
		for n := 1; n <= most+5; n++ {
			path = Abbreviate(path + step)
			if d := s.Check(Link{URL: u, Path: path}); d.InScope != (n <= most) || !d.InScope && d.By != ByMaxHops {
				t.Fatalf("%d times %s, %q: %+v", n, step, path, d)
			}
			if d := s.Check(Link{URL: u, Path: path + "RE"}); d.InScope != (n <= most) {
				t.Fatalf("embedded after %d times %s: %+v", n, step, d)
			}
		}
	}
}

func TestBlacklisted(t *testing.T) {
	s, err := New(crawl.Definition{Scope: crawl.Scope{Blacklist: []string{"spam.org", "a.b.example.org"}}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for raw, want := range map[string]bool{
		"http://spam.org/": true, "http://x.spam.org/": true, "http://a.b.example.org/": true, "http://b.example.org/": false, "http://ham.example/": false,
	} {
		if got := s.Blacklisted(parse(t, raw)); got != want {
			t.Errorf("%s: %v", raw, got)
		}
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, url string
		want         bool
	}{
		{"http://a.example/", "http://a.example/", true},
		{"http://a.example", "http://a.example/", false}, // a glob is over the whole canonical URL
		{"http://a.example/*", "http://a.example/", true},
		{"http://a.example/*", "https://a.example/b", false},
		{"*://a.example/*", "https://a.example/b", true},
		{"*/b/*/d", "http://a.example/b/c/x/d", true},
		{"*/b/*/d", "http://a.example/b/d", false},
		{"http://axexample/", "http://a.example/", false},
		{"http://a.example/", "http://axexample/", false}, // a dot is a dot
		{"*?q=(1)[2]+$", "http://a.example/?q=(1)[2]+$", true},
		{"*", "http://a.example/?q", true},
		{"**", "http://a.example/", true},
		{"*.PDF", "http://a.example/a.pdf", false},
		{"re:example", "http://a.example/", true},
		{"re:^example", "http://a.example/", false},
		{"re:(?i)A\\.EXAMPLE/$", "http://a.example/", true},
		{"surt:example,a,)/b", "http://a.example/b/c", true},
		{"surt:example,a,)/b", "http://b.a.example/b", false},
		{"surt:example,a,", "http://b.a.example/b", true},
		{"surt:example,a", "http://ab.example/", true}, // a prefix is a prefix
		{"surt:http://(example,a,)/", "https://a.example/", true},
		{"surt:https://(example,a,", "http://a.example:81/", true},
		{"surt:(example,a,:81)", "http://a.example:81/", true},
		{"surt:192.0.2.", "http://192.0.2.7/", true},
	} {
		p, err := Compile(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(parse(t, c.url)); got != c.want {
			t.Errorf("%s on %s: %v", c.pattern, c.url, got)
		}
	}
}

func TestBadPatterns(t *testing.T) {
	for _, c := range []struct {
		scope crawl.Scope
		want  string
	}{
		{crawl.Scope{Include: []string{"*", "re:("}}, "scope.include"},
		{crawl.Scope{Exclude: []string{"re:[z-a]"}}, "scope.exclude"},
	} {
		if _, err := New(crawl.Definition{Scope: c.scope}, nil); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "re:") {
			t.Errorf("%+v gives %v", c.scope, err)
		}
	}
}

func FuzzCompile(f *testing.F) {
	for _, seed := range []string{"", "*", "re:a+", "surt:org,", "http://a/*?(b)", "re:(?P<x>"} {
		f.Add(seed, "http://a.example/b?c")
	}
	f.Fuzz(func(t *testing.T, pattern, raw string) {
		u, err := urls.Parse(raw)
		if err != nil {
			return
		}
		p, err := Compile(pattern)
		if err != nil {
			return
		}
		got := p.Match(u)
		if !slices.ContainsFunc([]string{"re:", "surt:"}, func(s string) bool { return strings.HasPrefix(pattern, s) }) {
			if want := glob(pattern, u.String()); got != want {
				t.Fatalf("glob %q on %q: %v, want %v", pattern, u, got, want)
			}
		}
	})
}

// glob is the definition taken literally: '*' stands for any text, every other character for itself.
func glob(pattern, s string) bool {
	first, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == s
	}
	if !strings.HasPrefix(s, first) {
		return false
	}
	for i := len(first); i <= len(s); i++ {
		if glob(rest, s[i:]) {
			return true
		}
	}
	return false
}
