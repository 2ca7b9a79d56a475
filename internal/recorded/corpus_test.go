package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/fixture"
)

func remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, where string) *Web {
	t.Helper()
	w, err := Open(where)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// page finds a page of a web.
func (w *Web) page(t testing.TB, url string) Page {
	t.Helper()
	at, known := w.At(url)
	if !known {
		t.Fatalf("%s is not in the web", url)
	}
	if w.Pages[at].URL != url {
		t.Fatalf("page %d is %s, not %s", at, w.Pages[at].URL, url)
	}
	return w.Pages[at]
}

// refused opens a web that cannot be read; the error must contain all words.
func refused(t *testing.T, where string, words ...string) {
	t.Helper()
	w, err := Open(where)
	if err == nil {
		t.Errorf("%s is read: %d pages", where, len(w.Pages))
		return
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q is not in: %v", word, err)
		}
	}
}

// packed is a compressed tar file.
func packed(t testing.TB, files map[string]string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	archive := tar.NewWriter(z)
	err := archive.WriteHeader(&tar.Header{Name: "pages/", Typeflag: tar.TypeDir, Mode: 0o755})
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err = errors.Join(err, archive.WriteHeader(&tar.Header{Name: name, Typeflag: tar.TypeReg, Size: int64(len(files[name])), Mode: 0o644}))
		_, failed := archive.Write([]byte(files[name]))
		err = errors.Join(err, failed)
	}
	if err := errors.Join(err, archive.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// webKB writes a corpus in the form of WebKB: its four home pages, each with a page of every label that crawls look for.
func webKB(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	pages, edges, files := "url\tcategory\tuniversity\tpath\tin\tout\n", "", map[string]string{}
	add := func(url, label, body string) {
		name := "pages/" + strings.ReplaceAll(url, "/", "^")
		pages += fmt.Sprintf("%s\t%s\tx\t%s\t0\t0\n", url, label, name)
		files["./"+name] = "Server: old\r\nContent-type: text/html\r\n\r\n" + body
	}
	for _, home := range homePages {
		add(home, "other", "<p>welcome")
		for _, label := range []string{"course", "faculty", "student", "project"} {
			add(home+label+"/", label, "<p>one of label "+label)
			edges += home + "\t" + home + label + "/\tto " + label + "\n"
		}
	}
	fixture.Write(t, dir, "pages.tsv", pages)
	fixture.Write(t, dir, "edges.tsv", edges+homePages[0]+"\thttp://elsewhere.test/\tout\n"+homePages[0]+"\t"+homePages[0]+"\tto itself\n")
	fixture.Write(t, dir, "pages.tar.gz", packed(t, files))
	return dir
}

func TestCorpus(t *testing.T) {
	dir := webKB(t)
	w := open(t, dir)
	if len(w.Pages) != 4*5 || w.Name != filepath.Base(dir) || len(w.Seeds) != 4 {
		t.Fatalf("%s: %d pages, seeds %v", w.Name, len(w.Pages), w.Seeds)
	}
	for i, s := range w.Seeds {
		if w.Pages[s].URL != homePages[i] {
			t.Errorf("a crawl begins at %s", w.Pages[s].URL)
		}
	}
	if want := []string{"course", "faculty", "student", "project"}; !slices.Equal(w.Topics, want) {
		t.Errorf("topics %q, want %q: few pages have them, but others have compared by them", w.Topics, want)
	}
	p := w.page(t, homePages[1]+"student/")
	if p.Label != "student" || p.Group != "x" || p.Status != 200 || p.MIME != "text/html" || string(p.Body) != "<p>one of label student" {
		t.Errorf("%+v", p)
	}
	if len(w.Edges) != 16 {
		t.Errorf("%d edges: those that lead out, and those of a page to itself, do not count", len(w.Edges))
	}
	from, _ := w.At(homePages[0])
	to, _ := w.At(homePages[0] + "course/")
	if w.Edges[0] != (Edge{from, to, "to course"}) {
		t.Errorf("%+v", w.Edges[0])
	}
}

// TestCorpusLacks: the error names the missing or broken file; edges.tsv may be missing.
func TestCorpusLacks(t *testing.T) {
	for _, name := range []string{"pages.tsv", "edges.tsv", "pages.tar.gz"} {
		dir := webKB(t)
		remove(t, dir, name)
		if name != "edges.tsv" {
			refused(t, dir, name)
		} else if w := open(t, dir); w.Edges != nil {
			t.Errorf("edges %v, though none are listed", w.Edges)
		}
		fixture.Write(t, dir, name, "url\nx")
		refused(t, dir, filepath.Join(dir, name))
	}
	dir := webKB(t)
	fixture.Write(t, dir, "pages.tar.gz", packed(t, map[string]string{"pages/other": "x"}))
	refused(t, dir, "pages.tar.gz", "lacks 20 of the 20 pages")
	whole := packed(t, map[string]string{"pages/other": strings.Repeat("x", 1000)})
	fixture.Write(t, dir, "pages.tar.gz", whole[:len(whole)-20])
	refused(t, dir, "pages.tar.gz")
}

// TestFolder: pages may be in a folder, without lists of links; labels of few pages are no topics.
func TestFolder(t *testing.T) {
	dir := t.TempDir()
	pages := "url\tlabel\tgroup\tpath\nhttp://a.test/\tother\t\thome.html\nhttp://a.test_8080/x\t\tb\tsub/x.html\n"
	for i := range LeastOfTopic {
		pages += fmt.Sprintf("http://a.test/%d\tbird\t\t%d.html\nhttp://a.test/other/%d\tother\t\tother%d.html\n", i, i, i, i)
		fixture.Write(t, dir, fmt.Sprintf("%d.html", i), "HTTP/1.0 200 OK\r\nServer: old\r\n\r\n<title>Raven</title>")
		fixture.Write(t, dir, fmt.Sprintf("other%d.html", i), "")
	}
	for i := range LeastOfTopic - 1 {
		pages += fmt.Sprintf("http://a.test/fish/%d\tfish\t\tfish%d.html\n", i, i)
		fixture.Write(t, dir, fmt.Sprintf("fish%d.html", i), "<title>Fish</title>")
	}
	const noHeader = "<p>Note: no header.\n\n<p>More"
	fixture.Write(t, dir, "home.html", noHeader)
	fixture.Write(t, dir, "sub/x.html", "x")
	fixture.Write(t, dir, "pages.tsv", pages+"http://A.test:80/\tbird\t\ttwice.html\nmailto:a@a.test\tbird\t\tno.html\n")
	w := open(t, dir)
	if len(w.Pages) != 2+3*LeastOfTopic-1 || len(w.Seeds) != 0 || !slices.Equal(w.Topics, []string{"bird"}) {
		t.Fatalf("%d pages, seeds %v, topics %q", len(w.Pages), w.Seeds, w.Topics)
	}
	if p := w.page(t, "http://a.test/"); string(p.Body) != noHeader || p.Label != "other" {
		t.Errorf("%+v", p)
	}
	if p := w.page(t, "http://a.test/7"); string(p.Body) != "<title>Raven</title>" {
		t.Errorf("with its header: %q", p.Body)
	}
	if p := w.page(t, "http://a.test:8080/x"); p.Group != "b" || string(p.Body) != "x" {
		t.Errorf("%+v", p)
	}
	fixture.Write(t, dir, "seeds.txt", "http://a.test/\nhttp://A.test\n\nhttp://a.test_8080/x\n")
	home, _ := w.At("http://a.test/")
	port, _ := w.At("http://a.test:8080/x")
	if w = open(t, dir); !slices.Equal(w.Seeds, []int{home, home, port}) {
		t.Errorf("seeds %v", w.Seeds)
	}
	fixture.Write(t, dir, "edges.tsv", "http://a.test/\thttp://a.test/3\nhttp://a.test/\thttp://a.test/4\tfour\n")
	three, _ := w.At("http://a.test/3")
	four, _ := w.At("http://a.test/4")
	if w = open(t, dir); !slices.Equal(w.Edges, []Edge{{home, three, ""}, {home, four, "four"}}) {
		t.Errorf("%+v", w.Edges)
	}
}

func TestFolderFaults(t *testing.T) {
	const head, home = "url\tlabel\tgroup\tpath\n", "http://a.test/\tother\t\thome.html\n"
	for name, test := range map[string]struct {
		files map[string]string
		words []string
	}{
		"no first line":      {map[string]string{"pages.tsv": home}, []string{"pages.tsv:1", "url, label, group, path"}},
		"few fields":         {map[string]string{"pages.tsv": head + home + "http://a.test/x\tbird\n"}, []string{"pages.tsv:3"}},
		"a path twice":       {map[string]string{"pages.tsv": head + home + "http://a.test/x\tbird\t\thome.html\n"}, []string{"pages.tsv:3", `"home.html"`}},
		"out of the folder":  {map[string]string{"pages.tsv": head + "http://a.test/x\tbird\t\t../x.html\n"}, []string{"pages.tsv", `"../x.html"`}},
		"a missing page":     {map[string]string{"pages.tsv": head + "http://a.test/x\tbird\t\tx.html\n"}, []string{"x.html"}},
		"an edge to nothing": {map[string]string{"pages.tsv": head + home, "edges.tsv": "http://a.test/\thttp://a.test/\nhttp://a.test/\n"}, []string{"edges.tsv:2"}},
		"an unknown seed":    {map[string]string{"pages.tsv": head + home, "seeds.txt": "http://a.test/\nhttp://b.test/\n"}, []string{"seeds.txt", "http://b.test/"}},
		"no seed":            {map[string]string{"pages.tsv": head + home, "seeds.txt": "not a URL"}, []string{"seeds.txt"}},
		"an endless line":    {map[string]string{"pages.tsv": head + home + strings.Repeat("x", 2<<20)}, []string{"pages.tsv"}},
		"an endless edge":    {map[string]string{"pages.tsv": head + home, "edges.tsv": strings.Repeat("x", 2<<20)}, []string{"edges.tsv"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fixture.Write(t, dir, "home.html", "<p>home")
			for file, text := range test.files {
				fixture.Write(t, dir, file, text)
			}
			refused(t, dir, test.words...)
		})
	}
	refused(t, filepath.Join(t.TempDir(), "nowhere"), "nowhere")
}
