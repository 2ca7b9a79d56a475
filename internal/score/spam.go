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
		score, letters, words := 1.0, 0, 0
		sign := func(is bool) {
			if is {
				score /= 2
			}
		}
		anchors := 0
		for i := range r.page.Links {
			anchors += utf8.RuneCountInString(r.page.Links[i].Anchor)
		}
		for _, b := range r.page.Blocks {
			letters += utf8.RuneCountInString(b)
			words += strings.Count(b, " ") + 1
		}
		sign(r.commonest > spamShare*r.terms)
		sign(len(strings.Fields(r.page.Title)) > spamTitle)
		sign(len(r.page.Links) > spamLinks && float64(anchors) > spamAnchors*float64(letters))
		spaced := r.page.Language != "" && r.page.Language != "ja" && r.page.Language != "zh" && r.page.Language != "th"
		sign(spaced && words > 0 && float64(letters)/float64(words) > spamWord)
		if score == 1 {
			return silent
		}
		return score
	}}
}
