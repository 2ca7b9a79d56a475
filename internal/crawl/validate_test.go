package crawl

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestFaults parses three good lines with others instead or besides, and states the paths of the
// faults, sorted.
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

		{"scope: {within: domain}", "scope.within"},
		{"scope: {hosts: ['*.a.example', '', b.example/c], plds: [http://a.example], blacklist: [a@b.example]}", "scope.blacklist[0] scope.hosts[0] scope.hosts[1] scope.hosts[2] scope.plds[0]"},
		{"scope: {include: [''], exclude: ['re:(', 're:\\C']}", "scope.exclude[0] scope.exclude[1] scope.include[0]"},
		{"scope: {max_hops: -1}", "scope.max_hops"},

		{"order: {update: mean}", "order.update"},
		{"order: {per_queue: 0}", "order.per_queue"},
		{fmt.Sprintf("order: {per_queue: %d}", MaxPerQueue+1), "order.per_queue"},
		{"order: {batch: 1}", "order.batch"},
		{"weights: {document: -1, url: -1}", "weights.document weights.url"},
		{"weights: {document: 0, paragraph: 0, anchor: 0, url: 0, helper: 0}", "weights"},

		{"budget: {pages: 0}", "budget.pages"},
		{"budget: {pages: 1.5}", "budget.pages"},
		{"budget: {pages: 1e4}", ""},
		{"budget: {bytes: 0, time: 0s, per_pld: -1}", "budget.bytes budget.per_pld budget.time"},
		{"budget: {bytes: 1 stone, time: 60}", "budget.bytes budget.time"},
		{"reference: {pages: -1}", "reference.pages"},

		{"politeness: {min_delay: 1m}", "politeness.max_delay"},
		{"politeness: {min_delay: -1s, max_crawl_delay: -1s, factor: -1, per_ip: 0, user_agent: ' '}", "politeness.factor politeness.max_crawl_delay politeness.min_delay politeness.per_ip politeness.user_agent"},
		{fmt.Sprintf("politeness: {per_ip: %d}", MaxPerIP+1), "politeness.per_ip"},
		{`politeness: {contact: "a\nb"}`, "politeness.user_agent"},

		{"archive: {where: 's3://'}", "archive.where"},
		{"archive: {where: 'http://a.example/'}", "archive.where"},
		{"archive: {where: 's3://key:secret@bucket/'}", "archive.where"},
		{"archive: {where: ./warcs}", ""},
		{"archive: {prefix: a/../b, warc_bytes: 1KB}", "archive.prefix archive.warc_bytes"},

		{"weights: {document: -9}", "weights weights.document"},

		// What cannot be read does not hide what is not valid, nor is it reported twice.
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

func TestFaultsAreStable(t *testing.T) {
	text := []byte("weights: {document: -1, paragraph: -1, anchor: -1, url: -1, helper: -1}\nscope: {hosts: [''], plds: [''], blacklist: [''], include: [''], exclude: ['']}\na: 1\nb: 2\nc: 3")
	_, first := ParseDefinition(text)
	for range 20 {
		if _, err := ParseDefinition(text); err.Error() != first.Error() {
			t.Fatalf("two orders of the same faults:\n%v\n\n%v", first, err)
		}
	}
	if want := "weights.document must not be negative"; !strings.Contains(first.Error(), want) {
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
