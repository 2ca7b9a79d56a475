package kb

import (
	"encoding/xml"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// xsd is an element of the schema.
type xsd struct {
	XMLName  xml.Name
	Attrs    []xml.Attr `xml:",any,attr"`
	Children []xsd      `xml:",any"`
}

func (x xsd) attr(name string) string {
	for _, a := range x.Attrs {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// all calls fn with the element and all elements in it; if fn returns false, the content of an element is skipped.
func (x xsd) all(fn func(xsd) bool) {
	if fn(x) {
		for _, c := range x.Children {
			c.all(fn)
		}
	}
}

// schemaOf are the types of the schema by name, and the type of each element of the files.
type schemaOf struct {
	types    map[string]xsd
	elements map[string]string
}

func readSchema(t *testing.T) schemaOf {
	t.Helper()
	var root xsd
	if err := xml.Unmarshal(Schema(), &root); err != nil {
		t.Fatal(err)
	}
	if ns := root.attr("targetNamespace"); ns != Namespace {
		t.Errorf("the schema is for %s, the loader wants %s", ns, Namespace)
	}
	s := schemaOf{map[string]xsd{}, map[string]string{}}
	root.all(func(x xsd) bool {
		name, kind := x.attr("name"), strings.TrimPrefix(x.attr("type"), "kb:")
		switch x.XMLName.Local {
		case "element":
			if other, twice := s.elements[name]; twice && other != kind {
				t.Errorf("element %s has the types %s and %s", name, other, kind)
			}
			s.elements[name] = kind
		case "complexType", "simpleType", "group":
			if name != "" {
				s.types[name] = x
			}
		}
		return true
	})
	return s
}

// attributes of an element: their types by name, and those that must be there.
func (s schemaOf) attributes(element string) (types map[string]string, required []string) {
	types = map[string]string{}
	s.types[s.elements[element]].all(func(x xsd) bool {
		if x.XMLName.Local == "attribute" {
			types[x.attr("name")] = strings.TrimPrefix(x.attr("type"), "kb:")
			if x.attr("use") == "required" {
				required = append(required, x.attr("name"))
			}
		}
		return true
	})
	return types, required
}

// children are the elements that may stand in an element.
func (s schemaOf) children(element string) (names []string) {
	var look func(xsd) bool
	look = func(x xsd) bool {
		switch x.XMLName.Local {
		case "element":
			if !slices.Contains(names, x.attr("name")) {
				names = append(names, x.attr("name"))
			}
			return false
		case "group":
			if ref := strings.TrimPrefix(x.attr("ref"), "kb:"); ref != "" {
				s.types[ref].all(look)
			}
		}
		return true
	}
	s.types[s.elements[element]].all(look)
	return names
}

// enumeration lists the words that a type takes.
func (s schemaOf) enumeration(kind string) (words []string) {
	s.types[kind].all(func(x xsd) bool {
		if x.XMLName.Local == "enumeration" {
			words = append(words, x.attr("value"))
		}
		return true
	})
	return words
}

// within reports where an element may be written.
var within = map[string]string{
	"application": "", "category": "", "site": "", "version": "application", "detect": "application", "level": "application",
	"follow": "application", "drop": "application", "normalize": "application", "example": "application", "match": "level",
	"object": "level", "property": "object", "page": "example", "headers": "example", "has": "example",
}

// probe loads a file with an element and returns the error of the loader.
func probe(element, attrs, inner string) string {
	text := inner
	for e := element; e != ""; e, attrs = within[e], "" {
		if within[e] == "" {
			attrs += ` xmlns="` + Namespace + `"`
		}
		text = fmt.Sprintf("<%s %s>%s</%s>", e, attrs, text, e)
	}
	_, err := parse("f.xml", []byte(text))
	var faults Faults
	errors.As(err, &faults)
	return faults.Error() + "\n"
}

func found(text, pattern string) (list []string, ok bool) {
	m := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if m == nil {
		return nil, false
	}
	if m[1] == "" {
		return nil, true
	}
	return strings.Split(m[1], ", "), true
}

func same(a, b []string) bool {
	a, b = slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))
	return slices.Equal(a, b)
}

// TestSchemaElements: the schema has the elements, attributes and words that the loader knows, and no others.
func TestSchemaElements(t *testing.T) {
	s := readSchema(t)
	if len(s.elements) != len(within) {
		t.Errorf("the schema has the elements %v, the test knows %v", s.elements, within)
	}
	for element := range within {
		types, required := s.attributes(element)
		var names []string
		for name := range types {
			names = append(names, name)
		}
		if s.types[s.elements[element]].XMLName.Local == "" && s.elements[element] != "xs:string" {
			t.Errorf("element %s: the schema lacks the type %q", element, s.elements[element])
		}
		if element != "has" { // which the loader does not list
			if want, ok := found(probe(element, `zzz="1"`, ""), "element "+element+" has unknown attribute zzz; known: (.*)\n"); !ok || !same(names, want) {
				t.Errorf("element %s: the schema has the attributes %v, the loader %v", element, names, want)
			}
		}
		var lacks []string
		for _, m := range regexp.MustCompile("element "+element+" lacks attribute (.*)\n").FindAllStringSubmatch(probe(element, "", ""), -1) {
			lacks = append(lacks, m[1])
		}
		if !same(required, lacks) {
			t.Errorf("element %s: the schema requires %v, the loader %v", element, required, lacks)
		}
		if holdsText(element) {
			continue
		}
		want, listed := found(probe(element, "", "<zzz/>"), "element zzz is not known in "+element+"; known: (.*)\n")
		if element == "category" || element == "site" { // which are recognised by their name and hosts, not by marks
			want = slices.DeleteFunc(want, func(name string) bool { return name == "detect" })
		}
		if children := s.children(element); !same(children, want) || listed != (len(children) > 0) && element != "has" {
			t.Errorf("element %s: the schema lets it hold %v, the loader %v", element, children, want)
		}
	}
}

// TestSchemaValues: an attribute takes the same words, numbers and truth values by the schema and by the loader.
func TestSchemaValues(t *testing.T) {
	s := readSchema(t)
	for element := range within {
		types, _ := s.attributes(element)
		for name, kind := range types {
			beside := ""
			if element == "has" {
				switch name {
				case "object", "link", "dropped":
				case "level":
					beside = ` link="/"`
				default:
					beside = ` object="post"`
				}
			}
			text := probe(element, name+`="zzz"`+beside, "")
			if strings.Contains(text, "unknown attribute") {
				t.Errorf("element %s: the loader does not know attribute %s", element, name)
			}
			words, _ := found(text, ` "zzz" is not known; known: (.*)\n`)
			if !slices.Equal(words, s.enumeration(kind)) {
				t.Errorf("attribute %s of %s takes %q by the schema, %q by the loader", name, element, s.enumeration(kind), words)
			}
			for of, says := range map[string]string{
				"xs:boolean": "must be true or false", "share": "must be a number above 0 and at most 1", "xs:positiveInteger": "must be a whole number above 0",
			} {
				if (kind == of) != strings.Contains(text, says) {
					t.Errorf("attribute %s of %s is of type %s by the schema; the loader says %q", name, element, kind, text)
				}
			}
		}
	}
	for kind, want := range map[string][]string{"categoryName": Categories, "levelName": Levels, "objectType": names(ObjectTypes), "propertyName": names(Properties)} {
		if got := s.enumeration(kind); !slices.Equal(got, want) {
			t.Errorf("the schema has %s %q, the vocabulary %q", kind, got, want)
		}
	}
	has, _ := s.attributes("has")
	for _, name := range append([]string{"object", "link", "dropped", "level", "count"}, names(Properties)...) {
		if has[name] == "" {
			t.Errorf("the schema does not let an element has have attribute %s", name)
		}
	}
}

// TestShippedFollowSchema: the schema has all elements, attributes and words of the files that are built in.
func TestShippedFollowSchema(t *testing.T) {
	s := readSchema(t)
	for _, dir := range []string{"applications", "categories"} {
		entries, err := shipped.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			raw, err := shipped.ReadFile(dir + "/" + entry.Name())
			if err != nil {
				t.Fatal(err)
			}
			root, err := readTree(raw)
			if err != nil {
				t.Fatal(err)
			}
			var check func(*element)
			check = func(e *element) {
				types, required := s.attributes(e.name)
				for _, name := range required {
					if e.attrs[name] == "" {
						t.Errorf("%s:%d: element %s lacks attribute %s", entry.Name(), e.line, e.name, name)
					}
				}
				for name, value := range e.attrs {
					if words := s.enumeration(types[name]); types[name] == "" || len(words) > 0 && !slices.Contains(words, value) {
						t.Errorf("%s:%d: the schema has no attribute %s=%q of %s", entry.Name(), e.line, name, value, e.name)
					}
				}
				children := s.children(e.name)
				for _, c := range e.children {
					if !slices.Contains(children, c.name) {
						t.Errorf("%s:%d: the schema has no element %s in %s", entry.Name(), c.line, c.name, e.name)
					}
					check(c)
				}
			}
			check(root)
		}
	}
}
