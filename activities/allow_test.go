package activities

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// A definition reads no file that the worker's configuration does not allow, whichever way it writes the name.
func TestAllowFiles(t *testing.T) {
	root := t.TempDir()
	seeds, secret := filepath.Join(root, "seeds"), filepath.Join(root, "secret")
	for _, dir := range []string{seeds, secret, filepath.Join(root, "seeds-of-others")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"seeds/away": secret, "seeds/near": seeds, "seeds/nowhere": filepath.Join(root, "not", "there"), "alias": seeds} {
		if err := os.Symlink(to, filepath.Join(root, link)); err != nil {
			t.Fatal(err)
		}
	}
	for name, ok := range map[string]bool{
		"seeds/a.txt": true, "seeds/deep/a.txt": true, "seeds/near/a.txt": true, "alias/a.txt": true,
		"seeds/../secret/a.txt": false, "seeds/away/a.txt": false, "seeds/nowhere/a.txt": false, "secret/a.txt": false, "seeds-of-others/a.txt": false, "a.txt": false,
	} {
		d := crawl.Definition{Seeds: []crawl.Seed{{URL: "https://example.org/"}, {File: root + "/" + name}}}
		err := Allow{Seeds: []string{seeds}}.checkFiles(d)
		if ok != (err == nil) {
			t.Errorf("%s: %v", name, err)
		}
		if err != nil && (!strings.Contains(err.Error(), "seeds[1].file") || !strings.Contains(err.Error(), "seed-dir")) {
			t.Errorf("%s: %v names neither field nor setting", name, err)
		}
		if (Allow{}).checkFiles(d) == nil {
			t.Errorf("%s is read although nothing is allowed", name)
		}
		if err := (Allow{Seeds: []string{root + "/" + name}}).checkFiles(d); err != nil && name != "seeds/nowhere/a.txt" {
			t.Errorf("%s is not read although it is named itself: %v", name, err)
		}
	}
}

// TestAllowIgnoringRobots: a definition that ignores robots.txt needs a worker that lets it; on another it obeys.
func TestAllowIgnoringRobots(t *testing.T) {
	ignores := crawl.Definition{Robots: crawl.Robots{Policy: crawl.RobotsIgnore, Reason: "the law"}}
	if err := (Allow{}).checkRobots(ignores); err == nil || !strings.Contains(err.Error(), "ignore-robots") || !strings.Contains(err.Error(), "robots.policy") {
		t.Errorf("the error is %v", err)
	}
	if got := (Allow{}).robotsPolicy(ignores); got != crawl.RobotsObey {
		t.Errorf("the policy is %s", got)
	}
	may := Allow{IgnoreRobots: true}
	if err := may.checkRobots(ignores); err != nil || may.robotsPolicy(ignores) != crawl.RobotsIgnore {
		t.Errorf("the policy is %s, %v", may.robotsPolicy(ignores), err)
	}
	requisites := crawl.Definition{Robots: crawl.Robots{Policy: crawl.RobotsRequisites}}
	if err := (Allow{}).checkRobots(requisites); err != nil || (Allow{}).robotsPolicy(requisites) != crawl.RobotsRequisites {
		t.Error("the policy requisites needs a setting")
	}
}

func TestAllowThesaurus(t *testing.T) {
	for _, c := range []struct {
		order crawl.Order
		ok    bool
	}{
		{crawl.Order{Strategy: crawl.StrategySynonyms}, true},
		{crawl.Order{Strategy: crawl.StrategySynonyms, Thesaurus: "/usr/share/wordnet"}, true},
		{crawl.Order{Strategy: crawl.StrategyBroader, Thesaurus: "/etc/secret.ttl"}, false},
		{crawl.Order{Strategy: crawl.StrategyFused, Thesaurus: "/etc/secret.ttl"}, true}, // does not read it
	} {
		err := Allow{Thesauri: []string{"/usr/share/wordnet"}}.checkFiles(crawl.Definition{Order: c.order})
		if c.ok != (err == nil) {
			t.Errorf("%+v: %v", c.order, err)
		}
	}
}

// A crawl is archived in the worker's own archive, in its bucket, or where the configuration allows.
func TestAllowArchives(t *testing.T) {
	root := t.TempDir()
	for _, c := range []struct {
		where, own string
		allowed    []string
		ok         bool
	}{
		{"s3://b/x", "s3://b/prefix", nil, true},
		{"s3://b", "s3://b/prefix", nil, true},
		{"s3://bb/x", "s3://b/prefix", nil, false},
		{"s3://other/x", "s3://b", nil, false},
		{"s3://other/x/y", "s3://b", []string{"s3://other/x"}, true},
		{"s3://other/xy", "s3://b", []string{"s3://other/x"}, false},
		{"s3://other/x/../y", "s3://b", []string{"s3://other/x"}, false},
		{root + "/x", "s3://b", nil, false},
		{"b", "s3://b", nil, false},
		{"file:///etc", "s3://b", nil, false},
		{root + "/archive", root + "/archive", nil, true},
		{root + "/archive/x", root + "/archive", nil, true},
		{root + "/archive/../x", root + "/archive", nil, false},
		{"s3://b", root + "/archive", nil, false},
		{"s3://b/x", root + "/archive", []string{"s3://b"}, true},
		{root + "/x", root + "/archive", []string{"s3://b", root + "/x"}, true},
		{"/", root + "/archive", []string{"s3://b", root + "/x"}, false},
	} {
		if err := checkArchive(c.where, c.own, c.allowed); c.ok != (err == nil) {
			t.Errorf("%s beside %s and %v: %v", c.where, c.own, c.allowed, err)
		}
	}
	a := Archives{Default: root + "/archive"}
	if _, err := a.Open(t.Context(), root+"/elsewhere"); err == nil || !strings.Contains(err.Error(), "archive-allow") {
		t.Errorf("an archive elsewhere: %v", err)
	}
	if _, err := os.Stat(root + "/elsewhere"); err == nil {
		t.Error("a folder was made that is not allowed")
	}
}
