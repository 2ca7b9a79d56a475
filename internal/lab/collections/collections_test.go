package main

import (
	"bytes"
	"errors"
	"flag"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/lab/focus"
	"github.com/muninn-archive/muninn/internal/recorded"
)

// unpacked writes the files of a package into a folder.
func unpacked(t *testing.T, root string, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(root+"/"+name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// begun makes a collection and reads it as the laboratory does.
func begun(t *testing.T, name, from string, args ...string) (*focus.Corpus, string) {
	t.Helper()
	out := filepath.Join(t.TempDir(), "web")
	var said bytes.Buffer
	if err := run(append([]string{name, "--from", from, "--out", out}, args...), &said); err != nil {
		t.Fatal(err)
	}
	c, err := focus.Open(out)
	if err != nil {
		t.Fatal(err)
	}
	return c, said.String()
}

// at finds a page by its path in the package.
func at(t *testing.T, c *focus.Corpus, name, page string) int {
	t.Helper()
	i, found := c.At((&rewriter{c: collections[name]}).address(page))
	if !found {
		t.Fatalf("%s is not in the web", page)
	}
	return i
}

const kernel = "usr/share/doc/linux-doc-6.1/html"

// kernelFiles link to each other in each way that the packages use.
var kernelFiles = map[string]string{
	"index.html": `<title>Kernel</title><ul class="toc"><li><a href="networking/index.html">Networking</a><li><a href="usb/">USB</a></ul>`,
	"networking/index.html": `<title>Net</title><link rel="next" href="bonding.html"><nav class="side"><a href="../usb/index.html">USB</a></nav>
		<p class="text"><a title="the driver" href="./bonding.html#introduction">Bonding</a> <a href="#top">top</a> <a href="mailto:a@b.example">mail</a>`,
	"networking/bonding.html":      `<p><a href="../admin-guide/media/a%3Db.html">media</a> <a href="/abs.html">abs</a> <a href="https://kernel.example/x">away</a> <img src="../_images/bond.png"> <a href="../_sources/networking/bonding.rst.txt">source</a>`,
	"usb/index.html":               `<p>USB`,
	"admin-guide/media/a=b.html":   `<p>media <a href="../../index.html?highlight=x">found</a>`,
	"_sources/networking/bond.txt": `no page`,
	"odd.html/note.txt":            `no page, and no folder of one`,
}

// TestLinks: links keep their targets, with URLs that give nothing away; their positions and texts do not change.
func TestLinks(t *testing.T) {
	c, _ := begun(t, "linux", unpacked(t, kernel, kernelFiles))
	if len(c.Pages) != 5 {
		t.Fatalf("%d pages, not 5", len(c.Pages))
	}
	index, net, bond := at(t, c, "linux", "index.html"), at(t, c, "linux", "networking/index.html"), at(t, c, "linux", "networking/bonding.html")
	usb, media := at(t, c, "linux", "usb/index.html"), at(t, c, "linux", "admin-guide/media/a=b.html")
	for page, want := range map[int][]int{index: {net, usb}, net: {bond, usb}, bond: {media}, usb: nil, media: nil} {
		if got := c.Pages[page].To; !slices.Equal(got, want) {
			t.Errorf("%s links to %v, not %v", c.Pages[page].URL, got, want)
		}
	}
	if !slices.Equal(c.Seeds, []int{index}) {
		t.Errorf("crawls begin at %v, not at %d", c.Seeds, index)
	}
	first := c.Pages[index].Links[0]
	if first.Name != "Networking" || !strings.Contains(first.TagPath, "ul.toc/li") {
		t.Errorf("the link says %q at %q", first.Name, first.TagPath)
	}
	for i := range c.Pages {
		if url := c.Pages[i].URL; len(url) != len(c.Pages[0].URL) || strings.ContainsAny(url, "-%=") {
			t.Errorf("%s has another form than %s", url, c.Pages[0].URL)
		}
	}
}

// TestWithout: elements are left out with their links; a selector that matches nothing is an error.
func TestWithout(t *testing.T) {
	dir := unpacked(t, kernel, kernelFiles)
	c, _ := begun(t, "linux", dir, "--without", "nav.side")
	net, bond := at(t, c, "linux", "networking/index.html"), at(t, c, "linux", "networking/bonding.html")
	if got := c.Pages[net].To; !slices.Equal(got, []int{bond}) {
		t.Errorf("without its sidebar the page links to %v, not to %d alone", got, bond)
	}
	for _, selector := range []string{"nav.none", "nav["} {
		if err := run([]string{"linux", "--from", dir, "--out", t.TempDir(), "--without", selector}, &bytes.Buffer{}); err == nil || !strings.Contains(err.Error(), selector) {
			t.Errorf("%q is taken: %v", selector, err)
		}
	}
}

// TestSites: each module is a site, and links lead from one to the other.
func TestSites(t *testing.T) {
	c, said := begun(t, "qt", unpacked(t, "usr/share/qt5/doc", map[string]string{
		"qtcore/qtcore-index.html":         `<a href="qobject.html">QObject</a>`,
		"qtcore/qobject.html":              `<a href="../qtwidgets/qwidget.html">QWidget</a> <a href="qobject-members.html">Members</a>`,
		"qtcore/qobject-members.html":      `<p>members`,
		"qtwidgets/qwidget.html":           `<p>no list of members`,
		"qtwidgets/qtwidgets-index.html":   `<p>index`,
		"qtwidgets/qmodelindex.html":       `<p>no seed`,
		"qtwidgets/qt-attribution-a.html":  `<p>licence`,
		"qtwidgets/qw-desktop-example.htm": `<p>no page by its name`,
	}))
	object, widget := at(t, c, "qt", "qtcore/qobject.html"), at(t, c, "qt", "qtwidgets/qwidget.html")
	if !slices.Contains(c.Pages[object].To, widget) || c.Pages[object].Group != "qtcore" || c.Pages[widget].Group != "qtwidgets" {
		t.Errorf("%+v does not lead to %+v", c.Pages[object], c.Pages[widget])
	}
	if site := path.Dir(c.Pages[object].URL); site == path.Dir(c.Pages[widget].URL) {
		t.Errorf("two modules are on one site: %s", site)
	}
	if len(c.Seeds) != 2 || !strings.HasPrefix(said, "7 pages, 2 seeds, 4 labels\n     4 other\n     1 attribution\n") {
		t.Errorf("%d seeds; said: %s", len(c.Seeds), said)
	}
}

// TestLabels: the folder or the name of the file gives the label.
func TestLabels(t *testing.T) {
	for _, test := range []struct{ name, page, label string }{
		{"linux", "index.html", other},
		{"linux", "networking/device_drivers/can/can327.html", "networking"},
		{"linux", "admin-guide/media/vivid.html", "media"},
		{"linux", "userspace-api/media/v4l/common.html", "media"},
		{"linux", "admin-guide/sysrq.html", "admin-guide"},
		{"linux", "translations/zh_CN/mm/index.html", other},
		{"cppreference", "en/index.html", other},
		{"cppreference", "en/cpp/index.html", other},
		{"cppreference", "en/c/numeric/math/sin.html", "numeric"},
		{"cppreference", "en/cpp/numeric.html", "numeric"},
		{"cppreference", "en/cpp/language.1.html", "language"},
		{"qt", "qtcore/qobject-members.html", "members"},
		{"qt", "qtcore/qobject.html", "class"},
		{"qt", "qtcore/qobject-obsolete.html", "obsolete"},
		{"qt", "qtcore/qtcore-attribution-md5.html", "attribution"},
		{"qt", "qtcore/qtcore-mimetypes-example.html", "example"},
		{"qt", "qtcore/threads.html", other},
	} {
		if got := collections[test.name].label(test.page, pathSet{"qtcore/qobject-members.html": true}); got != test.label {
			t.Errorf("%s: %s is labelled %s, not %s", test.name, test.page, got, test.label)
		}
	}
}

// TestSame: the same package gives the same bytes, with pages sorted by path.
func TestSame(t *testing.T) {
	dir := unpacked(t, kernel, kernelFiles)
	var one, two [3][]byte
	for _, all := range []*[3][]byte{&one, &two} {
		out := t.TempDir()
		if err := run([]string{"linux", "--from", dir, "--out", out}, &bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		for i, name := range []string{"pages.tsv", "pages.tar.gz", "seeds.txt"} {
			raw, err := os.ReadFile(filepath.Join(out, name))
			if err != nil || len(raw) == 0 {
				t.Fatalf("%s: %d bytes (%v)", name, len(raw), err)
			}
			all[i] = raw
		}
	}
	for i := range one {
		if !bytes.Equal(one[i], two[i]) {
			t.Errorf("file %d differs", i)
		}
	}
	pages, err := list(unpacked(t, ".", map[string]string{"b/c.html": "", "b.html": "", "a/z.html": "", "b/a/a.html": ""}))
	if want := []string{"a/z.html", "b.html", "b/a/a.html", "b/c.html"}; err != nil || !slices.Equal(pages, want) {
		t.Errorf("listed %v, not %v (%v)", pages, want, err)
	}
}

// TestRefused: errors are reported, and leave no web that could be read.
func TestRefused(t *testing.T) {
	whole := unpacked(t, kernel, kernelFiles)
	headless := unpacked(t, kernel, map[string]string{"usb/index.html": "<p>"})
	for _, test := range []struct{ args, word string }{
		{"", "cppreference, linux, qt"},
		{"windows --from a --out b", "cppreference, linux, qt"},
		{"linux --from " + whole, "--out"},
		{"linux --from " + whole + " --out OUT more", "--out"},
		{"qt --from " + whole + " --out OUT", "usr/share/qt5/doc"},
		{"linux --from " + headless + " --out OUT", "index.html"},
	} {
		out := filepath.Join(t.TempDir(), "web")
		err := run(strings.Fields(strings.ReplaceAll(test.args, "OUT", out)), &bytes.Buffer{})
		if err == nil || !strings.Contains(err.Error(), test.word) {
			t.Errorf("%q: %q is not in: %v", test.args, test.word, err)
		}
		if _, err := recorded.Open(out); err == nil {
			t.Errorf("%q leaves a web", test.args)
		}
	}
	if err := run([]string{"--help"}, &bytes.Buffer{}); !errors.Is(err, flag.ErrHelp) {
		t.Errorf("--help: %v", err)
	}
}
