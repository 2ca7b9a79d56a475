package cdx

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/muninn-archive/muninn/internal/catalogue"
)

// The values of the parameter output.
const (
	outputCDXJ = "cdxj"
	outputJSON = "json"
	outputText = "text"
)

// output is a format of lines.
type output struct {
	name   string
	mime   string
	fields []string // those of a line if the query names none
	line   func(e *catalogue.Entry, fields []string) ([]byte, error)
}

// withoutPlace are the fields of a capture but for those that name its run and segment.
var withoutPlace = catalogue.Fields[:14]

var outputs = map[string]*output{
	outputCDXJ: {outputCDXJ, "text/x-cdxj", withoutPlace, cdxjLine},
	outputJSON: {outputJSON, "text/x-ndjson", withoutPlace, jsonLine},
	outputText: {outputText, "text/plain; charset=utf-8", catalogue.Fields[:9], textLine},
}

// cdxjLine is key, time and the other fields as an object.
func cdxjLine(e *catalogue.Entry, fields []string) ([]byte, error) {
	line := []byte(e.Key + " " + e.Field("timestamp") + " ")
	line, err := appendObject(line, e, fields, "urlkey", "timestamp")
	return append(line, '\n'), err
}

// jsonLine is an object.
func jsonLine(e *catalogue.Entry, fields []string) ([]byte, error) {
	line, err := appendObject(nil, e, fields)
	return append(line, '\n'), err
}

// appendObject appends an object with those fields that the capture has, in their order, but for some.
func appendObject(line []byte, e *catalogue.Entry, fields []string, but ...string) ([]byte, error) {
	var value bytes.Buffer
	enc := json.NewEncoder(&value)
	enc.SetEscapeHTML(false) // '&' is a part of many URLs, and no browser takes these types for pages
	line = append(line, '{')
	some := false
	for _, name := range fields {
		v := e.Field(name)
		if v == "" || len(but) > 0 && (name == but[0] || name == but[1]) {
			continue
		}
		if some {
			line = append(line, ", "...)
		}
		some = true
		value.Reset()
		if err := enc.Encode(v); err != nil {
			return line, err
		}
		line = append(append(append(line, '"'), name...), "\": "...)
		line = append(line, bytes.TrimSuffix(value.Bytes(), []byte("\n"))...)
	}
	return append(line, '}'), nil
}

// textLine is the values with blanks between them; '-' for those that there are not, %20 for a blank within one.
func textLine(e *catalogue.Entry, fields []string) ([]byte, error) {
	var line []byte
	for i, name := range fields {
		if i > 0 {
			line = append(line, ' ')
		}
		v := strings.Join(strings.Fields(e.Field(name)), "%20")
		if v == "" {
			v = "-"
		}
		line = append(line, v...)
	}
	return append(line, '\n'), nil
}
