package crawl

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseDefinition reads a definition in YAML or JSON that somebody wrote, fills in the defaults and validates it. The error
// is a Faults that lists everything that is wrong, fields of former versions among it.
func ParseDefinition(text []byte) (Definition, error) { return parseDefinition(text, false) }

// ParseStoredDefinition reads a definition as a workflow was started with it. Fields of former versions are passed over: a
// crawl that was started before they were retired must continue, and its history must replay.
func ParseStoredDefinition(text []byte) (Definition, error) { return parseDefinition(text, true) }

// retired are fields of former versions by their path, and what to do about them.
var retired = map[string]string{
	"weights.names":      "is not known any more, for the recogniser of names was slow and failed on some words: delete it; weights.entities finds the topic's names",
	"archive.warc_bytes": "is not known any more, and never had an effect, for segments are not merged: delete it",
}

func parseDefinition(text []byte, stored bool) (Definition, error) {
	tree, err := readTree(text)
	if err != nil {
		return Definition{}, Faults{{"", "is neither YAML nor JSON: " + strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if tree == nil {
		return Definition{}, Faults{{"", "is empty: three lines are enough, name:, seeds: and topic:"}}
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return Definition{}, Faults{{"", "is not a mapping: start with name: and seeds:"}}
	}
	faults := slices.DeleteFunc(unknownKeys("", object, reflect.TypeFor[Definition]()), func(f Fault) bool { return stored && retired[f.Path] != "" })
	raw, err := json.Marshal(object)
	if err != nil {
		return Definition{}, Faults{{"", "has a key that is not a string, or an invalid number: " + err.Error()}}
	}
	d := DefaultDefinition()
	faults = append(faults, decodeFields("", raw, reflect.ValueOf(&d).Elem())...)
	return d, checked(d, faults, text)
}

// checked adds to the faults of reading a definition those of what was read, and their lines; nil if there is none.
func checked(d Definition, faults Faults, text []byte) error {
	var invalid Faults
	errors.As(d.Validate(), &invalid)
	unread := faults
	for _, f := range invalid {
		if !slices.ContainsFunc(unread, func(u Fault) bool { return within(f.Path, u.Path) || within(u.Path, f.Path) }) {
			faults = append(faults, f)
		}
	}
	if len(faults) == 0 {
		return nil
	}
	var document yaml.Node
	if bytes.ContainsRune(text, '\n') { // else it is all on one line
		_ = yaml.Unmarshal(text, &document) // it was read before
	}
	for i, f := range faults {
		if line := lineIn(&document, f.Path); line > 0 {
			faults[i].Message = fmt.Sprintf("(line %d) %s", line, f.Message)
		}
	}
	sortByPath(faults)
	return faults
}

// readTree decodes JSON as JSON, for YAML knows neither its tabs nor its surrogate pairs, and all else
// as YAML, where a date is text: no field takes a time.
func readTree(text []byte) (tree any, err error) {
	if json.Valid(text) {
		dec := json.NewDecoder(bytes.NewReader(text))
		dec.UseNumber()
		return tree, dec.Decode(&tree)
	}
	var node yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(text))
	if err := dec.Decode(&node); err != nil {
		if errors.Is(err, io.EOF) {
			err = nil
		}
		return nil, err
	}
	if err := dec.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is text after the end of the document")
	}
	datesToText(&node)
	err = node.Decode(&tree)
	return tree, err
}

func datesToText(n *yaml.Node) {
	if n.Tag == "!!timestamp" {
		n.Tag = "!!str"
	}
	for _, child := range n.Content {
		datesToText(child)
	}
}

// within reports whether a path is another or lies in it.
func within(path, other string) bool {
	rest, ok := strings.CutPrefix(path, other)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

func decodeFields(path string, raw []byte, into reflect.Value) Faults {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return Faults{{path, "must be a mapping"}}
	}
	var faults Faults
	for i := range into.NumField() {
		name := jsonName(into.Type().Field(i))
		switch value, there := fields[name]; {
		case there && string(value) != "null":
			faults = append(faults, decodeValue(join(path, name), value, into.Field(i))...)
		case there && into.Field(i).Kind() == reflect.Pointer:
			into.Field(i).SetZero()
		}
	}
	return faults
}

// decodeValue decodes each field and each entry on its own, so that one fault does not hide the next.
func decodeValue(path string, raw []byte, into reflect.Value) Faults {
	switch into.Kind() {
	case reflect.Pointer:
		if into.Type().Elem().Kind() == reflect.Struct {
			into.Set(reflect.New(into.Type().Elem()))
			return decodeValue(path, raw, into.Elem())
		}
	case reflect.Struct:
		if raw[0] == '{' || !reflect.PointerTo(into.Type()).Implements(unmarshaler) {
			return decodeFields(path, raw, into)
		}
	case reflect.Map:
		return decodeEntries(path, raw, into)
	case reflect.Slice:
		var entries []json.RawMessage
		if reflect.PointerTo(into.Type()).Implements(unmarshaler) || json.Unmarshal(raw, &entries) != nil {
			break
		}
		var faults Faults
		into.Set(reflect.MakeSlice(into.Type(), len(entries), len(entries)))
		for i, entry := range entries {
			faults = append(faults, decodeValue(fmt.Sprintf("%s[%d]", path, i), entry, into.Index(i))...)
		}
		return faults
	}
	if err := json.Unmarshal(raw, into.Addr().Interface()); err != nil {
		return Faults{typeFault(path, err)}
	}
	return nil
}

// decodeEntries puts entries into a map: each into the one that is there under its name, and null takes that out. Nothing of an entry
// that is left empty is kept.
func decodeEntries(path string, raw []byte, into reflect.Value) Faults {
	var entries map[string]json.RawMessage
	if err := json.Unmarshal(raw, &entries); err != nil {
		return Faults{typeFault(path, err)}
	}
	var faults Faults
	kept := reflect.MakeMap(into.Type())
	for _, key := range into.MapKeys() {
		kept.SetMapIndex(key, into.MapIndex(key))
	}
	for name, value := range entries {
		key, entry := reflect.ValueOf(name), reflect.New(into.Type().Elem()).Elem()
		if was := kept.MapIndex(key); was.IsValid() {
			entry.Set(was)
		}
		if string(value) == "null" {
			entry.SetZero()
		} else {
			faults = append(faults, decodeValue(path+"["+name+"]", value, entry)...)
		}
		if entry.IsZero() {
			entry = reflect.Value{} // takes it out
		}
		kept.SetMapIndex(key, entry)
	}
	if kept.Len() == 0 {
		kept = reflect.Zero(into.Type())
	}
	into.Set(kept)
	return faults
}

var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

func typeFault(path string, err error) Fault {
	var t *json.UnmarshalTypeError
	if errors.As(err, &t) {
		return Fault{path, fmt.Sprintf("is a %s, must be %s", t.Value, kindName(t.Type))}
	}
	return Fault{path, strings.TrimPrefix(err.Error(), "json: ")}
}

func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "a mapping"
	case reflect.Pointer:
		return kindName(t.Elem())
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "a whole number"
	}
	return "a number"
}

// unknownKeys reports the keys of a decoded tree that the type does not have, with the nearest name.
func unknownKeys(path string, tree any, t reflect.Type) Faults {
	var faults Faults
	switch t.Kind() {
	case reflect.Pointer:
		return unknownKeys(path, tree, t.Elem())
	case reflect.Slice:
		list, _ := tree.([]any)
		for i, item := range list {
			faults = append(faults, unknownKeys(fmt.Sprintf("%s[%d]", path, i), item, t.Elem())...)
		}
	case reflect.Map:
		object, _ := tree.(map[string]any)
		for name, item := range object {
			faults = append(faults, unknownKeys(path+"["+name+"]", item, t.Elem())...)
		}
	case reflect.Struct:
		object, _ := tree.(map[string]any)
		fields := map[string]reflect.Type{}
		for i := range t.NumField() {
			fields[jsonName(t.Field(i))] = t.Field(i).Type
		}
		for key, value := range object {
			if ft, known := fields[key]; known {
				faults = append(faults, unknownKeys(join(path, key), value, ft)...)
				continue
			}
			names := make([]string, 0, len(fields))
			for name := range fields {
				names = append(names, name)
			}
			slices.Sort(names)
			faults = append(faults, Fault{join(path, key), cmp.Or(retired[join(path, key)], unknownKey(key, names))})
		}
	}
	return faults
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// UnmarshalJSON takes a bare string for a URL.
func (s *Seed) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &s.URL)
	}
	type plain Seed
	return json.Unmarshal(b, (*plain)(s))
}

// UnmarshalJSON takes a bare string for a URL.
func (e *Example) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, &e.URL)
	}
	type plain Example
	return json.Unmarshal(b, (*plain)(e))
}
