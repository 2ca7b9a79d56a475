package floors

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
)

// kept are words of the table that are right in a file, with the reason.
var kept = []struct{ file, word, why string }{
	{"docs/GLOSSARY.md", "", "the table itself"},
	{"starter/run.go", "anew", "the flag --anew"},
	{"starter/local.go", "anew", "the flag --anew"},
	{"internal/integration/cli_run_test.go", "anew", "the flag --anew"},
	{"internal/thesaurus/wordnet.go", "verb", "WordNet's verbs"},
	{"internal/thesaurus/wordnet.go", "verbs", "WordNet's verbs"},
	{"internal/webworld/runes.go", "for ever", "a title of a page"},
}

// unwanted reads the words of the glossary's table "Words that we do not use".
func unwanted(t *testing.T, root string) (words []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "docs", "GLOSSARY.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Words that we do not use\n")
	table, _, _ = strings.Cut(table, "\n## ")
	for _, line := range strings.Split(table, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 4 || strings.Contains(cells[1], "---") || strings.TrimSpace(cells[1]) == "not" {
			continue
		}
		for _, word := range strings.Split(cells[1], ",") {
			words = append(words, strings.TrimSpace(word))
		}
	}
	return words
}

// finder matches any of the words, as whole words in upper or lower case. A blank in a word also matches a line break.
func finder(words []string) *regexp.Regexp {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, strings.ReplaceAll(regexp.QuoteMeta(w), " ", `[\s/]+`))
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(quoted, "|") + `)\b`)
}

// passage is a text that people read, with the line at which it begins.
type passage struct {
	line int
	text string
	kind string // comment, name, string or text
}

// messages are the methods of testing.TB whose arguments people read, and those that take the name of a subtest.
var messages = []string{"Error", "Errorf", "Fatal", "Fatalf", "Log", "Logf", "Skip", "Skipf", "Run"}

// passages returns what people read of a Go file: its comments, names and strings. Of the strings of a test it returns the messages alone,
// because others are data: a page may have any word.
func passages(file string, source []byte) (list []passage, err error) {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	for _, group := range parsed.Comments {
		var lines []string
		for _, c := range group.List {
			lines = append(lines, c.Text)
		}
		list = append(list, passage{set.Position(group.Pos()).Line, strings.Join(lines, "\n"), "comment"})
	}
	test := strings.HasSuffix(file, "_test.go")
	tags := map[*ast.BasicLit]bool{} // names of JSON and the like, which are formats
	name := func(id *ast.Ident) {
		if id != nil {
			list = append(list, passage{set.Position(id.Pos()).Line, inWords(id.Name), "name"})
		}
	}
	literal := func(x *ast.BasicLit) {
		text, errQuote := strconv.Unquote(x.Value)
		if errQuote != nil {
			err = errQuote
		}
		list = append(list, passage{set.Position(x.Pos()).Line, text, "string"})
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if x.Kind == token.STRING && !test && !tags[x] {
				literal(x)
			}
		case *ast.CallExpr:
			if method, ok := x.Fun.(*ast.SelectorExpr); test && ok && slices.Contains(messages, method.Sel.Name) {
				for _, arg := range x.Args {
					for sum, ok := arg.(*ast.BinaryExpr); ok; sum, ok = arg.(*ast.BinaryExpr) { // "text" + name + "text"
						if l, ok := sum.Y.(*ast.BasicLit); ok && l.Kind == token.STRING {
							literal(l)
						}
						arg = sum.X
					}
					if l, ok := arg.(*ast.BasicLit); ok && l.Kind == token.STRING {
						literal(l)
					}
				}
			}
		case *ast.FuncDecl:
			name(x.Name)
		case *ast.TypeSpec:
			name(x.Name)
		case *ast.Field:
			tags[x.Tag] = true
			for _, id := range x.Names {
				name(id)
			}
		case *ast.ValueSpec:
			for _, id := range x.Names {
				name(id)
			}
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				for _, e := range x.Lhs {
					if id, ok := e.(*ast.Ident); ok {
						name(id)
					}
				}
			}
		}
		return true
	})
	return list, err
}

// xmlComment is a comment of the knowledge base. The rest of it is data: words and names of applications.
var xmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)

// xmlPassages returns the comments of an XML file.
func xmlPassages(source []byte) (list []passage) {
	for _, at := range xmlComment.FindAllIndex(source, -1) {
		list = append(list, passage{1 + bytes.Count(source[:at[0]], []byte("\n")), string(source[at[0]:at[1]]), "comment"})
	}
	return list
}

// inWords splits a name in camel case: "readOnly" is "read only".
func inWords(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(runes[i-1]) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func TestWords(t *testing.T) {
	root := filepath.Join("..", "..")
	words := unwanted(t, root)
	if len(words) < 20 {
		t.Fatalf("only %d words were found in docs/GLOSSARY.md", len(words))
	}
	found := finder(words)
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if e.IsDir() {
			if path != root && (e.Name()[0] == '.' || e.Name() == "bin" || e.Name() == "testdata") {
				return fs.SkipDir
			}
			return nil
		}
		var list []passage
		switch filepath.Ext(path) {
		case ".md", ".sh", ".yaml", ".service", "": // "": the Makefile
			if filepath.Ext(path) == "" && e.Name() != "Makefile" {
				return nil
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			list = []passage{{1, string(text), "text"}}
		case ".go":
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if list, err = passages(path, source); err != nil {
				return err
			}
		case ".xml":
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			list = xmlPassages(source)
		}
		for _, p := range list {
			for _, at := range found.FindAllStringIndex(p.text, -1) {
				word := strings.ToLower(p.text[at[0]:at[1]])
				if slices.ContainsFunc(kept, func(k struct{ file, word, why string }) bool {
					return k.file == name && (k.word == word || k.word == "")
				}) {
					continue
				}
				from, to := max(0, at[0]-40), min(len(p.text), at[1]+40)
				t.Errorf("%s:%d: a %s has %q, which docs/GLOSSARY.md replaces: …%s…",
					name, p.line+strings.Count(p.text[:at[0]], "\n"), p.kind, word, strings.ToValidUTF8(p.text[from:to], ""))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestPassages: words are found in comments over line breaks, in parts of names and in strings, but not in tags and in parts
// of other words; of the strings of a test only in messages.
func TestPassages(t *testing.T) {
	source := "package p\n\n// a page of\n// before\ntype x struct {\n\tendsTold int `json:\"told\"`\n}\n\nvar y = \"it tells\" // retold, foretells\n"
	inTest := source + "\nfunc TestTold(t *testing.T) { t.Errorf(\"%s tells\", told(\"told\")) }\n"
	found := finder([]string{"of before", "told", "tells"})
	for file, want := range map[string][]string{
		"p.go":      {"comment of before", "name told", "string tells"},
		"p_test.go": {"comment of before", "name told", "name told", "string tells"},
	} {
		text := source
		if file == "p_test.go" {
			text = inTest
		}
		list, err := passages(file, []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range list {
			for _, word := range found.FindAllString(p.text, -1) {
				got = append(got, p.kind+" "+strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(word, "/", "")), " ")))
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: found %q, want %q", file, got, want)
		}
	}
}

// TestXMLPassages: of an XML file its comments are read, with the lines at which they begin.
func TestXMLPassages(t *testing.T) {
	got := xmlPassages([]byte("<a>told</a>\n<!-- one\ntold --><b/>\n<!-- two -->"))
	want := []passage{{2, "<!-- one\ntold -->", "comment"}, {4, "<!-- two -->", "comment"}}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}
