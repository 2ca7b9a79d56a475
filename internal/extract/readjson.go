package extract

import (
	"encoding/json"
	"html"
	"io"
	"strings"
)

// readJSON reads the values of a script. Of one with the faults that hand-made templates have, what was meant is read: see repaired.
func readJSON(script string) (values []any) {
	script = strings.TrimSpace(script)
	var data any
	if json.Unmarshal([]byte(script), &data) == nil {
		return []any{data}
	}
	decoder := json.NewDecoder(strings.NewReader(repaired(script)))
	for len(values) < maxEntities {
		var next any
		if err := decoder.Decode(&next); err != nil {
			if err != io.EOF && len(values) == 0 {
				return nil
			}
			break
		}
		values = append(values, next)
	}
	return values
}

// wrapped is what stands around a script for the sake of old browsers.
var wrapped = strings.NewReplacer("<!--", "", "-->", "", "//<![CDATA[", "", "//]]>", "", "/*<![CDATA[*/", "", "/*]]>*/", "", "<![CDATA[", "", "]]>", "", "\ufeff", "")

// repaired takes the commonest faults out of JSON: signs of comments and of CDATA around it, character references in place of quotes, line
// ends and tabs in texts, quotes and backslashes in texts that are not escaped, commas before a closing bracket or twice, comments, and a
// semicolon at the end. It looks at each byte a few times and never adds more than one for each.
func repaired(s string) string {
	s = strings.TrimSuffix(strings.TrimSpace(wrapped.Replace(s)), ";")
	if strings.Contains(s, "&quot;") && !strings.Contains(s, `"`) {
		s = html.UnescapeString(s)
	}
	b := make([]byte, 0, len(s)+16)
	in := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case in && c == '\\':
			if i+1 < len(s) && strings.IndexByte(`"\/bfnrtu`, s[i+1]) >= 0 {
				b = append(b, c, s[i+1])
				i++
			}
		case in && c == '"':
			if closes(s[i+1:]) {
				in = false
			} else {
				b = append(b, '\\')
			}
			b = append(b, c)
		case in && c < ' ':
			b = append(b, ' ')
		case in:
			b = append(b, c)
		case c == '"':
			in = true
			b = append(b, c)
		case c == ',':
			if next := after(s[i+1:]); next != 0 && next != '}' && next != ']' && next != ',' {
				b = append(b, c)
			}
		case c == '/' && i+1 < len(s) && (s[i+1] == '/' || s[i+1] == '*'):
			end := "\n"
			if s[i+1] == '*' {
				end = "*/"
			}
			at := strings.Index(s[i+2:], end)
			if at < 0 {
				return string(b)
			}
			i += 1 + at + len(end)
		default:
			b = append(b, c)
		}
	}
	return string(b)
}

// maxAhead bounds the white space that is looked past, in bytes.
const maxAhead = 256

// after is the first byte of a text that is no white space; 0 if there is none.
func after(s string) byte {
	for i := range min(len(s), maxAhead) {
		if s[i] > ' ' {
			return s[i]
		}
	}
	return 0
}

// closes reports whether a quote before rest ends a text: behind it comes what may follow one.
func closes(rest string) bool {
	switch next := after(rest); next {
	case 0, ':', '}', ']':
		return true
	case ',':
		at := strings.IndexByte(rest, ',')
		then := after(rest[at+1:])
		return then == 0 || strings.IndexByte("\"{[}],-/0123456789tfn", then) >= 0
	}
	return false
}
