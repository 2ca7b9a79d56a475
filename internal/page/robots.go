package page

import (
	"slices"
	"strings"
)

// maxRobots bounds what is kept of what a page asks robots for, in bytes.
const maxRobots = 256

// robotsField reads an X-Robots-Tag field. In between "name:" says for which robot the rules behind it are, as in "otherbot: noarchive, nofollow".
func (b *builder) robotsField(content string) { b.robots("", content, true) }

// robotsMeta reads a meta element for the robot of a name, "" for all. There "word:" names no robot.
func (b *builder) robotsMeta(name, content string) { b.robots(name, content, false) }

// robots reads rules for the robot of a name, "" for all, or of the names in it. Those for another robot than this one are kept and not obeyed. There is no standard; this is
// how Google and Bing document them.
func (b *builder) robots(name, content string, names bool) {
	content = strings.ReplaceAll(strings.ToLower(content), " :", ":")
	for rest := content; rest != ""; {
		part := rest
		part, rest, _ = strings.Cut(rest, ",")
		words := strings.Fields(part)
	words:
		for i := 0; i < len(words); i++ {
			word, value, valued := strings.Cut(words[i], ":")
			switch {
			case word == "unavailable_after":
				value = strings.TrimSpace(value + " " + strings.Join(words[i+1:], " "))
				if next, more, _ := strings.Cut(rest, ","); startsWithDigit(next) { // as in "Wednesday, 17-Oct-2012 18:00:00 BST"
					value, rest = value+" "+strings.TrimSpace(next), more
				}
				b.noteRobots(name, word+":"+value)
				break words
			case strings.HasPrefix(word, "max-"), !names && valued && !isRule(word) && isRobot(word): // max-image-preview: none is no "none"
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
