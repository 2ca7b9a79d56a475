package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// made reports what was written.
type made struct {
	pages, seeds int
	labels       map[string]int
}

// report lists the labels with their numbers of pages, the largest first.
func (m made) report(out io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "%d pages, %d seeds, %d labels\n", m.pages, m.seeds, len(m.labels))
	names := slices.SortedFunc(maps.Keys(m.labels), func(a, b string) int {
		if n := m.labels[b] - m.labels[a]; n != 0 {
			return n
		}
		return strings.Compare(a, b)
	})
	for _, name := range names {
		fmt.Fprintf(&b, "%6d %s\n", m.labels[name], name)
	}
	_, err := io.WriteString(out, b.String())
	return err
}

// make reads a package that was unpacked into a folder, and writes its pages into another: pages.tar.gz, seeds.txt and, when
// they are complete, pages.tsv. The same package gives the same bytes.
func (c collection) make(from, to, without string) (m made, err error) {
	roots, err := filepath.Glob(filepath.Join(from, filepath.FromSlash(c.root)))
	if err != nil {
		return m, err
	}
	if len(roots) != 1 {
		return m, fmt.Errorf("%s must have one folder %s; it has %d", from, c.root, len(roots))
	}
	pages, err := list(roots[0])
	if err != nil {
		return m, err
	}
	r, err := newRewriter(c, pages, without)
	if err != nil {
		return m, err
	}
	seeds := c.begin(pages)
	if len(seeds) == 0 {
		return m, fmt.Errorf("%s has none of the pages at which crawls start: %s", roots[0], strings.Join(c.seeds, ", "))
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return m, err
	}
	packed, err := os.Create(filepath.Join(to, "pages.tar.gz"))
	if err != nil {
		return m, err
	}
	err = errors.Join(pack(packed, pages, func(page string) ([]byte, error) {
		raw, err := os.ReadFile(filepath.Join(roots[0], filepath.FromSlash(page)))
		if err != nil {
			return nil, err
		}
		return r.rewrite(page, raw)
	}), packed.Close())
	if err == nil && without != "" && r.left == 0 {
		err = fmt.Errorf("no page has an element that %q finds", without)
	}
	if err != nil {
		return m, err
	}
	m = made{pages: len(pages), seeds: len(seeds), labels: map[string]int{}}
	var rows, begin bytes.Buffer
	rows.WriteString("url\tlabel\tgroup\tpath\n")
	for _, page := range pages {
		label := c.label(page, r.pages)
		m.labels[label]++
		fmt.Fprintf(&rows, "%s\t%s\t%s\t%s\n", r.address(page), label, c.site(page), page)
	}
	for _, page := range seeds {
		fmt.Fprintln(&begin, r.address(page))
	}
	if err := os.WriteFile(filepath.Join(to, "seeds.txt"), begin.Bytes(), 0o644); err != nil {
		return m, err
	}
	return m, os.WriteFile(filepath.Join(to, "pages.tsv"), rows.Bytes(), 0o644)
}

// begin are the seeds of crawls.
func (c collection) begin(pages []string) (seeds []string) {
	for _, page := range pages {
		if slices.ContainsFunc(c.seeds, func(pattern string) bool {
			is, _ := path.Match(pattern, page)
			return is
		}) {
			seeds = append(seeds, page)
		}
	}
	return seeds
}

// list finds the pages of a folder, sorted by path: the random draws of the laboratory depend on the order.
func list(root string) (pages []string, err error) {
	err = fs.WalkDir(os.DirFS(root), ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && path.Ext(name) == ".html" {
			pages = append(pages, name)
		}
		return err
	})
	slices.Sort(pages)
	return pages, err
}

// pack writes a compressed tar file of pages, without times and owners.
func pack(out io.Writer, pages []string, read func(page string) ([]byte, error)) error {
	z := gzip.NewWriter(out)
	archive := tar.NewWriter(z)
	for _, page := range pages {
		body, err := read(page)
		if err != nil {
			return fmt.Errorf("%s: %w", page, err)
		}
		if err := archive.WriteHeader(&tar.Header{Name: page, Typeflag: tar.TypeReg, Size: int64(len(body)), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := archive.Write(body); err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), z.Close())
}
