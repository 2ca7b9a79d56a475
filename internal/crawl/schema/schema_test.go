package schema

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/muninn-archive/muninn/internal/crawl"
)

var update = flag.Bool("update", false, "write the schema file anew")

func TestPublished(t *testing.T) {
	text, err := JSON()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("definition.schema.json", text, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(text, Published()) {
		t.Error("the definition has changed: write the schema again with go generate")
	}
}

func compile(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Published()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("definition.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("definition.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestAgrees: the schema and ParseDefinition accept and refuse the same definitions.
func TestAgrees(t *testing.T) {
	s := compile(t)
	for _, c := range []struct {
		more string
		good bool
	}{
		{"", true},
		{"name: Äöü_1.2", true}, {"name: ''", false}, {"name: -a", false}, {"name: a/b", false}, {"name: 7", false},
		{"name: " + strings.Repeat("a", crawl.MaxName), true}, {"name: " + strings.Repeat("a", crawl.MaxName+1), false},
		{"description: [a]", false}, {"descripton: a", false},
		{"seeds: []", false}, {"seeds: http://a.example/", false}, {"seeds: [a.example]", false}, {"seeds: ['ftp://a.example']", false},
		{"seeds: ['HTTPS://a.example', {url: http://b.example}, {sitemap: http://c.example/s.xml}, {file: d}]", true},
		{"seeds: [{}]", false}, {"seeds: [{url: http://b.example, file: d}]", false}, {"seeds: [{sitemap: d}]", false}, {"seeds: [{adress: d}]", false}, {"seeds: ['http:///a']", false},
		{"topic: {keywords: [a, 'b c'], threshold: 0.5}", true}, {"topic: {keywords: [' ']}", false}, {"topic: {keywords: [1]}", false}, {"topic: {keywords: a}", false},
		{"topic: {threshold: 0}", false}, {"topic: {threshold: 1}", true}, {"topic: {threshold: 1.01}", false},
		{"topic: {entities: [{name: a, type: person, aliases: [b]}]}", true}, {"topic: {entities: [{type: person}]}", false}, {"topic: {entities: [a]}", false},
		{"topic: {examples: [http://a.example/, {text: b}]}", true}, {"topic: {examples: [{url: http://a.example, text: b}]}", false}, {"topic: {examples: [a]}", false},
		{"topic: {languages: [en, de]}", true}, {"topic: {languages: en}", false}, {"topic: {languages: [1]}", false}, {"topic: {language: [en]}", false},
		{"topic: {url_patterns: [{pattern: '*a*', score: 1}]}", true}, {"topic: {url_patterns: [{pattern: '', score: 1}]}", false},
		{"topic: {url_patterns: [{score: 1}]}", false}, {"topic: {url_patterns: [{pattern: a, score: 2}]}", false},
		{"scope: {within: pld, hosts: [a.example], plds: [b.example], include: ['*'], exclude: ['re:a'], blacklist: [c.example], max_hops: 3}", true},
		{"scope: {within: domain}", false}, {"scope: {within: rules}", false}, {"scope: {hosts: ['*.a.example']}", false}, {"scope: {plds: [http://a.example]}", false},
		{"scope: {blacklist: ['']}", false}, {"scope: {include: ['']}", false}, {"scope: {max_hops: -1}", false}, {"scope: {max_redirects: 1}", true}, {"scope: {max_redirects: 0}", false}, {"scope: {max_redirects: 41}", false}, {"scope: {max_hops: 1.5}", false},
		{"scope: {rules: [{reject: {host: a.example, query_length: more than 40}}, {accept: {any: [{pld: [b.example]}, {not: {extension: [zip, ISO]}}], score: at least 0.3}}, {reject: everything}]}", true},
		{"scope: {rules: [{accept: {surt: 'org,example,', url: ['\\.pdf$'], scheme: https, port: [443, 8000 to 8999], hops: at most 2, hops_off_site: 0, hop_path: E$, requisite: false, via_language: en, language: [de, unknown], mime: image/*, depth: 3}}]}", true},
		{"scope: {rules: [{accept: {host: a/b}}]}", false}, {"scope: {rules: [{accept: {}}]}", false}, {"scope: {rules: [{}]}", false}, {"scope: {rules: [{accept: everything, reject: everything}]}", false},
		{"scope: {rules: [{accept: nothing}]}", false}, {"scope: {rules: [{accept: {hops: some}}]}", false}, {"scope: {rules: [{accept: {hops: -1}}]}", false}, {"scope: {rules: [{accept: {hosts: a.example}}]}", false},
		{"scope: {rules: [{accept: {host: []}}]}", false}, {"scope: {rules: [{accept: {any: []}}]}", false}, {"scope: {rules: [{accept: {not: {scheme: ftp}}}]}", false}, {"scope: {rules: [{accept: {mime: html}}]}", false},
		{"scope: {rules: [{accept: {language: German}}]}", false}, {"scope: {rules: [{accept: {extension: .pdf}}]}", false}, {"scope: {rules: [{accept: {requisite: 1}}]}", false}, {"scope: {rules: {accept: everything}}", false},
		{"canonical: {parameters: [utm_*, sid], path_parameters: []}", true}, {"canonical: {parameters: ['*']}", false}, {"canonical: {parameters: ['a=b']}", false}, {"canonical: {path_parameters: x}", false},
		{"overrides: {plds: {a.org: {open_patterns: ['a.org/cal?day', '*.a.org/**', 'a.org/…(repeated segments)', '[::0]/**']}}}", true},
		{"overrides: {plds: {a.org: {open_patterns: ['http://a.org/']}}}", false}, {"overrides: {plds: {a.org: {open_patterns: [a.org]}}}", false}, {"overrides: {hosts: {a.org: {open_patterns: [a.org/x]}}}", false},
		{"canonical: {session_parameters: []}", true}, {"canonical: {session_parameters: [SID]}", true}, {"canonical: {session_parameters: ['s*']}", false},
		{"order: {update: sum, per_queue: 500, batch: true}", true}, {"order: {update: mean}", false}, {"order: {per_queue: 0}", false}, {"order: {per_queue: 501}", false}, {"order: {batch: 1}", false},
		{"order: {strategy: hmm-content, thesaurus: words.ttl, seed: 0}", true}, {"order: {strategy: 1}", false}, {"order: {thesaurus: [a]}", false}, {"order: {seed: 0.5}", false}, {"order: {seed: one}", false}, {"order: {strategies: fused}", false},
		{"weights: {document: 0, paragraph: 0.5, anchor: 1, url: 2, helper: 3}", true}, {"weights: {anchor: -1}", false}, {"weights: {title: 1}", false},
		{"weights: {tokens: 0, entities: 0.5, history: 1, language: 2, freshness: 3, spam: 4, social: 5}", true}, {"weights: {spam: much}", false}, {"weights: {tokens: [1]}", false},
		{"overrides: {plds: {a.example: {min_delay: 10s, max_delay: 1m, max_crawl_delay: 2m, factor: 0, budget: 500, per_queue: 1, weight: 0.5, state: paused}}}", true},
		{"overrides: {hosts: {www.a.example: {min_delay: 10s, factor: 3}}}", true}, {"overrides: {hosts: {www.a.example: {budget: 5}}}", false}, {"overrides: {hosts: {www.a.example: {weight: 5}}}", false},
		{"overrides: {plds: {A.example: {budget: 5}}}", false}, {"overrides: {plds: {'http://a.example': {budget: 5}}}", false}, {"overrides: {plds: [a.example]}", false}, {"overrides: {pld: {}}", false},
		{"overrides: {plds: {a.example: {budget: -1}}}", false}, {"overrides: {plds: {a.example: {weight: 0}}}", false}, {"overrides: {plds: {a.example: {per_queue: 0}}}", false}, {"overrides: {plds: {a.example: {state: resumed}}}", false},
		{"overrides: {plds: {a.example: {min_delay: 10}}}", false}, {"overrides: {plds: {a.example: {robots: ignore}}}", false},
		{"budget: {pages: 1, bytes: 1, time: 1s, per_pld: 0}", true}, {"budget: {pages: 0}", false}, {"budget: {pages: 1.5}", false}, {"budget: {per_pld: -1}", false}, {"budget: {requests: 50}", true}, {"budget: {requests: -1}", false},
		{"budget: {bytes: 64 MiB}", true}, {"budget: {bytes: 1e9}", true}, {"budget: {bytes: 1.5GB}", true}, {"budget: {bytes: 0}", false}, {"budget: {bytes: 1 stone}", false}, {"budget: {bytes: 5K}", false}, {"budget: {bytes: -1MB}", false}, {"budget: {bytes: true}", false},
		{"budget: {time: 1h30m}", true}, {"budget: {time: 1.5h}", true}, {"budget: {time: 60}", false}, {"budget: {time: 1d}", false}, {"budget: {time: -1h}", false}, {"budget: {time: ''}", false},
		{"politeness: {min_delay: '0', max_delay: 1m, max_crawl_delay: 100ms, factor: 0, per_ip: 16, user_agent: Raven/2.0, contact: 'mailto:a@b.example'}", true},
		{"politeness: {min_delay: -1s}", false}, {"politeness: {factor: -1}", false}, {"politeness: {per_ip: 0}", false}, {"politeness: {per_ip: 17}", false},
		{"politeness: {user_agent: ' '}", false}, {`politeness: {user_agent: "a\nb"}`, false}, {`politeness: {contact: "a\rb"}`, false},
		{"robots: {policy: requisites, nofollow: ignore}", true}, {"robots: {policy: ignore, reason: legal deposit}", true}, {"robots: {policy: some}", false}, {"robots: {nofollow: requisites}", false}, {"robots: {ignore: true}", false},
		{"recrawl: {min: 24h, max: 720h}", true}, {"recrawl: {min: 24h}", false}, {"recrawl: {max: 24h}", false}, {"recrawl: {min: 1, max: 2}", false},
		{"reference: {pages: 0}", true}, {"reference: {pages: -1}", false},
		{"archive: {where: 's3://bucket/prefix', prefix: a/b, operator: The Library}", true}, {"archive: {where: warcs/ravens}", true},
		{"archive: {where: 's3://'}", false}, {"archive: {where: 's3://key:secret@bucket/'}", false}, {"archive: {where: 'ftp://a.example/'}", false},
		{"archive: {digest: sha256}", true}, {"archive: {digest: sha1}", true}, {"archive: {digest: md5}", false},
		{"archive: {prefix: ../a}", false}, {"archive: {warc_bytes: 1GB}", false},
	} {
		tree := map[string]any{"name": "ravens", "seeds": []any{"http://example.org/"}}
		if err := yaml.Unmarshal([]byte(c.more), &tree); err != nil {
			t.Fatal(err)
		}
		text, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Validate(doc); (err == nil) != c.good {
			t.Errorf("%s: the schema says %v", c.more, err)
		}
		if _, err := crawl.ParseDefinition(text); (err == nil) != c.good {
			t.Errorf("%s: the parser says %v", c.more, err)
		}
	}
}

// TestDescribed: every field has a description, which editors show.
func TestDescribed(t *testing.T) {
	var tree map[string]any
	if err := json.Unmarshal(Published(), &tree); err != nil {
		t.Fatal(err)
	}
	var bare []string
	var walk func(path string, node any)
	walk = func(path string, node any) {
		object, _ := node.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		for name, p := range properties {
			property := p.(map[string]any)
			if property["description"] == nil && property["$ref"] == nil {
				bare = append(bare, path+"."+name)
			}
		}
		for name, child := range object {
			if name == "$defs" {
				for def, s := range child.(map[string]any) {
					walk(def, s)
				}
			}
			if list, ok := child.([]any); ok && name == "oneOf" {
				for _, s := range list {
					walk(path, s)
				}
			}
		}
	}
	walk("", tree)
	if len(bare) > 0 {
		t.Errorf("fields without a comment: %v", bare)
	}
}
