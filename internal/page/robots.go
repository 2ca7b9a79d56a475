package page

import (
	"slices"
	"strings"
)

// maxRobots bounds what is kept of what a page asks robots for, in bytes.
const maxRobots = 256

// robots reads a field or meta element for robots: rules for the robot of a name, "" for all. In between "name:" says for whom those behind it are, as in
// "X-Robots-Tag: otherbot: noarchive, nofollow". Those for another robot than this one are kept and not obeyed. There is no standard; this is how Google and Bing document
// the field.
func (b *builder) robots(name, content string) {
	content = strings.ReplaceAll(strings.ToLower(content), " :", ":")
	for rest, until := content, false; rest != ""; {
		part := rest
		if part, rest, _ = strings.Cut(rest, ","); until && startsWithDigit(part) {
			continue // the rest of a date
		}
		until = false
		words := strings.Fields(part)
		for i := 0; i < len(words) && !until; i++ {
			word, value, valued := strings.Cut(words[i], ":")
			switch {
			case word == "unavailable_after":
				until = true
				value = strings.TrimSpace(value + " " + strings.Join(words[i+1:], " "))
				b.noteRobots(name, word+":"+value)
			case strings.HasPrefix(word, "max-"): // max-image-preview: none is no "none"
				if value == "" && valued && i+1 < len(words) {
					i++
					value = words[i]
				}
				b.noteRobots(name, word+":"+value)
			case isRule(word):
				b.rule(name, word)
			case !valued || !isRobot(word):
				b.rule(name, words[i])
			default:
				if name = word; value != "" {
					b.rule(name, value)
				}
			}
		}
	}
}

// isRule reports whether a word is a rule, and the name of no robot.
func isRule(word string) bool {
	return slices.Contains([]string{"all", "index", "follow", "noindex", "nofollow", "none", "noarchive", "nosnippet", "noimageindex", "notranslate"}, word)
}

// isRobot reports whether a word may be the name of a robot.
func isRobot(word string) bool {
	return word != "" && (word[0] >= 'a' && word[0] <= 'z' || word == "*")
}

func startsWithDigit(part string) bool {
	part = strings.TrimSpace(part)
	return part != "" && part[0] >= '0' && part[0] <= '9'
}

// rule takes a rule for the robot of a name.
func (b *builder) rule(name, rule string) {
	if b.noteRobots(name, rule); name != "" && name != "*" && name != b.robot {
		return
	}
	b.doc.NoIndex = b.doc.NoIndex || rule == "noindex" || rule == "none"
	b.doc.NoFollow = b.doc.NoFollow || rule == "nofollow" || rule == "none"
}

// noteRobots keeps a rule that the page has for robots, once for each of them.
func (b *builder) noteRobots(name, rule string) {
	if name != "" {
		rule = name + ": " + rule
	}
	switch known := b.doc.Robots; {
	case known == "":
		b.doc.Robots = cut(rule, maxRobots)
	case len(known)+len(rule)+2 <= maxRobots && !slices.Contains(strings.Split(known, ", "), rule):
		b.doc.Robots = known + ", " + rule
	}
}
