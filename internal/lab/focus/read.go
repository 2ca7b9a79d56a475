package focus

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
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

// Open reads a recorded web from a folder:
//
//   - pages.tsv: a line for each page with url, label, group and path, parted by tabs, after a first line with these names;
//   - the pages, in pages.tar.gz or as files of the folder, by their paths: HTML, before which a header block and a blank
//     line may stand, as in the WebKB corpus of CMU (1997);
//   - edges.tsv (from, to, anchor), if other links shall count than those that our parser finds;
//   - seeds.txt, URLs that crawls begin at, a line each. Without it the pages of WebKB's four departments are taken, if
//     they are there.
func Open(dir string) (*Corpus, error) {
	f, err := os.Open(filepath.Join(dir, "pages.tsv"))
	if err != nil {
		return nil, fmt.Errorf("a recorded web needs the list of its pages: %w", err)
	}
	defer func() { _ = f.Close() }()
	c := &Corpus{Name: filepath.Base(dir), index: map[string]int{}}
	at := map[string]int{} // by path
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		fields := strings.Split(lines.Text(), "\t")
		if n == 1 {
			if fields[0] != "url" {
				return nil, fmt.Errorf("%s:1: the first line must name the fields: url, label, group, path", f.Name())
			}
			continue
		}
		if len(fields) < 4 {
			return nil, fmt.Errorf("%s:%d: a line must have url, label, group and path, parted by tabs", f.Name(), n)
		}
		u, err := urls.Parse(port.ReplaceAllString(fields[0], "$1:$2$3"))
		if err != nil {
			continue // nothing can link to it
		}
		if _, twice := c.At(u.String()); twice {
			continue
		}
		if _, twice := at[fields[3]]; twice {
			return nil, fmt.Errorf("%s:%d: another page has the path %q", f.Name(), n, fields[3])
		}
		c.index[u.String()], at[fields[3]] = len(c.Pages), len(c.Pages)
		c.Pages = append(c.Pages, Page{Page: order.Page{URL: u.String()}, Label: fields[1], Group: fields[2]})
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if err := c.read(dir, at); err != nil {
		return nil, err
	}
	if err := c.seeds(dir); err != nil {
		return nil, err
	}
	c.topics()
	return c, c.edges(filepath.Join(dir, "edges.tsv"))
}

// read reads and parses the pages.
func (c *Corpus) read(dir string, at map[string]int) error {
	analyser := score.NewAnalyser()
	packed := filepath.Join(dir, "pages.tar.gz")
	missing := len(at)
	err := unpack(packed, func(name string, raw []byte) {
		if i, listed := at[path.Clean(name)]; listed {
			c.parse(i, html(raw), analyser)
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
		c.parse(i, html(raw), analyser)
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
func (c *Corpus) seeds(dir string) error {
	raw, err := os.ReadFile(filepath.Join(dir, "seeds.txt"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	list := homePages
	if err == nil {
		list = strings.Fields(string(raw))
	}
	for _, url := range list {
		if at, found := c.at(url); found {
			c.Seeds = append(c.Seeds, at)
		} else if err == nil {
			return fmt.Errorf("%s: %s is no page of the corpus", filepath.Join(dir, "seeds.txt"), url)
		}
	}
	return nil
}

// leastOfTopic is how many pages a label must have for a crawl to look for them.
const leastOfTopic = 40

// topics are the labels that enough pages have; of WebKB those four that crawls are compared by.
func (c *Corpus) topics() {
	count := map[string]int{}
	for i := range c.Pages {
		if label := c.Pages[i].Label; label != "" && label != "other" {
			count[label]++
		}
	}
	if count["course"] > 0 && count["faculty"] > 0 && count["student"] > 0 && count["project"] > 0 {
		c.Topics = []string{"course", "faculty", "student", "project"}
		return
	}
	for label, n := range count {
		if n >= leastOfTopic {
			c.Topics = append(c.Topics, label)
		}
	}
	slices.Sort(c.Topics)
}

// edges brings the links into line with those that the corpus lists (from, to, anchor), so that results can be compared:
// what the parser found beside them is left out, what it did not find is added.
func (c *Corpus) edges(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	analyser := score.NewAnalyser()
	listed := map[[2]int]bool{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		fields := append(strings.Split(lines.Text(), "\t"), "")
		if len(fields) < 3 {
			return fmt.Errorf("%s:%d: a line must have from, to and perhaps an anchor, parted by tabs", path, n)
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

// parse reads a page as the crawl would.
func (c *Corpus) parse(i int, body []byte, analyser *score.Analyser) {
	p := &c.Pages[i]
	d := page.Parse(page.Input{URL: p.URL, MIME: "text/html", Body: body}, page.DefaultLimits())
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
