package text

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestStopWords pins the lists by the number and the hash of their words: with other stop words a page has other terms, and
// what crawls have learned no longer fits.
func TestStopWords(t *testing.T) {
	type list struct {
		words int
		hash  uint32
	}
	got := map[string]list{}
	for lang, words := range stopWords {
		got[lang] = list{len(words), Hash(strings.Join(slices.Sorted(maps.Keys(words)), " "))}
		if !Stems(lang) {
			t.Errorf("%s has a list, but no stemmer", lang)
		}
	}
	want := map[string]list{
		"da": {94, 0x21725e41}, "de": {83, 0x4d694617}, "en": {117, 0xa1d04a5d}, "es": {45, 0x3d98a114}, "fi": {229, 0xe8ac90d7},
		"fr": {48, 0x67414759}, "hu": {198, 0x340949bf}, "it": {26, 0x39a2af76}, "nb": {172, 0x7a6860a1}, "nl": {40, 0x8d33081a},
		"no": {172, 0x7a6860a1}, "pt": {203, 0xf135ba7a}, "ro": {230, 0x48aef2cf}, "ru": {159, 0xfca16b9e}, "sv": {114, 0xff2c2f31},
		"tr": {209, 0x4dd75c4f},
	}
	if !maps.Equal(got, want) {
		t.Errorf("the lists are %#v", got)
	}
	for lang := range stemmers {
		if len(stopWords[lang]) == 0 {
			t.Errorf("%s is stemmed, but has no stop words", lang)
		}
	}
}
