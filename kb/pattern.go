package kb

import (
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// Pattern is a regular expression for URLs, cut into its alternatives: each is tried on those URLs alone that hold
// a text that it needs. That is mostly enough to leave the expressions unasked.
type Pattern []alternative

type alternative struct {
	re    func() *regexp.Regexp // is compiled when it is asked first: most never are
	words Needs                 // of which the URL must hold one
	query bool                  // the URL must hold one of the bytes that part a query
}

// Match reports whether the pattern matches a URL; by are the words that stand in it.
func (p Pattern) Match(url string, by Found) bool {
	for i := range p {
		a := &p[i]
		if a.words.Held(by) && (!a.query || hasQuery(url)) && a.re().MatchString(url) {
			return true
		}
	}
	return false
}

func hasQuery(url string) bool {
	return strings.IndexByte(url, '?') >= 0 || strings.IndexByte(url, '&') >= 0 || strings.IndexByte(url, ';') >= 0
}

// pattern is the pattern of an expression. Profiles share many of theirs, which are cut once.
func (b *Base) pattern(re *regexp.Regexp) Pattern {
	if re == nil {
		return nil
	}
	p, ok := b.patterns[re.String()]
	if !ok {
		p = b.cut(re)
		b.patterns[re.String()] = p
	}
	return p
}

// cut cuts an expression into its alternatives and numbers their words.
func (b *Base) cut(re *regexp.Regexp) (p Pattern) {
	itself := func() *regexp.Regexp { return re }
	whole, err := syntax.Parse(re.String(), syntax.Perl)
	if err != nil {
		return Pattern{{re: itself}}
	}
	list := []*syntax.Regexp{whole}
	if whole.Op == syntax.OpAlternate {
		list = whole.Sub
	}
	for _, sub := range list {
		a := alternative{re: itself}
		if len(list) > 1 {
			a.re = sync.OnceValue(func() *regexp.Regexp {
				if one, err := regexp.Compile(sub.String()); err == nil {
					return one
				}
				return re // the others' URLs match as well, and would by theirs
			})
		}
		plain := sub.Simplify()
		a.query = inQuery(plain)
		var ids []int
		for _, w := range texts(plain) {
			id, _ := b.Marks.words[InURL].add(w)
			ids = append(ids, id)
		}
		if len(ids) > 0 {
			a.words = Needs{ids}
		}
		p = append(p, a)
	}
	return p
}

// required returns texts of which every match of a regular expression holds one; none if that is not known.
func required(pattern string) []string {
	re, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return nil
	}
	return texts(re.Simplify())
}

// maxTexts bounds the texts of one expression.
const maxTexts = 400

func texts(re *syntax.Regexp) []string {
	if list, exact := spelled(re); exact {
		return useful(list)
	}
	switch re.Op {
	case syntax.OpCapture, syntax.OpPlus:
		return texts(re.Sub[0])
	case syntax.OpConcat:
		var best []string
		better := func(list []string) {
			if list = useful(list); len(list) > 0 && (best == nil || worth(list) > worth(best)) {
				best = list
			}
		}
		run := []string{""} // what the parts that stand side by side spell
		for _, sub := range re.Sub {
			list, exact := spelled(sub)
			if joined := product(run, list); exact && len(joined) > 0 {
				run = joined
				continue
			}
			better(run)
			if run = list; !exact {
				better(texts(sub))
				run = []string{""}
			}
		}
		better(run)
		return best
	case syntax.OpAlternate:
		var all []string
		for _, sub := range re.Sub {
			list := texts(sub)
			if len(list) == 0 || len(all)+len(list) > maxTexts {
				return nil
			}
			all = append(all, list...)
		}
		return all
	}
	return nil
}

// useful returns texts if all are long enough to be looked for.
func useful(list []string) []string {
	if slices.ContainsFunc(list, func(s string) bool { return len(s) < MinWord }) {
		return nil
	}
	return list
}

// spelled are all that an expression matches, if they are few.
func spelled(re *syntax.Regexp) (list []string, exact bool) {
	switch re.Op {
	case syntax.OpEmptyMatch, syntax.OpBeginLine, syntax.OpEndLine, syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary:
		return []string{""}, true
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 && !slices.ContainsFunc(re.Rune, odd) {
			return []string{string(re.Rune)}, true
		}
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			for r := re.Rune[i]; r <= re.Rune[i+1]; r++ {
				if odd(r) {
					return nil, false
				}
				if list = append(list, string(r)); len(list) > 4 {
					return nil, false
				}
			}
		}
		return list, len(list) > 0
	case syntax.OpCapture:
		return spelled(re.Sub[0])
	case syntax.OpQuest:
		list, exact = spelled(re.Sub[0])
		return append(list, ""), exact && len(list) < maxTexts
	case syntax.OpConcat:
		list = []string{""}
		for _, sub := range re.Sub {
			next, exact := spelled(sub)
			if list = product(list, next); !exact || len(list) == 0 {
				return nil, false
			}
		}
		return list, true
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			next, exact := spelled(sub)
			if list = append(list, next...); !exact || len(list) > maxTexts {
				return nil, false
			}
		}
		return list, true
	}
	return nil, false
}

// odd reports whether bytes which are no UTF-8 match a character too.
func odd(r rune) bool { return r == utf8.RuneError || !utf8.ValidRune(r) }

// product joins each text with each other; none if they become too many.
func product(a, b []string) (list []string) {
	if len(a)*len(b) > maxTexts {
		return nil
	}
	for _, x := range a {
		for _, y := range b {
			list = append(list, x+y)
		}
	}
	return list
}

// inQuery reports whether every match of a pattern holds one of the bytes that part a query.
func inQuery(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		return slices.Contains(re.Rune, '?') || slices.Contains(re.Rune, '&') || slices.Contains(re.Rune, ';')
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			if re.Rune[i] != re.Rune[i+1] || re.Rune[i] != '?' && re.Rune[i] != '&' && re.Rune[i] != ';' {
				return false
			}
		}
		return true
	case syntax.OpCapture, syntax.OpPlus:
		return inQuery(re.Sub[0])
	case syntax.OpConcat:
		return slices.ContainsFunc(re.Sub, inQuery)
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			if !inQuery(sub) {
				return false
			}
		}
		return true
	}
	return false
}
