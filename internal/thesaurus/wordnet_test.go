package thesaurus

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const nouns = `  1 This stands for the licence.
00000100 05 n 02 bird 0 feathered_friend 0 002 ~ 00000200 n 0000 + 00000900 v 0101 | flies
00000200 05 n 03 Raven 0 corbie 0 Corvus_corax 0 001 @ 00000100 n 0000 | black
00000300 05 n 01 corbie 1 000 | another sense
`

func written(t *testing.T, noun string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{"data.noun": noun, "data.verb": "00000900 30 v 01 fly 0 000 01 + 08 00 | go by air\n", "data.adj": "00000500 00 a 02 black(p) 0 dark 0 000 | no light\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestWordNet(t *testing.T) {
	var names []string
	id := func(word string) (uint32, bool) {
		if word == "fly" {
			return 0, false
		}
		at := slices.Index(names, word)
		if at < 0 {
			at, names = len(names), append(names, word)
		}
		return uint32(at), true
	}
	th, err := WordNet(written(t, nouns), id)
	if err != nil {
		t.Fatal(err)
	}
	if th.Len() != 5 || slices.ContainsFunc(names, func(n string) bool { return strings.ContainsAny(n, "_(R") }) {
		t.Errorf("%d groups of %q", th.Len(), names)
	}
	of := func(list []uint32) (words []string) {
		for _, n := range list {
			words = append(words, names[n])
		}
		return words
	}
	number := func(word string) uint32 {
		n, _ := id(word)
		return n
	}
	for word, want := range map[string][2]string{"raven": {"corbie", "bird"}, "bird": {"", "raven corbie"}, "corbie": {"raven", "bird"}, "black": {"dark", ""}, "unknown": {"", ""}} {
		same, near := strings.Join(of(th.Synonyms(number(word))), " "), strings.Join(of(th.Near(number(word))), " ")
		if same != want[0] || near != want[1] {
			t.Errorf("%s: the same as %q, near %q; want %q", word, same, near, want)
		}
	}
}

func TestBrokenWordNet(t *testing.T) {
	any := func(string) (uint32, bool) { return 1, true }
	for _, line := range []string{"x", "00000100 05 n zz bird 0 000", "00000100 05 n 09 bird 0 000", "00000100 05 n 01 bird 0 003 ~ 00000200", "00000100 05 n 01 bird 0 xx", "00000100 05 n 01 bird 0 -1"} {
		if _, err := WordNet(written(t, line+"\n"), any); err == nil || !strings.Contains(err.Error(), "data.noun:1:") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if _, err := WordNet(t.TempDir(), any); err == nil || !strings.Contains(err.Error(), "wordnet-base") {
		t.Errorf("%v", err)
	}
}
