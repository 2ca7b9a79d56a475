package xpath

import (
	"bufio"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/antchfx/htmlquery"
	other "github.com/antchfx/xpath"
	"golang.org/x/net/html"
)

// antchfx evaluates an expression with another library. Only the set of nodes is compared, because the library
// does not sort them in document order and sometimes repeats nodes.
func antchfx(tree *Tree, root *html.Node, source string) (found []Ref, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("antchfx gives up: %v", r)
		}
	}()
	x, err := other.Compile(source)
	if err != nil {
		return nil, err
	}
	ids := map[*html.Node]int32{}
	for id, n := range tree.nodes {
		ids[n] = int32(id)
	}
	for at := x.Select(htmlquery.CreateXPathNavigator(root)); at.MoveNext(); {
		nav := at.Current().(*htmlquery.NodeNavigator)
		r := Ref{ids[nav.Current()], -1}
		if nav.NodeType() == other.AttributeNode {
			r.Attr = int32(slices.IndexFunc(nav.Current().Attr, func(a html.Attribute) bool { return a.Key == nav.LocalName() }))
		}
		found = append(found, r)
	}
	slices.SortFunc(found, compare)
	return slices.Compact(found), nil
}

// antchfxErrs reports whether antchfx is known to evaluate an expression otherwise than XPath 1.0 says.
func antchfxErrs(root Node) (errs bool) {
	counts := func(list []Node) bool { return slices.ContainsFunc(list, positional) }
	Walk(root, func(n Node) {
		switch n := n.(type) {
		case *Path:
			// brackets: it counts in another order, and asks the elements of attributes
			errs = errs || len(n.Filter) > 0 && (counts(n.Filter) || inOnePiece(n.From))
			for i, s := range n.Steps {
				switch s.Axis {
				case Attribute: // it asks the element, not the attribute
					errs = errs || len(s.Preds) > 0
				case Child: // it takes last() for that of all, and counts what other predicates left out
					errs = errs || counts(s.Preds) && (len(s.Preds) > 1 || asksLast(s.Preds))
				case DescendantOrSelf: // it continues from nodes that the node test left out
					errs = errs || s.Test != "node()" || counts(s.Preds)
				default: // it counts all together that "//" leads to
					errs = errs || counts(s.Preds)
				}
				// "..//" continues from some parents only
				errs = errs || i > 0 && n.Steps[i-1].Axis == Parent && s.Axis != Child && s.Axis != Attribute
			}
		case *Binary: // of nodes and a truth value it compares each node's
			for _, pair := range [][2]Node{{n.Left, n.Right}, {n.Right, n.Left}} {
				k, nodes := typeOf(pair[0])
				_, other := typeOf(pair[1])
				errs = errs || other && !nodes && k == aTruth && strength[n.Op] > 2
			}
		}
	})
	return errs
}

// walksOn finds paths that lead on from what these axes select; antchfx loses or adds some there.
var walksOn = regexp.MustCompile(`(descendant|preceding)::[a-z*()]+(\[|/)`)

func asksLast(list []Node) (asks bool) {
	for _, p := range list {
		Walk(p, func(n Node) {
			c, is := n.(*Call)
			asks = asks || is && c.Name == "last"
		})
	}
	return asks
}

// agrees compares with antchfx, and counts what both could evaluate and what selected something.
func agrees(t *testing.T, e *Eval, root *html.Node, source string) (compared, some int) {
	t.Helper()
	x := parsed(t, source)
	found, err := e.Select(x, e.Tree.Root(), 0)
	if err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	want, err := antchfx(e.Tree, root, source)
	if err != nil {
		return 0, 0
	}
	if !slices.Equal(found, want) {
		t.Errorf("%s selects %s, by antchfx %s", source, names(e.Tree, found), names(e.Tree, want))
	}
	return 1, min(1, len(found))
}

func TestRandomExpressionsSelectWhatAntchfxSelects(t *testing.T) {
	compared, some := 0, 0
	for seed := range uint64(400) {
		m := newMaker(seed)
		root := m.page()
		e := NewEval(root, DefaultBudget)
		for range 20 {
			source := m.expression()
			if walksOn.MatchString(source) || antchfxErrs(parsed(t, source).Root) {
				continue
			}
			e.Budget = DefaultBudget
			a, b := agrees(t, e, root, source)
			compared, some = compared+a, some+b
			if t.Failed() {
				html.Render(t.Output(), root)
				return
			}
		}
		e.Free()
	}
	t.Logf("%d compared, %d of them selected something", compared, some)
	if compared < 4000 || some < 1500 {
		t.Errorf("only %d were compared, %d of them selected something", compared, some)
	}
}

// expressions are those of the applications that come with the program.
func expressions(t *testing.T) (out []string) {
	t.Helper()
	files, err := filepath.Glob("../../kb/applications/*.xml")
	if err != nil || len(files) == 0 {
		t.Skip("there are no applications in ../../kb/applications")
	}
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		d := xml.NewDecoder(f)
		for {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if begin, is := token.(xml.StartElement); is {
				for _, a := range begin.Attr {
					// antchfx counts positions in brackets wrongly, and takes a non-breaking space for white space
					wrong := strings.Contains(a.Value, "last()") || strings.Contains(a.Value, "normalize-space")
					if !wrong && (a.Name.Local == "xpath" || a.Name.Local == "each") {
						out = append(out, a.Value)
					}
				}
			}
		}
		_ = f.Close()
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// realPages are the names of some of the pages in the folder that MUNINN_TESTDATA names.
func realPages(t *testing.T, most int) (out []string) {
	t.Helper()
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA has no folder with pages")
	}
	f, err := os.Open(filepath.Join(data, "aah", "index.jsonl"))
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var entry struct{ File string }
		if err := json.Unmarshal(lines.Bytes(), &entry); err != nil {
			t.Fatal(err)
		}
		out = append(out, filepath.Join(data, "aah", filepath.FromSlash(entry.File)))
	}
	if n := len(out); n > most {
		for i := range most {
			out[i] = out[i*n/most]
		}
		out = out[:most]
	}
	return out
}

func TestTheApplicationsSelectWhatAntchfxSelects(t *testing.T) {
	all := expressions(t)
	compared, some := 0, 0
	for _, name := range realPages(t, 12) {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		root := page(t, string(source))
		e := NewEval(root, DefaultBudget)
		for _, x := range all {
			e.Budget = DefaultBudget
			a, b := agrees(t, e, root, x)
			compared, some = compared+a, some+b
			if spent := DefaultBudget - e.Budget; spent > DefaultBudget/8 {
				t.Errorf("%s: spends %d of %d", x, spent, DefaultBudget)
			}
			checkNeeds(t, e, parsed(t, x), string(source))
		}
		if t.Failed() {
			t.Fatalf("on %s, of %d bytes", name, len(source))
		}
		e.Free()
	}
	t.Logf("%d compared, %d of them selected something", compared, some)
	if some == 0 {
		t.Error("nothing was selected")
	}
}
