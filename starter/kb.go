package starter

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/adapt"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/extract"
	"github.com/muninn-archive/muninn/internal/xpath"
	"github.com/muninn-archive/muninn/kb"
)

// kbCommand groups the commands about the knowledge base.
func kbCommand(g *globals) *cobra.Command {
	var dir string
	cmd := cli.Group(&cobra.Command{
		Use:   "kb",
		Short: "Check, test and list the rules that recognise web applications",
		Long: `Check, test and list the rules that recognise web applications.

The knowledge base is a folder of XML files; without --kb, the built-in one is used.`,
	})
	cmd.PersistentFlags().StringVar(&dir, "kb", "", "folder of the knowledge base")
	cmd.AddCommand(kbCheck(g, &dir), kbTest(g, &dir), kbList(g, &dir), kbExport(g))
	return cmd
}

func kbCheck(g *globals, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "check",
		Short: "Check all files: syntax, expressions, rules that can never match, and examples",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			base, err := cli.OpenBase(*dir)
			if err != nil {
				return err
			}
			faults := aah.Examples(base)
			faults = append(faults, base.Unreachable()...)
			if len(faults) > 0 {
				return cli.Usage("the knowledge base has %s:\n%w", cli.Count(len(faults), "fault"), kb.Faults(faults))
			}
			examples := 0
			for _, a := range base.Applications {
				examples += len(a.Examples)
			}
			fmt.Fprintf(g.Out, "the knowledge base %s has no faults: %s, %s, %d examples pass\n", base.ID,
				cli.Count(len(base.Applications), "application"), cli.Count(base.Marks.Len(), "mark"), examples)
			for _, m := range base.Marks.Unbound() {
				fmt.Fprintf(g.Out, "note: %s: this mark of %s is evaluated on every page, which is slow: give it a text of %d letters that occurs in each page of the application (%d in a URL, a header or a generator)\n",
					m.Condition.Rule, m.Application.Name, xpath.MinWord, kb.MinWord)
			}
			return nil
		},
	}
}

func kbList(g *globals, dir *string) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List the applications with their versions and levels",
		Args:  cli.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			base, err := cli.OpenBase(*dir)
			if err != nil {
				return err
			}
			if g.JSON {
				return g.Print(listOf(base), nil)
			}
			w := tabwriter.NewWriter(g.Out, 0, 8, 2, ' ', 0)
			fmt.Fprintln(w, "CATEGORY\tAPPLICATION\tVERSIONS\tMARKS\tTERMINAL LEVELS\tOTHER LEVELS")
			apps := slices.Clone(base.Applications)
			slices.SortStableFunc(apps, func(a, b *kb.Application) int { return strings.Compare(a.Category, b.Category) })
			for _, a := range apps {
				versions, marks := []string{}, len(a.Detect)
				for _, v := range a.Versions {
					versions, marks = append(versions, v.Name), marks+len(v.Detect)
				}
				var terminal, others []string
				for _, l := range base.Profile(a, "", "").Levels {
					if l.Terminal {
						terminal = append(terminal, l.Name)
					} else {
						others = append(others, l.Name)
					}
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%s\n", a.Category, a.Name, strings.Join(versions, ", "), marks, strings.Join(terminal, ", "), strings.Join(others, ", "))
			}
			return w.Flush()
		},
	}
}

// listOf is the JSON form of `kb list`.
func listOf(base *kb.Base) any {
	type level struct {
		Name     string `json:"name"`
		Terminal bool   `json:"terminal"`
	}
	type application struct {
		Name     string   `json:"name"`
		Category string   `json:"category"`
		File     string   `json:"file"`
		Versions []string `json:"versions"`
		Levels   []level  `json:"levels"`
	}
	list := struct {
		ID           string        `json:"id"`
		Applications []application `json:"applications"`
	}{ID: base.ID}
	for _, a := range base.Applications {
		one := application{Name: a.Name, Category: a.Category, File: a.File, Versions: []string{}}
		for _, v := range a.Versions {
			one.Versions = append(one.Versions, v.Name)
		}
		for _, l := range base.Profile(a, "", "").Levels {
			one.Levels = append(one.Levels, level{l.Name, l.Terminal})
		}
		list.Applications = append(list.Applications, one)
	}
	return list
}

func kbExport(g *globals) *cobra.Command {
	var rules string
	cmd := &cobra.Command{
		Use:   "export DIR",
		Short: "Write the built-in knowledge base, or the rules that a worker has learned, into a folder",
		Long: `Write the built-in knowledge base into a folder, to change it there; or, with --learned, the rules that a worker has
learned for sites whose templates the base does not match: a file for each site in DIR/sites, with the evidence as comments,
to review and to put into a base. The worker stores them in the folder "learned" of its data folder.`,
		Args: cli.ExactArgs(1, "one folder to write into"),
		RunE: func(_ *cobra.Command, args []string) error {
			if rules != "" {
				return exportRules(g.Out, rules, args[0])
			}
			if entries, err := os.ReadDir(args[0]); err == nil && len(entries) > 0 {
				return cli.Usage("%s is not empty", args[0])
			}
			if err := os.CopyFS(args[0], kb.Files()); err != nil {
				return err
			}
			fmt.Fprintf(g.Out, "the knowledge base is in %s; use it with --kb %s\n", args[0], args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&rules, "learned", "", "folder of a worker's learned rules (DATA/learned)")
	return cmd
}

// exportLearned writes the rules in force of each site.
func exportRules(out io.Writer, from, to string) error {
	if info, err := os.Stat(from); err != nil || !info.IsDir() {
		return cli.Usage("--learned: there is no folder %s", from)
	}
	store, err := adapt.OpenStore(from)
	if err != nil {
		return err
	}
	dir, sites := filepath.Join(to, "sites"), 0
	bad, err := store.Sites(func(s *adapt.Site) error {
		if !s.InForce() {
			return nil
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		sites++
		for _, app := range s.Applications() {
			var b bytes.Buffer
			if err := s.WriteXML(&b, app, kb.Namespace, extract.ValueType); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, s.File(app)+".xml"), b.Bytes(), 0o644); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, name := range bad {
		fmt.Fprintf(out, "%s cannot be read and is left out\n", name)
	}
	fmt.Fprintf(out, "rules of %s are in %s\n", cli.Count(sites, "site"), dir)
	return nil
}
