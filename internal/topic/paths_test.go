package topic

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/text"
)

// sampled makes samples "name score term", with a * behind the name of an example.
func sampled(lines ...string) (list []Sample) {
	for _, line := range lines {
		s := Sample{}
		var term string
		if _, err := fmt.Sscan(line, &s.URL, &s.Score, &term); err != nil {
			panic(err)
		}
		s.URL, s.Example = strings.CutSuffix(s.URL, "*")
		s.Terms = []text.Term{{Text: term, Weight: 1}}
		list = append(list, s)
	}
	return list
}

// described are the pages of paths as "term level: next", in the order of the list.
func described(list []Path) string {
	var lines []string
	for _, p := range list {
		line := fmt.Sprintf("%s %d:", p.Terms[0].Text, p.Level)
		for _, n := range p.Next {
			line += " " + list[n].Terms[0].Text
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "|")
}

func TestPaths(t *testing.T) {
	for _, c := range []struct {
		name    string
		samples []Sample
		links   string // "a>b c" and '|' between
		want    string // "URL's term level: next", by the order of the list
	}{
		{"none", nil, "", ""},
		{"none of the topic", sampled("a 0.1 x", "b 0.2 y"), "a>b", ""},
		{
			"levels by distance", sampled("a 0.9 a", "b 0.1 b", "c 0.1 c", "d 0.1 d", "e 0.1 e", "f 0.1 f"), "b>a|c>b|d>c|e>d|f>a",
			"a 0:|b 1: a|f 1: a|c 2: b|d 3: c", // e is farther than the last level
		},
		{"the shortest way", sampled("a 0.9 a", "b 0.1 b", "c 0.1 c"), "b>a|c>b a", "a 0:|b 1: a|c 1: b a"},
		{"the threshold, and examples", sampled("a 0.5 a", "b 0.499 b", "c* 0 c"), "", "a 0:|c 0:"},
		{"a circle, and a page that links to itself", sampled("a 0.9 a", "b 0.1 b"), "a>b a|b>a", "a 0: b a|b 1: a"},
		{"pages of the topic that link", sampled("a 0.9 a", "b 0.8 b"), "a>b", "a 0: b|b 0:"},
		{"links to what is no sample, and of it", sampled("a 0.9 a", "b 0.1 b"), "a>x|x>a|b>x a", "a 0:|b 1: a"},
	} {
		links := map[string][]string{}
		for _, from := range strings.Split(c.links, "|") {
			url, to, _ := strings.Cut(from, ">")
			links[url] = strings.Fields(to)
		}
		list := Paths(crawl.Topic{Threshold: 0.5}, c.samples, links)
		if got := described(list); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestPathsAreBounded: each level has a bounded number of pages, the best first; the same samples give the same paths.
func TestPathsAreBounded(t *testing.T) {
	var list []Sample
	links := map[string][]string{}
	for i := range 100 {
		list = append(list, Sample{URL: fmt.Sprint("topic", i), Score: 0.9, Terms: []text.Term{{Text: fmt.Sprint(i), Weight: 1}}}, Sample{URL: fmt.Sprint("way", i)})
		links[fmt.Sprint("way", i)] = []string{fmt.Sprint("topic", i%10), fmt.Sprint("topic", (i+1)%10)}
	}
	first := Paths(crawl.Topic{Threshold: 0.5}, list, links)
	var by [order.Levels]int
	for i, p := range first {
		if by[p.Level]++; p.Level == 0 && p.Terms[0].Text != fmt.Sprint(i) {
			t.Errorf("page %d of the topic is %v", i, p.Terms)
		}
	}
	if by != [order.Levels]int{maxPaths, maxPaths} {
		t.Errorf("%v pages by level", by)
	}
	for range 10 {
		if again := Paths(crawl.Topic{Threshold: 0.5}, list, links); !reflect.DeepEqual(again, first) {
			t.Fatal("the same crawl gives other paths")
		}
	}
}

// TestExamplePaths: the paths of a definition come before what the reference crawl has found.
func TestExamplePaths(t *testing.T) {
	samples := sampled("http://a.test/ 0.9 a", "http://a.test/b 0.1 b", "http://a.test/c 0.1 c", "http://a.test/d 0.1 d", "http://a.test/e 0.1 e", "http://a.test/f 0.1 f")
	for _, c := range []struct {
		name  string
		paths string // of paths by their last letters, '|' between
		want  string
	}{
		{"from its end", "f b c", "c 0:|b 1: c|f 2: b"},
		{"none that was fetched", "x y", "a 0:"},
		{"without an end", "b x", "a 0:"},
		{"a gap on the way", "b x c", "c 0:|b 2: c"},
		{"levels end", "b c d e f", "f 0:|e 1: f|d 2: e|c 3: d|b 3: c"},
		{"a page on two", "b c d|e c", "d 0:|c 0: d|b 2: c|e 1: c"},
		{"in another form", "b #c", "c 0:|b 1: c"},
	} {
		topic := crawl.Topic{Threshold: 0.5}
		for _, path := range strings.Split(c.paths, "|") {
			var urls []string
			for _, page := range strings.Fields(path) {
				if page == "#c" {
					page = "./c#top"
				}
				urls = append(urls, "HTTP://A.test:80/"+page)
			}
			topic.Paths = append(topic.Paths, urls)
		}
		if got := described(Paths(topic, samples, nil)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		last := topic.Paths[0][len(topic.Paths[0])-1]
		if end := canonical(last); !IsExample(topic, end) || IsExample(topic, canonical(topic.Paths[0][0])) {
			t.Errorf("%s: %s is an example: %v", c.name, end, IsExample(topic, end))
		}
	}
}
