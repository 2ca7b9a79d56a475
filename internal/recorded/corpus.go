package recorded

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// homePages are the home pages of the four departments that were crawled completely.
var homePages = []string{"http://www.cs.cornell.edu/", "http://www.cs.utexas.edu/", "http://www.cs.washington.edu/", "http://www.cs.wisc.edu/"}

// port is how the corpus writes ports.
var port = regexp.MustCompile(`^(https?://[^/]+)_(\d+)(/|$)`)

// corpus reads a recorded web from a folder:
//
//   - pages.tsv: a line for each page with url, label, group and path, separated by tabs, after a first line with these names;
//   - the pages, in pages.tar.gz or as files of the folder, by their paths: HTML, before which a header block and a blank
//     line may stand, as in the WebKB corpus of CMU (1997);
//   - edges.tsv (from, to, anchor), if other links count than those that our parser finds;
//   - seeds.txt, URLs that crawls begin at, a line each. Without it the pages of WebKB's four departments are taken, if
//     they are there.
func corpus(dir string) (*Web, error) {
	w, list := New(filepath.Base(dir)), filepath.Join(dir, "pages.tsv")
	at := map[string]int{} // by path
	err := eachLine(list, func(n int, line string) error {
		fields := strings.Split(line, "\t")
		if n == 1 {
			if fields[0] != "url" {
				return fmt.Errorf("%s:1: the first line must name the fields: url, label, group, path", list)
			}
			return nil
		}
		if len(fields) < 4 {
			return fmt.Errorf("%s:%d: a line must have url, label, group and path, separated by tabs", list, n)
		}
		url, ok := Canonical(port.ReplaceAllString(fields[0], "$1:$2$3"))
		if !ok {
			return nil // nothing can link to it
		}
		if _, twice := w.At(url); twice {
			return nil
		}
		if _, twice := at[fields[3]]; twice {
			return fmt.Errorf("%s:%d: another page has the path %q", list, n, fields[3])
		}
		at[fields[3]], _ = w.Add(Page{URL: url, Label: fields[1], Group: fields[2], Status: http.StatusOK, MIME: "text/html"})
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("a recorded web needs the list of its pages: %w", err)
	}
	if err != nil {
		return nil, err
	}
	if err := w.read(dir, at); err != nil {
		return nil, err
	}
	if err := w.seeds(dir); err != nil {
		return nil, err
	}
	w.topics()
	return w, w.edges(filepath.Join(dir, "edges.tsv"))
}

// read reads the pages.
func (w *Web) read(dir string, at map[string]int) error {
	packed := filepath.Join(dir, "pages.tar.gz")
	missing := len(at)
	err := unpack(packed, func(name string, raw []byte) {
		if i, listed := at[path.Clean(name)]; listed {
			w.Pages[i].Body = html(raw)
			missing--
		}
	})
	if err == nil && missing > 0 {
		err = fmt.Errorf("%s lacks %d of the %d pages that pages.tsv lists by their paths", packed, missing, len(at))
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for name, i := range at {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Errorf("%s: the path %q leads out of the folder", filepath.Join(dir, "pages.tsv"), name)
		}
		raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return fmt.Errorf("there is no pages.tar.gz, and a page is missing: %w", err)
		}
		w.Pages[i].Body = html(raw)
	}
	return nil
}

// html leaves out a header block.
func html(raw []byte) []byte {
	head, body, found := bytes.Cut(bytes.ReplaceAll(raw, []byte("\r\n"), []byte("\n")), []byte("\n\n"))
	if first, _, _ := bytes.Cut(head, []byte("\n")); found && headerLine.Match(first) {
		return body
	}
	return raw
}

// headerLine is the first line of a header block.
var headerLine = regexp.MustCompile(`^(HTTP/[0-9.]+ |[A-Za-z-]+:)`)

// seeds reads where crawls begin.
func (w *Web) seeds(dir string) error {
	raw, err := os.ReadFile(filepath.Join(dir, "seeds.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	list := homePages
	if err == nil {
		list = strings.Fields(string(raw))
	}
	for _, url := range list {
		if at, found := w.at(url); found {
			w.Seeds = append(w.Seeds, at)
		} else if err == nil {
			return fmt.Errorf("%s: %s is not a page of the corpus", filepath.Join(dir, "seeds.txt"), url)
		}
	}
	return nil
}

// LeastOfTopic is how many pages a label must have for a crawl to look for them.
const LeastOfTopic = 40

// topics are the labels that enough pages have; of WebKB those four that crawls are compared by.
func (w *Web) topics() {
	count := map[string]int{}
	for i := range w.Pages {
		if label := w.Pages[i].Label; label != "" && label != "other" {
			count[label]++
		}
	}
	if count["course"] > 0 && count["faculty"] > 0 && count["student"] > 0 && count["project"] > 0 {
		w.Topics = []string{"course", "faculty", "student", "project"}
		return
	}
	for label, n := range count {
		if n >= LeastOfTopic {
			w.Topics = append(w.Topics, label)
		}
	}
	slices.Sort(w.Topics)
}

// edges reads the links that count (from, to, anchor), so that results can be compared.
func (w *Web) edges(path string) error {
	edges := []Edge{}
	err := eachLine(path, func(n int, line string) error {
		fields := append(strings.Split(line, "\t"), "")
		if len(fields) < 3 {
			return fmt.Errorf("%s:%d: a line must have from, to and optionally an anchor, separated by tabs", path, n)
		}
		from, known := w.at(fields[0])
		to, inside := w.at(fields[1])
		if known && inside && from != to {
			edges = append(edges, Edge{from, to, fields[2]})
		}
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	w.Edges = edges
	return err
}

// at finds a page by its URL as the corpus writes it.
func (w *Web) at(raw string) (int, bool) {
	url, ok := Canonical(port.ReplaceAllString(raw, "$1:$2$3"))
	if !ok {
		return 0, false
	}
	return w.At(url)
}

// unpack yields the files of a compressed tar file.
func unpack(path string, each func(name string, raw []byte)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		raw, err := io.ReadAll(r)
		if err != nil {
			return fmt.Errorf("%s: %s: %w", path, h.Name, err)
		}
		each(h.Name, raw)
	}
}
