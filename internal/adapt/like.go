package adapt

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"golang.org/x/net/html"
)

// classesOf yields the classes of an element.
func classesOf(n *html.Node) iter.Seq[string] {
	for _, a := range n.Attr {
		if a.Key == "class" && a.Namespace == "" {
			return strings.FieldsSeq(a.Val)
		}
	}
	return func(func(string) bool) {}
}

// likeness is the share of pairs of letters that two names have in common (Dice's coefficient), case apart.
func likeness(a, b string) float64 {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) < 2 || len(b) < 2 {
		return 0
	}
	pairs := map[string]int{}
	for i := 0; i+2 <= len(a); i++ {
		pairs[a[i:i+2]]++
	}
	common := 0
	for i := 0; i+2 <= len(b); i++ {
		if p := b[i : i+2]; pairs[p] > 0 {
			pairs[p]--
			common++
		}
	}
	return 2 * float64(common) / float64(len(a)+len(b)-2)
}

// sortByLikeness puts the names that are most like one first.
func sortByLikeness(list []string, to string) {
	slices.SortFunc(list, func(a, b string) int {
		return cmp.Or(cmp.Compare(likeness(b, to), likeness(a, to)), cmp.Compare(a, b))
	})
}
