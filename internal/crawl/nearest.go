package crawl

import (
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Nearest is the name that another may have been meant for: the one with the fewest letters to change, at most two, or
// a third of them; of short names one. Empty if there is none.
func Nearest(name string, known []string) string {
	best, least := "", max(len(name)/3, 2)+1
	if len(name) < 4 {
		least = 2
	}
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	return best
}

// distance is Levenshtein's, of bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := corner
			if a[i] != b[j] {
				cost++
			}
			corner = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// LineOf is the line of a key in YAML, such as "scope.hosts" or "seeds[2].file"; 0 if it is not found.
func LineOf(text []byte, path string) int {
	var document yaml.Node
	if yaml.Unmarshal(text, &document) != nil {
		return 0
	}
	return lineIn(&document, path)
}

// lineIn is LineOf in a text that is parsed.
func lineIn(document *yaml.Node, path string) int {
	if len(document.Content) == 0 {
		return 0
	}
	at, line := document.Content[0], 0
	for _, step := range steps(path) {
		next := (*yaml.Node)(nil)
		switch n, err := strconv.Atoi(step); {
		case at.Kind == yaml.SequenceNode && err == nil && n < len(at.Content):
			next, line = at.Content[n], at.Content[n].Line
		case at.Kind == yaml.MappingNode:
			for i := 0; i+1 < len(at.Content); i += 2 {
				if at.Content[i].Value == step {
					next, line = at.Content[i+1], at.Content[i].Line
				}
			}
		}
		if next == nil {
			return 0
		}
		at = next
	}
	return line
}

// steps are the fields, numbers and names that a path goes by; what is in brackets may contain dots.
func steps(path string) (list []string) {
	for path != "" {
		before, rest, bracket := strings.Cut(path, "[")
		list = append(list, strings.FieldsFunc(before, func(r rune) bool { return r == '.' })...)
		if !bracket {
			break
		}
		inside, after, _ := strings.Cut(rest, "]")
		list, path = append(list, inside), after
	}
	return list
}

// unknownKey says that a key is not known, what may have been meant, and what there is.
func unknownKey(key string, known []string) string {
	near := Nearest(key, known)
	if near != "" {
		near = fmt.Sprintf("did you mean %s? ", near)
	}
	return "is not known here; " + near + "known: " + strings.Join(known, ", ")
}
