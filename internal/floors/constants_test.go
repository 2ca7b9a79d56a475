package floors

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strings"
)

// constants evaluates the constants of the product's packages from their source. It checks the types of declarations alone, and of
// other libraries it knows package time: a constant that needs another one has no value.
type constants struct {
	root  string
	set   *token.FileSet
	known map[string]*types.Package
}

func newConstants(root string) *constants {
	return &constants{root, token.NewFileSet(), map[string]*types.Package{}}
}

// clock is what constants need of package time.
const clock = `package time
type Duration int64
const (
	Nanosecond  Duration = 1
	Microsecond          = 1000 * Nanosecond
	Millisecond          = 1000 * Microsecond
	Second               = 1000 * Millisecond
	Minute               = 60 * Second
	Hour                 = 60 * Minute
)`

// value is that of a constant dir.name; duration says that its type is time.Duration.
func (c *constants) value(name string) (v constant.Value, duration bool, err error) {
	dot := strings.LastIndexByte(name, '.')
	pkg, err := c.Import(module + name[:dot])
	if err != nil {
		return nil, false, err
	}
	found, ok := pkg.Scope().Lookup(name[dot+1:]).(*types.Const)
	if !ok {
		return nil, false, fmt.Errorf("%s declares no constant %s", name[:dot], name[dot+1:])
	}
	if found.Val().Kind() == constant.Unknown {
		return nil, false, fmt.Errorf("the value of %s is not found: it needs another package than time", name)
	}
	return found.Val(), found.Type().String() == "time.Duration", nil
}

// Import implements types.Importer.
func (c *constants) Import(path string) (*types.Package, error) {
	if pkg := c.known[path]; pkg != nil {
		return pkg, nil
	}
	var files []*ast.File
	add := func(name string, source any) error {
		file, err := parser.ParseFile(c.set, name, source, parser.SkipObjectResolution)
		files = append(files, file)
		return err
	}
	dir, own := strings.CutPrefix(path, module)
	switch {
	case path == "time":
		if err := add("time.go", clock); err != nil {
			return nil, err
		}
	case !own:
		return nil, fmt.Errorf("%s is not read", path)
	}
	if own {
		names, err := filepath.Glob(filepath.Join(c.root, filepath.FromSlash(dir), "*.go"))
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			if err := add(name, nil); err != nil {
				return nil, err
			}
		}
		if len(files) == 0 {
			return nil, fmt.Errorf("there is no package %s", dir)
		}
	}
	conf := types.Config{Importer: c, IgnoreFuncBodies: true, Error: func(error) {}} // what other libraries declare is missing
	pkg, _ := conf.Check(path, c.set, files, nil)
	c.known[path] = pkg
	return pkg, nil
}
