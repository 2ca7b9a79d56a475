package starter

import (
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// maxInline bounds the definition that travels as a workflow's input, in bytes.
const maxInline = 1 << 20

// readDefinition reads a definition file ("-": standard input).
func readDefinition(name string) (crawl.Definition, error) {
	var raw []byte
	var err error
	if name == "-" {
		raw, err = io.ReadAll(os.Stdin)
	} else {
		raw, err = os.ReadFile(name)
	}
	if err != nil {
		return crawl.Definition{}, usage("read the definition: %w", err)
	}
	d, err := crawl.ParseDefinition(raw)
	if err != nil {
		return d, usage("%s:\n%w", name, err)
	}
	var all crawl.Faults
	for _, err := range []error{absolute(&d, filepath.Dir(name)), validated(d)} {
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

// fromArgs makes a definition of a file name, or of URLs with a topic.
func fromArgs(args []string, topic string, pages int64, name string) (crawl.Definition, error) {
	if len(args) == 0 {
		return crawl.Definition{}, usage("give a definition file, or one or more URLs")
	}
	if !strings.Contains(args[0], "://") {
		if _, err := os.Stat(args[0]); errors.Is(err, os.ErrNotExist) && filepath.Ext(args[0]) != ".yaml" && filepath.Ext(args[0]) != ".json" {
			return crawl.Definition{}, usage("there is no definition file %q; a URL begins with https:// or http://", args[0])
		}
		if len(args) > 1 {
			return crawl.Definition{}, usage("give one definition file, or URLs that begin with http:// or https://")
		}
		d, err := readDefinition(args[0])
		if err == nil && pages != 0 {
			d.Budget.Pages = pages
			err = validated(d)
		}
		return d, err
	}
	d := crawl.DefaultDefinition()
	d.Name = name
	if d.Name == "" {
		d.Name = nameOf(args[0])
	}
	for _, arg := range args {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: arg})
	}
	d.Topic.Keywords = strings.FieldsFunc(topic, func(r rune) bool { return r == ',' || r == ';' })
	if pages != 0 {
		d.Budget.Pages = pages
	}
	return d, validated(d)
}

// validated checks a definition, and its seeds as the crawl will read them.
func validated(d crawl.Definition) error {
	if err := d.Validate(); err != nil {
		return usage("%w", err)
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

func nameOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" {
		return "crawl"
	}
	return strings.Trim(strings.NewReplacer(":", "-", "[", "", "]", "").Replace(u.Host), "-.")
}

func checkCommand(g *globals) *cobra.Command {
	return &cobra.Command{
		Use: "check DEFINITION.yaml", Short: "Validate a crawl definition",
		Long: "Validate a crawl definition: every fault is named with its place. With --json, the definition\nwith its defaults filled in is printed.",
		Args: exactArgs(1, "one definition file"),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := readDefinition(args[0])
			var faults crawl.Faults
			if g.json && errors.As(err, &faults) {
				return errors.Join(g.print(map[string]any{"faults": faults}, nil), err)
			}
			if err != nil {
				return err
			}
			return g.print(d, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "%s is a valid definition: crawl %q, %d seeds, %d pages at most, reference crawl of %d pages, scope: %s\n",
					args[0], d.Name, len(d.Seeds), d.Budget.Pages, d.ReferencePages(), d.Bound())
			})
		},
	}
}
