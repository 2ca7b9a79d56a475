package score

import (
	"strings"
	"unicode/utf8"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The signs of spam (after Ntoulas et al. 2006, "Detecting spam web pages through content analysis").
const (
	spamWords   = 50  // pages with fewer terms are not judged
	spamShare   = 0.2 // one term makes up more than this share of a page's terms
	spamTitle   = 25  // the title has more words
	spamAnchors = 0.9 // anchors make up more than this share of the text, and there are more than spamLinks links
	spamLinks   = 200
	spamWord    = 15 // the mean word is longer, in letters: URLs and random letters
)

// spamAnalyser scores pages that look like spam: ½ with one sign, ¼ with two, and so on. It is silent about others, because a page
// is not relevant for not being spam. Hosts on a black list are not crawled at all (scope.blacklist).
func spamAnalyser(*Scorer) analyser {
	return analyser{name: crawl.PartSpam, document: func(r *reading) float64 {
		if r.terms < spamWords {
			return silent
		}
		score := 1.0
		sign := func(is bool) {
			if is {
				score /= 2
			}
		}
		sign(r.commonest > spamShare*r.terms)
		sign(len(strings.Fields(r.page.Title)) > spamTitle)
		sign(len(r.page.Links) > spamLinks && anchorsPrevail(r.page))
		spaced := r.page.Language != "" && r.page.Language != "ja" && r.page.Language != "zh" && r.page.Language != "th"
		sign(spaced && longWords(r.page.Blocks))
		if score == 1 {
			return silent
		}
		return score
	}}
}

// anchorsPrevail reports whether anchors make up too much of the text.
func anchorsPrevail(p *crawl.Parsed) bool {
	anchors := 0
	for i := range p.Links {
		anchors += utf8.RuneCountInString(p.Links[i].Anchor)
	}
	return float64(anchors) > spamAnchors*float64(letters(p.Blocks))
}

// longWords reports whether the mean word of a text is too long. Most texts have too few bytes for that: then no letter is counted.
func longWords(blocks []string) bool {
	bytes, words := 0, 0
	for _, b := range blocks {
		bytes += len(b)
		words += strings.Count(b, " ") + 1
	}
	if words == 0 || float64(bytes)/float64(words) <= spamWord {
		return false
	}
	return float64(letters(blocks))/float64(words) > spamWord
}

func letters(blocks []string) (n int) {
	for _, b := range blocks {
		n += utf8.RuneCountInString(b)
	}
	return n
}
