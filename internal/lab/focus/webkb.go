package focus

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/order"
	"github.com/muninn-archive/muninn/internal/page"
	"github.com/muninn-archive/muninn/internal/score"
	"github.com/muninn-archive/muninn/internal/urls"
)

// homePages are those of the four departments that were crawled whole.
var homePages = []string{"http://www.cs.cornell.edu/", "http://www.cs.utexas.edu/", "http://www.cs.washington.edu/", "http://www.cs.wisc.edu/"}

// port is how the corpus writes ports.
var port = regexp.MustCompile(`^(https?://[^/]+)_(\d+)(/|$)`)

// WebKB reads the corpus of CMU (1997): a folder with pages.tsv (url, category, university, path in the archive) and
// pages.tar.gz (header block, blank line, HTML).
func WebKB(dir string) (*Corpus, error) {
	f, err := os.Open(filepath.Join(dir, "pages.tsv"))
	if err != nil {
		return nil, fmt.Errorf("WebKB needs the list of its pages: %w", err)
	}
	defer func() { _ = f.Close() }()
	c := &Corpus{Name: "webkb", index: map[string]int{}}
	at := map[string]int{} // by path in the archive
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if n == 1 {
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: a line must have url, category, university and path", f.Name(), n)
		}
		u, err := urls.Parse(port.ReplaceAllString(fields[0], "$1:$2$3"))
		if err != nil {
			continue // nothing can link to it
		}
		if _, twice := c.At(u.String()); twice {
			continue
		}
		c.index[u.String()], at[fields[3]] = len(c.Pages), len(c.Pages)
		c.Pages = append(c.Pages, Page{Page: order.Page{URL: u.String()}, Label: fields[1], Group: fields[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	err = c.archive(filepath.Join(dir, "pages.tar.gz"), func(name string, raw []byte, parse func(int, string, []byte)) {
		if i, listed := at[name]; listed {
			_, body, _ := bytes.Cut(raw, []byte("\n\n"))
			parse(i, "text/html", body)
		}
	})
	if err != nil {
		return nil, err
	}
	for _, home := range homePages {
		if at, found := c.At(home); found {
			c.Seeds = append(c.Seeds, at)
		}
	}
	c.Topics = []string{"course", "faculty", "student", "project"}
	return c, c.edges(filepath.Join(dir, "edges.tsv"))
}

// edges brings the links into line with those that the corpus lists (from, to, anchor), so that results can be compared:
// what the parser found beside them is left out, what it did not find is added.
func (c *Corpus) edges(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("WebKB needs the list of its links: %w", err)
	}
	defer func() { _ = f.Close() }()
	analyser := score.NewAnalyser()
	listed := map[[2]int]bool{}
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 {
			continue
		}
		from, known := c.at(fields[0])
		to, inside := c.at(fields[1])
		if !known || !inside || from == to {
			continue
		}
		listed[[2]int{from, to}] = true
		if slices.Contains(c.Pages[from].To, to) {
			continue
		}
		p := &c.Pages[from]
		p.Links = append(p.Links, order.Link{URL: c.Pages[to].URL, Name: fields[2], Anchor: order.NewTerms(analyser.Vector(fields[2], "en"))})
		p.To = append(p.To, to)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	for i := range c.Pages {
		p := &c.Pages[i]
		n := 0
		for k, to := range p.To {
			if listed[[2]int{i, to}] {
				p.To[n], p.Links[n] = to, p.Links[k]
				n++
			}
		}
		p.To, p.Links = p.To[:n], p.Links[:n]
	}
	return nil
}

// at finds a page by its URL as the corpus writes it.
func (c *Corpus) at(raw string) (int, bool) {
	u, err := urls.Parse(port.ReplaceAllString(raw, "$1:$2$3"))
	if err != nil {
		return 0, false
	}
	return c.At(u.String())
}

// archive reads the pages of a compressed tar file.
func (c *Corpus) archive(path string, each func(name string, raw []byte, parse func(i int, mime string, body []byte))) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	analyser := score.NewAnalyser()
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
		each(h.Name, raw, func(i int, mime string, body []byte) { c.parse(i, mime, body, analyser) })
	}
}

// parse reads a page as the crawl would.
func (c *Corpus) parse(i int, mime string, body []byte, analyser *score.Analyser) {
	p := &c.Pages[i]
	d := page.Parse(page.Input{URL: p.URL, MIME: mime, Body: body}, page.DefaultLimits())
	all := analyser.Vector(d.Title, d.Language)
	p.Title = order.NewTerms(all)
	blocks := make([]order.Terms, len(d.Blocks))
	for j, b := range d.Blocks {
		v := analyser.Vector(b, d.Language)
		blocks[j] = order.NewTerms(v)
		for term, n := range v {
			all[term] += n
		}
	}
	p.Text = order.NewTerms(all)
	seen := map[int]bool{i: true}
	for k := range d.Links {
		l := &d.Links[k]
		to, inside := c.At(l.URL)
		if !inside || seen[to] {
			continue
		}
		seen[to] = true
		link := order.Link{URL: l.URL, Name: l.Anchor, Anchor: order.NewTerms(analyser.Vector(l.Anchor, d.Language)), TagPath: l.TagPath}
		if l.Block >= 0 && l.Block < len(blocks) {
			link.Around = blocks[l.Block]
		}
		p.Links, p.To = append(p.Links, link), append(p.To, to)
	}
}
