package page

import (
	"mime"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// referencesOf are the links of the page of test data with one reference of each kind, and of all that it loads of the folder, by their
// paths: the letter of each.
func referencesOf(t *testing.T) map[string]string {
	t.Helper()
	letters := map[string]string{}
	for queue := []string{"/index.html"}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		body, err := os.ReadFile(filepath.Join("testdata", "references", at))
		if err != nil {
			t.Fatal(err)
		}
		d := Parse(Input{URL: "http://a.test" + at, MIME: mimeOf(at), Via: "http://a.test/index.html", Link: linksOf(at), Body: body, Icon: at == "/index.html"}, DefaultLimits())
		for _, l := range d.Links {
			to, is := strings.CutPrefix(l.URL, "http://a.test")
			if !is || letters[to] == "E" {
				continue
			}
			if _, err := os.Stat(filepath.Join("testdata", "references", to)); err == nil && letters[to] == "" {
				queue = append(queue, to)
			}
			letters[to] = l.Hop.String()
		}
	}
	return letters
}

// headerLinks is the Link field of the page of references.
const headerLinks = `</r/header-style.css>; rel=stylesheet, </r/header-preload.css>; rel=preload; as=style, </r/header-script.js>; rel=preload; as=script, ` +
	`</r/header-image.png>; rel=preload; as=image; imagesrcset="/r/header-image1.png 1x, /r/header-image2.png 2x", </r/header-module.js>; rel=modulepreload, ` +
	`</r/header-prefetch.png>; rel=prefetch, </r/header-icon.png>; rel=icon`

// linksOf is the Link field of a response of the references.
func linksOf(path string) string {
	if path == "/index.html" {
		return headerLinks
	}
	return ""
}

func mimeOf(name string) string {
	if path.Ext(name) == ".webmanifest" {
		return "application/manifest+json"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// listedKinds reads the list of the kinds of reference: path, letter or "-", and why a kind is not found.
func listedKinds(t *testing.T) (list [][3]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "references", "kinds.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.SplitN(strings.TrimSpace(line), " ", 3)
		if len(cells) < 2 || cells[0][0] == '#' {
			continue
		}
		list = append(list, [3]string{cells[0], cells[1], strings.Join(cells[2:], "")})
	}
	return list
}

// TestReferences: of each kind of reference it is listed whether it is found, and, if not, why.
func TestReferences(t *testing.T) {
	letters, listed := referencesOf(t), map[string]bool{}
	found := 0
	for _, k := range listedKinds(t) {
		name, want, why := k[0], k[1], k[2]
		listed[name] = true
		switch got := letters[name]; {
		case want == "-" && (got != "" || why == ""):
			t.Errorf("%s is found as %q, and listed as not found, because %q", name, got, why)
		case want != "-" && got != want:
			t.Errorf("%s is found as %q, want %q", name, got, want)
		case want != "-":
			found++
		}
	}
	for name, letter := range letters {
		if !listed[name] {
			t.Errorf("%s (%s) is not listed", name, letter)
		}
	}
	t.Logf("%d of %d kinds of reference are found", found, len(listed))
	if len(listed) < 107 { // of the review
		t.Errorf("%d kinds are listed", len(listed))
	}
}
