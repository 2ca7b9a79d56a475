package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
)

// Object is a web object that the helper lifted out of a page: a post, an article, a comment. Types and
// properties are those of the knowledge base's vocabulary.
type Object struct {
	Type       string     `json:"type"` // article, post, comment, thread, person, …
	Properties Properties `json:"properties"`
	Rule       string     `json:"rule,omitempty"`       // file:line of the rule that lifted it
	Confidence float64    `json:"confidence,omitempty"` // in (0,1]
}

// Property is one value of a property; a property of several values is there several times.
type Property struct {
	Name, Value string
}

// Properties are the properties of a web object in the order they were found. In JSON they are an object,
// whose values are strings, or arrays of strings where there are several.
type Properties []Property

// Get returns the first value of a property, "" if it has none.
func (p Properties) Get(name string) string {
	for i := range p {
		if p[i].Name == name {
			return p[i].Value
		}
	}
	return ""
}

// All returns every value of a property.
func (p Properties) All(name string) (values []string) {
	for i := range p {
		if p[i].Name == name {
			values = append(values, p[i].Value)
		}
	}
	return values
}

// Without returns the properties but those of a name.
func (p Properties) Without(name string) (rest Properties) {
	for i := range p {
		if p[i].Name != name {
			rest = append(rest, p[i])
		}
	}
	return rest
}

// MarshalJSON writes an object.
func (p Properties) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	write := func(v any) error {
		if err := enc.Encode(v); err != nil {
			return err
		}
		b.Truncate(b.Len() - 1) // the line's end
		return nil
	}
	for i := range p {
		if p[:i].Get(p[i].Name) != "" {
			continue // written with the first
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := write(p[i].Name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		var value any = p[i].Value
		if all := p.All(p[i].Name); len(all) > 1 {
			value = all
		}
		if err := write(value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Properties) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("properties are no JSON object: %s", raw)
	}
	*p = nil
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return err
		}
		name, _ := t.(string)
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return err
		}
		var many []string
		if len(value) == 0 || value[0] != '[' {
			many = []string{""}
			if err := json.Unmarshal(value, &many[0]); err != nil {
				return fmt.Errorf("property %q: %w", name, err)
			}
		} else if err := json.Unmarshal(value, &many); err != nil {
			return fmt.Errorf("property %q: %w", name, err)
		}
		for _, v := range many {
			*p = append(*p, Property{name, v})
		}
	}
	return nil
}
