// Package recorded reads webs that were recorded: WARC collections, and corpora with labels.
package recorded

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/muninn-archive/muninn/internal/urls"
)

// Web is a recorded web.
type Web struct {
	Name   string
	Pages  []Page
	Seeds  []int    // where its recorders began; there may be none
	Topics []string // labels that crawls may look for
	Edges  []Edge   // the links that count, where the recorders list them; nil: those that pages have
	index  map[string]int
}

// Page is a response of it.
type Page struct {
	URL      string // canonical
	Label    string // what it is, by those who recorded it; "" if nobody said
	Group    string // of pages that belong together, such as a university
	Status   int
	MIME     string
	Location string // of a redirect
	Head     []byte // status line and header fields; may be empty
	Body     []byte // without transfer and content encodings
}

// Edge is a link between two pages.
type Edge struct {
	From, To int
	Anchor   string
}

// At returns the number of the page with a canonical URL.
func (w *Web) At(url string) (int, bool) {
	at, found := w.index[url]
	return at, found
}

// Add takes a page in, unless its URL is there already; it returns its number.
func (w *Web) Add(p Page) (at int, added bool) {
	if at, known := w.index[p.URL]; known {
		return at, false
	}
	w.index[p.URL] = len(w.Pages)
	w.Pages = append(w.Pages, p)
	return len(w.Pages) - 1, true
}

// New is a web without pages.
func New(name string) *Web { return &Web{Name: name, index: map[string]int{}} }

// NewPage is a page as a server answered; false if its URL is none. The body is without its encodings.
func NewPage(rawURL string, status int, header http.Header, body []byte) (Page, bool) {
	url, ok := Canonical(rawURL)
	if !ok {
		return Page{}, false
	}
	mime, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return Page{
		URL: url, Status: status, MIME: strings.ToLower(strings.TrimSpace(mime)), Location: header.Get("Location"),
		Head: headOf(status, header), Body: body,
	}, true
}

// headOf writes a status line and header fields.
func headOf(status int, header http.Header) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&b)
	b.WriteString("\r\n")
	return []byte(b.String())
}

// Forms reports what Open reads, for help texts.
const Forms = `a folder with pages.tsv (url, label, group, path; the first line has the names), the pages by their paths, as
files or in pages.tar.gz, and perhaps edges.tsv (from, to, anchor: the links that count) and seeds.txt (URLs that crawls
begin at), as the WebKB corpus of CMU;
a folder with WARC files, a WARC file, or a CDXJ beside which or in a folder beside which its WARC files lie, perhaps with
labels.tsv (url, label) and seeds.txt beside it`

// Open reads a recorded web.
func Open(where string) (*Web, error) {
	info, err := os.Stat(where)
	if err != nil {
		return nil, fmt.Errorf("a recorded web: %w", err)
	}
	if info.IsDir() {
		if _, err := os.Stat(filepath.Join(where, "pages.tsv")); err == nil {
			return corpus(where)
		}
	}
	return warcs(where, info.IsDir())
}

// maxLine bounds a line of a list, in bytes.
const maxLine = 1 << 20

// eachLine calls fn with the lines of a file, numbered from 1.
func eachLine(name string, fn func(n int, line string) error) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	for n := 1; lines.Scan(); n++ {
		if err := fn(n, lines.Text()); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Canonical is the form in which the crawler knows a URL; false if it is none.
func Canonical(raw string) (string, bool) {
	u, err := urls.Parse(raw)
	if err != nil {
		return "", false
	}
	return u.String(), true
}
