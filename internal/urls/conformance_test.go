package urls

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	whatwg "github.com/nlnwa/whatwg-url/url"
)

// table reads a table of the conformance data.
func table(t *testing.T, path string) []byte {
	t.Helper()
	root := os.Getenv("MUNINN_TESTDATA")
	if root == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance tables")
	}
	raw, err := os.ReadFile(filepath.Join(root, "conformance", path))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// resolve gives the canonical form of a reference, empty if it is refused.
func resolve(base, ref string) string {
	if base == "" || base == "about:blank" {
		u, _ := Parse(ref)
		return u.String()
	}
	r, err := NewResolver(base)
	if err != nil {
		return ""
	}
	u, _ := r.Resolve(ref)
	return u.String()
}

// expected is the result of the documented normalisation for a URL that was serialised as the standard says;
// empty if Parse refuses it.
func expected(href string) string {
	u, err := whatwg.Parse(href)
	if err != nil || u.Scheme() != "http" && u.Scheme() != "https" {
		return ""
	}
	host := strings.TrimSuffix(u.Hostname(), ".")
	if host == "" || strings.HasSuffix(host, ".") {
		return ""
	}
	rest := u.Pathname()
	if u.Query() != "" {
		rest += "?" + u.Query()
	}
	port := ""
	if u.Port() != "" {
		port = ":" + u.Port()
	}
	return u.Scheme() + "://" + host + port + escapes(rest)
}

// escapes escapes lone percent signs, unescapes unreserved characters and puts other escapes into upper
// case.
func escapes(s string) string {
	const unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '%' {
			b.WriteByte(s[i])
			continue
		}
		if i+2 >= len(s) || !isHex(s[i+1]) || !isHex(s[i+2]) {
			b.WriteString("%25")
			continue
		}
		if v := string(rune(unhex(s[i+1])<<4 | unhex(s[i+2]))); strings.Contains(unreserved, v) {
			b.WriteString(v)
		} else {
			b.WriteString(strings.ToUpper(s[i : i+3]))
		}
		i += 2
	}
	return b.String()
}

func TestWHATWG(t *testing.T) {
	for _, path := range []string{
		"whatwg-url/testdata/urltestdata.json", "crawler-commons/src/test/resources/url-utils/wpt-urltestdata.json",
		"urlcanon/testdata/urltestdata.json",
	} {
		var entries []json.RawMessage // comments are strings
		if err := json.Unmarshal(table(t, path), &entries); err != nil {
			t.Fatal(err)
		}
		cases := 0
		for _, entry := range entries {
			var c struct {
				Input, Base, Href string
				Failure           bool
			}
			if json.Unmarshal(entry, &c) != nil {
				continue
			}
			cases++
			want := ""
			if !c.Failure {
				want = expected(c.Href)
			}
			if got := resolve(c.Base, c.Input); got != want {
				t.Errorf("%s: %q on %q gives %q, want %q", filepath.Dir(path), c.Input, c.Base, got, want)
			}
		}
		if cases < 400 {
			t.Errorf("%s: only %d cases were read", path, cases)
		}
	}
}

func TestURLCanon(t *testing.T) {
	var whole map[string]map[string]string
	if err := json.Unmarshal(table(t, "urlcanon/testdata/surt.json"), &whole); err != nil {
		t.Fatal(err)
	}
	for in, want := range whole["defaultIASurt"] {
		if !strings.HasPrefix(in, "http") {
			continue
		}
		if got := parse(t, in).Key(); got != want {
			t.Errorf("%s has the key %q, want %q", in, got, want)
		}
	}
	if err := json.Unmarshal(table(t, "urlcanon/testdata/ssurt.json"), &whole); err != nil {
		t.Fatal(err)
	}
	for in, want := range whole["surtWithoutScheme"] {
		in, _, _ = strings.Cut(in, "#")
		want, _, _ = strings.Cut(want, "#")
		if before, after, _ := strings.Cut(want, ")"); !strings.HasPrefix(after, "/") {
			want = before + ")/" + after // an empty path is "/" in canonical form
		}
		if got := parse(t, in).SURT(); got != want {
			t.Errorf("%s has the SURT %q, want %q", in, got, want)
		}
	}
}

// TestPublicSuffix has two rules that differ from the table on purpose: a public suffix is its own PLD, and so
// is a host with an unknown suffix.
func TestPublicSuffix(t *testing.T) {
	lines := bufio.NewScanner(strings.NewReader(string(table(t, "publicsuffix/tests/tests.txt"))))
	cases := 0
	for lines.Scan() {
		host, want, ok := strings.Cut(lines.Text(), " ")
		if !ok || strings.HasPrefix(host, "//") || strings.HasPrefix(host, ".") || host == "null" {
			continue
		}
		u := parse(t, "http://"+host+"/")
		host = u.Host()
		if want == "null" || strings.HasSuffix(host, ".example") {
			want = host
		} else {
			want = parse(t, "http://"+want).Host()
		}
		cases++
		if u.PLD() != want {
			t.Errorf("PLD(%s) = %s, want %s", host, u.PLD(), want)
		}
	}
	if cases < 70 {
		t.Errorf("only %d cases were read", cases)
	}
}

func TestCrawlerCommons(t *testing.T) {
	const dir = "crawler-commons/src/test/resources/"
	for _, row := range rows(t, dir+"url-utils/url-resolve.csv") {
		if want := expected(row[2]); want != resolve(row[1], row[0]) {
			t.Errorf("%q on %q gives %q, want %q", row[0], row[1], resolve(row[1], row[0]), want)
		}
	}
	for _, row := range rows(t, dir+"normalizer/invalidUrls.csv") {
		if u, err := Parse(row[0]); err == nil {
			t.Errorf("%q is taken as %s", row[0], u)
		}
	}
	differ := 0
	for _, row := range rows(t, dir+"normalizer/weirdToNormalizedUrls.csv") {
		u, err := Parse(row[0])
		if errors.Is(err, ErrScheme) || !strings.Contains(row[0], "://") {
			continue
		}
		if u.String() != row[1] {
			differ++
			t.Logf("%q becomes %q, there %q (%v)", row[0], u, row[1], err)
		}
	}
	// The normaliser of crawler-commons also drops double slashes and empty arguments and sorts the
	// arguments, which can change what a server answers, and escapes a few characters more.
	if differ != agreedToDiffer {
		t.Errorf("%d URLs differ, %d are agreed on", differ, agreedToDiffer)
	}
}

const agreedToDiffer = 23

// rows reads a table of crawler-commons: commas, spaces around the fields, comments.
func rows(t *testing.T, path string) [][]string {
	t.Helper()
	r := csv.NewReader(strings.NewReader(string(table(t, path))))
	r.Comment, r.TrimLeadingSpace, r.LazyQuotes, r.FieldsPerRecord = '#', true, true, -1
	all, err := r.ReadAll()
	if err != nil || len(all) == 0 {
		t.Fatalf("%s: %d rows, %v", path, len(all), err)
	}
	for _, row := range all {
		for i := range row {
			row[i] = strings.TrimSpace(row[i])
		}
	}
	return all
}
