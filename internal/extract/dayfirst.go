package extract

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// dayFirst reports whether 5/6/2014 is the fifth of June on a page: not in English, unless it is that of another country than the United
// States and Canada.
func (p *Page) dayFirst() bool {
	tree := p.Eval.Tree
	for id := int32(0); int(id) < min(tree.Len(), 8); id++ {
		if n := tree.At(id); n.DataAtom == atom.Html {
			switch lang := strings.ToLower(attr(n, "lang")); lang {
			case "en-gb", "en-au", "en-nz", "en-ie", "en-in", "en-za", "en_gb", "en_au":
				return true
			}
			break
		}
	}
	return p.Doc.Language != "" && p.Doc.Language != "en"
}

// dotted writes dates of three numbers with slashes, day first, with dots: package dates reads 5/6/2014 as the sixth of May, 5.6.2014 as
// the fifth of June. A year that comes first, and slashes of other things, stay.
func dotted(s string) string {
	for at := 0; at < len(s); at++ {
		next := strings.IndexByte(s[at:], '/')
		if next < 0 {
			break
		}
		at += next
		if second := secondSlash(s, at); second > 0 {
			s = s[:at] + "." + s[at+1:second] + "." + s[second+1:]
			at = second
		}
	}
	return s
}

// secondSlash is the place of the slash before the year of a date whose day stands before another slash; 0 if there is no such date.
func secondSlash(s string, first int) int {
	day := 0
	for day < 3 && day < first && isDigit(s[first-1-day]) {
		day++
	}
	if day == 0 || day > 2 || first > day+1 && s[first-1-day] == '/' && isDigit(s[first-2-day]) {
		return 0
	}
	month := digits(s[first+1:])
	second := first + 1 + month
	if month == 0 || month > 2 || second >= len(s) || s[second] != '/' {
		return 0
	}
	year := digits(s[second+1:])
	if end := second + 1 + year; year != 2 && year != 4 || end+1 < len(s) && s[end] == '/' && isDigit(s[end+1]) {
		return 0
	}
	return second
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

// withCentury writes the year of a date of three numbers with dots in full, if it has two digits: package dates reads 5.6.14 as a version.
func withCentury(s string) string {
	for at := 0; at+5 < len(s); at++ {
		if !isDigit(s[at]) || at > 0 && (isDigit(s[at-1]) || s[at-1] == '.') {
			continue
		}
		first := at + digits(s[at:])
		if first-at > 2 || first >= len(s) || s[first] != '.' {
			continue
		}
		second := first + 1 + digits(s[first+1:])
		if n := second - first - 1; n < 1 || n > 2 || second >= len(s) || s[second] != '.' {
			continue
		}
		end := second + 1 + digits(s[second+1:])
		if end-second-1 != 2 || end+1 < len(s) && s[end] == '.' && isDigit(s[end+1]) {
			continue
		}
		century := "20"
		if s[second+1] >= '5' {
			century = "19"
		}
		return s[:second+1] + century + s[second+1:]
	}
	return s
}

// digits is how many digits a text begins with.
func digits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}
