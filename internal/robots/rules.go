package robots

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unsafe"
)

// MaxGlobs is how many rules with wildcards or ends are kept of one file. Each costs a walk along every URL. Of those
// beyond, an allowing one is left out, and a disallowing one counts up to its first wildcard or its end: a
// file that long may forbid more than it says, never less.
const MaxGlobs = 5000

// set are the rules of a group. It holds one text and two tables, so that a file of 500 KiB costs little more than its
// own size in memory.
type set struct {
	text     string // of all patterns, one after the other
	prefixes []rule // without wildcard and end, sorted by pattern, each once
	parents  []int32
	globs    []rule // the others, by priority: the longest first, of equal ones those that allow
	delay    time.Duration
}

// rule is a pattern, a piece of the set's text. wild stands in it for a wildcard.
type rule struct {
	from, to int32
	priority int16 // the length of the pattern in octets (RFC 9309 §2.2.2), wildcards and end counted
	end      bool  // the pattern must match to the end
	allow    bool
}

// wildcard stands for a wildcard in a pattern. Patterns and URLs have no such octet: it is escaped in both.
const wildcard = '\x00'

func (s *set) pattern(r rule) string { return s.text[r.from:r.to] }

// newSet makes the set of what one or several groups say.
func newSet(groups []group) *set {
	s := &set{}
	var text strings.Builder
	globs := 0
	for _, g := range groups {
		s.delay = max(s.delay, g.delay)
		for _, l := range g.lines {
			r, pattern, ok := newRule(l)
			if !ok {
				continue
			}
			plain := !r.end && strings.IndexByte(pattern, wildcard) < 0
			if !plain {
				globs++
			}
			if !plain && globs > MaxGlobs && r.allow {
				continue
			}
			if !plain && globs > MaxGlobs {
				pattern, _, _ = strings.Cut(pattern, string(wildcard))
				r.end, plain = false, true
			}
			r.from, r.to = int32(text.Len()), int32(text.Len()+len(pattern))
			text.WriteString(pattern)
			if plain {
				s.prefixes = append(s.prefixes, r)
			} else {
				s.globs = append(s.globs, r)
			}
		}
	}
	s.text = strings.Clone(text.String())
	s.sort()
	return s
}

// newRule reads a line; ok is false if it can match no URL.
func newRule(l line) (r rule, text string, ok bool) {
	pattern, end, ok := parsePattern(l.path)
	r = rule{end: end, allow: l.allow, priority: int16(len(pattern))}
	if end {
		r.priority++
	}
	for strings.Contains(pattern, string(wildcard)+string(wildcard)) {
		pattern = strings.ReplaceAll(pattern, string(wildcard)+string(wildcard), string(wildcard))
	}
	if trimmed := strings.TrimRight(pattern, string(wildcard)); trimmed != pattern { // a trailing * matches nothing more, but counts for the length
		pattern, r.end = trimmed, false
	}
	return r, pattern, ok
}

// sort brings the rules into the order in which verdict looks for them.
func (s *set) sort() {
	allowFirst := func(a, b rule) int {
		switch {
		case a.allow == b.allow:
			return 0
		case a.allow:
			return -1
		}
		return 1
	}
	longest := func(a, b rule) int { return cmp.Or(cmp.Compare(b.priority, a.priority), allowFirst(a, b)) }
	slices.SortFunc(s.prefixes, func(a, b rule) int { return cmp.Or(strings.Compare(s.pattern(a), s.pattern(b)), longest(a, b)) })
	s.prefixes = slices.CompactFunc(s.prefixes, func(a, b rule) bool { return s.pattern(a) == s.pattern(b) })
	s.prefixes = slices.Clone(s.prefixes)
	slices.SortStableFunc(s.globs, longest)
	s.globs = slices.Clone(s.globs)
	s.parents = make([]int32, len(s.prefixes))
	for i, r := range s.prefixes {
		s.parents[i] = s.longestPrefix(int32(i-1), s.pattern(r))
	}
}

// longestPrefix is the longest of the patterns from one upwards through its parents that begins the text; −1 if none does.
func (s *set) longestPrefix(from int32, text string) int32 {
	for from >= 0 && !strings.HasPrefix(text, s.pattern(s.prefixes[from])) {
		from = s.parents[from]
	}
	return from
}

// allowed applies the rule that matches the most octets of a normalised path; without a matching rule the path is allowed.
func (s *set) allowed(path string) bool {
	best := rule{allow: true, priority: -1}
	// All that stands between a pattern and a path that it begins has that pattern as its beginning, too: so the
	// longest one is the last before the path, or one of its parents.
	at, found := slices.BinarySearchFunc(s.prefixes, path, func(r rule, path string) int { return strings.Compare(s.pattern(r), path) })
	if !found {
		at--
	}
	for i := s.longestPrefix(int32(at), path); i >= 0; i = s.parents[i] {
		if r := s.prefixes[i]; r.better(best) {
			best = r
		}
	}
	for _, r := range s.globs {
		if !r.better(best) {
			if r.priority < best.priority {
				break
			}
			continue
		}
		if matches(s.pattern(r), path, r.end) {
			best = r
		}
	}
	return best.allow
}

// better reports whether a rule beats another that matches, too.
func (r rule) better(than rule) bool {
	return r.priority > than.priority || r.priority == than.priority && r.allow && !than.allow
}

// matches reports whether a pattern matches a path, in time linear in both: taking each piece between two wildcards
// where it is first found never spoils a match.
func matches(pattern, path string, end bool) bool {
	piece, rest, more := strings.Cut(pattern, string(wildcard))
	if !strings.HasPrefix(path, piece) {
		return false
	}
	path = path[len(piece):]
	for more {
		piece, rest, more = strings.Cut(rest, string(wildcard))
		if !more && end {
			return strings.HasSuffix(path, piece)
		}
		at := strings.Index(path, piece)
		if at < 0 {
			return false
		}
		path = path[at+len(piece):]
	}
	return !end || path == ""
}

// size is what the set holds in memory, in bytes.
func (s *set) size() int {
	return len(s.text) + (cap(s.prefixes)+cap(s.globs))*int(unsafe.Sizeof(rule{})) + cap(s.parents)*4 + int(unsafe.Sizeof(*s))
}
