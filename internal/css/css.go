// Package css finds the references of style sheets: what a browser may load for them (CSS Syntax 3, CSS Values 4 §4.5).
package css

import (
	"bytes"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tdewolff/parse/v2"
	"github.com/tdewolff/parse/v2/css"
)

// Reference is a URL as a style sheet has it, its escapes resolved.
type Reference struct {
	URL    string
	Import bool // of another style sheet
}

// Sheet yields the references of a style sheet in their order. A rule that no browser applies counts, too, such as one of another medium;
// an @import that all browsers ignore does not.
func Sheet(text []byte) iter.Seq[Reference] { return references(text, true) }

// Declarations yields the references of declarations, such as those of a style attribute.
func Declarations(text string) iter.Seq[Reference] { return references([]byte(text), false) }

// May reports whether a text can have references. It is quick, and errs by texts that have none.
func May(text string) bool {
	for i := 0; i < len(text); i++ {
		n := strings.IndexAny(text[i:], `(@\`)
		if n < 0 {
			return false
		}
		if i += n; text[i] != '(' {
			return true
		}
		if i > 0 && (text[i-1]|0x20 == 'l' || text[i-1]|0x20 == 't') { // url(, image-set(
			return true
		}
	}
	return false
}

// Charset is the encoding that a style sheet declares, "" if none (CSS Syntax 3 §3.2).
func Charset(text []byte) string {
	const begin = `@charset "`
	if !bytes.HasPrefix(text, []byte(begin)) {
		return ""
	}
	text = text[len(begin):min(len(text), 1024)]
	if end := bytes.Index(text, []byte(`";`)); end >= 0 {
		return string(text[:end])
	}
	return ""
}

// reader is where in a sheet the references are read.
type reader struct {
	imports  bool   // an @import is in force here: no other rule was before it
	braces   int    // blocks that are open
	at       string // at-rule whose prelude is read, in lower case; "" if none
	taken    bool   // … it is an @import that has its URL
	brackets []bool // parentheses that are open: whether strings in it are URLs, as in image-set()
	bare     []byte // what is read of a URL without quotes, in a url( that is written with an escape; nil if none is read
}

// maxBrackets is how many parentheses that are open are distinguished.
const maxBrackets = 64

func references(text []byte, sheet bool) iter.Seq[Reference] {
	return func(yield func(Reference) bool) {
		lexer := css.NewLexer(parse.NewInputBytes(text[:len(text):len(text)])) // it writes behind the text else
		r := reader{imports: sheet}
		for {
			kind, token := lexer.Next()
			if kind == css.ErrorToken {
				return
			}
			if ref, is := r.token(kind, token); is && ref.URL != "" && !yield(ref) {
				return
			}
		}
	}
}

// token takes the next token, and returns the reference that it is, if it is one.
func (r *reader) token(kind css.TokenType, token []byte) (ref Reference, is bool) {
	if r.bare != nil && kind != css.StringToken {
		return r.bareURL(kind, token)
	}
	r.bare = nil
	switch kind {
	case css.WhitespaceToken, css.CommentToken, css.CDOToken, css.CDCToken:
		return ref, false
	case css.AtKeywordToken:
		r.atRule(strings.ToLower(unescaped(token[1:])))
		return ref, false
	case css.SemicolonToken:
		r.at, r.brackets = "", r.brackets[:0]
		return ref, false
	case css.LeftBraceToken, css.RightBraceToken:
		r.brace(kind == css.LeftBraceToken)
		return ref, false
	case css.FunctionToken:
		name := strings.ToLower(unescaped(token[:len(token)-1]))
		if name == "url" {
			r.bare = []byte("(")
		}
		r.open(name == "image-set" || name == "-webkit-image-set" || name == "url") // url( if it has an escape
	case css.LeftParenthesisToken:
		r.open(false)
	case css.RightParenthesisToken:
		r.brackets = r.brackets[:max(len(r.brackets)-1, 0)]
	case css.StringToken:
		if inSet := len(r.brackets) > 0 && r.brackets[len(r.brackets)-1]; inSet || r.at == "import" && !r.taken {
			ref, is = Reference{URL: quoted(token)}, true
		}
	case css.URLToken, css.BadURLToken:
		ref, is = Reference{URL: urlOf(token, kind == css.BadURLToken)}, true
	}
	if r.at == "" && r.braces == 0 {
		r.imports = false
	}
	return r.refer(ref, is)
}

// bareURL takes a token of a URL without quotes, which the lexer does not know for one, and returns the URL at its end.
func (r *reader) bareURL(kind css.TokenType, token []byte) (ref Reference, is bool) {
	if r.bare = append(r.bare, token...); kind != css.RightParenthesisToken {
		return ref, false
	}
	ref = Reference{URL: urlOf(r.bare, false)}
	r.bare, r.brackets = nil, r.brackets[:max(len(r.brackets)-1, 0)]
	return r.refer(ref, true)
}

// refer says what a reference is by the rule that it stands in.
func (r *reader) refer(ref Reference, is bool) (Reference, bool) {
	switch r.at {
	case "import":
		ref.Import = is && !r.taken
		r.taken = r.taken || is
		return ref, ref.Import
	case "import that is ignored", "namespace", "document", "-moz-document": // names of things, which nobody loads
		return ref, false
	}
	return ref, is
}

// atRule begins the prelude of an at-rule. An @import counts before all other rules but @charset and the statement @layer
// (CSS Cascade 5 §2.1).
func (r *reader) atRule(name string) {
	r.at, r.taken, r.brackets = name, false, r.brackets[:0]
	switch {
	case name == "import":
		if !r.imports || r.braces > 0 {
			r.at = "import that is ignored"
		}
	case name != "charset" && name != "layer":
		r.imports = false
	}
}

func (r *reader) brace(opens bool) {
	if opens {
		r.braces++
		r.imports = false
	} else {
		r.braces = max(r.braces-1, 0)
	}
	r.at, r.brackets = "", r.brackets[:0]
}

func (r *reader) open(ofURLs bool) {
	if len(r.brackets) < maxBrackets {
		r.brackets = append(r.brackets, ofURLs)
	}
}

// urlOf is the URL of a token "url(…)". A bad one counts if it begins with a string: a comment or a modifier may follow.
func urlOf(token []byte, bad bool) string {
	_, in, _ := bytes.Cut(token, []byte("("))
	in = bytes.Trim(in, " \t\r\n\f")
	if len(in) > 0 && (in[0] == '"' || in[0] == '\'') {
		return quoted(in)
	}
	if bad {
		return ""
	}
	return unescaped(bytes.TrimRight(bytes.TrimSuffix(in, []byte(")")), " \t\r\n\f"))
}

// quoted is the content of the string that a text begins with; "" if it has no end on its line.
func quoted(text []byte) string {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '\n', '\r', '\f':
			return ""
		case text[0]:
			return unescaped(text[1:i])
		}
	}
	return unescaped(text[1:]) // the sheet ends in it
}

// unescaped resolves escapes (CSS Syntax 3 §4.3.7).
func unescaped(text []byte) string {
	if bytes.IndexByte(text, '\\') < 0 {
		return string(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			b.WriteByte(text[i])
			continue
		}
		if i++; i == len(text) {
			break
		}
		digits := i
		for digits < len(text) && digits < i+6 && isHex(text[digits]) {
			digits++
		}
		switch {
		case digits > i:
			code, _ := strconv.ParseUint(string(text[i:digits]), 16, 32)
			if code == 0 || code > utf8.MaxRune {
				code = utf8.RuneError
			}
			b.WriteRune(rune(code))
			if i = digits - 1; digits < len(text) && strings.IndexByte(" \t\r\n\f", text[digits]) >= 0 {
				i++
				if text[digits] == '\r' && digits+1 < len(text) && text[digits+1] == '\n' {
					i++
				}
			}
		case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n': // a line that continues
			i++
		case text[i] == '\n' || text[i] == '\r' || text[i] == '\f':
		default:
			b.WriteByte(text[i])
		}
	}
	return b.String()
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }
