package robots

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/urls"
)

// line is a rule as it stands in the file.
type line struct {
	path  string
	allow bool
}

// group is a group of rules as it stands in the file. Of its agents, only the one that is asked for and "*" are kept.
type group struct {
	agents []string
	lines  []line
	delay  time.Duration
}

// readGroups cuts a file into its groups. Only a rule closes a list of user agents, other lines do not (§2.2.4); lines
// before the first group, and a Crawl-delay that is no number, count for nothing. Product tokens match whole
// (§2.2.1), not as prefixes.
func readGroups(body []byte, agent string) []group {
	var groups []group
	for text := range bytes.Lines(bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))) {
		key, value := splitLine(text)
		if key == "user-agent" {
			if len(groups) == 0 || len(groups[len(groups)-1].lines) > 0 {
				groups = append(groups, group{})
			}
			g := &groups[len(groups)-1]
			if name := groupName(value); (name == "*" || name == agent && name != "") && !slices.Contains(g.agents, name) {
				g.agents = append(g.agents, name)
			}
			continue
		}
		if len(groups) == 0 {
			continue
		}
		g := &groups[len(groups)-1]
		switch key {
		case "allow", "disallow":
			g.lines = append(g.lines, line{value, key == "allow"})
		case "crawl-delay":
			if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
				g.delay = time.Duration(min(v, MaxAge.Seconds()) * float64(time.Second))
			}
		}
	}
	return groups
}

// misspelledKeys are the frequent misspellings that Google's parser takes as well.
var misspelledKeys = map[string]string{
	"useragent": "user-agent", "user agent": "user-agent", "dissallow": "disallow", "dissalow": "disallow",
	"disalow": "disallow", "diasllow": "disallow", "disallaw": "disallow", "crawldelay": "crawl-delay",
}

// splitLine cuts a line into its key and its value; a space does where the colon is missing.
func splitLine(line []byte) (key, value string) {
	text, _, _ := strings.Cut(string(line), "#")
	key, value, ok := strings.Cut(text, ":")
	if words := strings.Fields(text); !ok && len(words) == 2 {
		key, value = words[0], words[1]
	}
	key = strings.ToLower(strings.TrimSpace(key))
	if proper, known := misspelledKeys[key]; known {
		key = proper
	}
	return key, strings.TrimSpace(value)
}

// groupName is the name of the group of a user agent: its product token in lower case, or "*".
func groupName(agent string) string {
	words := strings.Fields(agent)
	if len(words) == 0 {
		return ""
	}
	return strings.ToLower(Token(words[0]))
}

// parsePattern is a rule's path as it is matched: normalised, with wild for its wildcards, and whether it must match to
// the end. ok is false if no URL can match.
func parsePattern(path string) (text string, end, ok bool) {
	if path == "" || len(path) > urls.MaxLength {
		return "", false, false
	}
	path, end = strings.CutSuffix(path, "$")
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "*") {
		path = "/" + path
	}
	parts := strings.Split(path, "*")
	for i := range parts {
		parts[i] = normalPath(parts[i])
	}
	return strings.Join(parts, string(wildcard)), end, true
}

// normalPath normalises a path (§2.2.2): escapes of unreserved characters and of '*' and '$' are taken off, the others put
// into upper case, and what may not stand in a URL is escaped.
func normalPath(path string) string {
	const hex = "0123456789ABCDEF"
	if !strings.ContainsFunc(path, func(c rune) bool { return c == '%' || c <= ' ' || c >= 0x7f }) {
		return path
	}
	var b strings.Builder
	escaped := func(c byte) { b.Write([]byte{'%', hex[c>>4], hex[c&15]}) }
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			if c <= ' ' || c >= 0x7f {
				escaped(c)
			} else {
				b.WriteByte(c)
			}
			continue
		}
		v, err := strconv.ParseUint(path[i+1:min(i+3, len(path))], 16, 8)
		if err != nil || i+2 >= len(path) {
			escaped('%')
			continue
		}
		if strings.IndexByte("-._~*$", byte(v)) >= 0 || v < 0x80 && alphanumeric(byte(v)) {
			b.WriteByte(byte(v))
		} else {
			escaped(byte(v))
		}
		i += 2
	}
	return b.String()
}

func alphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
