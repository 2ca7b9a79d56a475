package crawl

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Object is a web object that the helper extracted out of a page: a post, an article, a comment. Types and
// properties are those of the knowledge base's vocabulary.
type Object struct {
	Type       string     `json:"type"` // article, post, comment, thread, person, …
	Properties Properties `json:"properties"`
	Rule       string     `json:"rule,omitempty"`       // file:line of the rule that extracted it
	Confidence float64    `json:"confidence,omitempty"` // in (0,1]
}

// Placed reports whether there is a text or markup to cut out of the page.
func (o *Object) Placed() bool {
	return slices.ContainsFunc(o.Properties, func(p Property) bool { return p.Place != nil })
}

// MaxExcerpt is how much of a property's value a metadata record of the archive has, in bytes.
const MaxExcerpt = 512

// Release gives up the texts that the archive keeps the places of, but for what metadata records show of them: MaxExcerpt
// bytes, and one by which it is seen that there was more. So the pages that wait for the archive do not hold their texts twice.
func (o *Object) Release() {
	for i := range o.Properties {
		if p := &o.Properties[i]; p.Place != nil && len(p.Value) > MaxExcerpt+1 {
			p.Value = strings.Clone(p.Value[:MaxExcerpt+1])
		}
	}
}

// Property is one value of a property; a property of several values is there several times.
type Property struct {
	Name, Value string
	// Place is where the value stands in the page, if it is a text of the page that is archived by its place; else nil.
	// What was read from an archive has no value until it is cut out of the page, and of what is on its way there it is
	// an excerpt (Release).
	Place *Place
}

// Markup is the name of the property that is the HTML of a body. It has a place and no value, until it is cut out of the page.
const Markup = "html"

// Properties are the properties of a web object in the order they were found. In JSON they are an object,
// whose values are strings, or arrays of strings where there are several; places, as objects, where the archive keeps
// those instead of the text.
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
func (p Properties) MarshalJSON() ([]byte, error) { return p.Append(nil), nil }

// Append appends what MarshalJSON writes: of a property that is there several times, a list.
func (p Properties) Append(b []byte) []byte {
	return p.append(b, func(b []byte, q *Property) []byte {
		if q.Place != nil && q.Value == "" { // not cut out of the page
			return q.Place.Append(b)
		}
		return AppendString(b, q.Value)
	})
}

// AppendPlaced appends what Append does, but the place of a value, where it has one, instead of its text, and no markup
// that stands at the place of a text.
func (p Properties) AppendPlaced(b []byte) []byte {
	var list Properties
	for i := range p {
		if p[i].Name != Markup || p[i].Place == nil || !slices.ContainsFunc(p[:i], func(o Property) bool { return o.Place == p[i].Place }) {
			list = append(list, p[i])
		}
	}
	return list.append(b, func(b []byte, q *Property) []byte {
		if q.Place != nil {
			return q.Place.Append(b)
		}
		return AppendString(b, q.Value)
	})
}

func (p Properties) append(b []byte, value func([]byte, *Property) []byte) []byte {
	b = append(b, '{')
	for i := range p {
		same := func(o Property) bool { return o.Name == p[i].Name }
		if slices.ContainsFunc(p[:i], same) {
			continue // written with the first
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = append(AppendString(b, p[i].Name), ':')
		if !slices.ContainsFunc(p[i+1:], same) {
			b = value(b, &p[i])
			continue
		}
		b = append(b, '[')
		for j := range p[i:] {
			if o := &p[i+j]; same(*o) {
				if j > 0 {
					b = append(b, ',')
				}
				b = value(b, o)
			}
		}
		b = append(b, ']')
	}
	return append(b, '}')
}

// UnmarshalJSON reads what MarshalJSON and AppendPlaced write.
func (p *Properties) UnmarshalJSON(raw []byte) error {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("properties are not a JSON object: %s", raw)
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
		many := []json.RawMessage{value}
		if len(value) > 0 && value[0] == '[' {
			if err := json.Unmarshal(value, &many); err != nil {
				return fmt.Errorf("property %q: %w", name, err)
			}
		}
		for _, v := range many {
			q := Property{Name: name}
			if v[0] == '{' {
				err = json.Unmarshal(v, &q.Place)
			} else {
				err = json.Unmarshal(v, &q.Value)
			}
			if err != nil {
				return fmt.Errorf("property %q: %w", name, err)
			}
			*p = append(*p, q)
		}
	}
	return nil
}
