package text

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestWords(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", ""},
		{"Raven's nest, 1984!", "Raven s nest 1984"},
		{"a-b_c", "a b c"},
		{"naïve Ἰλιάς Ворон", "naïve Ἰλιάς Ворон"},
		{"e\u0301te\u0301", "e\u0301te\u0301"},
		{"x\xffy", "x y"},
		{"東京都", "東京 京都"},
		{"東京へ行く", "東京 京へ へ行 行く"},
		{"東 京", ""}, // single characters do not count
		{"iPhone発売日2026年", "iPhone 発売 売日 2026"},
		{"สวัสดี", "สว วั ัส สด ดี"},
		{"한국어 위키", "한국어 위키"}, // Korean is written with spaces
	} {
		var got []string
		words(c.text, func(w string) { got = append(got, w) })
		if strings.Join(got, " ") != c.want {
			t.Errorf("%q has the words %q, want %q", c.text, got, c.want)
		}
	}
}

func TestTerms(t *testing.T) {
	a := NewVocabulary()
	for _, c := range []struct{ lang, text, want string }{
		{"en", "The ravens were flying", "fli raven"},
		{"en", "Raven RAVEN ravens", "raven raven raven"},
		{"en", "I saw a C", "saw"},
		{"en", "war and peace, die by the sea", "die peac sea war"},
		{"de", "Der Krieg war lang, die Raben flogen", "flog krieg lang rab"},
		{"de", "Häuser Haus", "haus haus"},
		{"fr", "les corbeaux de l'été", "corbeau ete"},
		{"ru", "вороны ворона", "ворон ворон"},
		{"pt", "os corvos da cidade", "cidad corv"},
		{"xx", "The ravens", "raven"}, // an unknown language counts as English
		{"", "The ravens", "raven"},
		{"ja", "東京都", "京都 東京"},
		{"en", "Zürich", "zurich"},
	} {
		var got []string
		for term, n := range a.Vector(c.text, c.lang) {
			got = append(got, slices.Repeat([]string{term}, int(n))...)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s %q has the terms %q, want %q", c.lang, c.text, got, c.want)
		}
	}
}

func TestStemCache(t *testing.T) {
	a := NewVocabulary()
	for i := range 3 {
		if got := a.Vector("ravens", "en"); !maps.Equal(got, Vector{"raven": 1}) {
			t.Fatalf("time %d: %v", i, got)
		}
	}
	if got := a.Vector("ravens", "fr"); maps.Equal(got, Vector{"raven": 2}) || len(got) != 1 {
		t.Errorf("French after English: %v", got)
	}
	before := a.now
	before.size = maxWords
	if got := a.Vector("ravens crows", "en"); !maps.Equal(got, Vector{"raven": 1, "crow": 1}) || a.now == before || a.now.words["en"].taken != 2 {
		t.Errorf("after a full memory: %v, %d words", got, a.now.words["en"].taken)
	}
}

func FuzzWords(f *testing.F) {
	for _, seed := range []string{"", "raven", "東京都 raven", "e\u0301\xff\u0e31", "ΑΣ İ ﬁ", strings.Repeat("a", 300)} {
		for _, lang := range []string{"en", "de", "tr", "fi", "ru", "hu", "xx"} {
			f.Add(seed, lang)
		}
	}
	f.Fuzz(func(t *testing.T, text, lang string) {
		words(text, func(w string) {
			if w == "" || !strings.Contains(text, w) || !utf8.ValidString(w) {
				t.Fatalf("%q has the word %q", text, w)
			}
		})
		for term, n := range NewVocabulary().Vector(text, lang) {
			if term == "" || n < 1 {
				t.Fatalf("%q has the term %q %g times", text, term, n)
			}
		}
	})
}
