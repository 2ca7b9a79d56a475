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
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(os.Stdin)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return crawl.Definition{}, Usage("read the definition: %w", err)
	}
	d, err := crawl.ParseDefinition(raw)
	if err != nil {
		return d, Usage("%s:\n%w", name, err)
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
		if _, err := urls.Parse(s.URL + s.Sitemap); err != nil {
			faults = append(faults, crawl.Fault{Path: fmt.Sprintf("seeds[%d]", i), Message: fmt.Sprintf("%q: %v", s.URL+s.Sitemap, err)})
		}
	}
	if len(faults) > 0 {
		return faults
	}
	return nil
}

// OpenBase loads the base of a folder; its faults are those of what the user wrote.
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
