package search

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/search/query"
)

func parse(t *testing.T, text string) query.Query {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

func TestBands(t *testing.T) {
	for score, want := range map[float64]string{-1: "", math.NaN(): "", 0: "0", 0.19: "0", 0.2: "0.2", 0.4: "0.4", 0.6: "0.6", 0.79: "0.6", 0.8: "0.8", 1: "0.8", 7: "0.8"} {
		if got := Band(score); got != want {
			t.Errorf("%g: %q, want %q", score, got, want)
		}
	}
}

func TestNarrow(t *testing.T) {
	for _, test := range []struct {
		facet       Facet
		value, want string
	}{
		{Domain, "example.org", "site:example.org"}, {Year, "2025", "date:2025"}, {Month, "2025-03", "date:2025-03"}, {App, "my \"app\"", `app:"my \"app\""`}, {Type, "post", "type:post"},
		{Relevance, "0", "score:>=0 score:<0.2"}, {Relevance, "0.6", "score:>=0.6 score:<0.8"}, {Relevance, "0.8", "score:>=0.8"},
	} {
		n, err := test.facet.Narrow(test.value)
		if got := (query.Query{Root: n}).String(); err != nil || got != test.want {
			t.Errorf("%s %s: %s, %v, want %s", test.facet, test.value, got, err, test.want)
		}
	}
	for _, test := range []struct {
		facet Facet
		value string
	}{{"other", "x"}, {Relevance, "0.5"}, {Relevance, ""}, {Month, "March"}, {App, ""}} {
		if n, err := test.facet.Narrow(test.value); err == nil {
			t.Errorf("%s %q: %v", test.facet, test.value, n)
		}
	}
}

// shown writes a snippet with its marks.
func shown(list []Fragment) string {
	var b strings.Builder
	for _, f := range list {
		if f.Marked {
			fmt.Fprintf(&b, "[%s]", f.Text)
		} else {
			b.WriteString(f.Text)
		}
	}
	return b.String()
}

func TestSnippet(t *testing.T) {
	far := strings.Repeat("nothing of interest here ", 40)
	for _, test := range []struct{ text, language, query, want string }{
		{"", "en", "house", ""},
		{"The houses of the city.", "en", "house -city", "The [houses] of the city."},
		{"Die Häuser", "de", "haus", "Die [Häuser]"},
		{"<b>house</b>\n\n & more", "en", "house", "<b>[house]</b> & more"},
		{"a \u202Ehouse\u202C \x00b \xff", "", "house", "a [house] b \uFFFD"},
		{"東京都の歴史", "ja", "東京", "[東京]都の歴史"},
		{"no match", "en", "house", "no match"},
		{"two words stand here", "en", `"words stand" lang:en`, "two [words] [stand] here"},
	} {
		if got := shown(Snippet(test.text, test.language, parse(t, test.query))); got != test.want {
			t.Errorf("%q, %s: %q, want %q", test.text, test.query, got, test.want)
		}
	}
	long := shown(Snippet(far+"a house "+far+"the house with a garden "+far, "en", parse(t, "house garden")))
	if !strings.Contains(long, "the [house] with a [garden]") || !strings.HasPrefix(long, "… ") || !strings.HasSuffix(long, " …") || len(long) > 2*snippetBytes {
		t.Errorf("of a long text: %q", long)
	}
}

// FuzzSnippet: a snippet is short, valid UTF-8 and has no control characters, whatever the text.
func FuzzSnippet(f *testing.F) {
	f.Add(strings.Repeat("house \xff\u202e", 100), "en", "house")
	f.Add(strings.Repeat("東", 300), "ja", "東京 OR 東")
	f.Fuzz(func(t *testing.T, text, language, words string) {
		q, err := query.Parse(words)
		if err != nil {
			return
		}
		size := 0
		for _, s := range Snippet(text, language, q) {
			size += len(s.Text)
			if !utf8.ValidString(s.Text) || strings.ContainsAny(s.Text, "\n\x00\x1b\u202e") {
				t.Fatalf("%q", s.Text)
			}
		}
		if size > 4*snippetBytes {
			t.Fatalf("%d bytes", size)
		}
	})
}

func TestTargets(t *testing.T) {
	s := Segment{Anchors: []Anchor{
		{"https://a.example/", " Read \n more ", "en"}, {"https://a.example/", "read more", "en-GB"}, {"https://a.example/", "Further", "en"}, {"https://a.example/", "Weiter", "de"},
		{"https://b.example/", "", "en"}, {"https://b.example/", strings.Repeat("x", maxAnchor+1), "en"}, {"https://c.example/", strings.Repeat("y", maxAnchor), "en"}, {"https://c.example/", "z", "en"},
	}}
	want := []Target{{"https://a.example/", "en", "Read more\nFurther"}, {"https://a.example/", "de", "Weiter"}, {"https://c.example/", "en", strings.Repeat("y", maxAnchor)}}
	if got := s.Targets(); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
	s = Segment{}
	for i := range 2 * maxTargets {
		s.Anchors = append(s.Anchors, Anchor{fmt.Sprint(i), "text", "en"})
	}
	if got := len(s.Targets()); got != maxTargets {
		t.Errorf("%d URLs, want %d", got, maxTargets)
	}
}

func TestContent(t *testing.T) {
	page := Document{N: WholePage, Facts: query.Facts{Digest: "sha1:A", Text: "x"}}
	post := Document{N: 0, Facts: query.Facts{Digest: "sha1:A", Text: "x"}}
	other := post
	other.Text = "y"
	if ContentOf(&page) != "sha1:A" || ContentOf(&post) == ContentOf(&page) || ContentOf(&post) == ContentOf(&other) {
		t.Errorf("%s, %s, %s", ContentOf(&page), ContentOf(&post), ContentOf(&other))
	}
}
