package searchtest

import (
	"context"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/muninn-archive/muninn/internal/search"
	"github.com/muninn-archive/muninn/internal/search/query"
)

// Known searches for pages that are known to be there, by words of their titles and by a sentence, and measures where they are found: the
// mean reciprocal rank among the first ten hits (MRR@10). Only pages count whose URL has an odd hash: the others are for tuning. A
// page that says the same as the one that is searched for counts as that.
type Known struct {
	Titles, Sentences float64 // MRR@10
	Pages             int
}

// FindKnown searches for at most so many pages. held says whether they are the half that is held back.
func FindKnown(t testing.TB, x search.Index, segments []search.Segment, most int, held bool) (k Known) {
	t.Helper()
	titles := map[string]int{}
	for _, s := range segments {
		for i := range s.Documents {
			titles[strings.ToLower(s.Documents[i].Title)]++
		}
	}
	for _, s := range segments {
		for i := range s.Documents {
			d := &s.Documents[i]
			sentence := sentenceOf(d.Text)
			// A title that other pages have, too, names none of them, and a title of two words or less hardly one.
			if d.N != search.WholePage || isHeld(d.URL) != held || titles[strings.ToLower(d.Title)] > 1 || len(wordsOf(d.Title)) < 3 || sentence == "" || k.Pages == most {
				continue
			}
			k.Pages++
			k.Titles += reciprocal(t, x, strings.Join(wordsOf(d.Title), " "), d)
			k.Sentences += reciprocal(t, x, sentence, d)
		}
	}
	k.Titles /= float64(max(k.Pages, 1))
	k.Sentences /= float64(max(k.Pages, 1))
	return k
}

func isHeld(url string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(url))
	return h.Sum32()%2 == 1
}

// wordsOf are at most twelve words of a title, in lower case.
func wordsOf(title string) []string {
	list := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return list[:min(len(list), 12)]
}

// sentenceOf is a sentence of 8 to 20 words from the middle of a text, as words; "" if there is none.
func sentenceOf(text string) string {
	sentences := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(".!?\n", r) })
	for i := range sentences {
		words := strings.FieldsFunc(strings.ToLower(sentences[(i+len(sentences)/2)%len(sentences)]), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		if len(words) >= 8 && len(words) <= 20 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

func reciprocal(t testing.TB, x search.Index, text string, d *search.Document) float64 {
	t.Helper()
	q, err := query.Parse(text)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	a, err := x.Search(context.Background(), q, search.Options{Limit: 10, Fold: true})
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	content := search.ContentOf(d)
	at := slices.IndexFunc(a.Hits, func(h search.Hit) bool { return h.URL == d.URL || h.Content == content })
	if at < 0 {
		return 0
	}
	return 1 / float64(at+1)
}

// minKnown is the MRR@10 that an index must reach.
const minKnown = 0.85

// CheckKnown fills an index with the pages of the test data and fails if so many pages of the half that is held back are not found.
// MUNINN_SEARCH_KNOWN (make eval-search) sets how many, and has the half for tuning searched for as well; without it and with no pages
// asked for, the test is skipped.
func CheckKnown(t *testing.T, x search.Index, pages int) {
	t.Helper()
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no real pages to search for")
	}
	asked := os.Getenv("MUNINN_SEARCH_KNOWN")
	if asked != "" {
		n, err := strconv.Atoi(asked)
		if err != nil || n < 1 {
			t.Fatalf("MUNINN_SEARCH_KNOWN=%q is no number of pages", asked)
		}
		pages = n
	}
	if pages == 0 {
		t.Skip("it takes minutes: make eval-search runs it")
	}
	segments, err := Real(data)
	if err != nil {
		t.Fatal(err)
	}
	add(t, x, segments...)
	held := FindKnown(t, x, segments, pages, true)
	t.Logf("MRR@10 by title %.3f, by sentence %.3f (%d pages held back)", held.Titles, held.Sentences, held.Pages)
	if asked != "" {
		tuned := FindKnown(t, x, segments, pages, false)
		t.Logf("MRR@10 by title %.3f, by sentence %.3f (%d pages for tuning)", tuned.Titles, tuned.Sentences, tuned.Pages)
	}
	if held.Pages < pages {
		t.Errorf("only %d pages were searched for", held.Pages)
	}
	if held.Titles < minKnown || held.Sentences < minKnown {
		t.Errorf("MRR@10 is %.3f by title and %.3f by sentence, want %g", held.Titles, held.Sentences, minKnown)
	}
}
