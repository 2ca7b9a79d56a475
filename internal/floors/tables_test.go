package floors

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// tables says which test reads a file of the conformance data, by a pattern for its path, or why none does.
var tables = []struct{ pattern, test, why string }{
	{"google-robots.json", "internal/robots.TestGoogle", ""},
	{"crawler-commons/src/test/resources/robots/*", "internal/robots.TestCrawlerCommons", ""},
	{"crawler-commons/src/test/resources/sitemaps/*", "internal/page.TestRealSitemaps", ""},
	{"crawler-commons/src/test/resources/sitemaps/extension/*", "internal/page.TestRealSitemaps", ""},
	{"crawler-commons/src/test/resources/rss/*", "internal/page.TestRealSitemaps", ""},
	{"crawler-commons/src/test/resources/url-utils/url-resolve.csv", "internal/urls.TestCrawlerCommons", ""},
	{"crawler-commons/src/test/resources/url-utils/wpt-urltestdata.json", "internal/urls.TestWHATWG", ""},
	{"crawler-commons/src/test/resources/normalizer/*", "internal/urls.TestCrawlerCommons", ""},
	{"whatwg-url/testdata/urltestdata.json", "internal/urls.TestWHATWG", ""},
	{"whatwg-url/testdata/IdnaTestV2.json", "internal/urls.TestHosts", ""},
	{"whatwg-url/testdata/toascii.json", "internal/urls.TestHosts", ""},
	{"whatwg-url/testdata/setters_tests.json", "", "a URL has no setters here"},
	{"urlcanon/testdata/urltestdata.json", "internal/urls.TestWHATWG", ""},
	{"urlcanon/testdata/surt.json", "internal/urls.TestSameKeys", ""},
	{"urlcanon/testdata/ssurt.json", "internal/urls.TestSURTs", ""},
	{"urlcanon/testdata/supplemental_whatwg.json", "internal/urls.TestURLCanonTables", ""},
	{"urlcanon/testdata/semantic_precise.json", "internal/urls.TestURLCanonTables", ""},
	{"urlcanon/testdata/funky_ipv4.json", "internal/urls.TestNumericHosts", ""},
	{"urlcanon/testdata/path_dots.json", "internal/urls.TestDots", ""},
	{"urlcanon/testdata/idempotence.json", "internal/urls.TestCanonicalTwice", ""},
	{"urlcanon/testdata/parsing.json", "internal/urls.TestPartsTable", ""},
	{"urlcanon/testdata/aggressive.json", "", "it makes URLs one that are different pages: with and without www, http and https"},
	{"urlcanon/testdata/notes.txt", "", "notes"},
	{"publicsuffix/tests/tests.txt", "internal/urls.TestPublicSuffix", ""},
	{"publicsuffix/tests/test_psl.txt", "internal/urls.TestPublicSuffixScript", ""},
	{"publicsuffix/public_suffix_list.dat", "internal/urls.TestPublicSuffixList", ""},
	{"publicsuffix/tests/README", "", "notes"},
	{"*/LICENSE", "", "a licence"}, {"crawler-commons/src/test/resources/url-utils/wpt-urltestdata-LICENSE.txt", "", "a licence"},
	{"crawler-commons/src/test/resources/forbidden-apis-signatures.txt", "", "for Java"},
}

// TestConformanceTables: each file of the conformance data has a test that exists, or a reason why it has none.
func TestConformanceTables(t *testing.T) {
	data := os.Getenv("MUNINN_TESTDATA")
	if data == "" {
		t.Skip("MUNINN_TESTDATA is not set: no conformance tables")
	}
	root, used := filepath.Join(data, "conformance"), map[string]bool{}
	err := filepath.WalkDir(root, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, _ := filepath.Rel(root, file)
		name = filepath.ToSlash(name)
		if strings.HasPrefix(name, "warc/") { // TestSamples of internal/archive reads each of them
			return nil
		}
		for _, row := range tables {
			if is, _ := path.Match(row.pattern, name); is {
				used[row.pattern] = true
				return nil
			}
		}
		t.Errorf("%s: no test reads it: write one, or say why there is none", name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range tables {
		if row.test != "" && !hasTest(t, row.test) {
			t.Errorf("%s: there is no %s", row.pattern, row.test)
		}
		if row.test != "" && !used[row.pattern] {
			t.Errorf("%s: there is no such file", row.pattern)
		}
	}
}

// hasTest reports whether a package has a test, "folder.Name".
func hasTest(t *testing.T, name string) bool {
	t.Helper()
	dir, test, _ := strings.Cut(name, ".")
	files, err := filepath.Glob(filepath.Join("..", "..", dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	begins := regexp.MustCompile(`(?m)^func ` + test + `\(t \*testing\.T\)`)
	for _, file := range files {
		if raw, err := os.ReadFile(file); err == nil && begins.Match(raw) {
			return true
		}
	}
	return false
}
