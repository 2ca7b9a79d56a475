package floors

import (
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

// kept are words of the table that may stand all the same: in which file, and why.
var kept = []struct{ file, word, why string }{
	{"docs/GLOSSARY.md", "", "the table itself"},
	{"starter/run.go", "anew", "the flag --anew"},
	{"starter/local.go", "anew", "the flag --anew"},
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

// finder matches any of the words, whole, in whatever case; blanks in a word match a line break, too.
func finder(words []string) *regexp.Regexp {
	var quoted []string
	for _, w := range words {
		quoted = append(quoted, strings.ReplaceAll(regexp.QuoteMeta(w), " ", `[\s/]+`))
	}
	return regexp.MustCompile(`(?i)\b(` + strings.Join(quoted, "|") + `)\b`)
}

// passage is a text that people read, and the line that it begins at.
type passage struct {
	line int
	text string
	kind string // comment, name, string or text
}

// passages returns what people read of a Go file: its comments, the names that it declares, and, but for tests, its strings.
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
		if id != nil && !test {
			list = append(list, passage{set.Position(id.Pos()).Line, inWords(id.Name), "name"})
		}
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.BasicLit:
			if x.Kind == token.STRING && !test && !tags[x] {
				text, errQuote := strconv.Unquote(x.Value)
				if errQuote != nil {
					err = errQuote
				}
				list = append(list, passage{set.Position(x.Pos()).Line, text, "string"})
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

// inWords parts a name in camel case: "readOnly" is "read only".
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
		case ".md":
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

// TestPassages: words are found in comments over line breaks, in parts of names and in strings, but neither in tags nor in
// other words.
func TestPassages(t *testing.T) {
	source := "package p\n\n// a page of\n// before\ntype x struct {\n\tendsTold int `json:\"told\"`\n}\n\nvar y = \"it tells\" // retold, foretells\n"
	list, err := passages("p.go", []byte(source))
	if err != nil {
		t.Fatal(err)
	}
	found := finder([]string{"of before", "told", "tells"})
	var got []string
	for _, p := range list {
		for _, word := range found.FindAllString(p.text, -1) {
			got = append(got, p.kind+" "+strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(word, "/", "")), " ")))
		}
	}
	if want := []string{"comment of before", "name told", "string tells"}; !slices.Equal(got, want) {
		t.Errorf("found %q, want %q", got, want)
	}
}
