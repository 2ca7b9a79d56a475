package activities

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestReadDefinition: defaults are filled in; faults are listed, and trying again is no use.
func TestReadDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		faults []string
	}{
		"three lines":                 {text: `{"name":"ravens","seeds":["http://a.example/"],"topic":{"keywords":["raven"]}}`},
		"a field of a former version": {text: `{"name":"ravens","seeds":["http://a.example/"],"topic":{"keywords":["raven"]},"archive":{"warc_bytes":1}}`},
		"faults":                      {text: `{"name":"no/good","seeds":["ftp://a.example/"]}`, faults: []string{"the definition has faults", "name", "seeds[0]"}},
		"no mapping":                  {text: `[]`, faults: []string{"not a mapping"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			var d crawl.Definition
			value, err := r.env.ExecuteActivity(r.ReadDefinition, json.RawMessage(c.text))
			if len(c.faults) > 0 {
				checkRefused(t, err, c.faults)
				return
			}
			r.must(err)
			r.must(value.Get(&d))
			if d.Name != "ravens" || d.Scope.MaxRedirects != crawl.DefaultDefinition().Scope.MaxRedirects {
				t.Errorf("%+v", d)
			}
		})
	}
}

// TestChangeDefinition: some fields change, the others stay.
func TestChangeDefinition(t *testing.T) {
	for name, c := range map[string]struct {
		fields string
		faults []string
	}{
		"a field":               {fields: `{"order":{"per_queue":7}}`},
		"a field that may not":  {fields: `{"name":"other"}`, faults: []string{"name cannot change"}},
		"a value that is wrong": {fields: `{"order":{"per_queue":-7}}`, faults: []string{"order.per_queue"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			was := crawl.DefaultDefinition()
			was.Name, was.Seeds, was.Description = "ravens", []crawl.Seed{{URL: "http://a.example/"}}, "kept"
			value, err := r.env.ExecuteActivity(r.ChangeDefinition, DefinitionChange{Definition: was, Fields: json.RawMessage(c.fields)})
			if len(c.faults) > 0 {
				checkRefused(t, err, c.faults)
				return
			}
			r.must(err)
			var d crawl.Definition
			r.must(value.Get(&d))
			if d.Order.PerQueue != 7 || d.Description != "kept" || d.Order.Update != was.Order.Update {
				t.Errorf("%+v", d)
			}
		})
	}
}

func checkRefused(t *testing.T, err error, faults []string) {
	t.Helper()
	var app *temporal.ApplicationError
	if !errors.As(err, &app) || !app.NonRetryable() || app.Type() != ErrorInput {
		t.Fatalf("%v, want an error of the input", err)
	}
	for _, fault := range faults {
		if !strings.Contains(err.Error(), fault) {
			t.Errorf("%q is not in %v", fault, err)
		}
	}
}
