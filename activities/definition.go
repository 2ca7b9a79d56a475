package activities

import (
	"context"
	"encoding/json"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// DefinitionChange is a definition that is in force, and the fields that are to change, as in a definition.
type DefinitionChange struct {
	Definition crawl.Definition `json:"definition"`
	Fields     json.RawMessage  `json:"fields"`
}

// ReadDefinition reads the definition that a crawl was started with, fills in the defaults and validates it. Workflow code takes the
// result as it is: histories replay whatever a later version requires of a definition.
func (*Activities) ReadDefinition(_ context.Context, text json.RawMessage) (crawl.Definition, error) {
	return checkedDefinition("the definition has faults:\n")(crawl.ParseStoredDefinition(text))
}

// ChangeDefinition changes fields of a definition. It puts nothing in force.
func (*Activities) ChangeDefinition(_ context.Context, in DefinitionChange) (crawl.Definition, error) {
	return checkedDefinition("")(in.Definition.Changed(in.Fields))
}

// checkedDefinition makes faults of a definition an error of the input, which trying again cannot help with.
func checkedDefinition(what string) func(crawl.Definition, error) (crawl.Definition, error) {
	return func(d crawl.Definition, err error) (crawl.Definition, error) {
		if err != nil {
			err = &crawl.InputError{Message: what + err.Error()}
		}
		return d, err
	}
}
