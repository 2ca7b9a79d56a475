package topic

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/text"
)

// samples are 40 pages, the first 8 about ravens; all have the terms home and contact.
func samples() []Sample {
	var list []Sample
	for i := range 40 {
		s := Sample{URL: fmt.Sprintf("http://a.example/%d", i), Terms: []text.Term{{Text: "home", Weight: 5}, {Text: "contact", Weight: 3}}}
		if i < 8 {
			s.Score = 0.5 + float64(i%4)/10
			s.Terms = append(s.Terms, text.Term{Text: "raven", Weight: 4}, text.Term{Text: "feather", Weight: float64(1 + i%3)}, text.Term{Text: fmt.Sprintf("rare%d", i), Weight: 1})
		} else {
			s.Score = float64(i%5) / 100
			s.Terms = append(s.Terms, text.Term{Text: "sport", Weight: 6}, text.Term{Text: fmt.Sprintf("other%d", i), Weight: 2})
		}
		list = append(list, s)
	}
	return list
}

func TestLearn(t *testing.T) {
	got := Learn(samples())
	if got.Pages != 40 || got.Relevant != 8 || len(got.Terms) > modelTerms {
		t.Errorf("%d pages, %d relevant, %d terms", got.Pages, got.Relevant, len(got.Terms))
	}
	if got.Terms[0].Text != "raven" || got.Terms[1].Text != "feather" && got.Terms[2].Text != "feather" {
		t.Errorf("the first terms are %v", got.Terms[:3])
	}
	if slices.ContainsFunc(got.Terms, func(term text.Term) bool { return term.Text == "sport" }) {
		t.Errorf("a term of the other pages is learned: %v", got.Terms)
	}
	if len(got.Examples) != 8 || got.Examples[0] != "http://a.example/3" || got.Examples[1] != "http://a.example/7" {
		t.Errorf("the examples are %v", got.Examples)
	}
	for _, term := range got.Terms {
		if term.Weight <= 0 {
			t.Errorf("%s weighs %g", term.Text, term.Weight)
		}
	}
}

// TestLearnedWeights: terms are chosen by centroid times ln(1 + N/df), but have the weights of the centroid.
func TestLearnedWeights(t *testing.T) {
	list := []Sample{
		{URL: "a", Score: 0.9, Terms: []text.Term{{Text: "home", Weight: 4}, {Text: "raven", Weight: 3}}},
		{URL: "b", Score: 0.8, Terms: []text.Term{{Text: "home", Weight: 1}}},
		{URL: "c", Score: 0.7, Terms: []text.Term{{Text: "crow", Weight: 2}}},
		{URL: "d", Score: 0.6, Terms: []text.Term{{Text: "fox", Weight: 1}, {Text: "home", Weight: 1}}}, // the fourth: not learned from
		{URL: "e", Terms: []text.Term{{Text: "home", Weight: 7}}},
	}
	got := Learn(list)
	// home (0.8 + 1) · ln(1 + 5/4) = 1.459674, crow 1 · ln 6 = 1.791759, raven 0.6 · ln 6 = 1.075056
	want := Model{
		Pages: 5, Relevant: 3, Examples: []string{"a", "b", "c"},
		Terms:               []text.Term{{Text: "crow", Weight: 1}, {Text: "home", Weight: 1.8}, {Text: "raven", Weight: 0.6}},
		DocumentFrequencies: []text.Term{{Text: "home", Weight: 4}, {Text: "crow", Weight: 1}, {Text: "fox", Weight: 1}, {Text: "raven", Weight: 1}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	var many []Sample
	for i := range modelFrequencies + 10 {
		many = append(many, Sample{URL: "a", Terms: []text.Term{{Text: fmt.Sprintf("t%05d", i), Weight: 1}, {Text: "t00007", Weight: 1}}})
	}
	if got := Learn(many).DocumentFrequencies; len(got) != modelFrequencies || got[0].Text != "t00007" || got[1].Text != "t00000" {
		t.Errorf("%d terms in the background, the first %v", len(got), got[:2])
	}
}

// TestLearnOrder: the same samples give the same model in any order, and after encoding to JSON and back.
func TestLearnOrder(t *testing.T) {
	want := Learn(samples())
	for seed := range uint64(20) {
		list := samples()
		rand.New(rand.NewPCG(seed, 0)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		text, err := json.Marshal(list)
		if err != nil {
			t.Fatal(err)
		}
		var again []Sample
		if err := json.Unmarshal(text, &again); err != nil {
			t.Fatal(err)
		}
		if got := Learn(again); !reflect.DeepEqual(got, want) {
			t.Fatalf("order %d teaches\n%+v\nnot\n%+v", seed, got, want)
		}
	}
}

func TestLearnFromLittle(t *testing.T) {
	if got := Learn(nil); got.Pages != 0 || got.Relevant != 0 || len(got.Terms) != 0 {
		t.Errorf("nothing teaches %+v", got)
	}
	if got := Learn([]Sample{{URL: "a", Terms: []text.Term{{Text: "x", Weight: 1}}}}); got.Relevant != 0 || len(got.Terms) != 0 {
		t.Errorf("pages that score 0 teach %+v", got)
	}
	got := Learn([]Sample{
		{URL: "a", Score: 0.9, Terms: []text.Term{{Text: "raven", Weight: 1}}},
		{URL: "b", Example: true, Terms: []text.Term{{Text: "crow", Weight: 1}}},
		{URL: "c", Score: 0.1}, // no terms: nothing to divide by
	})
	if got.Relevant != 3 || len(got.Terms) != 2 || got.Examples[0] != "b" {
		t.Errorf("three pages teach %+v", got)
	}
}

// Terms are stems; what was learned is shown with the forms that most pages write.
func TestSaid(t *testing.T) {
	samples := []Sample{
		{URL: "a", Score: 0.9, Terms: []text.Term{{Text: "raven", Weight: 4}, {Text: "continu", Weight: 3}}, Words: []string{"ravens", "continued"}},
		{URL: "b", Score: 0.8, Terms: []text.Term{{Text: "raven", Weight: 4}, {Text: "continu", Weight: 3}}, Words: []string{"raven", "continues"}},
		{URL: "c", Score: 0.7, Terms: []text.Term{{Text: "continu", Weight: 3}, {Text: "raven", Weight: 4}}, Words: []string{"continues", "ravens"}},
	}
	l := Learn(samples)
	said := map[string]bool{}
	for _, word := range l.TopWords(12) {
		said[word] = true
	}
	if len(said) != 2 || !said["ravens"] || !said["continues"] {
		t.Errorf("said %v of %v", l.TopWords(12), l.Terms)
	}
	if got := (Model{Terms: []text.Term{{Text: "raven", Weight: 1}}}).TopWords(12); len(got) != 1 || got[0] != "raven" {
		t.Errorf("without words: %v", got)
	}
}
