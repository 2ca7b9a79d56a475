package xpath

import "strings"

// Needs lists what a page must hold for the expression to select anything: of each list one word at least must
// stand in the page's source as it is. Nothing is listed where that is not known. Pages that write plain letters
// as character references (&#97;) and texts with stray tags in the middle of a word are not thought of.
func (e *Expr) Needs() [][]string { return e.needs }

// needs gathers the conditions that all hold.
func needs(n Node) [][]string {
	switch n := n.(type) {
	case *Path:
		var all [][]string
		if n.From != nil {
			all = needs(n.From)
		}
		for _, p := range n.Filter {
			all = append(all, needs(p)...)
		}
		for _, s := range n.Steps {
			for _, p := range s.Preds {
				all = append(all, needs(p)...)
			}
		}
		return all
	case *Binary:
		switch n.Op {
		case "and":
			return append(needs(n.Left), needs(n.Right)...)
		case "or", "|":
			if either := joinBest(needs(n.Left), needs(n.Right)); len(either) > 0 {
				return [][]string{either}
			}
			return nil
		case "+", "-", "*", "div", "mod":
			return nil
		}
		var all [][]string
		if n.Op == "=" {
			all = append(words(n.Left, n.Right), words(n.Right, n.Left)...)
		}
		return append(append(all, comparedNeeds(n.Left, n.Right)...), comparedNeeds(n.Right, n.Left)...)
	case *Call:
		switch n.Name {
		case "has-class":
			var all [][]string
			for _, c := range n.classes {
				if w := word(c); w != "" {
					all = append(all, []string{w})
				}
			}
			return all
		case "contains", "starts-with", "ends-with":
			return words(n.Args[0], n.Args[1])
		case "boolean":
			return needs(n.Args[0])
		}
	}
	return nil
}

// comparedNeeds are the needs of nodes that are compared: a comparison with no nodes is false, unless it is with a truth value.
func comparedNeeds(a, with Node) [][]string {
	k, nodes := typeOf(with)
	if _, is := typeOf(a); !is || !nodes && k == aTruth {
		return nil
	}
	return needs(a)
}

// words are the words of a string that a value in the page contains.
func words(of, text Node) [][]string {
	if s, is := text.(Literal); is && inOnePiece(of) {
		if w := word(string(s)); w != "" {
			return [][]string{{w}}
		}
	}
	return nil
}

// inOnePiece reports whether a value stands in the source in one piece: attributes, single texts, comments and parts of them.
// The text of an element does not, since tags may stand in the middle of a word of it.
func inOnePiece(n Node) bool {
	switch n := n.(type) {
	case *Path:
		if len(n.Steps) == 0 {
			return n.From != nil && inOnePiece(n.From)
		}
		last := n.Steps[len(n.Steps)-1]
		return last.Axis == Attribute || last.Test == "text()" || last.Test == "comment()"
	case *Binary:
		return n.Op == "|" && inOnePiece(n.Left) && inOnePiece(n.Right)
	case *Call:
		switch n.Name {
		case "normalize-space", "string", "substring", "substring-after", "substring-before":
			return len(n.Args) > 0 && inOnePiece(n.Args[0])
		}
	}
	return false
}

// joinBest makes one list of the best of two.
func joinBest(a, b [][]string) []string {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	return append(append([]string(nil), longestWords(a)...), longestWords(b)...)
}

// longestWords is the list whose shortest word is the longest.
func longestWords(lists [][]string) []string {
	score := func(list []string) int {
		least := 1 << 20
		for _, w := range list {
			least = min(least, len(w))
		}
		return least - len(list)
	}
	out := lists[0]
	for _, l := range lists[1:] {
		if score(l) > score(out) {
			out = l
		}
	}
	return out
}

// word is the longest part of a string that a page can write in one way only: no blanks, nothing that HTML
// escapes, nothing beyond ASCII.
func word(s string) string {
	longest := ""
	for _, part := range strings.FieldsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("&<>\"'", r) }) {
		if len(part) > len(longest) {
			longest = part
		}
	}
	if len(longest) < MinWord {
		return ""
	}
	return longest
}

// MinWord is the length of the shortest word that is worth looking for, in bytes.
const MinWord = 6
