package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/kb"
)

// ReadDefinition reads a definition file ("-": standard input).
func ReadDefinition(name string) (crawl.Definition, error) {
	raw, err := readSome(name, crawl.MaxDefinition)
	shown := name
	if name == "-" {
		shown = "standard input"
	}
	if err != nil {
		return crawl.Definition{}, Usage("read the definition: %w", err)
	}
	if len(raw) > crawl.MaxDefinition {
		return crawl.Definition{}, Usage("%s has more than %s, the most that a definition may have: put the seeds into a file, one URL a line, and name it: seeds: [{file: seeds.txt}]",
			shown, crawl.Bytes(crawl.MaxDefinition))
	}
	d, err := crawl.ParseDefinition(raw)
	if err != nil {
		return d, Usage("%s:\n%w", shown, err)
	}
	var all crawl.Faults
	for _, err := range []error{absolute(&d, filepath.Dir(name)), Validated(d)} {
		var faults crawl.Faults
		if err != nil && !errors.As(err, &faults) {
			return d, err
		}
		all = append(all, faults...)
	}
	if len(all) > 0 {
		return d, all
	}
	return d, nil
}

// readSome reads a file ("-": standard input), and no more than a byte beyond most.
func readSome(name string, most int64) ([]byte, error) {
	f := os.Stdin
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
	}
	return io.ReadAll(io.LimitReader(f, most+1))
}

// absolute makes the paths of seed files absolute: the worker reads them.
func absolute(d *crawl.Definition, dir string) error {
	var missing crawl.Faults
	for i, s := range d.Seeds {
		if s.File == "" {
			continue
		}
		path := s.File
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		abs, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		if _, err := os.Stat(abs); err != nil {
			missing = append(missing, crawl.Fault{Path: fmt.Sprintf("seeds[%d].file", i), Message: err.Error()})
		}
		d.Seeds[i].File = abs
	}
	if len(missing) > 0 {
		return missing
	}
	return nil
}

// Validated checks a definition, and its seeds as the crawl will read them.
func Validated(d crawl.Definition) error {
	if err := d.Validate(); err != nil {
		return Usage("%w", err)
	}
	var faults crawl.Faults
	for i, s := range d.Seeds {
		if s.File != "" {
			continue
		}
		if _, err := urls.ParseSeed(s.URL + s.Sitemap); err != nil {
			faults = append(faults, crawl.Fault{Path: fmt.Sprintf("seeds[%d]", i), Message: fmt.Sprintf("%q: %v", s.URL+s.Sitemap, err)})
		}
	}
	for _, n := range d.Topic.Named() {
		if _, err := urls.ParseSeed(n.URL); err != nil {
			faults = append(faults, crawl.Fault{Path: n.Field, Message: fmt.Sprintf("%q: %v", n.URL, err)})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// OpenBase loads the base of a folder. Its faults are usage errors, because the user has written the files.
func OpenBase(dir string) (*kb.Base, error) {
	if dir == "" {
		return kb.Shipped()
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, Usage("--kb: there is no folder %s", dir)
	}
	base, err := kb.Load(os.DirFS(dir))
	var faults kb.Faults
	if errors.As(err, &faults) {
		return nil, Usage("the knowledge base in %s has %s:\n%w", dir, Count(len(faults), "fault"), faults)
	}
	return base, err
}

// Count is a number of things in words.
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
