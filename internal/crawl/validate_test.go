package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
)

// TestFaults parses three good lines with some replaced or added, and lists the paths of the faults,
// sorted.
func TestFaults(t *testing.T) {
	for _, c := range []struct{ more, paths string }{
		{"", ""},

		{"sedes: []", "sedes"},
		{"budget: {page: 1}", "budget.page"},
		{"scope: {include: [a], in: b, out: c}", "scope.in scope.out"},
		{"topic: {entities: [{name: a}, {nam: b}]}", "topic.entities[1].nam topic.entities[1].name"},
		{"topic: {url_patterns: [{pattern: a, score: 1, weight: 2}]}", "topic.url_patterns[0].weight"},
		{"seeds: [{url: http://a.example/, depth: 1}]", "seeds[0].depth"},
		{"seeds: [{URL: http://a.example/}]", "seeds[0].URL"},

		{"name: 7", "name"},
		{"name: [a]", "name"},
		{"name: ''", "name"},
		{"name: -a", "name"},
		{"name: a b", "name"},
		{"name: a/b", "name"},
		{"name: " + strings.Repeat("a", MaxName), ""},
		{"name: " + strings.Repeat("a", MaxName+1), "name"},
		{"name: Äöü_1.2-3", ""},

		{"seeds:", "seeds"},
		{"seeds: []", "seeds"},
		{"seeds: http://a.example/", "seeds"},
		{"seeds: {url: http://a.example/}", "seeds"},
		{"seeds: [1, http://a.example/, 2]", "seeds[0] seeds[2]"},
		{"seeds: [{url: 1}, {sitemap: 2}]", "seeds[0].url seeds[1].sitemap"},
		{"seeds: [{}]", "seeds[0]"},
		{"seeds: [null]", "seeds[0]"},
		{"seeds: [{url: http://a.example/, file: b}]", "seeds[0]"},
		{"seeds: ['http://']", "seeds[0]"},
		{"seeds: ['http:///path']", "seeds[0]"},
		{"seeds: [a.example]", "seeds[0]"},
		{"seeds: ['ftp://a.example/']", "seeds[0]"},
		{"seeds: ['http://a b/']", "seeds[0]"},
		{"seeds: [{sitemap: /sitemap.xml}]", "seeds[0].sitemap"},
		{"seeds: [' http://a.example/ ']", ""},

		{"topic: []", "topic"},
		{"topic: {keywords: raven}", "topic.keywords"},
		{"topic: {keywords: [1, a, 2]}", "topic.keywords[0] topic.keywords[2]"},
		{"topic: {keywords: [a, ' ']}", "topic.keywords[1]"},
		{"topic: {entities: [{type: person}]}", "topic.entities[0].name"},
		{"topic: {entities: [{name: a, aliases: b}]}", "topic.entities[0].aliases"},
		{"topic: {examples: [{}, {url: http://a.example/, text: b}, nothing]}", "topic.examples[0] topic.examples[1] topic.examples[2]"},
		{"topic: {url_patterns: [{pattern: '', score: 2}, {pattern: 're:[', score: -1}]}", "topic.url_patterns[0].pattern topic.url_patterns[0].score topic.url_patterns[1].pattern topic.url_patterns[1].score"},
		{"topic: {threshold: 0}", "topic.threshold"},
		{"topic: {threshold: 1.1}", "topic.threshold"},

		{"topic: {paths: [[http://a.example/, http://a.example/b], [http://a.example/, http://b.example/, http://c.example/]]}", ""},
		{"topic: {paths: [[http://a.example/], [], [ftp://a.example/, http:///b, http://c.example/]]}", "topic.paths[0] topic.paths[1] topic.paths[2][0] topic.paths[2][1]"},
		{"topic: {paths: [http://a.example/]}", "topic.paths[0]"},

		{"topic: {languages: [en, de]}", ""},
		{"topic: {languages: [english, DE, '', en, e]}", "topic.languages[0] topic.languages[1] topic.languages[2] topic.languages[4]"},
		{"topic: {languages: en}", "topic.languages"},
		{"topic: {languages: [1, en, no]}", "topic.languages[0]"},

		{"scope: {within: domain}", "scope.within"},
		{"scope: {hosts: ['*.a.example', '', b.example/c], plds: [http://a.example], blacklist: [a@b.example]}", "scope.blacklist[0] scope.hosts[0] scope.hosts[1] scope.hosts[2] scope.plds[0]"},
		{"scope: {include: [''], exclude: ['re:(', 're:\\C']}", "scope.exclude[0] scope.exclude[1] scope.include[0]"},
		{"scope: {max_hops: -1}", "scope.max_hops"},
		{"scope: {max_redirects: 0}", "scope.max_redirects"},
		{"scope: {max_redirects: 41}", "scope.max_redirects"},
		{"budget: {requests: -1}", "budget.requests"},
		{"robots: {policy: ignore}", "robots.reason"},
		{"robots: {policy: ignore, reason: ' '}", "robots.reason"},
		{"robots: {policy: never, nofollow: never}", "robots.nofollow robots.policy"},
		{"browser: sometimes", "browser"},
		{"scope: {rules: [{accept: {hops: 3, score: at least 2}}, {}, {reject: {any: [{url: '('}, {}]}}]}", "scope.rules[0].accept.score scope.rules[1] scope.rules[2].reject.any[0].url scope.rules[2].reject.any[1]"},
		{"scope: {rules: [{accept: {host: [a.example, b/c]}}]}", "scope.rules[0].accept.host[1]"},
		{"canonical: {parameters: [a, 'b=']}", "canonical.parameters[1]"},

		{"order: {strategy: best-first}", "order.strategy"},
		{"order: {strategy: ''}", "order.strategy"},
		{"order: {strategy: [fused]}", "order.strategy"},
		{"order: {strategy: Fused}", "order.strategy"},
		{"order: {strategy: hmm, seed: 18446744073709551615, thesaurus: /usr/share/wordnet}", ""},
		{"order: {seed: -1}", "order.seed"},
		{"order: {seed: 1.5, thesaurus: [a]}", "order.seed order.thesaurus"},
		{"order: {update: mean}", "order.update"},
		{"order: {per_queue: 0}", "order.per_queue"},
		{fmt.Sprintf("order: {per_queue: %d}", MaxPerQueue+1), "order.per_queue"},
		{"order: {batch: 1}", "order.batch"},
		{"weights: {document: -1, url: -1}", "weights.document weights.url"},
		{off(""), "weights"},
		{off("spam"), ""},
		{"weights: {document: 9, tokens: -1, entities: -0.5, history: -1, language: -1, freshness: -1, spam: -1, social: -1}", "weights.entities weights.freshness weights.history weights.language weights.social weights.spam weights.tokens"},
		{"weights: {title: 1}", "weights.title"},

		{"budget: {pages: 0}", "budget.pages"},
		{"budget: {pages: 1.5}", "budget.pages"},
		{"budget: {pages: 1e4}", ""},
		{"budget: {bytes: 0, time: 0s, per_pld: -1}", "budget.bytes budget.per_pld budget.time"},
		{"budget: {bytes: 1 stone, time: 60}", "budget.bytes budget.time"},
		{"reference: {pages: -1}", "reference.pages"},
		{"archive: {digest: md5}", "archive.digest"},
		{"recrawl: {min: 24h, max: 23h}", "recrawl.max"}, {"recrawl: {max: 24h}", "recrawl.min"}, {"recrawl: {min: 24h}", "recrawl.max"},

		{"politeness: {min_delay: 1m}", "politeness.max_delay"},
		{"politeness: {min_delay: -1s, max_crawl_delay: -1s, factor: -1, per_ip: 0, user_agent: ' '}", "politeness.factor politeness.max_crawl_delay politeness.min_delay politeness.per_ip politeness.user_agent"},
		{fmt.Sprintf("politeness: {per_ip: %d}", MaxPerIP+1), "politeness.per_ip"},
		{fmt.Sprintf("politeness: {weight: %d}", MaxCrawlWeight+1), "politeness.weight"},
		{`politeness: {contact: "a\nb"}`, "politeness.user_agent"},

		{"archive: {where: 's3://'}", "archive.where"},
		{"archive: {where: 'http://a.example/'}", "archive.where"},
		{"archive: {where: 's3://key:secret@bucket/'}", "archive.where"},
		{"archive: {where: ./warcs}", ""},
		{"archive: {prefix: a/../b, warc_bytes: 1GB}", "archive.prefix archive.warc_bytes"},

		{"weights: {document: -99}", "weights weights.document"},

		// A field that cannot be read does not hide other faults, and is not reported twice.
		{"budget: {pages: many}\norder: {per_queue: 0}\nseeds: []\nsede: 1", "budget.pages order.per_queue sede seeds"},
		{"budget: 1\nweights: {anchor: x, url: -1}", "budget weights.anchor weights.url"},
	} {
		text := three
		for line := range strings.Lines(c.more) {
			key, _, _ := strings.Cut(line, ":")
			kept := ""
			for old := range strings.Lines(text) {
				if !strings.HasPrefix(old, key+":") {
					kept += old
				}
			}
			text = kept + strings.TrimSuffix(line, "\n") + "\n"
		}
		_, err := ParseDefinition([]byte(text))
		var faults Faults
		errors.As(err, &faults)
		var paths []string
		for _, f := range faults {
			paths = append(paths, f.Path)
			if f.Message == "" || strings.HasPrefix(f.Message, "json") {
				t.Errorf("%s: the message of %s is %q", c.more, f.Path, f.Message)
			}
		}
		if got := strings.Join(paths, " "); got != c.paths || (err == nil) != (c.paths == "") {
			t.Errorf("%s\n  faults at %q, want %q\n  %v", c.more, got, c.paths, err)
		}
	}
}

// off turns all weights off but one.
func off(but PartName) string {
	var list []string
	for _, name := range PartNames {
		if name != but {
			list = append(list, string(name)+": 0")
		}
	}
	return "weights: {" + strings.Join(list, ", ") + "}"
}

func TestUnknownStrategy(t *testing.T) {
	_, err := ParseDefinition([]byte(three + "order: {strategy: depth-first}"))
	var faults Faults
	if errors.As(err, &faults); len(faults) != 1 || faults[0].Path != "order.strategy" {
		t.Fatalf("faults %v", faults)
	}
	if want := `(line 4) is "depth-first", must be one of ` + strings.Join(Strategies, ", "); faults[0].Message != want {
		t.Errorf("it %s\nwant %s", faults[0].Message, want)
	}
	if _, err := ParseDefinition([]byte(three + "order: {seed: -1}")); err == nil || !strings.HasSuffix(err.Error(), "must be a whole number") {
		t.Errorf("a seed below 0: %v", err)
	}
	for _, strategy := range Strategies {
		d, err := ParseDefinition([]byte(three + "order: {strategy: " + strategy + "}"))
		if err != nil || d.Order.Strategy != strategy {
			t.Errorf("%s: %q, %v", strategy, d.Order.Strategy, err)
		}
	}
}

// TestByName: the weights have the names of the parts, each once.
func TestByName(t *testing.T) {
	got := Weights{
		Document: 1, Paragraph: 2, Anchor: 3, URL: 4, Tokens: 5, Entities: 6, History: 7, Language: 8, Freshness: 9, Spam: 10, Social: 11, Helper: 12,
	}.ByName()
	want := map[PartName]float64{
		"document": 1, "paragraph": 2, "anchor": 3, "url": 4, "tokens": 5, "entities": 6, "history": 7, "language": 8, "freshness": 9, "spam": 10,
		"social": 11, "helper": 12,
	}
	if !maps.Equal(got, want) {
		t.Errorf("the weights are %v", got)
	}
	for _, name := range PartNames {
		if _, known := got[name]; !known {
			t.Errorf("the part %s has no weight", name)
		}
	}
	if len(PartNames) != len(got) {
		t.Errorf("%d parts, %d weights", len(PartNames), len(got))
	}
}

func TestFaultsAreStable(t *testing.T) {
	text := []byte("weights: {document: -1, paragraph: -1, anchor: -1, url: -1, helper: -1}\nscope: {hosts: [''], plds: [''], blacklist: [''], include: [''], exclude: ['']}\na: 1\nb: 2\nc: 3")
	_, first := ParseDefinition(text)
	for range 20 {
		if _, err := ParseDefinition(text); err.Error() != first.Error() {
			t.Fatalf("two orders of the same faults:\n%v\n\n%v", first, err)
		}
	}
	if want := "weights.document (line 1) must not be negative"; !strings.Contains(first.Error(), want) {
		t.Errorf("the text has no line %q:\n%v", want, first)
	}
}

func TestTooMany(t *testing.T) {
	d := full()
	d.Seeds = slices.Repeat([]Seed{{URL: "http://example.org/"}}, MaxSeeds+1)
	d.Topic.Keywords = slices.Repeat([]string{"raven"}, MaxKeywords+1)
	var faults Faults
	if errors.As(d.Validate(), &faults); len(faults) != 2 || faults[0].Path != "seeds" || faults[1].Path != "topic.keywords" {
		t.Errorf("faults %v", faults)
	}
}

func TestBound(t *testing.T) {
	topic := Topic{Keywords: []string{"raven"}}
	for _, c := range []struct {
		topic Topic
		scope Scope
		want  string
	}{
		{Topic{}, Scope{}, WithinPLD},
		{topic, Scope{}, WithinWeb},
		{Topic{}, Scope{Within: WithinHost}, WithinHost},
		{topic, Scope{Within: WithinPLD, Hosts: []string{"a.example"}}, WithinPLD},
		{topic, Scope{Hosts: []string{"a.example"}}, WithinNothing},
		{Topic{}, Scope{PLDs: []string{"a.example"}}, WithinNothing},
		{Topic{}, Scope{Include: []string{"*"}}, WithinNothing},
		{topic, Scope{Exclude: []string{"*.zip"}, Blacklist: []string{"a.example"}}, WithinWeb},
	} {
		if got := (Definition{Topic: c.topic, Scope: c.scope}).Bound(); got != c.want {
			t.Errorf("%+v %+v: bound %s, want %s", c.topic, c.scope, got, c.want)
		}
	}
}

func TestReferencePages(t *testing.T) {
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		topic  bool
		budget int64
		asked  *int64
		want   int64
	}{
		{false, 10_000, nil, 0}, {true, 10_000, nil, 500}, {true, 1_000, nil, 100}, {true, 100, nil, 20}, {true, 30, nil, 15}, {true, 1, nil, 0},
		{true, 10_000, n(0), 0}, {false, 10_000, n(50), 50}, {true, 10, n(50), 10},
	} {
		d := Definition{Budget: Budget{Pages: c.budget}, Reference: Reference{Pages: c.asked}}
		if c.topic {
			d.Topic.Keywords = []string{"raven"}
		}
		if got := d.ReferencePages(); got != c.want {
			text, _ := json.Marshal(d)
			t.Errorf("%s: %d reference pages, want %d", text, got, c.want)
		}
	}
}

// User information is found in any form that a parser may accept, and faults do not repeat it.
func TestUserInformation(t *testing.T) {
	for raw, want := range map[string]bool{
		"https://joe:hush@example.org/": true, "https://joe@example.org": true, "https:joe:hush@example.org/": true, `https:\\joe@example.org/`: true,
		"https:///joe:hush@example.org/": true, "HTTPS:joe:hush@example.org/": true, "http:joe@example.org": true, "mailto:joe@example.org/a": false, "https://jo%ZZe:hu sh@example.org/": true,
		"https://example.org/@joe": false, "https://example.org/?a@b": false, "https://example.org#a@b": false, "mailto:joe@example.org": false, "joe@example.org": false,
	} {
		if got := HasUser(raw); got != want {
			t.Errorf("HasUser(%q) = %t", raw, got)
		}
		if hidden := HideUser(raw); !want && hidden != raw || want && (hidden == raw || strings.Contains(hidden, "hu") || !strings.Contains(hidden, "***@example.org")) {
			t.Errorf("HideUser(%q) = %q", raw, hidden)
		}
		if !want {
			continue
		}
		d := DefaultDefinition()
		d.Name, d.Seeds = "c", []Seed{{URL: raw}, {Sitemap: raw}}
		d.Topic.Examples = []Example{{URL: raw}}
		err := d.Validate()
		for _, field := range []string{"seeds[0]", "seeds[1].sitemap", "topic.examples[0]"} {
			if err == nil || !strings.Contains(err.Error(), field+" has a user name") || strings.Contains(err.Error(), "hush") || strings.Contains(err.Error(), "hu sh") {
				t.Errorf("%q: %v", raw, err)
			}
		}
	}
}

// One slash is an error: it would be taken for a folder.
func TestArchiveWithOneSlash(t *testing.T) {
	d := DefaultDefinition()
	d.Name, d.Seeds, d.Archive.Where = "c", []Seed{{URL: "https://example.org/"}}, "s3:/arc/p"
	if err := d.Validate(); err == nil || !strings.Contains(err.Error(), "s3://bucket/prefix") {
		t.Error(err)
	}
}

// For a list that is too long, only its length is reported.
func TestTooManySeeds(t *testing.T) {
	d := DefaultDefinition()
	d.Name, d.Seeds = "c", make([]Seed, MaxSeeds+1)
	if err := d.Validate(); err == nil || err.Error() != "seeds has 100001 entries, at most 100000 are allowed: put them into a file" {
		t.Errorf("%.300v", err)
	}
}
