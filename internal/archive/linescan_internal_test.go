package archive

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// TestLineForms: a line may have spaces, members that are not known, nulls, escapes, and columns of one value.
func TestLineForms(t *testing.T) {
	const line = " { \"from\" : [ 0 , 1 ] , \"later\": {\"a\":[1,{\"b\":\"]}\\\"\"}],\"c\":null}, \"flag\":true,\"texts\":[\"a\\u00e4\\\\\",\"\"],\"text\":0,\n" +
		"\"url\":[\"/x\",\"http://b.example/\"],\"hop\":\"L\",\"anchor\":[null,\"\\\"\"],\"block\":-1,\"rels\":null,\"score\":[1e-3,-0.5],\"parts\":{\"semantic\":[null,0.25]},\"keep\":[\"\",\"0aff\"],\"level\":null}\t"
	sources := linkSources{}
	if err := sources.read([]byte(`{"pages":["http://a.example/","http://b.example/1"],"paths":["","L"],"languages":"en"}`)); err != nil {
		t.Fatal(err)
	}
	var p linkLine
	if err := p.read([]byte(line)); err != nil {
		t.Fatal(err)
	}
	got, err := p.links(&sources)
	if err != nil {
		t.Fatal(err)
	}
	want := []Link{
		{Source: "http://a.example/", Language: "en", Paragraph: "aä\\", HopLetter: "L", Outlink: crawl.Outlink{URL: "http://a.example/x", Anchor: "aä\\", Block: -1}, LinkVerdict: crawl.LinkVerdict{Score: 1e-3}},
		{Source: "http://b.example/1", Path: "L", Language: "en", Paragraph: "aä\\", HopLetter: "L", Outlink: crawl.Outlink{URL: "http://b.example/", Anchor: `"`, Block: -1},
			LinkVerdict: crawl.LinkVerdict{Score: -0.5, Parts: crawl.Parts{{Name: "semantic", Score: 0.25}}, LinkFeatures: []byte{10, 255}}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
}

// TestDamagedLine: a line that is cut off is an error, and whatever its bytes are it is read without a panic.
func TestDamagedLine(t *testing.T) {
	const marks = "{}[]\",:\\nulltrue-0.e1 \x00\xff"
	random := rand.New(rand.NewPCG(1, 2))
	pages, _ := randomPages(random, 3)
	w := linkWriter{words: map[string]int{}, blocks: map[int]bool{}}
	var links []outlink
	for i := range pages[0].Links {
		links = append(links, outlink{0, true, &pages[0].Links[i], &pages[0].Verdict.Links[i]})
	}
	for name, one := range map[string]struct {
		line []byte
		read func([]byte) error
	}{
		"pages": {w.appendSources(nil, pages), func(b []byte) error { return new(linkSources).read(b) }},
		"page":  {w.appendHome(nil, &pages[0], links), func(b []byte) error { return new(linkLine).read(b) }},
		"from":  {w.appendAway(nil, pages, links), func(b []byte) error { return new(linkLine).read(b) }},
	} {
		if err := one.read(one.line); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for n := range len(one.line) - 1 { // the last byte ends the line
			if one.read(one.line[:n]) == nil {
				t.Fatalf("%s is read of %q", name, one.line[:n])
			}
		}
		for range 2_000 {
			b := slices.Clone(one.line)
			for range 1 + random.IntN(3) {
				b[random.IntN(len(b))] = marks[random.IntN(len(marks))]
			}
			_ = one.read(b)
		}
	}
	for _, line := range []string{`{"from":[0,]}`, `{"from":[0 1]}`, `{"from":0}}`, `{"from":"x"}`, `{"score":nan}`, `{"score":[Inf]}`, `{"nofollow":yes}`, `{"keep":"0"}`, `{"x":}`, `{"x":1:2}`, `{"x":]}`, `{"block":1.5}`, `{x:1}`, `[]`, ``} {
		if new(linkLine).read([]byte(line)) == nil {
			t.Errorf("%s is read", line)
		}
	}
}
