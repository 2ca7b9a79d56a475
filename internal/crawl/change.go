package crawl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Changeable are the fields of a definition that may change while its crawl runs.
var Changeable = []string{"order", "weights", "budget", "politeness", "overrides", "helper", "description"}

// Changed is a definition with some fields changed, which are written as in a definition, in YAML or JSON. Of overrides, only the PLDs
// and hosts that are named change, and of these only the fields that are; null takes an entry or a field back. The error is a Faults that lists everything that is wrong; then nothing is changed.
func (d Definition) Changed(text []byte) (Definition, error) {
	var changed Definition // that shares nothing with the former one
	if was, err := json.Marshal(d); err != nil || json.Unmarshal(was, &changed) != nil {
		return d, Faults{{"", "cannot be copied"}}
	}
	faults, err := changed.take(text)
	if err == nil {
		err = checked(changed, faults, nil)
	}
	if err != nil {
		return d, err
	}
	return changed, nil
}

// CheckSpread reports whether a crawl whose former runs were spread, or were not, can be run by this definition: what a worker, or
// all of them, have of it is found by none that looks for the other. The error is an InputError.
func (d Definition) CheckSpread(former bool) error {
	if d.Spread == former {
		return nil
	}
	return &InputError{Message: fmt.Sprintf("spread is %t, and was %t in the former runs of crawl %s, which cannot change: set spread to %t, or give the crawl another name",
		d.Spread, former, d.Name, former)}
}

// CheckChange reports what is wrong with changes by themselves, whatever definition they are for.
func CheckChange(text []byte) error {
	d := DefaultDefinition()
	faults, err := d.take(text)
	if err == nil && len(faults) > 0 {
		sortByPath(faults)
		err = faults
	}
	return err
}

// take puts changes into a definition. It returns only faults of single fields.
func (d *Definition) take(text []byte) (Faults, error) {
	tree, err := readTree(text)
	if err != nil {
		return nil, Faults{{"", "is neither YAML nor JSON: " + strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	object, ok := tree.(map[string]any)
	if !ok || len(object) == 0 {
		return nil, Faults{{"", "is not a mapping of fields: write for example order: {strategy: weighted}"}}
	}
	faults := unknownKeys("", object, reflect.TypeFor[Definition]())
	t := reflect.TypeFor[Definition]()
	for i := range t.NumField() {
		name := jsonName(t.Field(i))
		if _, there := object[name]; there && !slices.Contains(Changeable, name) {
			faults = append(faults, Fault{name, fmt.Sprintf("cannot change while the crawl runs; %s can", strings.Join(Changeable, ", "))})
		}
	}
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, Faults{{"", "has a key that is not a string, or an invalid number: " + err.Error()}}
	}
	return append(faults, decodeFields("", raw, reflect.ValueOf(d).Elem())...), nil
}

// JSON is a mapping in YAML or JSON, as JSON.
func JSON(text []byte) (json.RawMessage, error) {
	tree, err := readTree(text)
	if err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// Fields makes a mapping of fields with their values, such as order.strategy=weighted; values are YAML, or plain text.
func Fields(list []string) ([]byte, error) {
	root := map[string]any{}
	for _, entry := range list {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q is not a FIELD=VALUE, such as order.strategy=weighted", entry)
		}
		tree, err := readTree([]byte(value))
		_, mapping := tree.(map[string]any)
		if err != nil && strings.ContainsAny(value[:1], "[{\"'") {
			return nil, fmt.Errorf("%s: %q is not a value: %w", name, value, err)
		}
		if err != nil || tree == nil && value != "null" || mapping && value[0] != '{' {
			tree = value // a text, whatever YAML takes it for
		}
		at := root
		parts := strings.Split(name, ".")
		for _, part := range parts[:len(parts)-1] {
			next, ok := at[part].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[part] = next
			}
			at = next
		}
		at[parts[len(parts)-1]] = tree
	}
	return json.Marshal(root)
}
