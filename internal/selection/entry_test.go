package selection

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

const goodHead = `"form":1,"id":"0123456789abcdef","who":"ann","when":"2026-01-02T03:04:05Z"`

// TestEntryFaults: what is wrong with an entry is named.
func TestEntryFaults(t *testing.T) {
	long := strings.Repeat("x", maxWhy+1)
	for _, c := range []struct{ text, says string }{
		{`{` + goodHead + `,"decisions":[{"url":"https://example.org/","verdict":"keep"}]}`, ""},
		{`{` + goodHead + `,"create":{"about":"birds","crawls":["ravens"]}}`, ""},
		{`{` + goodHead + `,"rules":[{"query":"site:example.org","verdict":"ask"}]}`, ""},
		{`{` + goodHead + `,"withdrawn":[3]}`, ""},
		{`{` + goodHead + `,"accepted":[{"url":"https://example.org/","verdict":"drop","certainty":0.9}]}`, ""},
		{``, "EOF"},
		{`{` + goodHead + `}`, "does nothing"},
		{`{` + goodHead + `,"withdrawn":[3]} {}`, "follows"},
		{`{` + goodHead + `,"withdrawn":[3],"more":1}`, "more"},
		{strings.Replace(`{`+goodHead+`,"withdrawn":[3]}`, `"form":1`, `"form":2`, 1), "form is 2"},
		{strings.Replace(`{`+goodHead+`,"withdrawn":[3]}`, `0123456789abcdef`, `x`, 1), "id"},
		{strings.Replace(`{`+goodHead+`,"withdrawn":[3]}`, `"ann"`, `""`, 1), "who"},
		{strings.Replace(`{`+goodHead+`,"withdrawn":[3]}`, `"ann"`, `"a\u001bnn"`, 1), "who"},
		{strings.Replace(`{`+goodHead+`,"withdrawn":[3]}`, `2026-01-02T03:04:05Z`, `0001-01-01T00:00:00Z`, 1), "when"},
		{`{` + goodHead + `,"why":"` + long + `","withdrawn":[3]}`, "why"},
		{`{` + goodHead + `,"create":{"about":"` + long + `"}}`, "about"},
		{`{` + goodHead + `,"create":{"crawls":["a/b"]}}`, "crawls[0]"},
		{`{` + goodHead + `,"rules":[{"query":"","verdict":"ask"}]}`, "rules[0]"},
		{`{` + goodHead + `,"rules":[{"query":"x","verdict":"maybe"}]}`, "rules[0]"},
		{`{` + goodHead + `,"decisions":[{"url":"https://example.org/","verdict":"maybe"}]}`, "decisions[0]: verdict"},
		{`{` + goodHead + `,"decisions":[{"url":"HTTPS://Example.org","verdict":"keep"}]}`, `must be written "https://example.org/"`},
		{`{` + goodHead + `,"decisions":[{"url":"javascript:alert(1)","verdict":"keep"}]}`, "not http"},
		{`{` + goodHead + `,"decisions":[{"url":"","verdict":"keep"}]}`, "decisions[0]"},
		{`{` + goodHead + `,"decisions":[{"url":"https://example.org/","group":"host:example.org","verdict":"keep"}]}`, "not of both"},
		{`{` + goodHead + `,"decisions":[{"group":"host:Example.org","verdict":"keep"}]}`, `must be written "host:example.org"`},
		{`{` + goodHead + `,"accepted":[{"url":"https://example.org/","verdict":"ask","certainty":0.9}]}`, "accepted[0]"},
		{`{` + goodHead + `,"accepted":[{"url":"https://example.org/","verdict":"keep","certainty":0.4}]}`, "accepted[0]"},
	} {
		_, err := decodeEntry([]byte(c.text))
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", c.text, err)
		case c.says != "" && (err == nil || !errors.Is(err, ErrEntry) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%.200s: %v, want %q", c.text, err, c.says)
		}
	}
	if _, err := decodeEntry(bytes.Repeat([]byte(" "), maxEntry+1)); !errors.Is(err, ErrEntry) {
		t.Error(err)
	}
	many := Entry{Form: entryForm, ID: "0123456789abcdef", Who: "ann", When: time.Unix(1, 0), Decisions: make([]Decision, maxDecisions+1)}
	if _, err := many.encode(); !errors.Is(err, ErrEntry) {
		t.Error(err)
	}
}

// TestGroups: groups have one form, and names in them cannot break out.
func TestGroups(t *testing.T) {
	for _, c := range []struct{ text, want, says string }{
		{"host:WWW.Example.org", "host:www.example.org", ""},
		{"site:example.co.uk", "site:example.co.uk", ""},
		{"site:www.example.co.uk", "", "not a pay-level domain"},
		{"app:phpBB/thread", "app:phpBB/thread", ""},
		{"app:phpBB/", "app:phpBB/", ""},
		{"app:Hacker News/list@News.ycombinator.com", "app:Hacker News/list@news.ycombinator.com", ""},
		{"near:00000000000000ff", "near:00000000000000ff", ""},
		{"near:00000000000000FF", "near:00000000000000ff", ""},
		{"near:ff", "", "16 hexadecimal digits"},
		{"near:0000000000000000", "", "16 hexadecimal digits"},
		{"app:phpBB", "", "APPLICATION/LEVEL"},
		{"app:/thread", "", "APPLICATION/LEVEL"},
		{"app:a/b/c", "", "APPLICATION/LEVEL"},
		{"app:a\n/b", "", "control characters"},
		{"app:a/b@x/y", "", "no host"},
		{"app:a/b@x@y", "", "APPLICATION/LEVEL"},
		{"host:[2001:DB8::1]", "host:[2001:db8::1]", ""},
		{"host:[2001:db8::1]:80", "", "no host"},
		{"host:", "", "no host"},
		{"host:a b", "", "no host"},
		{"host:example.org:80", "", "no host"},
		{"host:user@example.org", "", "no host"},
		{"host:example.org/x", "", "no host"},
		{"host:example.org?x", "", "no host"},
		{"host:example.org#x", "", "no host"},
		{"crawl:x", "", "kind is not known"},
		{"", "", "kind is not known"},
	} {
		g, err := ParseGroup(c.text)
		switch {
		case c.says == "" && (err != nil || string(g) != c.want):
			t.Errorf("%q: %q, %v", c.text, g, err)
		case c.says != "" && (!errors.Is(err, ErrGroup) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%q: %q, %v, want %q", c.text, g, err, c.says)
		}
	}
	f := &Facts{Host: "a.example.org", Site: "example.org", Application: "a/b@c%2F", Level: "x@y", Print: 7}
	for _, g := range f.Groups() {
		if own, err := ParseGroup(string(g)); err != nil || own != g || !f.In(g) {
			t.Errorf("%q: %q, %v", g, own, err)
		}
	}
	if f.In(AppGroup("a", "b@c", "")) || f.In(HostGroup("example.org")) || f.In(NearGroup(0xff00)) {
		t.Error("a page is in a group of others")
	}
}

// FuzzEntry: whatever stands in an object, it is refused, or it is an entry that is written and read again as the same.
func FuzzEntry(f *testing.F) {
	f.Add([]byte(`{` + goodHead + `,"decisions":[{"url":"https://example.org/","verdict":"keep"},{"group":"app:a%2F/b@example.org","verdict":"drop"}]}`))
	f.Add([]byte(`{` + goodHead + `,"create":{"about":"birds"},"rules":[{"query":"x","verdict":"ask"}],"why":"because"}`))
	f.Add([]byte(`{` + goodHead + `,"accepted":[{"url":"https://example.org/","verdict":"keep","certainty":0.75}],"withdrawn":[1,18446744073709551615]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, err := decodeEntry(raw)
		if err != nil {
			if !errors.Is(err, ErrEntry) {
				t.Fatal(err)
			}
			return
		}
		text, err := e.encode()
		if err != nil {
			t.Fatalf("%s: %v", raw, err)
		}
		again, err := decodeEntry(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		e.When, again.When = e.When.UTC(), again.When.UTC()
		if len(e.Rules)+len(e.Withdrawn)+len(e.Decisions)+len(e.Accepted) > 0 && !reflect.DeepEqual(normal(e), normal(again)) {
			t.Fatalf("%+v\n%+v", e, again)
		}
	})
}

// normal makes empty lists nil.
func normal(e Entry) Entry {
	if len(e.Rules) == 0 {
		e.Rules = nil
	}
	if len(e.Withdrawn) == 0 {
		e.Withdrawn = nil
	}
	if len(e.Decisions) == 0 {
		e.Decisions = nil
	}
	if len(e.Accepted) == 0 {
		e.Accepted = nil
	}
	if e.Create != nil && len(e.Create.Crawls) == 0 {
		c := *e.Create
		c.Crawls = nil
		e.Create = &c
	}
	return e
}
