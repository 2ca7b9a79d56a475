package robots

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// group is a group of rules as it stands in the file.
type group struct {
	agents   []string
	allow    []string
	disallow []string
	delay    float64 // seconds; −1: none
}

func (g *group) closed() bool { return len(g.allow)+len(g.disallow) > 0 }

// rewrite makes of a robots.txt one that says the same to the library as this does to the RFC:
//
//   - Comments, unknown lines, rules before the first group and a Crawl-delay that is no number are
//     left out: the library takes some of them for rules and refuses the whole file for others.
//   - Of rules of equal length the allowing one wins (§2.2.2); the library takes the first. So the
//     allowing rules of all groups come first; it merges groups of one name itself.
//   - A group that forbids nothing is a group still (§2.2.1): it gets a rule that never matches.
//   - Only a rule closes a list of user agents, other lines do not (§2.2.4).
//   - Product tokens match whole (§2.2.1), not as prefixes. Of other agents' groups nothing is kept: the
//     library copies each rule for each agent, which a hostile file can make a great many times.
//   - Paths are normalised and written in letters, see pattern.
func rewrite(body []byte, agent string) []byte {
	groups := read(body, agent)
	var out bytes.Buffer
	write := func(g group, name string, paths []string) {
		for _, agent := range g.agents {
			out.WriteString("user-agent: " + agent + "\n")
		}
		for _, path := range paths {
			out.WriteString(name + ": " + path + "\n")
		}
	}
	groups = slices.DeleteFunc(groups, func(g group) bool { return len(g.agents) == 0 })
	for _, g := range groups {
		write(g, "allow", append(g.allow, "/!"))
		if g.delay >= 0 {
			out.WriteString("crawl-delay: " + strconv.FormatFloat(g.delay, 'f', -1, 64) + "\n")
		}
	}
	for _, g := range groups {
		if len(g.disallow) > 0 {
			write(g, "disallow", g.disallow)
		}
	}
	return out.Bytes()
}

func read(body []byte, agent string) []group {
	var groups []group
	for line := range bytes.Lines(bytes.ReplaceAll(body, []byte("\r"), []byte("\n"))) {
		key, value := field(line)
		if key == "user-agent" {
			if len(groups) == 0 || groups[len(groups)-1].closed() {
				groups = append(groups, group{delay: -1})
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
		case "allow":
			g.allow = append(g.allow, pattern(value))
		case "disallow":
			g.disallow = append(g.disallow, pattern(value))
		case "crawl-delay":
			if v, err := strconv.ParseFloat(value, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
				g.delay = min(v, MaxAge.Seconds())
			}
		}
	}
	return groups
}

// misspelt are the frequent misspellings that Google's parser takes as well.
var misspelt = map[string]string{
	"useragent": "user-agent", "user agent": "user-agent", "dissallow": "disallow", "dissalow": "disallow",
	"disalow": "disallow", "diasllow": "disallow", "disallaw": "disallow", "crawldelay": "crawl-delay",
}

// field cuts a line into its key and its value; a space does where the colon is missing.
func field(line []byte) (key, value string) {
	text, _, _ := strings.Cut(string(line), "#")
	key, value, ok := strings.Cut(text, ":")
	if words := strings.Fields(text); !ok && len(words) == 2 {
		key, value = words[0], words[1]
	}
	key = strings.ToLower(strings.TrimSpace(key))
	if proper, known := misspelt[key]; known {
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

// pattern is a rule's path as the library shall match it. The library compares the lengths of what it
// makes of the paths and does not anchor those with wildcards. So each octet becomes a letter of two
// bytes, as long as a wildcard becomes (".*"; "$$" for a last '$'), and of none does quoting make
// more; and a '/', which is none of the letters, anchors the whole. A wildcard at the end says nothing
// and does not count. The path of a rule that can match no URL is one that never does.
func pattern(path string) string {
	if path == "" || len(path) > urls.MaxLength {
		return "/!"
	}
	path, end := strings.CutSuffix(path, "$")
	if !strings.HasPrefix(path, "/") && !strings.HasPrefix(path, "*") {
		path = "/" + path
	}
	parts := strings.Split(path, "*")
	for i := range parts {
		parts[i] = letters(parts[i])
	}
	text := "/" + strings.Join(parts, "*")
	for strings.Contains(text, "**") {
		text = strings.ReplaceAll(text, "**", "*")
	}
	if end {
		text += "$$"
	}
	return text
}

// subject is path and query as they are held against the patterns.
func subject(requestURI string) string { return "/" + letters(requestURI) }

// letters normalises a path (§2.2.2) and writes it with a letter for each octet: escapes of unreserved
// characters and of '*' and '$' are taken off, the others put into upper case, and what may not stand
// in a URL is escaped.
func letters(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	letter := func(c byte) { b.WriteRune(0x100 + rune(c)) }
	escaped := func(c byte) {
		letter('%')
		letter(hex[c>>4])
		letter(hex[c&15])
	}
	for i := 0; i < len(path); i++ {
		c := path[i]
		if c != '%' {
			if c <= ' ' || c >= 0x7f {
				escaped(c)
			} else {
				letter(c)
			}
			continue
		}
		v, err := strconv.ParseUint(path[i+1:min(i+3, len(path))], 16, 8)
		if err != nil || i+2 >= len(path) {
			escaped('%')
			continue
		}
		if strings.IndexByte("-._~*$", byte(v)) >= 0 || v < 0x80 && alphanumeric(byte(v)) {
			letter(byte(v))
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
