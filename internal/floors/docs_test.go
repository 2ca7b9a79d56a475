package floors

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	fenced  = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	inline  = regexp.MustCompile("`[^`\n]*`")
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#+ +(.+?) *$`)
	marks   = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// anchors are the names that GitHub gives the headings of a page.
func anchors(text string) map[string]bool {
	found := map[string]bool{}
	for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(text, ""), -1) {
		name := marks.ReplaceAllString(strings.ToLower(h[1]), "")
		found[strings.ReplaceAll(name, " ", "-")] = true
	}
	return found
}

// broken lists the relative links of a Markdown file whose file or heading does not exist.
func broken(file string) (faults []string, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	prose := inline.ReplaceAllString(fenced.ReplaceAllString(string(text), ""), "")
	for _, l := range link.FindAllStringSubmatch(prose, -1) {
		if strings.Contains(l[1], ":") {
			continue // a URL
		}
		path, anchor, _ := strings.Cut(l[1], "#")
		target := file
		if path != "" {
			target = filepath.Join(filepath.Dir(file), filepath.FromSlash(path))
		}
		if _, err := os.Stat(target); err != nil {
			faults = append(faults, l[1]+": there is no such file")
			continue
		}
		if anchor == "" {
			continue
		}
		there, err := os.ReadFile(target)
		if err != nil {
			return nil, err
		}
		if !anchors(string(there))[anchor] {
			faults = append(faults, l[1]+": there is no such heading")
		}
	}
	return faults, nil
}

func TestLinksOfDocuments(t *testing.T) {
	root := filepath.Join("..", "..")
	seen := 0
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && path != root && (e.Name()[0] == '.' || e.Name() == "bin" || e.Name() == "testdata"):
			return fs.SkipDir
		case filepath.Ext(path) != ".md":
			return nil
		}
		seen++
		faults, err := broken(path)
		for _, f := range faults {
			t.Errorf("%s: link to %s", path, f)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("only %d documents were found below %s", seen, root)
	}
}

func TestBrokenLinks(t *testing.T) {
	dir := t.TempDir()
	text := "# Some Words: here\n\n[a](other.md) [b](#some-words-here) [c](#none) [d](https://example.org/x) `[e](code.md)`\n\n```\n[f](fenced.md)\n```\n\n[g](page.md#some-words-here)\n"
	file := filepath.Join(dir, "page.md")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	faults, err := broken(file)
	if err != nil {
		t.Fatal(err)
	}
	want := "other.md: there is no such file; #none: there is no such heading"
	if got := strings.Join(faults, "; "); got != want {
		t.Errorf("faults %q, want %q", got, want)
	}
}
