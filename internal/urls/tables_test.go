package urls

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// pairs reads a table of texts by texts; null is "". Some tables have the bytes of UTF-8 as if they were letters.
func pairs(t *testing.T, path string) map[string]string {
	t.Helper()
	var raw map[string]string
	if err := json.Unmarshal(table(t, path), &raw); err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for in, want := range raw {
		if octets, err := charmap.ISO8859_1.NewEncoder().String(in); err == nil && utf8.ValidString(octets) {
			in = octets
		}
		out[in] = want
	}
	return out
}

// matches compares what is got for each case with what is wanted. Cases that differ must be in the list of exceptions, and exceptions must differ.
func matches(t *testing.T, name string, cases, exceptions map[string]string, least int, got func(in string) (have, want string)) {
	t.Helper()
	for _, in := range slices.Sorted(maps.Keys(cases)) {
		have, want := got(in)
		switch _, known := exceptions[in]; {
		case have != want && !known:
			t.Errorf("%s: %q gives %q, want %q", name, in, have, want)
		case have == want && known:
			t.Errorf("%s: %q agrees now: it is no exception", name, in)
		}
	}
	if len(cases) < least {
		t.Errorf("%s: only %d cases were read", name, len(cases))
	}
}

// parsed is the canonical form; "" if the URL is refused.
func parsed(raw string) string {
	u, _ := Parse(raw)
	return u.String()
}

func TestNumericHosts(t *testing.T) {
	cases := pairs(t, "urlcanon/testdata/funky_ipv4.json")
	exceptions := map[string]string{"0000xa": "it is no number for the standard, and so a name"}
	matches(t, "funky_ipv4", cases, exceptions, 40, func(in string) (string, string) {
		u, _ := Parse("http://" + in + "/")
		return u.Host(), cases[in]
	})
}

// Why canonical forms differ from those of urlcanon.
const (
	dots     = "a host of dots is none"
	once     = "escapes are taken off once: %2541 is the three letters %41"
	inOrder  = "the order of arguments may change what a server answers"
	slashes  = "two slashes may be another path than one"
	reserved = "reserved characters stay escaped: they may mean something else than as they are (RFC 3986 §2.2)"
	schemes  = "a URL has a scheme"
	controls = "an octet that is escaped is not a character that is not"
)

// notUnlike are the URLs of urlcanon's tables that have another canonical form here.
var notUnlike = map[string]string{
	"http:%2e%2e%2e/a/b": dots, "http:%2e%2e/a/b": dots, "http:%2e/a/b": dots, "http:/%2e%2e%2e/a/b": dots, "http:/%2e%2e/a/b": dots, "http:/%2e/a/b": dots,
	"http://%2e%2e%2e/a/b": dots, "http://%2e%2e/a/b": dots, "http://%2e/a/b": dots, "http:///%2e%2e%2e/a/b": dots, "http:///%2e%2e/a/b": dots, "http:///%2e/a/b": dots,
	"http://www.google.com.../": dots, "www.google.com": schemes, "www.google.com/": schemes,
	"http://host/%%%25%32%35asd%%": once, "http://host/%%300": once, "http://host/%%36%31": once, "http://host/%25%2536%2531": once, "http://host/%25%25361": once,
	"http://host/%25%32%35": once, "http://host/%25%32%35%25%32%35": once, "http://host/%2525252525252525": once, "http://host/%2561": once,
	"http://host/?%%300": once, "http://host/?%%36%31": once, "http://host/?%25%2536%2531": once, "http://host/?%25%25361": once, "http://host/?%2561": once,
	"http://host/asdf%25%32%35asd":    once,
	"http://example.com/?%26=%26&%26": inOrder, "http://example.com/?%3d=%3d&%3d": inOrder, "http://example.com/?c=d&a=b": inOrder,
	"http://example.com////../..": slashes, `http://example.com\\foo\\bar`: slashes, "http://host.com//twoslashes?more//slashes": slashes,
	"http://example.com/%3A%3a%3C%3c": reserved, "http://example.com/%7Ffp3%3Eju%3Dduvgw%3Dd": reserved, "http://example.com/(%28:%3A%29)": reserved, "http://example.com/@asdf%40": reserved,
	"http://facebook.com/?foo=%7B%22abc%22": reserved, "http://example.com/foo\t\u0091%91": controls,
}

func TestURLCanonTables(t *testing.T) {
	for name, least := range map[string]int{"supplemental_whatwg": 100, "semantic_precise": 250} {
		cases, exceptions := pairs(t, "urlcanon/testdata/"+name+".json"), map[string]string{}
		for in, why := range notUnlike {
			if _, has := cases[in]; has && (why == dots && strings.Contains(in, "%2e") || name == "semantic_precise") {
				exceptions[in] = why
			}
		}
		matches(t, name, cases, exceptions, least, func(in string) (string, string) { return parsed(in), expected(cases[in]) })
	}
}

// TestDots leaves out backslashes, which the standard reads as slashes, and the table does not.
func TestDots(t *testing.T) {
	var all map[string]map[string]string
	if err := json.Unmarshal(table(t, "urlcanon/testdata/path_dots.json"), &all); err != nil {
		t.Fatal(err)
	}
	cases := all["special"]
	maps.DeleteFunc(cases, func(in, _ string) bool { return strings.Contains(in, `\`) || in == "" })
	matches(t, "path_dots", cases, nil, 100, func(in string) (string, string) {
		return parsed("http://a.test" + in), "http://a.test" + escapes(cases[in])
	})
}

func TestCanonicalTwice(t *testing.T) {
	var list []string
	if err := json.Unmarshal(table(t, "urlcanon/testdata/idempotence.json"), &list); err != nil {
		t.Fatal(err)
	}
	for _, in := range list {
		if once := parsed(in); once != parsed(once) {
			t.Errorf("%q gives %q, and that %q", in, once, parsed(once))
		}
	}
	if len(list) < 40 {
		t.Errorf("only %d cases were read", len(list))
	}
}

func TestPartsTable(t *testing.T) {
	var list map[string]struct {
		Scheme, Host, Port, Path, Query string
	}
	if err := json.Unmarshal(table(t, "urlcanon/testdata/parsing.json"), &list); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for in, want := range list {
		u, err := Parse(in)
		if err != nil {
			continue
		}
		seen++
		if host := strings.ToLower(want.Host); u.Host() != host || u.Scheme() != strings.ToLower(want.Scheme) {
			t.Errorf("%q: %s, %s; want %s, %s", in, u.Scheme(), u.Host(), want.Scheme, host)
		}
		if want.Port != "" && fmt.Sprint(u.Port()) != want.Port {
			t.Errorf("%q: port %d, want %s", in, u.Port(), want.Port)
		}
	}
	if seen < 46 {
		t.Errorf("only %d cases were parsed", seen)
	}
}

// TestSameKeys: URLs that the canonicalizers of the Internet Archive make one have one key.
func TestSameKeys(t *testing.T) {
	var all map[string]map[string]string
	if err := json.Unmarshal(table(t, "urlcanon/testdata/surt.json"), &all); err != nil {
		t.Fatal(err)
	}
	for name, least := range map[string]int{"Canonicalizer.DefaultIA": 7, "Canonicalizer.IA": 7} {
		cases := all[name]
		matches(t, name, cases, nil, least, func(in string) (string, string) {
			was, err := Parse(in)
			if err != nil {
				return "", ""
			}
			return was.Key(), parse(t, cases[in]).Key()
		})
	}
}

// TestSURTs reads the form of a SURT that begins with the scheme and a parenthesis, and has the fragment.
func TestSURTs(t *testing.T) {
	var all map[string]map[string]string
	if err := json.Unmarshal(table(t, "urlcanon/testdata/ssurt.json"), &all); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for in, want := range all["surt"] {
		u, err := Parse(in)
		if err != nil {
			continue
		}
		seen++
		_, want, _ = strings.Cut(want, "://(")
		want, _, _ = strings.Cut(want, "#")
		host, path, _ := strings.Cut(want, ")")
		if want = host + ")/" + strings.TrimPrefix(path, "/"); u.SURT() != want {
			t.Errorf("%s has the SURT %q, want %q", in, u.SURT(), want)
		}
	}
	if seen < 6 {
		t.Errorf("only %d cases were read", seen)
	}
}

// TestHosts reads names of hosts in Unicode. A last dot is dropped here.
func TestHosts(t *testing.T) {
	for path, least := range map[string]int{"whatwg-url/testdata/toascii.json": 30, "whatwg-url/testdata/IdnaTestV2.json": 1500} {
		var entries []json.RawMessage // comments are strings
		if err := json.Unmarshal(table(t, path), &entries); err != nil {
			t.Fatal(err)
		}
		cases := map[string]string{}
		for _, entry := range entries {
			var c struct{ Input, Output string }
			if json.Unmarshal(entry, &c) == nil && c.Input != "" && !strings.ContainsAny(c.Input, `/?#\@:`) { // these end a host in a URL
				cases[c.Input] = strings.TrimSuffix(c.Output, ".")
			}
		}
		exceptions := map[string]string{}
		for _, in := range []string{"..", "-..", "-。。"} { // a host that ends in an empty name is none
			if _, has := cases[in]; has {
				exceptions[in] = dots
			}
		}
		matches(t, path, cases, exceptions, least, func(in string) (string, string) {
			u, _ := Parse("https://" + in + "/x")
			return u.Host(), cases[in]
		})
	}
}

// TestPublicSuffixScript reads the older form of the table, by the rules of TestPublicSuffix.
func TestPublicSuffixScript(t *testing.T) {
	cases := 0
	for _, m := range regexp.MustCompile(`(?m)^checkPublicSuffix\('([^.'][^']*)', (?:null|'([^']*)')\);`).FindAllStringSubmatch(string(table(t, "publicsuffix/tests/test_psl.txt")), -1) {
		u := parse(t, "http://"+m[1]+"/")
		want := u.Host()
		if m[2] != "" && !strings.HasSuffix(want, ".example") {
			want = parse(t, "http://"+m[2]).Host()
		}
		cases++
		if u.PLD() != want {
			t.Errorf("PLD(%s) = %s, want %s", u.Host(), u.PLD(), want)
		}
	}
	if cases < 70 {
		t.Errorf("only %d cases were read", cases)
	}
}

// TestPublicSuffixList: a name below a suffix of the list is a PLD. The list in the library is of another day, so that some suffixes differ.
func TestPublicSuffixList(t *testing.T) {
	suffixes, differ := 0, 0
	for line := range strings.Lines(string(table(t, "publicsuffix/public_suffix_list.dat"))) {
		suffix := strings.TrimSpace(line)
		if suffix == "" || strings.HasPrefix(suffix, "//") {
			continue
		}
		suffixes++
		exception, isException := strings.CutPrefix(suffix, "!")
		name := "raven." + strings.Replace(suffix, "*", "any", 1)
		if isException {
			name = exception
		}
		host := parse(t, "http://"+name+"/").Host()
		if got := PLD("www." + host); got != host {
			differ++
		}
	}
	if suffixes < 8000 || differ*50 > suffixes {
		t.Errorf("%d of %d suffixes differ", differ, suffixes)
	}
}
