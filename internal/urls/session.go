package urls

import (
	"slices"
	"strings"
)

const (
	// sessionLength is how many hexadecimal digits a session has.
	sessionLength = 32
	// phpSession names the sessions that are of another form: of phpLeast to phpMost letters and digits (session.sid_length of PHP).
	phpSession        = "phpsessid"
	phpLeast, phpMost = 22, 48
	// leastSession is the length of the shortest argument that may hold a session: "s=" and its digits, or the name of phpSession.
	leastSession = len(phpSession) + 1 + phpLeast
)

// sessions are names of parameters, in lower case, that name a session if their value looks like one: a parameter of such a short name may well mean
// something else.
type sessions map[string]bool

func newSessions(list []string) sessions {
	s := sessions{}
	for _, name := range list {
		s[strings.ToLower(name)] = true
	}
	return s
}

// has reports whether an argument of a query names a session.
func (s sessions) has(argument string) bool {
	if len(argument) < leastSession {
		return false
	}
	name, value, _ := strings.Cut(argument, "=")
	if name = strings.ToLower(name); !s[name] {
		return false
	}
	if name == phpSession {
		return len(value) >= phpLeast && len(value) <= phpMost && allOf(value, isPHPSession)
	}
	return len(value) == sessionLength && allOf(value, isHex)
}

// without takes sessions out of a query, with the ampersands that then stand at its ends.
func (s sessions) without(query string) string {
	if len(s) == 0 || len(query) < leastSession {
		return query
	}
	for argument := range strings.SplitSeq(query, "&") {
		if s.has(argument) {
			return strings.Trim(strings.Join(slices.DeleteFunc(strings.Split(query, "&"), s.has), "&"), "&")
		}
	}
	return query
}

func isPHPSession(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == ',' || c == '-'
}

func allOf(text string, is func(byte) bool) bool {
	for i := range len(text) {
		if !is(text[i]) {
			return false
		}
	}
	return true
}
