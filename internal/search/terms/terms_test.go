package terms

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func shown(s, language string) string {
	var list []string
	New().Each(s, language, 0, func(t Term) { list = append(list, fmt.Sprintf("%d %s", t.Position, t.Text)) })
	return strings.Join(list, ", ")
}

func TestTerms(t *testing.T) {
	for _, test := range []struct{ text, language, want string }{
		{"", "en", ""},
		{"The houses, 2024!", "en", "0 en:the, 1 en:hous, 2 2024"},
		{"The houses", "", "0 the, 1 houses"},
		{"The houses", "xx", "0 the, 1 houses"},
		{"houses", "en-GB", "0 en:hous"},
		{"Häuser", "de", "0 de:haus"},
		{"Ha\u0308user", "de", "0 de:haus"},
		{"l’été", "fr", "0 fr:l, 1 fr:ete"},
		{"猫", "ja", "0 猫"},
		{"東京都", "ja", "0 東, 0 東京, 1 京, 1 京都, 2 都"},
		{"go東京go", "en", "0 en:go, 1 東, 1 東京, 2 京, 3 en:go"},
		{"서울", "ko", "0 서, 0 서울, 1 울"},
		{"a" + strings.Repeat("b", 64) + " c", "", "0 c"},
		{"\xff\xfe abc\xff", "", "0 abc"},
	} {
		if got := shown(test.text, test.language); got != test.want {
			t.Errorf("%q in %q: %s, want %s", test.text, test.language, got, test.want)
		}
	}
}

func TestPhrase(t *testing.T) {
	classes := []string{"", "en", "de"}
	for _, test := range []struct {
		text string
		want []Slot
	}{
		{"!?", nil},
		{"Houses", []Slot{{"houses", "en:hous", "de:hous"}}},
		{"well-known", []Slot{{"well", "en:well", "de:well"}, {"known", "en:known", "de:known"}}},
		{"x86", []Slot{{"x86"}}},
		{"東京都", []Slot{{"東京"}, {"京都"}, {"都"}}},
	} {
		if got := New().Phrase(test.text, classes); !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: %q, want %q", test.text, got, test.want)
		}
	}
}

// TestBounds: a text without end has a bounded number of positions, and offsets are those of the words.
func TestBounds(t *testing.T) {
	text, last := strings.Repeat("word ", 2*MaxPositions), 0
	next := New().Each(text, "en", 0, func(term Term) {
		last = term.Position
		if text[term.Start:term.End] != "word" {
			t.Fatalf("offsets %d to %d are of %q", term.Start, term.End, text[term.Start:term.End])
		}
	})
	if next != MaxPositions || last != MaxPositions-1 {
		t.Errorf("the last position is %d, the next %d", last, next)
	}
}

// FuzzTerms: what a text says is found by its own words, in each language.
func FuzzTerms(f *testing.F) {
	f.Add("The houses of 東京, l’été", "fr")
	f.Add("e\u0301\u0301 \u0e01\u0e34\u0e34 x\u0301", "de")
	f.Fuzz(func(t *testing.T, text, language string) {
		at := map[int][]string{}
		end := 0
		New().Each(text, language, 0, func(term Term) {
			if term.Start < 0 || term.End > len(text) || term.Start >= term.End || term.Text == "" {
				t.Fatalf("%+v of %d bytes", term, len(text))
			}
			at[term.Position] = append(at[term.Position], term.Text)
			end = max(end, term.Position)
		})
		for i, slot := range New().Phrase(text, []string{Class(language)}) {
			if i > end {
				break
			}
			if !has(at[i], slot[0]) {
				t.Fatalf("position %d has %q, the phrase %q", i, at[i], slot)
			}
		}
	})
}
