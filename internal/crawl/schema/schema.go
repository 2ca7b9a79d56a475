// Package schema holds the JSON Schema (draft 2020-12) of the crawl definition, for editors and for
// programs that write definitions. It is made of the Go type. What it refuses, crawl.ParseDefinition
// refuses; the relations between fields are left to that.
package schema

import (
	_ "embed"
)

//go:generate go test . -run Published -update

//go:embed definition.schema.json
var published []byte

// Published returns the schema as it is published.
func Published() []byte { return published }
