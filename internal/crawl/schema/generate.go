package schema

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The forms of the strings.
const (
	urlForm      = `^\s*[hH][tT][tT][pP][sS]?://[^/?#\s]`
	nameForm     = `^[^\x00-\x2f\x3a-\x40\x5b-\x60\x7b-\xbf][^\x00-\x2c\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\xbf]*$` // not all validators know \p{L}
	prefixForm   = `^([^/]+(/[^/]+)*/?)?$`
	rangeForm    = `^\s*(((at most|at least|more than|less than)\s+)?[0-9]+(\.[0-9]+)?|[0-9]+(\.[0-9]+)?\s+to\s+[0-9]+(\.[0-9]+)?)\s*$`
	languageForm = `^([a-z]{2}|unknown)$`
	mimeForm     = `^([a-z0-9.+_-]+/([a-z0-9.+_-]+|\*)|unknown)$`
	hostForm     = `^[^/ *@]+$`
	siteForm     = `^[^/ *@A-Z\[\]]+$`
	textForm     = `\S`
	agentForm    = `^[^\r\n]*\S[^\r\n]*$`
	lineForm     = `^[^\r\n]*$`
	durationForm = `^\+?(0|(([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$`
	bytesForm    = `^\s*\+?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?\s*([KMGT]i?B|B)?\s*$`
)

// JSON makes the schema by reflection. The descriptions are the comments in the source of package
// crawl, which it expects in the parent directory: it runs in the directory of this package.
func JSON() ([]byte, error) {
	r := &jsonschema.Reflector{
		BaseSchemaID: "https://github.com/muninn-archive/muninn", ExpandedStruct: true, RequiredFromJSONSchemaTags: true,
		Mapper: units,
	}
	if err := r.AddGoComments("github.com/muninn-archive/muninn/internal/crawl/schema", "..", jsonschema.WithFullComment()); err != nil {
		return nil, fmt.Errorf("read the comments: %w", err)
	}
	root := r.Reflect(crawl.Definition{})
	root.Title = "Muninn crawl definition"
	for _, s := range append([]*jsonschema.Schema{root}, values(root.Definitions)...) {
		tidy(s)
	}
	if err := defaults(root); err != nil {
		return nil, err
	}
	constrain(root)
	text, err := json.MarshalIndent(root, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("write the schema: %w", err)
	}
	return append(text, '\n'), nil
}

func values(defs jsonschema.Definitions) []*jsonschema.Schema {
	var list []*jsonschema.Schema
	for _, s := range defs {
		list = append(list, s)
	}
	return list
}

// tidy takes the line breaks of the source out of the descriptions.
func tidy(s *jsonschema.Schema) {
	s.Description = strings.Join(strings.Fields(s.Description), " ")
	for p := s.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value.Description = strings.Join(strings.Fields(p.Value.Description), " ")
	}
}

// units writes the types that are text in a definition.
func units(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[crawl.Duration]():
		return &jsonschema.Schema{Type: "string", Pattern: durationForm, Examples: []any{"30s", "5m", "24h"}}
	case reflect.TypeFor[crawl.Bytes]():
		return &jsonschema.Schema{
			AnyOf:    []*jsonschema.Schema{{Type: "integer", Minimum: "0"}, {Type: "string", Pattern: bytesForm}},
			Examples: []any{"64MiB", "1GB"},
		}
	}
	return nil
}

// defaults writes the defaults of the fields, as crawl.DefaultDefinition gives them.
func defaults(root *jsonschema.Schema) error {
	text, err := json.Marshal(crawl.DefaultDefinition())
	if err != nil {
		return fmt.Errorf("write the defaults: %w", err)
	}
	parts := map[string]json.RawMessage{}
	if err := json.Unmarshal(text, &parts); err != nil {
		return fmt.Errorf("read the defaults: %w", err)
	}
	for part, text := range parts {
		fields := map[string]any{}
		if json.Unmarshal(text, &fields) != nil {
			continue // name and seeds have none
		}
		for name, value := range fields {
			field(root, part+"."+name).Default = value
		}
	}
	return nil
}

// constrain writes what crawl.Definition.Validate asks of single fields.
func constrain(root *jsonschema.Schema) {
	root.Required = []string{"name", "seeds"}
	at := func(path string) *jsonschema.Schema { return field(root, path) }
	bounds := func(path, least, most string) {
		at(path).Minimum, at(path).Maximum = json.Number(least), json.Number(most)
	}
	at("name").Pattern, at("name").MaxLength, at("name").MinLength = nameForm, count(crawl.MaxName), count(1)
	at("seeds").MinItems, at("seeds").MaxItems = count(1), count(crawl.MaxSeeds)

	root.Definitions["Seed"] = orURL(root.Definitions["Seed"], "sitemap")
	root.Definitions["Example"] = orURL(root.Definitions["Example"])
	root.Definitions["Recrawl"].Required = []string{"min", "max"}
	root.Definitions["Entity"].Required = []string{"name"}
	root.Definitions["URLPattern"].Required = []string{"pattern"}
	at("topic.keywords").MaxItems = count(crawl.MaxKeywords)
	at("topic.keywords").Items.Pattern = textForm
	paths := at("topic.paths")
	paths.MaxItems, paths.Items.MinItems, paths.Items.MaxItems = count(crawl.MaxPaths), count(2), count(crawl.MaxPath)
	bounds("topic.threshold", "", "1")
	at("topic.threshold").ExclusiveMinimum = "0"
	property(root.Definitions["Entity"], "name").Pattern = textForm
	pattern := property(root.Definitions["URLPattern"], "pattern")
	pattern.MinLength = count(1)
	score := property(root.Definitions["URLPattern"], "score")
	score.Minimum, score.Maximum = "0", "1"

	at("scope.within").Enum = []any{crawl.WithinHost, crawl.WithinPLD, crawl.WithinWeb}
	for _, list := range []string{"hosts", "plds", "blacklist"} {
		at("scope." + list).Items.Pattern = hostForm
	}
	at("scope.include").Items.MinLength, at("scope.exclude").Items.MinLength = count(1), count(1)
	rules(root, at)
	bounds("scope.max_hops", "0", "")
	bounds("scope.max_redirects", "1", strconv.Itoa(crawl.MaxRedirects))

	for _, list := range []string{"parameters", "path_parameters"} {
		at("canonical."+list).Items.Pattern, at("canonical."+list).MaxItems = `^[^\s&=?#;/*]+\*?$`, count(crawl.MaxParameters)
	}
	at("canonical.session_parameters").Items.Pattern, at("canonical.session_parameters").MaxItems = `^[^\s&=?#;/*]+$`, count(crawl.MaxParameters)
	at("order.update").Enum = []any{crawl.UpdateFirst, crawl.UpdateLast, crawl.UpdateAvg, crawl.UpdateMax, crawl.UpdateSum}
	bounds("order.per_queue", "1", strconv.Itoa(crawl.MaxPerQueue))
	for _, strategy := range crawl.Strategies {
		at("order.strategy").Enum = append(at("order.strategy").Enum, strategy)
	}
	bounds("order.seed", "0", "")
	at("topic.languages").Items.Pattern = `^[a-z]{2}$`
	for part := range crawl.DefaultDefinition().Weights.ByName() {
		bounds("weights."+string(part), "0", "")
	}
	bounds("budget.pages", "1", "")
	bounds("budget.per_pld", "0", "")
	bounds("budget.requests", "0", "")
	bounds("budget.requisites", "0", "")
	bounds("reference.pages", "0", "")
	at("budget.bytes").AnyOf[0].Minimum = "1"
	bounds("politeness.factor", "0", "")
	bounds("politeness.per_ip", "1", strconv.Itoa(crawl.MaxPerIP))
	bounds("politeness.weight", "0", strconv.Itoa(crawl.MaxCrawlWeight))
	at("politeness.user_agent").Pattern, at("politeness.contact").Pattern = agentForm, lineForm

	overrides(root, at)

	for _, policy := range crawl.RobotsPolicies {
		at("robots.policy").Enum = append(at("robots.policy").Enum, policy)
	}
	at("robots.reason").Pattern = lineForm
	at("robots.nofollow").Enum = []any{crawl.RobotsObey, crawl.RobotsIgnore}
	at("archive.where").AnyOf = []*jsonschema.Schema{
		{Pattern: `^s3://[^/?#@:]+(/|$)`}, {Not: &jsonschema.Schema{Pattern: "://"}},
	}
	at("archive.digest").Enum = []any{crawl.DigestSHA1, crawl.DigestSHA256}
	at("archive.prefix").Pattern = prefixForm
	at("archive.prefix").Not = &jsonschema.Schema{Pattern: `(^|/)\.\.?(/|$)`}
}

// rules writes what is asked of the rules of the scope.
func rules(root *jsonschema.Schema, at func(string) *jsonschema.Schema) {
	at("scope.rules").MaxItems = count(crawl.MaxRules)
	rule := root.Definitions["Rule"]
	rule.MinProperties, rule.MaxProperties = count(1), count(1)
	object := root.Definitions["Conditions"]
	object.MinProperties = count(1)
	for name, form := range map[string]string{
		"host": hostForm, "pld": hostForm, "surt": `^[^\s]+$`, "url": textForm, "hop_path": textForm, "scheme": `^https?$`, "extension": `^[0-9A-Za-z]{1,16}$`,
		"language": languageForm, "via_language": languageForm, "mime": mimeForm,
	} {
		one := &jsonschema.Schema{Type: "string", Pattern: form}
		oneOrMore(property(object, name), one)
	}
	for _, name := range []string{"port", "depth", "query_length", "hops", "hops_off_site", "score"} {
		one := &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "number", Minimum: "0"}, {Type: "string", Pattern: rangeForm}}}
		oneOrMore(property(object, name), one)
	}
	property(object, "all").MinItems, property(object, "any").MinItems = count(1), count(1)
	description := object.Description
	object.Description = ""
	root.Definitions["Conditions"] = &jsonschema.Schema{
		Description: description, OneOf: []*jsonschema.Schema{{Type: "string", Enum: []any{"everything"}}, object},
	}
}

// oneOrMore makes of a field one that takes a value or a list of values.
func oneOrMore(field, one *jsonschema.Schema) {
	field.Type, field.Items, field.Ref = "", nil, ""
	field.OneOf = append(field.OneOf, one, &jsonschema.Schema{Type: "array", Items: one, MinItems: count(1), MaxItems: count(crawl.MaxRuleTexts)})
}

// overrides writes what is asked of overrides.
func overrides(root *jsonschema.Schema, at func(string) *jsonschema.Schema) {
	one := root.Definitions["Override"]
	bounds := func(name, least, most string) {
		property(one, name).Minimum, property(one, name).Maximum = json.Number(least), json.Number(most)
	}
	bounds("factor", "0", "")
	bounds("budget", "0", "")
	bounds("per_queue", "1", strconv.Itoa(crawl.MaxPerQueue))
	bounds("weight", strconv.FormatFloat(1.0/crawl.MaxWeight, 'g', -1, 64), strconv.Itoa(crawl.MaxWeight))
	for _, state := range crawl.States {
		property(one, "state").Enum = append(property(one, "state").Enum, state)
	}
	open := property(one, "open_patterns")
	open.Ref, open.Type, open.MaxItems = "", "array", count(crawl.MaxOpenPatterns)
	open.Items = &jsonschema.Schema{Type: "string", MaxLength: count(crawl.MaxPattern), Pattern: `^[^/\s?#]*[^/\s?#:]/[^\n\r]*$`}
	delete(root.Definitions, "Patterns")
	ofPLD := &jsonschema.Schema{}
	for _, name := range []string{"budget", "per_queue", "weight", "state", "ignore_traps", "open_patterns"} {
		ofPLD.AnyOf = append(ofPLD.AnyOf, &jsonschema.Schema{Required: []string{name}})
	}
	for _, kind := range []string{"plds", "hosts"} {
		at("overrides." + kind).PropertyNames = &jsonschema.Schema{Pattern: siteForm}
	}
	hosts := at("overrides.hosts")
	hosts.AdditionalProperties = &jsonschema.Schema{AllOf: []*jsonschema.Schema{hosts.AdditionalProperties}, Not: ofPLD}
}

// orURL makes of an object with exactly one field one that a bare URL may stand for; more names the
// fields besides url that hold URLs.
func orURL(object *jsonschema.Schema, more ...string) *jsonschema.Schema {
	description := object.Description
	object.Description = ""
	object.MinProperties, object.MaxProperties = count(1), count(1)
	for p := object.Properties.Oldest(); p != nil; p = p.Next() {
		p.Value.MinLength = count(1)
	}
	for _, name := range append(more, "url") {
		property(object, name).Pattern = urlForm
	}
	return &jsonschema.Schema{
		Description: description,
		OneOf:       []*jsonschema.Schema{{Type: "string", Pattern: urlForm}, object},
	}
}

// field finds a field by its path, such as "budget.pages".
func field(root *jsonschema.Schema, path string) *jsonschema.Schema {
	part, name, deeper := strings.Cut(path, ".")
	s := property(root, part)
	if !deeper {
		return s
	}
	return property(root.Definitions[strings.TrimPrefix(s.Ref, "#/$defs/")], name)
}

// property panics if the type has no such field: this runs only when the schema is made.
func property(s *jsonschema.Schema, name string) *jsonschema.Schema {
	p, known := s.Properties.Get(name)
	if !known {
		panic("the definition has no field " + name)
	}
	return p
}

func count(n uint64) *uint64 { return &n }
