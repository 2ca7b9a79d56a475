package starter

import (
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/internal/urls"
)

// TestScopeCommand: what `muninn scope` prints of links, and of pages that are fetched.
func TestScopeCommand(t *testing.T) {
	d, err := crawl.ParseDefinition([]byte(`
name: a
seeds: ['http://www.example.org/']
scope:
  within: pld
  blacklist: [spam.example]
  rules:
    - reject: {extension: zip}
    - accept: {hops_off_site: 1, mime: application/pdf}
`))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ url, via, path, mime, want string }{
		{"http://a.example.org/", "", "L", "", "in scope: its pay-level domain is one of the scope"},
		{"http://a.example.org/a.zip", "", "L", "", "out of scope: scope.rules[0]: reject if the extension is zip"},
		{"http://b.example/", "http://a.example.org/", "LL", "", "in scope for now: scope.rules[1]: accept if the hops off the seeds' sites are 1 and the MIME type is application/pdf; whether that holds is not known before it is fetched"},
		{"http://b.example/", "http://c.example/", "LL", "", "out of scope: no rule accepts it"},
		{"http://b.example/", "", "L", "text/html", "out of scope: no rule accepts it"},
		{"http://b.example/", "", "L", "application/pdf", "in scope: scope.rules[1]"},
		{"http://b.example/", "", "S", "text/html", "in scope: it is a seed"},
		{"http://b.example/a.zip", "", "S", "", "in scope: it is a seed"},
		{"http://spam.example/", "", "S", "", "out of scope: its host or its pay-level domain is in scope.blacklist"},
	} {
		u, err := urls.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := judge(d, scope.Link{URL: u, Score: -1, MIME: c.mime}, c.via, c.path)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		writeScope(&b, answer)
		if got := b.String(); !strings.HasPrefix(got, c.url+"\n  "+c.want) || !strings.HasSuffix(got, "the scope is the pay-level domains of the seeds (example.org); 2 rules come before; without spam.example\n") {
			t.Errorf("%+v: %s", c, got)
		}
	}
	if _, err := judge(d, scope.Link{}, "no URL", "L"); err == nil || !strings.Contains(err.Error(), "--via") {
		t.Errorf("a wrong --via: %v", err)
	}
}
