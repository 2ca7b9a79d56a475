package crawl

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// DecodeFile reads another file than a definition, in YAML or JSON, into a struct that holds the defaults. The faults name fields that
// are not known and values of a wrong kind, with their lines; there are none if all was read. An empty file is none, too.
func DecodeFile(text []byte, into any) Faults {
	tree, err := readTree(text)
	if err != nil {
		return Faults{{"the file", "is neither YAML nor JSON: " + strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if tree == nil {
		return nil
	}
	object, ok := tree.(map[string]any)
	if !ok {
		return Faults{{"the file", "is not a mapping"}}
	}
	value := reflect.ValueOf(into).Elem()
	faults := unknownKeys("", object, value.Type())
	raw, err := json.Marshal(object)
	if err != nil {
		return Faults{{"the file", "has a key that is not a string, or an invalid number: " + err.Error()}}
	}
	faults = append(faults, decodeFields("", raw, value)...)
	for i, f := range faults {
		if line := LineOf(text, f.Path); line > 0 {
			faults[i].Message = fmt.Sprintf("(line %d) %s", line, f.Message)
		}
	}
	return faults
}
