package crawl

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

// running is the definition of a crawl that runs, made again at each call: no two share anything.
func running(t *testing.T) Definition {
	t.Helper()
	d, err := ParseDefinition([]byte(`
name: ravens
description: about ravens
seeds: [http://a.example/, {sitemap: http://a.example/map.xml}]
topic:
  keywords: [raven, crow]
  entities: [{name: Odin, aliases: [Wotan]}]
  examples: [{text: a raven}]
  url_patterns: [{pattern: "*raven*", score: 1}]
scope: {include: ["http://a.example/*"], exclude: ["*.pdf"]}
order: {strategy: fused, per_queue: 5}
weights: {anchor: 4}
budget: {pages: 1000, bytes: 1GB, time: 1h}
politeness: {min_delay: 0s, max_delay: 0s}
overrides: {plds: {a.example: {budget: 9}}}
reference: {pages: 20}
`))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// shown is a definition as people read it, with what it points to.
func shown(t *testing.T, d Definition) string {
	t.Helper()
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// paths are those of an error that must be Faults.
func paths(t *testing.T, err error) (list []string) {
	t.Helper()
	var faults Faults
	if !errors.As(err, &faults) {
		t.Fatalf("%v is no Faults", err)
	}
	for _, f := range faults {
		list = append(list, f.Path)
	}
	return list
}

// Fields that may change are changed, in each way of writing, and no others.
func TestChanged(t *testing.T) {
	for _, c := range []struct {
		name, text string
		edit       func(d *Definition)
	}{
		{"flow", "order: {strategy: weighted}", func(d *Definition) { d.Order.Strategy = StrategyWeighted }},
		{"block", "order:\n  strategy: weighted\n  per_queue: 7\n", func(d *Definition) { d.Order.Strategy, d.Order.PerQueue = StrategyWeighted, 7 }},
		{"JSON", `{"order":{"strategy":"weighted","batch":true}}`, func(d *Definition) { d.Order.Strategy, d.Order.Batch = StrategyWeighted, true }},
		{"the largest seed", `{"order":{"seed":18446744073709551615}}`, func(d *Definition) { d.Order.Seed = 1<<64 - 1 }},
		{"the largest seed in YAML", `order: {seed: 18446744073709551615}`, func(d *Definition) { d.Order.Seed = 1<<64 - 1 }},
		{"numbers", "weights: {anchor: 0.25, spam: 0}", func(d *Definition) { d.Weights.Anchor, d.Weights.Spam = 0.25, 0 }},
		{"units", "budget: {bytes: 3GiB, time: 90m, pages: 1e3}\npoliteness: {max_delay: 1500ms}", func(d *Definition) {
			d.Budget.Bytes, d.Budget.Time, d.Budget.Pages = 3<<30, Duration(90*time.Minute), 1000
			d.Politeness.MaxDelay = Duration(1500 * time.Millisecond)
		}},
		{"the rest", "helper: strict\ndescription: of crows", func(d *Definition) { d.Helper, d.Description = HelperStrict, "of crows" }},
		{"what it is already", "order: {strategy: fused}", func(*Definition) {}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, want := running(t), running(t)
			c.edit(&want)
			got, err := d.Changed([]byte(c.text))
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %v, want\n%s", shown(t, got), err, shown(t, want))
			}
			if !reflect.DeepEqual(d, running(t)) {
				t.Errorf("the definition that was to change is another: %s", shown(t, d))
			}
		})
	}
}

// Fields that are left out keep the values of the definition, not the defaults: several changes add up.
func TestChangedAddsUp(t *testing.T) {
	d := running(t)
	for _, text := range []string{"order: {strategy: weighted}", "order: {per_queue: 7}", "weights: {anchor: 3}"} {
		var err error
		if d, err = d.Changed([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	want := running(t)
	want.Order.Strategy, want.Order.PerQueue, want.Weights.Anchor = StrategyWeighted, 7, 3
	if !reflect.DeepEqual(d, want) {
		t.Errorf("%s, want\n%s", shown(t, d), shown(t, want))
	}
}

// Wrong changes are refused with all faults at once, and leave the definition unchanged, including what it points to.
func TestChangedRefuses(t *testing.T) {
	for _, c := range []struct {
		name, text, paths string
		says              []string
	}{
		{"nothing", "", "", []string{"not a mapping", "order: {strategy: weighted}"}},
		{"an empty mapping", "{}", "", []string{"not a mapping"}},
		{"a list", "[order]", "", []string{"not a mapping"}},
		{"no YAML", "order: [", "", []string{"neither YAML nor JSON"}},
		{"two documents", "helper: off\n---\nhelper: strict\n", "", []string{"neither YAML nor JSON"}},
		{"no number", "weights: {anchor: .nan}", "", nil},

		{"a slip", "order: {stratgey: weighted}", "order.stratgey", []string{"strategy"}},
		{"a slip at the top", "ordr: {strategy: weighted}", "ordr", []string{"order"}},
		{"a Go name", "order: {PerQueue: 7}", "order.PerQueue", []string{"per_queue"}},
		{"no such part", "weights: {anker: 1}", "weights.anker", []string{"anchor"}},

		{"seeds", "seeds: [http://b.example/]", "seeds", Changeable},
		{"no seeds", "seeds: null", "seeds", Changeable},
		{"topic", "topic: {keywords: [soup]}", "topic", Changeable},
		{"name", "name: crows", "name", Changeable},
		{"the name that it has", "name: ravens", "name", Changeable},
		{"scope", "scope: {exclude: [soup], include: []}", "scope", Changeable},
		{"archive", "archive: {where: /elsewhere}", "archive", Changeable},
		{"reference", "reference: {pages: 5}", "reference", Changeable},
		{"one of several", "order: {strategy: weighted}\nname: crows", "name", []string{"cannot change"}},

		{"no such strategy", "order: {strategy: best}", "order.strategy", []string{`"best"`, "weighted"}},
		{"too many", "order: {per_queue: 9999}", "order.per_queue", []string{"500"}},
		{"a part of one", "order: {per_queue: 7.5}", "order.per_queue", []string{"whole number"}},
		{"a string", "order: {per_queue: seven}", "order.per_queue", []string{"whole number"}},
		{"a mapping for a string", "order: {strategy: {name: fused}}", "order.strategy", []string{"string"}},
		{"a string for a mapping", "order: weighted", "order", []string{"mapping"}},
		{"a list for a mapping", "weights: [1, 2]", "weights", []string{"mapping"}},
		{"no unit", "politeness: {max_delay: 5}", "politeness.max_delay", []string{"unit"}},
		{"against what stays", "politeness: {min_delay: 1s}", "politeness.max_delay", []string{"politeness.min_delay"}},
		{"all faults", "order: {strategy: best, update: often, per_queue: 0}\nweights: {anchor: -1}\nhelper: maybe\nbudget: {pages: 0}",
			"budget.pages helper order.per_queue order.strategy order.update weights.anchor", nil},
		{"all kinds of faults", "order: {strategy: best, per_que: 1}\nname: crows\nbudgit: 1\nweights: {anchor: much}",
			"budgit name order.per_que order.strategy weights.anchor", nil},
		{"all weights", "weights: {document: 0, paragraph: 0, anchor: 0, url: 0, tokens: 0, entities: 0, history: 0, language: 0, freshness: 0, spam: 0, social: 0, helper: 0}",
			"weights", []string{"at least one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := running(t)
			got, err := d.Changed([]byte(c.text))
			if err == nil {
				t.Fatalf("is taken: %s", shown(t, got))
			}
			if at := strings.Join(paths(t, err), " "); at != c.paths {
				t.Errorf("faults at %q, want %q:\n%v", at, c.paths, err)
			}
			for _, words := range c.says {
				if !strings.Contains(err.Error(), words) {
					t.Errorf("%q is not in\n%v", words, err)
				}
			}
			if !reflect.DeepEqual(got, running(t)) {
				t.Errorf("what is given back has changed: %s", shown(t, got))
			}
			if !reflect.DeepEqual(d, running(t)) {
				t.Errorf("the definition has changed: %s", shown(t, d))
			}
		})
	}
}

// Every field that may change is one of the definition, and a definition that is written out can be changed into itself.
func TestChangeable(t *testing.T) {
	d := running(t)
	raw, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for name, value := range all {
		got, err := d.Changed([]byte(`{"` + name + `":` + string(value) + `}`))
		if may := slices.Contains(Changeable, name); may != (err == nil) || !reflect.DeepEqual(got, running(t)) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, name := range Changeable {
		if all[name] == nil {
			t.Errorf("%s is no field of a definition", name)
		}
	}
}

func TestFields(t *testing.T) {
	for _, c := range []struct {
		list []string
		want string // "": is refused
	}{
		{nil, `{}`},
		{[]string{"order.strategy=weighted"}, `{"order":{"strategy":"weighted"}}`},
		{[]string{"order.strategy=weighted", "order.per_queue=7", "weights.anchor=2.5"}, `{"order":{"per_queue":7,"strategy":"weighted"},"weights":{"anchor":2.5}}`},
		{[]string{"order={strategy: weighted, batch: true}"}, `{"order":{"batch":true,"strategy":"weighted"}}`},
		{[]string{"order={strategy: weighted}", "order.per_queue=7"}, `{"order":{"per_queue":7,"strategy":"weighted"}}`},
		{[]string{"order.per_queue=7", "order.per_queue=8"}, `{"order":{"per_queue":8}}`},
		{[]string{"topic.keywords=[raven, 'a crow', 3]"}, `{"topic":{"keywords":["raven","a crow",3]}}`},
		{[]string{`topic.keywords=["raven"]`}, `{"topic":{"keywords":["raven"]}}`},
		{[]string{"order.seed=18446744073709551615"}, `{"order":{"seed":18446744073709551615}}`},
		{[]string{"budget.time=90m", "budget.bytes=1.5GB"}, `{"budget":{"bytes":"1.5GB","time":"90m"}}`},
		{[]string{"description=a=b"}, `{"description":"a=b"}`},
		{[]string{`description="7"`}, `{"description":"7"}`},
		{[]string{"description=2026-01-02"}, `{"description":"2026-01-02"}`},
		{[]string{"helper=off"}, `{"helper":"off"}`},
		{[]string{"helper=null"}, `{"helper":null}`},
		{[]string{"a.b.c.d=1"}, `{"a":{"b":{"c":{"d":1}}}}`},
		{[]string{"order.strategy"}, ""},
		{[]string{"=weighted"}, ""},
		{[]string{""}, ""},
		{[]string{"order.strategy=weighted", "order.per_queue"}, ""},
		{[]string{"order=["}, ""},
		{[]string{"weights.anchor=.nan"}, ""},
	} {
		got, err := Fields(c.list)
		if (err == nil) != (c.want != "") || string(got) != c.want {
			t.Errorf("%q: %s, %v, want %s", c.list, got, err, c.want)
		}
	}
}

// The crawl reads what the command line makes of FIELD=VALUE.
func TestFieldsAreUnderstood(t *testing.T) {
	text, err := Fields([]string{"order.strategy=weighted", "order.per_queue=7", "order.batch=true", "weights.anchor=0.5", "budget.time=2h", "budget.bytes=1GB", "helper=off"})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := JSON(text) // on its way through the client
	if err != nil {
		t.Fatal(err)
	}
	got, err := running(t).Changed(raw)
	want := running(t)
	want.Order.Strategy, want.Order.PerQueue, want.Order.Batch = StrategyWeighted, 7, true
	want.Weights.Anchor, want.Budget.Time, want.Budget.Bytes, want.Helper = 0.5, Duration(2*time.Hour), 1e9, HelperOff
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s, %v, want\n%s", shown(t, got), err, shown(t, want))
	}
}

func TestJSON(t *testing.T) {
	for text, want := range map[string]string{
		"order: {strategy: weighted}":             `{"order":{"strategy":"weighted"}}`,
		`{"order":{"seed":12345678901234567890}}`: `{"order":{"seed":12345678901234567890}}`,
		"a: 2026-01-02\nb: [1, 2.5, x]":           `{"a":"2026-01-02","b":[1,2.5,"x"]}`,
		"":                                        "null",
	} {
		if got, err := JSON([]byte(text)); err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"a: [", "a: .inf", "{1: a}"} {
		if got, err := JSON([]byte(text)); err == nil {
			t.Errorf("%q: %s", text, got)
		}
	}
}

// Any change either gives a definition without faults or changes nothing, and never panics.
func FuzzChanged(f *testing.F) {
	for _, text := range []string{
		"order: {strategy: weighted}", `{"order":{"per_queue":7}}`, "name: x", "reference: {pages: 5}", "order: [", "a: {b: .nan}",
		"seeds: [{url: 1}]", "topic: {entities: [{aliases: [b]}]}", "order: null", "{1: 2}",
	} {
		f.Add(text)
	}
	raw, err := json.Marshal(DefaultDefinition())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(raw))
	f.Fuzz(func(t *testing.T, text string) {
		d := running(t)
		got, err := d.Changed([]byte(text))
		if err == nil {
			err = got.Validate()
		} else if len(paths(t, err)) == 0 || !reflect.DeepEqual(got, running(t)) {
			t.Errorf("%q: %v gives back %s", text, err, shown(t, got))
		} else {
			err = nil
		}
		if err != nil || !reflect.DeepEqual(d, running(t)) {
			t.Errorf("%q: %v leaves %s", text, err, shown(t, d))
		}
		if got.Name != "ravens" || len(got.Seeds) != 2 || !reflect.DeepEqual(got.Topic, running(t).Topic) {
			t.Errorf("%q changes what cannot change: %s", text, shown(t, got))
		}
	})
}
