package text

import (
	"strings"
	"testing"
)

// A word that is too long for any language is data. It is not counted, because each word that is met stays in memory.
func TestLongWordsDoNotCount(t *testing.T) {
	a := NewVocabulary()
	long, longest := strings.Repeat("x", maxWord+1), strings.Repeat("y", maxWord)
	wide := strings.Repeat("é", maxWord/2+1)
	v := a.Vector("raven "+long+" nest "+wide+" "+longest+"\u00e9 "+longest+" "+long, "en")
	if len(v) != 3 || v["raven"] == 0 || v["nest"] == 0 {
		t.Errorf("%d terms", len(v))
	}
	if n := a.now.size; n != 3 {
		t.Errorf("%d words are remembered, want 3", n)
	}
}
