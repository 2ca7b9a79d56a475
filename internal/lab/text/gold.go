package text

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/xpath"
)

// Gold is a line of a file of gold: what is right of a saved page. Of Title and Author each value is a whole answer that counts as
// right. One that is empty says that the page shows none; one that is absent is not judged.
type Gold struct {
	File string `json:"file"` // in the folder of the pages, as its index names it
	Use  string `json:"use"`  // Choosing or Judging
	Kind string `json:"kind"` // one of Kinds
	// Body are XPath expressions, from the page: all elements that they select are the body, in document order. None: the page has no
	// body, and an empty answer is right.
	Body    []string `json:"body"`
	Without []string `json:"without,omitempty"` // from each element of the body: what is no part of it
	// Sum is crawl.SumOf of the body's text, and Words its words: they prove that the page is still the one that was looked at.
	Sum      string   `json:"sum,omitempty"`
	Words    int      `json:"words,omitempty"`
	Title    []string `json:"title,omitempty"`
	Author   []string `json:"author,omitempty"`
	Date     *string  `json:"date,omitempty"` // of the first publication, YYYY-MM-DD; "": the page has none
	Modified string   `json:"modified,omitempty"`
	Note     string   `json:"note,omitempty"`
}

// The uses of gold: constants and rules are chosen on the one half, and what they are worth is measured on the other.
const (
	Choosing = "choosing"
	Judging  = "judging"
)

// Kinds are the kinds of pages.
var Kinds = []string{"article", "forum", "product", "documentation", "listing", "collection", "service", "form"}

// MaxLine bounds a line of gold, in bytes.
const MaxLine = 64 << 10

// shipped is the gold of the saved pages of web applications.
//
//go:embed gold.jsonl
var shipped []byte

// Shipped reads the gold of the saved pages of web applications (MUNINN_TESTDATA/aah).
func Shipped() ([]Gold, error) { return Read(bytes.NewReader(shipped), "gold.jsonl") }

// Read reads gold: a JSON object a line; lines that begin with # are remarks. Errors name the file and the line.
func Read(r io.Reader, name string) (list []Gold, err error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, MaxLine)
	seen, n := map[string]int{}, 0
	for lines.Scan() {
		n++
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 || line[0] == '#' {
			continue
		}
		g, err := readLine(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		if before := seen[g.File]; before > 0 {
			return nil, fmt.Errorf("%s:%d: %s has a line already, line %d", name, n, g.File, before)
		}
		seen[g.File] = n
		list = append(list, g)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, n+1, err)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: has no gold", name)
	}
	return list, nil
}

func readLine(line []byte) (g Gold, err error) {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(&g); err != nil {
		return g, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return g, errors.New("something follows the object")
	}
	return g, g.check()
}

// check reports what is wrong with a line, whatever the page.
func (g *Gold) check() error {
	switch {
	case g.File == "":
		return errors.New("file is missing")
	case g.Use != Choosing && g.Use != Judging:
		return fmt.Errorf("use: %q is neither %s nor %s", g.Use, Choosing, Judging)
	case !slices.Contains(Kinds, g.Kind):
		return fmt.Errorf("kind: %q is none of %s", g.Kind, strings.Join(Kinds, ", "))
	case g.Body == nil:
		return errors.New("body is missing: [] says that the page has none")
	case len(g.Body) == 0 && (g.Sum != "" || g.Words != 0 || len(g.Without) > 0):
		return errors.New("body is empty, but there is sum, words or without")
	}
	for _, field := range []struct {
		name string
		list []string
	}{{"body", g.Body}, {"without", g.Without}} {
		for i, source := range field.list {
			x, err := xpath.Parse(source)
			if err != nil {
				return fmt.Errorf("%s[%d]: %q: %w", field.name, i, source, err)
			}
			if !x.Selects() {
				return fmt.Errorf("%s[%d]: %q selects no elements", field.name, i, source)
			}
		}
	}
	for _, date := range []struct {
		name string
		day  *string
	}{{"date", g.Date}, {"modified", &g.Modified}} {
		if date.day == nil || *date.day == "" {
			continue
		}
		if _, err := time.Parse(time.DateOnly, *date.day); err != nil {
			return fmt.Errorf("%s: %q is no date such as 2019-05-13", date.name, *date.day)
		}
	}
	for _, field := range [][]string{g.Title, g.Author} {
		for _, form := range field {
			if len(Tokens(form)) == 0 {
				return fmt.Errorf("title, author: %q has no word: [] says that there is none", form)
			}
		}
	}
	return nil
}
