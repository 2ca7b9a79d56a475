package kb

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTextsOfPatterns(t *testing.T) {
	for pattern, want := range map[string]string{
		`/search/label/`:                  "/search/label/",
		`[?&](sort|order)=`:               "&order= &sort= ?order= ?sort=",
		`/(members?|users?)/`:             "/member/ /members/ /user/ /users/",
		`(/|title=)Spe(zial|cial):`:       "/Special: /Spezial: title=Special: title=Spezial:",
		`^https?://[^/]+/forum/`:          "/forum/",
		`(?i)/forum/`:                     "", // in capitals too
		`/(a|board)/`:                     "", // one is too short
		`topic[=,][0-9]+\.(msg|new)[0-9]`: "topic, topic=",
		`p=[0-9]`:                         "",
		`(archive)+\.php$`:                "archive",
		`(|x)/archive`:                    "/archive x/archive",
		`a{0}/archive/?$`:                 "/archive /archive/",
		`[`:                               "",
	} {
		list := required(pattern)
		slices.Sort(list)
		if got := strings.Join(list, " "); got != want {
			t.Errorf("%s needs one of %q, not %q", pattern, got, want)
		}
	}
}

// TestPatternsAreCutOnce: profiles of versions have the rules of their application, and equal expressions have one pattern.
func TestPatternsAreCutOnce(t *testing.T) {
	base, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	cut, uses := map[string]*alternative{}, 0
	for _, p := range base.profiles {
		for _, f := range p.Follow {
			if f.URL == nil {
				continue
			}
			uses++
			if first, ok := cut[f.URL.String()]; ok && first != &f.Links[0] {
				t.Errorf("%s is cut twice", f.URL)
			}
			cut[f.URL.String()] = &f.Links[0]
		}
	}
	if uses <= len(cut) {
		t.Errorf("%d uses of %d expressions", uses, len(cut))
	}
}

func BenchmarkShipped(b *testing.B) {
	for b.Loop() {
		if _, err := Shipped(); err != nil {
			b.Fatal(err)
		}
	}
}

// TestPatterns evaluates all patterns of the shipped base on URLs that are made of their own texts and of the links of
// the examples: split into alternatives, they give the same answers as the whole expressions.
func TestPatterns(t *testing.T) {
	base, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	var wholes []*regexp.Regexp
	var cut []Pattern
	var parts []string
	add := func(re *regexp.Regexp, p Pattern) {
		if re != nil {
			wholes, cut, parts = append(wholes, re), append(cut, p), append(parts, required(re.String())...)
		}
	}
	rules := func(r *Rules) {
		for i := range r.Drop {
			add(r.Drop[i].URL, r.Drop[i].Links)
		}
		for i := range r.Follow {
			add(r.Follow[i].URL, r.Follow[i].Links)
		}
		for i := range r.Normalize {
			add(r.Normalize[i].URL, r.Normalize[i].Links)
		}
	}
	for _, p := range base.profiles {
		rules(&p.Rules)
	}
	parts = append(parts, "?", "&", "=", "/", ";", "1", "-p2", "https://a.test/", "https://a.test", ".html", "2021/05/", "index.php", "t-3", "x")
	var urls []string
	for _, app := range base.Applications {
		for _, e := range app.Examples {
			urls = append(urls, e.URL)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		var b strings.Builder
		if b.WriteString("https://a.test/"); random.IntN(2) == 0 {
			b.Reset()
			b.WriteString(urls[random.IntN(len(urls))])
		}
		for range random.IntN(5) {
			b.WriteString(parts[random.IntN(len(parts))])
		}
		urls = append(urls, b.String())
	}
	matches := 0
	var seen Seen
	for _, url := range urls {
		base.Marks.Look(InURL, []byte(url), &seen)
		for i, whole := range wholes {
			want := whole.MatchString(url)
			if got := cut[i].Match(url, seen[InURL]); got != want {
				t.Fatalf("%s on %s: %v, not %v", whole, url, got, want)
			}
			if want {
				matches++
			}
		}
	}
	if matches < len(wholes) {
		t.Errorf("only %d matches of %d patterns", matches, len(wholes))
	}
}
