package floors

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestBrowserTests: `make test-browser` names each test that opens a page in Chromium: the other targets leave these out.
func TestBrowserTests(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join("..", "..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, list := range regexp.MustCompile(`(?m)^(?:LONG_)?BROWSER_TESTS := (.*)$`).FindAllStringSubmatch(string(makefile), -1) {
		named = append(named, strings.Split(list[1], "|")...)
	}
	named = append(named, "TestReplay", "TestReplayCaptures") // have targets of their own
	command := regexp.MustCompile(`(?m)^\tMUNINN_BROWSER_REQUIRED=1 \$\(GOTEST\).*\(BROWSER_TESTS\).*$`).FindString(string(makefile))
	found := 0
	for _, p := range packages(t) {
		for _, name := range opensChromium(t, filepath.Join("..", "..", filepath.FromSlash(p.ImportPath))) {
			if found++; !slices.Contains(named, name) || !slices.Contains(strings.Fields(command), "./"+p.ImportPath) {
				t.Errorf("%s of %s opens pages in Chromium, and `make test-browser` does not run it", name, p.ImportPath)
			}
		}
	}
	if found != len(named) {
		t.Errorf("%d tests open pages in Chromium, and the Makefile names %q", found, named)
	}
}

// opensChromium are the tests of a package that call fixture.Chromium, by themselves or by a function of the package.
func opensChromium(t *testing.T, dir string) (tests []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	opens, calls := map[string]bool{}, map[string][]string{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Recv != nil {
				continue
			}
			ast.Inspect(f, func(n ast.Node) bool {
				call, is := n.(*ast.CallExpr)
				if !is {
					return true
				}
				switch called := call.Fun.(type) {
				case *ast.Ident:
					calls[f.Name.Name] = append(calls[f.Name.Name], called.Name)
				case *ast.SelectorExpr:
					if of, is := called.X.(*ast.Ident); is && of.Name == "fixture" && called.Sel.Name == "Chromium" {
						opens[f.Name.Name] = true
					}
				}
				return true
			})
		}
	}
	for more := true; more; {
		more = false
		for name, called := range calls {
			if !opens[name] && slices.ContainsFunc(called, func(c string) bool { return opens[c] }) {
				opens[name], more = true, true
			}
		}
	}
	for name := range opens {
		if strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	return tests
}
