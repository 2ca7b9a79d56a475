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

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// maxInline bounds a definition as input of a workflow, in bytes.
const maxInline = 1 << 20

// fromArgs reads a definition file, or makes a definition of URLs with a topic.
func fromArgs(args []string, topic string, pages int64, name string) (crawl.Definition, error) {
	if len(args) == 0 {
		return crawl.Definition{}, cli.Usage("give a definition file, or one or more URLs")
	}
	if !strings.Contains(args[0], "://") {
		if _, err := os.Stat(args[0]); errors.Is(err, os.ErrNotExist) && filepath.Ext(args[0]) != ".yaml" && filepath.Ext(args[0]) != ".json" {
			return crawl.Definition{}, cli.Usage("there is no definition file %q; a URL starts with https:// or http://", args[0])
		}
		if len(args) > 1 {
			return crawl.Definition{}, cli.Usage("give one definition file, or URLs that start with http:// or https://")
		}
		d, err := cli.ReadDefinition(args[0])
		if err == nil && pages != 0 {
			d.Budget.Pages = pages
			err = cli.Validated(d)
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
	return d, cli.Validated(d)
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
		Long: "Validate a crawl definition and print every fault with its place. With --json, the definition\nwith its defaults filled in is printed.",
		Args: cli.ExactArgs(1, "one definition file"),
		RunE: func(_ *cobra.Command, args []string) error {
			d, err := cli.ReadDefinition(args[0])
			var faults crawl.Faults
			if g.JSON && errors.As(err, &faults) {
				return errors.Join(g.Print(map[string]any{"faults": faults}, nil), err)
			}
			if err == nil {
				_, err = inputOf(d)
			}
			if err != nil {
				return err
			}
			warn(d)
			return g.Print(d, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "%s is a valid definition: crawl %q, %d seeds, %d pages at most, reference crawl of %d pages, scope: %s\n",
					args[0], d.Name, len(d.Seeds), d.Budget.Pages, d.ReferencePages(), scopeText(d))
			})
		},
	}
}
