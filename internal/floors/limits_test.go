package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFixedLimits: each constant that the handbook's tables of fixed limits name is declared where they say, so that a row
// goes when its limit does.
func TestFixedLimits(t *testing.T) {
	root := filepath.Join("..", "..")
	text, err := os.ReadFile(filepath.Join(root, "docs", "OPERATING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, limits, found := strings.Cut(string(text), "\n## Fixed limits\n")
	if !found {
		t.Fatal("docs/OPERATING.md has no section of fixed limits")
	}
	code := regexp.MustCompile("`([^`]+)`")
	known := map[string]map[string]bool{}
	rows := 0
	for _, line := range strings.Split(limits, "\n") {
		cells := strings.Split(line, "|")
		if len(cells) < 5 || !strings.Contains(cells[3], "`") {
			continue
		}
		rows++
		dir := ""
		for _, m := range code.FindAllStringSubmatch(cells[3], -1) {
			name := m[1]
			if dot := strings.LastIndexByte(name, '.'); dot > 0 {
				dir, name = name[:dot], name[dot+1:]
			}
			if known[dir] == nil {
				known[dir] = constants(t, filepath.Join(root, filepath.FromSlash(dir)))
			}
			if !known[dir][name] {
				t.Errorf("docs/OPERATING.md, fixed limits: %s declares no constant %s: change the row of%s", dir, name, cells[1])
			}
		}
	}
	if rows < 40 {
		t.Errorf("only %d limits were found in docs/OPERATING.md", rows)
	}
}

// constants are those that a package declares outside functions.
func constants(t *testing.T, dir string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			group, ok := decl.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, spec := range group.Specs {
				for _, name := range spec.(*ast.ValueSpec).Names {
					names[name.Name] = true
				}
			}
		}
	}
	return names
}
