// Package schema holds the JSON Schema (draft 2020-12) of the crawl definition, for editors and for
// programs that write definitions. It is made of the Go type. It asks for no less than what
// crawl.ParseDefinition takes for a field that is given, but is stricter with empty ones; the relations between
// fields, and what only a parser of URLs or numbers can check, are left to that.
package schema

import (
	_ "embed"
)

//go:generate go test . -run Published -update

//go:embed definition.schema.json
var published []byte

// Published returns the schema as it is published.
func Published() []byte { return published }
