package text

import (
	"strings"
	"unicode"

	"github.com/muninn-archive/muninn/internal/text"
)

// Tokens are the words of a text in small letters: runs of letters, marks and digits. Letters of scripts that are written without spaces
// are words of their own.
func Tokens(s string) (list []string) {
	begin := -1
	end := func(at int) {
		if begin >= 0 {
			list = append(list, strings.ToLower(s[begin:at]))
			begin = -1
		}
	}
	for i, r := range s {
		switch {
		case text.Unspaced(r):
			end(i)
			list = append(list, string(r))
		case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r):
			if begin < 0 {
				begin = i
			}
		default:
			end(i)
		}
	}
	end(len(s))
	return list
}

// Match is how well an answer agrees with gold, in words. Each value is in [0,1].
type Match struct {
	Precision float64 `json:"precision"` // the share of the answer's words that are right
	Recall    float64 `json:"recall"`    // the share of the right words that are in the answer
	F1        float64 `json:"f1"`        // harmonic mean of the two
}

// Compare counts the words that two texts have in common, each as often as both have it. Their order does not count. Of two texts
// without words all three values are 1, of one with words and one without 0.
func Compare(right, answer []string) (m Match) {
	if len(right) == 0 && len(answer) == 0 {
		return Match{1, 1, 1}
	}
	count := map[string]int{}
	for _, w := range right {
		count[w]++
	}
	common := 0
	for _, w := range answer {
		if count[w] > 0 {
			count[w]--
			common++
		}
	}
	if common == 0 {
		return m
	}
	m.Precision, m.Recall = float64(common)/float64(len(answer)), float64(common)/float64(len(right))
	m.F1 = 2 * m.Precision * m.Recall / (m.Precision + m.Recall)
	return m
}
