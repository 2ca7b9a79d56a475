package robots

import (
	"strings"
	"testing"
	"time"
)

// TestRules lists after each file the paths that Muninn may fetch ("+") and may not fetch ("-").
func TestRules(t *testing.T) {
	for _, c := range []struct{ name, file, paths string }{
		{"no rules", "", "+/ +/a"},
		{"not a robots.txt", "<html><body>Disallow: /</body></html>", "+/a"},
		{"all", "User-agent: *\nDisallow: /", "-/ -/a +/robots.txt"},
		{"none", "User-agent: *\nDisallow:", "+/ +/a"},
		{"case of keys and tokens", "USER-AGENT: MUNINN\ndisAllow: /A", "-/A +/a"},
		{"spaces, comments, line ends", "\ufeffUser-agent : muninn # us\r\rDisallow :\t/a # why\r\n \t\nDisallow:/b\r", "-/a -/b +/c"},

		// RFC 9309 §2.2.1: groups
		{"own group, not *", "User-agent: *\nDisallow: /\n\nUser-agent: Muninn\nDisallow: /a", "-/a +/b"},
		{"own group allows all", "User-agent: Muninn\nDisallow:\n\nUser-agent: *\nDisallow: /", "+/a"},
		{"own group without rules at the end", "User-agent: *\nDisallow: /\nUser-agent: Muninn", "+/a"},
		{"groups of one name", "User-agent: Muninn\nDisallow: /a\nUser-agent: *\nDisallow: /c\nUser-agent: muninn\nDisallow: /b", "-/a -/b +/c"},
		{"several agents", "User-agent: other\nUser-agent: Muninn\nDisallow: /a", "-/a +/b"},
		{"several agents with others lines between", "User-agent: Muninn\nSitemap: http://a.example/s\nHost: a\nCrawl-delay: 1\n\nUser-agent: other\nDisallow: /a", "-/a"},
		{"another token begins like ours", "User-agent: Muninnlike\nDisallow: /a", "+/a"},
		{"ours begins like another", "User-agent: Mun\nDisallow: /a", "+/a"},
		{"version in the file", "User-agent: Muninn/2.0 (compatible)\nDisallow: /a", "-/a"},
		{"* with more behind it", "User-agent: * all\nDisallow: /a", "-/a"},
		{"rules before the first group", "Disallow: /a\nAllow: /\nUser-agent: *\nDisallow: /b", "+/a -/b"},
		{"empty user agent", "User-agent:\nDisallow: /a\n", "+/a"},

		// §2.2.2: the longest match, allow at a tie
		{"longest", "User-agent: *\nAllow: /a/b\nDisallow: /a", "-/a -/a/ +/a/b +/a/bc"},
		{"longest, other order", "User-agent: *\nDisallow: /a\nAllow: /a/b", "-/a/ +/a/b"},
		{"tie", "User-agent: *\nDisallow: /a\nAllow: /a", "+/a +/ab"},
		{"tie over groups", "User-agent: *\nDisallow: /a\nUser-agent: *\nAllow: /a", "+/a"},
		{"tie of / and /", "User-agent: *\nDisallow: /\nAllow: /", "+/a"},
		{"tie with a wildcard", "User-agent: *\nDisallow: /a*c\nAllow: /abc", "+/abc -/axc"},
		{"tie with an end", "User-agent: *\nDisallow: /*bc$\nAllow: /a*bc", "+/abc -/xbc"},
		{"quoting makes no rule longer", "User-agent: *\nDisallow: /*.a.b\nAllow: /x.a.b", "+/x.a.b -/y.a.b"},
		{"root only", "User-agent: *\nDisallow: /\nAllow: /$", "+/ -/a"},
		{"everything by wildcard", "User-agent: *\nDisallow: *\nAllow: /a", "+/a -/b"},
		{"case of paths", "User-agent: *\nDisallow: /A", "-/A +/a"},

		// §2.2.3: wildcards
		{"wildcard", "User-agent: *\nDisallow: /*.php", "-/a.php -/a/b.php?c -/.php +/php"},
		{"wildcards begin at the beginning", "User-agent: *\nDisallow: /fish*.php", "-/fishes.php +/x/fish.php"},
		{"end", "User-agent: *\nDisallow: /*.gif$", "-/a.gif +/a.gif?b +/a.gifs"},
		{"end without wildcard", "User-agent: *\nDisallow: /a$", "-/a +/ab +/a/"},
		{"dollar inside", "User-agent: *\nDisallow: /a$b", "-/a$b +/a"},
		{"no leading slash", "User-agent: *\nDisallow: a", "-/a +/b"},
		{"leading wildcard", "User-agent: *\nDisallow: *a", "-/a -/xa +/b"},
		{"many wildcards", "User-agent: *\nDisallow: /a***b**$", "-/ab -/axbx +/a"},
		{"a wildcard at the end counts", "User-agent: *\nAllow: /grid/\nDisallow: /grid/*", "-/grid/ -/grid/x +/grid"},
		{"and so for what is allowed", "User-agent: *\nDisallow: /grid/\nAllow: /grid/*", "+/grid/x"},
		{"wildcard before the end", "User-agent: *\nDisallow: /a*$\nAllow: /a", "-/a -/ab +/b"},
		{"query", "User-agent: *\nDisallow: /*?s=", "-/a?s=1 +/a?t=1"},
		{"all but letters are plain", "User-agent: *\nDisallow: /a.b(c)[d]+|^{2}", "-/a.b(c)[d]+|^{2} +/axb(c)[d]+|^{2}"},

		// §2.2.2: octets
		{"raw and escaped", "User-agent: *\nDisallow: /ツ", "-/%E3%83%84 -/%e3%83%84 -/ツ"},
		{"escaped and raw", "User-agent: *\nDisallow: /%e3%83%84", "-/ツ -/%E3%83%84"},
		{"unreserved", "User-agent: *\nDisallow: /%62%61%7A%7e", "-/baz~ -/%62az~"},
		{"reserved", "User-agent: *\nDisallow: /a%2fb", "-/a%2Fb +/a/b"},
		{"escaped star", "User-agent: *\nDisallow: /a%2a", "-/a* -/a%2A +/ab"},
		{"escaped dollar", "User-agent: *\nDisallow: /a%24", "-/a$b +/a"},
		{"lone percent", "User-agent: *\nDisallow: /100%", "-/100%25 -/100%"},
		{"space", "User-agent: *\nDisallow: /a b", "-/a%20b +/a"},
		{"escaped sharp", "User-agent: *\nDisallow: /a%23b # c", "-/a%23b +/a"},

		// §2.2.4, §2.3.1.5: what cannot be parsed does not change the rest
		{"bad delay", "User-agent: *\nCrawl-delay: soon\nCrawl-delay: 1,5\nCrawl-delay: -1\nCrawl-delay: NaN\nCrawl-delay: 1e999\nDisallow: /a", "-/a +/b"},
		{"binary", "User-agent: *\n\x00\xff\xfe: \x01\nDisallow: /a", "-/a +/b"},
		{"misspelt", "useragent: *\ndissallow: /a\nUser agent: b\n", "-/a"},
		{"no colon", "User-agent *\nDisallow /a", "-/a"},
		{"a rule that no URL is as long as", "User-agent: *\nDisallow: /" + strings.Repeat("*a", 5000) + "\nDisallow: /b", "-/b +/a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rules := Parse([]byte(c.file), "Muninn/1.0 (+http://a.example/)")
			for path := range strings.FieldsSeq(c.paths) {
				if got := rules.Allowed(path[1:]); got != (path[0] == '+') {
					t.Errorf("%s allowed: %v", path[1:], got)
				}
			}
		})
	}
}

func TestToken(t *testing.T) {
	for agent, want := range map[string]string{
		"Muninn/1.0 (+http://a.example/)": "Muninn", "muninn": "muninn", "My-Raven_bot 2": "My-Raven_bot", "": "", "123bot": "123bot", "*": "*",
	} {
		if got := Token(agent); got != want {
			t.Errorf("the token of %q is %q, want %q", agent, got, want)
		}
	}
}

func TestFromStatus(t *testing.T) {
	for status, want := range map[int]string{
		200: "body", 206: "body", 299: "body", 301: "allow", 304: "allow", 400: "allow", 401: "allow", 403: "allow", 404: "allow", 410: "allow", 499: "allow",
		500: "deny", 503: "deny", 599: "deny", 0: "deny", 100: "deny", 600: "deny",
	} {
		rules, decided := FromStatus(status)
		got := "body"
		if decided && rules.Allowed("/a") {
			got = "allow"
		} else if decided {
			got = "deny"
		}
		if got != want {
			t.Errorf("status %d: %s, want %s", status, got, want)
		}
	}
	if !DenyAll().Allowed("/robots.txt") || !AllowAll().Allowed("/a") || !(Rules{}).Allowed("/a") || DenyAll().Delay() != 0 {
		t.Error("the rules without a file are wrong")
	}
}

func TestSize(t *testing.T) {
	const head = "User-agent: *\nDisallow: /a\n"
	const last = "\nDisallow: /b"
	fit := head + strings.Repeat("#", MaxBytes-len(head)-len(last)) + last
	if rules := Parse([]byte(fit), "Muninn"); rules.Allowed("/a") || rules.Allowed("/b") {
		t.Errorf("a file of %d bytes is not read whole", len(fit))
	}
	// The last line is cut off: half a rule would disallow too much, so it is dropped.
	rules := Parse([]byte(strings.Replace(fit, "#", "##", 1)+"c"), "Muninn")
	if rules.Allowed("/a") || !rules.Allowed("/b") || !rules.Allowed("/bc") {
		t.Error("the first lines of a file that is too long do not count, or the line that is cut off does")
	}
}

func TestDelay(t *testing.T) {
	for _, c := range []struct {
		file string
		want time.Duration
	}{
		{"User-agent: *\nCrawl-delay: 10\nDisallow: /a", 10 * time.Second},
		{"User-agent: *\nDisallow: /a\ncrawl-delay: 0.5", 500 * time.Millisecond},
		{"User-agent: *\nCrawl-delay: 10", 10 * time.Second},
		{"User-agent: other\nCrawl-delay: 10\nUser-agent: *\nDisallow:", 10 * time.Second}, // one group: §2.2.4
		{"User-agent: other\nCrawl-delay: 10\nDisallow:\nUser-agent: *\nDisallow:", 0},
		{"User-agent: *\nCrawl-delay: 10\nDisallow:\nUser-agent: Muninn\nDisallow:", 0},
		{"Crawl-delay: 10\nUser-agent: *\nDisallow:", 0},
		{"User-agent: *\nCrawl-delay: 3\nCrawl-delay: soon\nDisallow:", 3 * time.Second},
		{"User-agent: *\nCrawl-delay: 1e300\nDisallow:", MaxAge},
		{"User-agent: *\nCrawl-delay: -3\nDisallow:", 0},
		{"", 0},
	} {
		if got := Parse([]byte(c.file), "Muninn").Delay(); got != c.want {
			t.Errorf("%q: delay %s, want %s", c.file, got, c.want)
		}
	}
}

// TestHostile: the cost of a file does not grow with repeated agents.
func TestHostile(t *testing.T) {
	agents := strings.Repeat("User-agent: *\nUser-agent: Muninn\nUser-agent: x\n", 5000)
	rules := Parse([]byte(agents+strings.Repeat("Disallow: /a*b*c*d$\n", 15_000)), "Muninn")
	if rules.Allowed("/abcd") || !rules.Allowed("/b") {
		t.Error("wrong rules")
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "User-agent: *\nDisallow: /a*b$\nAllow: /%zz\nCrawl-delay: 1e9", "\ufeffuser agent\nDisallow\r:#", "User-agent: Muninn\nDisallow: $\nAllow: **$$\n",
	} {
		f.Add([]byte(seed), "/a?b=%2")
	}
	f.Fuzz(func(t *testing.T, file []byte, uri string) {
		rules := Parse(file, "Muninn/1.0")
		if d := rules.Delay(); d < 0 || d > MaxAge {
			t.Fatalf("delay %s", d)
		}
		if !rules.Allowed("/robots.txt") {
			t.Fatal("/robots.txt is not allowed")
		}
		got := rules.Allowed("/" + uri)
		// Comments and groups for other agents do not matter.
		more := append([]byte("# a\nUser-agent: other\nDisallow: /\n"), file...)
		if len(more) <= MaxBytes && startsGroup(file) && Parse(more, "Muninn/1.0").Allowed("/"+uri) != got {
			t.Fatalf("%q: a group of another agent changes what is allowed of %q", file, uri)
		}
	})
}

// startsGroup reports whether the file begins with a group.
func startsGroup(file []byte) bool { return strings.HasPrefix(string(file), "User-agent:") }
