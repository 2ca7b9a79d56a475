package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/lab/text"
	"github.com/muninn-archive/muninn/internal/lab/text/libraries"
	"github.com/muninn-archive/muninn/kb"
)

// textOptions are the flags of the command text.
type textOptions struct {
	base, gold, use, show string
	worst                 int
	shared, draw, compare bool
	again                 bool
}

func textCommand(l *lab) *cobra.Command {
	o := &textOptions{}
	cmd := &cobra.Command{
		Use:   "text DIR",
		Short: "Measure how well bodies, titles, authors and dates are extracted from the saved pages of DIR",
		Long: `Measure how well bodies, titles, authors and dates are extracted from the saved pages of DIR.

Answers are compared with gold: what people who looked at the pages hold for right. The row "generic" is Muninn without
its rules for applications. DIR is as for "muninn-lab aah"; the built-in gold is that of MUNINN_TESTDATA/aah.
"--show FILE" prints what is needed to make gold of a page.`,
		Args: cli.ExactArgs(1, "one folder with index.jsonl"),
		RunE: func(_ *cobra.Command, args []string) error { return o.run(l, args[0]) },
	}
	cmd.Flags().StringVar(&o.base, "kb", "", "folder of a knowledge base, in place of the built-in one")
	cmd.Flags().StringVar(&o.gold, "gold", "", "file of gold, in place of the built-in one")
	cmd.Flags().StringVar(&o.use, "use", "", `half of the gold that is measured, "choosing" or "judging"; both if empty`)
	cmd.Flags().IntVar(&o.worst, "worst", 0, "number of pages to list whose body is extracted worst")
	cmd.Flags().StringVar(&o.show, "show", "", "file of DIR whose text blocks and largest elements are printed, to make gold of it; nothing is measured")
	cmd.Flags().BoolVar(&o.compare, "compare", false, "extract from the same pages by go-trafilatura, go-readability and go-htmldate, too; it takes longer")
	cmd.Flags().BoolVar(&o.again, "again", false, "measure the pages alone that two people have made gold of, and how far the two agree")
	cmd.Flags().BoolVar(&o.draw, "draw", false, "print the order in which the pages of DIR get gold; nothing is measured")
	cmd.Flags().BoolVar(&o.shared, "shared", false, "remember hosts from page to page; otherwise each page is the first of its host")
	return cmd
}

func (o *textOptions) run(l *lab, dir string) error {
	if o.use != "" && o.use != text.Choosing && o.use != text.Judging {
		return cli.Usage("--use: %q is neither %s nor %s", o.use, text.Choosing, text.Judging)
	}
	if o.worst < 0 {
		return cli.Usage("--worst: %d is less than 0", o.worst)
	}
	list, err := o.read()
	if err != nil {
		return cli.Usage("%w", err)
	}
	if o.draw {
		if err := text.PrintDraw(l.Out, dir, list); err != nil {
			return cli.Usage("%w", err)
		}
		return nil
	}
	if o.show != "" {
		if err := text.Show(l.Out, dir, o.show, list); err != nil {
			return cli.Usage("%w", err)
		}
		return nil
	}
	systems, id, err := o.systems()
	if err != nil {
		return err
	}
	pages, err := text.Load(dir, list) // all of them, so that faults are found whatever half is measured
	if err != nil {
		return cli.Usage("%w", err)
	}
	if o.again {
		list, err := text.Again()
		if err != nil {
			return err
		}
		second, err := text.Load(dir, list)
		if err != nil {
			return cli.Usage("%w", err)
		}
		both, reader := text.Both(pages, second)
		pages, systems = both, append(systems, reader)
	}
	if o.use != "" {
		pages = slices.DeleteFunc(pages, func(p *text.Page) bool { return p.Use != o.use })
	}
	return l.report(text.Sum(id, text.Measure(pages, systems), o.worst))
}

// read reads the gold.
func (o *textOptions) read() ([]text.Gold, error) {
	if o.gold == "" {
		return text.Shipped()
	}
	f, err := os.Open(o.gold)
	if err != nil {
		return nil, fmt.Errorf("--gold: %w", err)
	}
	defer func() { _ = f.Close() }()
	return text.Read(f, o.gold)
}

// systems are those that are measured, with the ID of the knowledge base.
func (o *textOptions) systems() (list []text.System, id string, err error) {
	base, err := cli.OpenBase(o.base)
	if err != nil {
		return nil, "", err
	}
	files := kb.Files()
	if o.base != "" {
		files = os.DirFS(o.base)
	}
	generic, err := text.GenericBase(files)
	if err != nil {
		return nil, "", err
	}
	list = []text.System{text.Muninn("muninn", base, o.shared), text.Muninn("generic", generic, o.shared)}
	if o.compare {
		list = append(list, libraries.Systems()...)
	}
	return list, base.ID, nil
}
