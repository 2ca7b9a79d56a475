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

const three = "name: ravens\nseeds: [http://example.org/]\ntopic: {keywords: [raven]}\n"

func TestThreeLines(t *testing.T) {
	want := DefaultDefinition()
	want.Name = "ravens"
	want.Seeds = []Seed{{URL: "http://example.org/"}}
	want.Topic.Keywords = []string{"raven"}
	for _, text := range []string{
		three,
		`{"name":"ravens","seeds":["http://example.org/"],"topic":{"keywords":["raven"]}}`,
		"{\n\t\"name\": \"ravens\",\n\t\"seeds\": [{\"url\": \"http://example.org/\"}],\n\t\"topic\": {\"keywords\": [\"raven\"]}\n}",
		"# a comment\n---\n" + three + "scope:\nbudget: null\n",
		"name: &n ravens\nseeds:\n- url: http://example.org/\ntopic:\n  keywords:\n  - raven\n",
	} {
		got, err := ParseDefinition([]byte(text))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngives %+v, %v", text, got, err)
		}
	}
	if want.Bound() != WithinWeb || want.ReferencePages() != 500 || want.Politeness.Agent() != "Muninn/1.0" {
		t.Errorf("bound %s, %d reference pages, agent %s", want.Bound(), want.ReferencePages(), want.Politeness.Agent())
	}
}

func TestNotADefinition(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "empty",
		"# nothing\n":                     "empty",
		"null":                            "empty",
		"---\n...\n":                      "empty",
		"- a\n- b\n":                      "not a mapping",
		"ravens":                          "not a mapping",
		"[1]":                             "not a mapping",
		"name: [":                         "neither YAML nor JSON",
		"name: a\nname: b\n":              "already defined",
		three + "---\n" + three:           "text after the end",
		"{" + strings.Repeat("[", 20_000): "neither YAML nor JSON",
		"name: x\ntopic: {1: a}\n":        "not a string",
		"weights: {url: .nan}\n":          "an invalid number",
	} {
		_, err := ParseDefinition([]byte(text))
		if faults := (Faults{}); !errors.As(err, &faults) || len(faults) != 1 || faults[0].Path != "" || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q gives %v, want %q", text, err, want)
		}
	}
}

// TestTexts: values that YAML and JSON write in different ways stay texts.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		definition string
		want       []string
	}{
		{
			"name: 2026-10-05\nseeds: [http://a.example/]\ntopic: {keywords: [2026-10-05, 12:30, on, '1984', ~x, 2001-01-01T00:00:00Z]}",
			[]string{"2026-10-05", "12:30", "on", "1984", "~x", "2001-01-01T00:00:00Z"},
		},
		{
			`{"name":"2026-10-05","seeds":["http:\/\/a.example\/"],"topic":{"keywords":["\ud83d\udc26","a\/b","é"]}}`,
			[]string{"🐦", "a/b", "é"},
		},
	} {
		d, err := ParseDefinition([]byte(c.definition))
		if err != nil || d.Name != "2026-10-05" || !slices.Equal(d.Topic.Keywords, c.want) {
			t.Errorf("%s gives %q, %q, %v", c.definition, d.Name, d.Topic.Keywords, err)
		}
	}
}

func TestUnits(t *testing.T) {
	for text, want := range map[string]Bytes{
		"1": 1, "1000000": 1e6, `"5MB"`: 5e6, `"64 MiB"`: 64 << 20, `" 1.5GB "`: 1.5e9, `"2TiB"`: 2 << 40, `"1e6"`: 1e6, "1e6": 1e6,
		`"7B"`: 7, `"3KB"`: 3000, `"3KiB"`: 3072, "4611686018427387904": 1 << 62, "9007199254740993": 1<<53 + 1,
	} {
		var got Bytes
		if err := json.Unmarshal([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s is %d bytes (%v), want %d", text, got, err, want)
		}
	}
	for _, text := range []string{`"-1"`, "-5", `""`, `"B"`, `"1 furlong"`, `"1kb"`, "true", `"NaN"`, `"Inf"`, `"1e30"`, "9223372036854775807", `"9000000TiB"`, "[1]", "{}"} {
		var got Bytes
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken as %d bytes", text, got)
		}
	}
	for text, want := range map[string]time.Duration{`"1.5s"`: 1500 * time.Millisecond, `"24h"`: 24 * time.Hour, `"1h30m"`: 90 * time.Minute, `"0"`: 0} {
		var got Duration
		if err := json.Unmarshal([]byte(text), &got); err != nil || got.D() != want {
			t.Errorf("%s is %s (%v), want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"5", `"5"`, `"1d"`, `""`, `"forever"`, "{}", "[]"} {
		var got Duration
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken as %s", text, got)
		}
	}
	for b, want := range map[Bytes]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 1 << 40: "1.0 TiB", 1 << 52: "4096.0 TiB"} {
		if b.String() != want {
			t.Errorf("%d bytes are %q, want %q", int64(b), b, want)
		}
	}
}

// full has a value in every field that is not its default.
func full() Definition {
	none := int64(0)
	d := DefaultDefinition()
	d.Name, d.Description = "Ävens-2.0", "of \"ravens\"\n\tand <crows> 🐦"
	d.Seeds = []Seed{{URL: "http://example.org/"}, {Sitemap: "https://example.org/sitemap.xml"}, {File: "seeds.txt"}}
	d.Topic = Topic{
		Keywords: []string{"raven", "1984", "no"}, Entities: []Entity{{"Muninn", "person", []string{"Munin"}}},
		Examples: []Example{{URL: "http://example.org/raven"}, {Text: "A raven."}}, Languages: []string{"en", "is"},
		URLPatterns: []URLPattern{{"*raven*", 1}, {"re:^https?://crow", 0.25}}, Threshold: 0.5,
	}
	d.Scope = Scope{
		WithinHost, []string{"example.org"}, []string{"example.com"}, []string{"surt:org,"}, []string{"re:x+"},
		[]Rule{{Reject: &Conditions{Everything: true}}, {Accept: &Conditions{
			Host: Texts{"a"}, PLD: Texts{"b"}, SURT: Texts{"c"}, URL: Texts{"d", "e"}, Scheme: Texts{"http"}, Port: Ranges{"80", "at least 8000"},
			Extension: Texts{"pdf"}, Depth: Ranges{"1"}, QueryLength: Ranges{"2"}, Hops: Ranges{"3"}, HopsOffSite: Ranges{"4"}, HopPath: Texts{"E$"}, Requisite: new(bool),
			Score: Ranges{"at least 0.5"}, ViaLanguage: Texts{"en"}, MIME: Texts{"text/*"}, Language: Texts{"unknown"},
			All: []Conditions{{Everything: true}}, Any: []Conditions{{Everything: true}}, Not: &Conditions{Everything: true},
		}}},
		[]string{"spam.example"}, 7, 9,
	}
	d.Canonical = Canonical{[]string{"x*"}, []string{}, []string{}}
	d.Order = Order{StrategyBroader, "/words.ttl", 1<<64 - 1, UpdateAvg, 500, true}
	d.Weights = Weights{0, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	d.Budget = Budget{1, 1<<53 + 1, Duration(time.Second), 9, 77, &none, 8}
	d.Politeness = Politeness{0, Duration(time.Minute), Duration(1500 * time.Millisecond), 0, MaxPerIP, MaxCrawlWeight, "Raven/2.0", "mailto:a@example.org"}
	d.Robots = Robots{RobotsIgnore, "the law", RobotsIgnore}
	d.Reference.Pages = &none
	d.Archive = Archive{Where: "s3://bucket/prefix", Prefix: "ravens/", Operator: "The Library"}
	return d
}

func TestRoundTrip(t *testing.T) {
	want := full()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ParseDefinition(text)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ncomes back as %+v, %v", text, got, err)
	}
}

func FuzzParseDefinition(f *testing.F) {
	text, err := json.Marshal(full())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	for _, seed := range []string{three, "", "a: &a [*a]", "? [a]\n: b", "seeds: [~, 1, {url: 2}]", "budget: {bytes: .nan, time: 1}", "{\"a\":1}{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := ParseDefinition(text)
		if err != nil {
			var faults Faults
			if !errors.As(err, &faults) || len(faults) == 0 {
				t.Fatalf("%q: the error is %#v", text, err)
			}
			return
		}
		if err := d.Validate(); err != nil {
			t.Fatalf("%q is taken but not valid: %v", text, err)
		}
		once, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseDefinition(once)
		if err != nil {
			t.Fatalf("%s is not taken: %v", once, err)
		}
		if twice, _ := json.Marshal(again); string(twice) != string(once) {
			t.Fatalf("%s\nbecomes\n%s", once, twice)
		}
	})
}

// TestRetired: a field of an earlier version is an error that says what to do; a crawl that was started with such a field continues.
func TestRetired(t *testing.T) {
	for path, text := range map[string]string{
		"archive.warc_bytes": three + "archive: {warc_bytes: 1GB}\n",
		"weights.names":      three + "weights: {names: 0.5}\n",
	} {
		_, err := ParseDefinition([]byte(text))
		var faults Faults
		if !errors.As(err, &faults) || len(faults) != 1 || faults[0].Path != path || !strings.Contains(faults[0].Message, "delete it") {
			t.Errorf("%s: %v", path, err)
		}
		want, err := ParseDefinition([]byte(three))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := ParseStoredDefinition([]byte(text)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s, stored: %+v, %v", path, got, err)
		}
	}
	if _, err := ParseStoredDefinition([]byte(three + "archive: {warc_byte: 1GB}\n")); err == nil {
		t.Error("a field that there never was is passed over")
	}
}
