package traps

import (
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// The levels of patterns, from narrow to broad.
const (
	levelPage    = iota // host, path and the names of the arguments
	levelFolder         // all of a folder of a host
	levelSection        // all below the first segment of a path
	levelHost           // all of a host
	levelPLD            // all of a pay-level domain
	levels
)

// From where on the form of a URL is suspicious by itself.
const (
	longURL     = 512 // bytes
	manySegs    = 20  // segments of a path
	manyArgs    = 16  // arguments of a query
	repetitions = 3   // of the same segments one after the other
	longCycle   = 4   // segments that repeat together
	shortName   = 3   // letters of a segment below which it may stand anywhere
)

// Shape is what machines vary in a URL taken out of it: numbers are 0, invented words ~, and arguments have names alone.
type Shape struct {
	patterns [levels]string // "": none of that level
	// Invented says that the URL has a session or a hash, or repeats itself: something that machines make without end. Dated says that it has a date.
	Invented, Dated bool
	// Odd says that the URL's form is suspicious by itself; Repeats that its path repeats itself.
	Odd, Repeats bool
}

// sessions takes the sessions off queries that common applications add for visitors without cookies: the links of a whole forum have them.
var sessions = urls.NewForm(nil, nil, crawl.Canonical{}.Sessions())

// WithoutSession is a URL without the sessions that visitors without cookies have in it: each visit has others.
func WithoutSession(u urls.URL) urls.URL { return sessions.Of(u) }

// ShapeOf returns the shape of a URL.
func ShapeOf(u urls.URL) (s Shape) {
	u = WithoutSession(u)
	var b strings.Builder
	b.Grow(len(u.Host()) + len(u.RequestURI()))
	s.Invented = general(&b, u.Host()) || repeats(strings.Split(u.Host(), ".")) > 0
	host := b.String()
	path, query, _ := strings.Cut(u.RequestURI(), "?")
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	args := arguments(query)
	s.Odd = len(u.String()) > longURL || len(segments) > manySegs || strings.Count(query, "&") >= manyArgs
	if pld := u.PLD(); pld != u.Host() {
		s.patterns[levelPLD] = "*." + pld + "/**"
	}
	s.patterns[levelHost] = host + "/**"
	if repeats(segments) > 0 || returns(segments) {
		s.Invented, s.Odd, s.Repeats = true, true, true
		s.patterns[levelPage] = host + "/…(repeated segments)"
		return s
	}
	for i, segment := range segments {
		b.WriteByte('/')
		s.Invented = general(&b, segment) || s.Invented
		if i == 0 && len(segments) > 2 {
			s.patterns[levelSection] = b.String() + "/**"
		}
		if i == len(segments)-2 {
			s.patterns[levelFolder] = b.String() + "/*"
		}
	}
	if len(segments) == 1 {
		s.patterns[levelFolder] = host + "/*"
	}
	s.Dated = dated(path) || slices.ContainsFunc(args, func(a string) bool { return a == "date" || a == "year" || a == "month" || a == "day" || a == "week" })
	if len(args) > 0 {
		b.WriteByte('?')
		b.WriteString(strings.Join(args, "&"))
		s.Invented = invented(query) || s.Invented
	}
	s.patterns[levelPage] = b.String()
	return s
}

// In reports whether a URL is of one of some patterns.
func (s *Shape) In(patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return p != "" && slices.Contains(s.patterns[:], p) })
}

// shapeOf is the shape of a canonical URL.
func shapeOf(url string) (s Shape, ok bool) {
	u, err := urls.Trusted(url)
	if err != nil {
		return s, false
	}
	return ShapeOf(u), true
}

// arguments are the names of a query, each once, in order.
func arguments(query string) (names []string) {
	for query != "" {
		var arg string
		arg, query, _ = strings.Cut(query, "&")
		name, _, _ := strings.Cut(arg, "=")
		if name != "" {
			var b strings.Builder
			general(&b, name)
			names = append(names, b.String())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// invented reports whether a value of a query is an invented word.
func invented(query string) bool {
	for query != "" {
		var arg string
		arg, query, _ = strings.Cut(query, "&")
		_, value, _ := strings.Cut(arg, "=")
		var b strings.Builder
		if general(&b, value) {
			return true
		}
	}
	return false
}

// general writes a text with its numbers and invented words replaced, and reports whether it has an invented word.
func general(b *strings.Builder, text string) (found bool) {
	for i := 0; i < len(text); {
		if len(text)-i >= 36 && isUUID(text[i:]) {
			b.WriteByte('~')
			i, found = i+36, true
			continue
		}
		end := i
		for end < len(text) && alnum(text[end]) {
			end++
		}
		switch word := text[i:end]; {
		case end == i:
			b.WriteByte(text[i])
			end++
		case digits(word):
			b.WriteByte('0')
		case machine(word):
			b.WriteByte('~')
			found = true
		default:
			for j := range len(word) {
				if !digit(word[j]) {
					b.WriteByte(word[j])
				} else if j == 0 || !digit(word[j-1]) {
					b.WriteByte('0')
				}
			}
		}
		i = end
	}
	return found
}

// machine reports whether a word was made by a machine: hexadecimal digits, letters and digits mixed, cases mixed, or letters that nobody can
// pronounce.
func machine(word string) bool {
	if len(word) < 6 {
		return false
	}
	hex, anyDigit, changes, cases, run, longest := true, false, 0, 0, 0, 0
	for i := range len(word) {
		c := word[i]
		isDigit := digit(c)
		anyDigit = anyDigit || isDigit
		hex = hex && (isDigit || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F')
		if i > 0 && isDigit != digit(word[i-1]) {
			changes++
		}
		if i > 0 && c >= 'A' && c <= 'Z' && word[i-1] >= 'a' && word[i-1] <= 'z' {
			cases++
		}
		if isDigit || strings.IndexByte("aeiouyAEIOUY", c) >= 0 {
			run = 0
		} else {
			run++
		}
		longest = max(longest, run)
	}
	return hex && anyDigit && len(word) >= 8 || changes >= 3 || anyDigit && changes > 0 && len(word) >= 16 || cases >= 3 && len(word) <= 24 || longest >= 5 && !strings.Contains(word, "ght")
}

// isUUID reports whether a text begins with a UUID.
func isUUID(text string) bool {
	if len(text) < 36 || text[8] != '-' || text[13] != '-' || text[18] != '-' || text[23] != '-' {
		return false
	}
	for i := range 36 {
		if c := text[i]; c != '-' && !digit(c) && (c|0x20 < 'a' || c|0x20 > 'f') {
			return false
		}
	}
	return true
}

// dated reports whether a text has a year and a month, such as 2026-11 or /2026/11/.
func dated(text string) bool {
	for i := 0; i+6 <= len(text); i++ {
		if i > 0 && digit(text[i-1]) || !digits(text[i:i+4]) || text[i:i+2] != "19" && text[i:i+2] != "20" {
			continue
		}
		next := text[i+4]
		if !digit(next) && !alnum(next) && digit(text[i+5]) && (i+7 >= len(text) || !digit(text[i+6]) || !digit(text[i+7])) {
			return true
		}
	}
	return false
}

// repeats returns how many of the first segments it takes to see that some segments stand there repeatedly, one after the other; 0 if none do.
func repeats(segments []string) int {
	for cycle := 1; cycle <= longCycle; cycle++ {
		same := 0
		for i := cycle; i < len(segments); i++ {
			if segments[i] != segments[i-cycle] || segments[i] == "" {
				same = 0
				continue
			}
			if same++; same >= (repetitions-1)*cycle {
				return i + 1
			}
		}
	}
	return 0
}

// returns reports whether a name stands in a path repeatedly, with others between. Numbers and short names do in honest paths.
func returns(segments []string) bool {
	if len(segments) < 2*repetitions-1 {
		return false
	}
	for i, name := range segments {
		if len(name) < shortName || digits(name) {
			continue
		}
		n := 1
		for _, other := range segments[i+1:] {
			if other == name {
				n++
			}
		}
		if n >= repetitions {
			return true
		}
	}
	return false
}

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return len(s) > 0
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func alnum(c byte) bool {
	return digit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '%' || c >= 0x80
}
