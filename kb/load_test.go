package kb

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestShipped(t *testing.T) {
	base, err := Shipped()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i, a := range base.Applications {
		names[a.Name] = true
		if a.Category == "generic" && i != len(base.Applications)-1 {
			t.Errorf("%s is asked before others", a.Name)
		}
		terminal := false
		for _, l := range a.Levels {
			terminal = terminal || l.Terminal && len(l.Objects) > 0
		}
		if !terminal {
			t.Errorf("%s has no terminal level with objects", a.Name)
		}
	}
	for _, name := range []string{"WordPress", "MediaWiki", "phpBB", "generic"} {
		if !names[name] {
			t.Errorf("%s is not in the base", name)
		}
	}
}

// file wraps the inside of an application; its first line is line 2.
func file(inside string) string {
	return `<application xmlns="` + Namespace + `" name="Raven" category="blog">` + "\n" + inside + "\n</application>"
}

const level = `<level name="post" terminal="true"><match url="/post/"/></level>` + "\n"

func TestGoodFiles(t *testing.T) {
	for name, text := range map[string]string{
		"least":            file(`<detect text="raven"/>`),
		"generic":          strings.Replace(file(level), "blog", "generic", 1),
		"declaration, BOM": "\ufeff<?xml version='1.0' encoding='UTF-8'?>\n<!-- c -->" + file(`<detect text="raven"/>`) + "<!-- end -->\n",
		"all": file(`<detect generator="Raven"/><detect xpath="//body[count(.//a) &gt; 3]"/>` + level +
			`<level name="list" terminal="0"><match xpath="//ul | //ol"/><object type="item" each="(//li)[1]"><property name="a" xpath="@id"/><property name="t" xpath=".//time/@datetime" as="dateTime"/></object><follow url="p=" level="post" priority="1"/></level>` +
			`<follow xpath="//a[@rel='next']" level="list" priority="0.1"/><drop xpath="//a[@class='x']"/><drop url="login"/>`),
	} {
		if _, err := Parse("raven.xml", []byte(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestBadFiles(t *testing.T) {
	const detect = `<detect text="raven"/>` + "\n"
	tests := []struct{ name, text, want string }{
		{"nothing", "", "raven.xml:1: holds no element"},
		{"broken XML", file("<detect text='raven'>"), "raven.xml:3: element <detect> closed by </application>"},
		{"ends early", `<application xmlns="` + Namespace + `" name="a" category="blog">` + "\n", "raven.xml:2: unexpected EOF"},
		{"unknown entity", file("&raven;"), "raven.xml:2: invalid character entity"},
		{"two roots", file(detect) + "\n" + file(detect), "stands after the end"},
		{"text behind", file(detect) + " raven", "text \"raven\" stands where only elements belong"},
		{"text inside", file(detect + "raven"), "text \"raven\" stands where only elements belong"},
		{"wrong namespace", strings.Replace(file(detect), "/kb/1", "/kb/9", 1), "raven.xml:1: element application is not in the namespace"},
		{"no namespace", `<application name="a" category="blog"/>`, "is not in the namespace"},
		{"wrong root", strings.ReplaceAll(file(detect), "application", "app"), "must hold one element application, not app"},
		{"unknown element", file(detect + "<detekt/>"), "raven.xml:3: element detekt is not known in application; known: detect, level, drop, follow"},
		{"unknown in level", file(detect + `<level name="a"><match url="a"/><drop url="a"/></level>`), "element drop is not known in level"},
		{"unknown in object", file(detect + `<level name="a"><match url="a"/><object type="a" each="//a"><prop/></object></level>`), "element prop is not known in object"},
		{"element in detect", file(`<detect text="a"><detect text="b"/></detect>`), "is not known in detect, which holds no elements"},
		{"element in property", file(detect + `<level name="a"><match url="a"/><object type="a" each="//a"><property name="a" xpath="."><b/></property></object></level>`), "is not known in property"},
		{"unknown attribute", file(`<detect text="a" case="no"/>`), "raven.xml:2: element detect has unknown attribute case"},
		{"missing name", `<application xmlns="` + Namespace + `" category="blog">` + detect + `</application>`, "lacks attribute name"},
		{"missing each", file(detect + `<level name="a"><match url="a"/><object type="a"><property name="a" xpath="."/></object></level>`), "element object lacks attribute each"},
		{"unknown category", strings.Replace(file(detect), "blog", "zoo", 1), `category "zoo" is not known`},
		{"no detect", file(level), "no detect element"},
		{"empty test", file(`<detect/>`), "exactly one of"},
		{"two tests", file(`<detect text="a" url="b"/>`), "exactly one of"},
		{"empty text", file(`<detect text=""/>`), "attribute text of element detect is empty"},
		{"empty url", file(`<detect url=" "/>`), "attribute url of element detect is empty"},
		{"empty xpath", file(`<detect xpath=""/>`), "xpath"},
		{"drop by text", file(detect + `<drop text="a"/>`), "judges links"},
		{"level without match", file(detect + `<level name="a"/>`), "no match element"},
		{"level twice", file(detect + level + level), `level "post" is there twice`},
		{"terminal", file(detect + `<level name="a" terminal="yes"><match url="a"/></level>`), `terminal is "yes"`},
		{"unknown level", file(detect + `<follow url="a" level="thread"/>`), `raven.xml:3: leads to level "thread", which the file does not have`},
		{"unknown level within", file(detect + `<level name="a"><match url="a"/><follow url="a" level="b"/></level>`), `leads to level "b"`},
		{"follow without", file(detect + `<follow priority="0.5"/>`), "exactly one of url and xpath"},
		{"follow with both", file(detect + `<follow url="a" xpath="//a"/>`), "exactly one of url and xpath"},
		{"priority too high", file(detect + `<follow url="a" priority="2"/>`), "above 0 and at most 1"},
		{"priority zero", file(detect + `<follow url="a" priority="0"/>`), "above 0 and at most 1"},
		{"priority NaN", file(detect + `<follow url="a" priority="NaN"/>`), "above 0 and at most 1"},
		{"broken regexp", file(`<detect url="a("/>`), "raven.xml:2: attribute url is not a regular expression"},
		{"broken XPath", file(`<detect xpath="//a["/>`), "raven.xml:2: attribute xpath is not an XPath expression"},
		{"unknown function", file(`<detect xpath="//a[raven()]"/>`), "is not an XPath expression"},
		{"unknown as", file(detect + `<level name="a"><match url="a"/><object type="a" each="//a"><property name="a" xpath="." as="number"/></object></level>`), "must be dateTime or url"},
		{"object without property", file(detect + `<level name="a"><match url="a"/><object type="a" each="//a"/></level>`), "has no property"},
		{"too large", file(strings.Repeat(" ", MaxFile)), "is larger than"},
	}
	for _, expr := range []string{"count(//a)", "count(//a) > 3", "(count(//a))", "1", "'a'", "string(//a)", "not(//a)", "//a or //b", "//a and //b", "//a = 'x'", "1 + 1", "concat('a', 'b')", "boolean(//a)", "position()", "true()", "-1"} {
		tests = append(tests, struct{ name, text, want string }{"XPath " + expr, file(`<detect xpath="` + strings.ReplaceAll(expr, ">", "&gt;") + `"/>`), "raven.xml:2: attribute xpath"})
	}
	for _, test := range tests {
		_, err := Parse("raven.xml", []byte(test.text))
		var faults Faults
		if !errors.As(err, &faults) || !strings.Contains(err.Error(), test.want) || !strings.HasPrefix(err.Error(), "raven.xml:") {
			t.Errorf("%s: %v\nwant %q", test.name, err, test.want)
		}
	}
}

// TestReadmeExample: what people are told to copy is a good file.
func TestReadmeExample(t *testing.T) {
	raw, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, example, _ := strings.Cut(string(raw), "```xml\n")
	example, _, found := strings.Cut(example, "```")
	if !found {
		t.Fatal("README.md holds no example")
	}
	if _, err := Parse("example.xml", []byte(strings.TrimSpace(example))); err != nil {
		t.Error(err)
	}
}

func TestLoad(t *testing.T) {
	one := &fstest.MapFile{Data: []byte(file(`<detect text="a"/>`))}
	bad := &fstest.MapFile{Data: []byte(file(`<detect/>`))}
	tests := []struct {
		name  string
		files fs.FS
		want  []string
	}{
		{"empty folder", fstest.MapFS{}, []string{"has no .xml file"}},
		{"no XML", fstest.MapFS{"README.md": one}, []string{"has no .xml file"}},
		{"one name twice", fstest.MapFS{"a.xml": one, "b.xml": one}, []string{`b.xml: application "Raven" is in a.xml already`}},
		{"all faults at once", fstest.MapFS{"a.xml": bad, "b.xml": bad, "c.xml": one}, []string{"a.xml:2:", "b.xml:2:"}},
		{"a folder", fstest.MapFS{"a.xml/b": one}, []string{"a.xml"}},
	}
	for _, test := range tests {
		_, err := Load(test.files)
		for _, want := range test.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", test.name, err, want)
			}
		}
	}
}

// FuzzParse: no file makes the loader panic, and what it takes it takes whole.
func FuzzParse(f *testing.F) {
	names, err := fs.Glob(shipped, "applications/*.xml")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		raw, err := shipped.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Add([]byte(file(`<detect xpath="//a[position() &lt; last()]"/>` + level)))
	f.Add([]byte(file(`<detect xpath="reverse(//a)"/><detect xpath="//a[matches(., '(')]"/>`)))
	f.Fuzz(func(t *testing.T, raw []byte) {
		app, err := Parse("f.xml", raw)
		if err != nil {
			if faults := (Faults)(nil); !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("%T %v", err, err)
			}
			return
		}
		if app.Name == "" || len(app.Detect) == 0 && app.Category != "generic" {
			t.Fatalf("%+v", app)
		}
		for _, l := range app.Levels {
			for _, o := range l.Objects {
				if o.Each == nil || len(o.Properties) == 0 {
					t.Fatalf("%+v", o)
				}
			}
		}
		for _, c := range append(app.Detect, app.Drop...) {
			if c.URL == nil && c.XPath == nil && c.Text == "" && c.Generator == "" {
				t.Fatalf("%s: an empty condition", c.Rule)
			}
		}
	})
}
