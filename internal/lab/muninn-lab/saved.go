package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/lab/adaptation"
	"github.com/muninn-archive/muninn/internal/lab/recognition"
)

func aahCommand(l *lab) *cobra.Command {
	var dir, doubts string
	var only []string
	var compare bool
	cmd := &cobra.Command{
		Use:   "aah DIR",
		Short: "Measure how well the helper recognises the saved pages of DIR and extracts their objects",
		Long: `Measure how well the helper recognises the saved pages of DIR and extracts their objects.

DIR holds index.jsonl, a JSON object a line: file (in DIR), cms (the application), level (front, list, thread,
post, page, profile, login/register, …; others do not count) and url.`,
		Args: cli.ExactArgs(1, "one folder with index.jsonl"),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := cli.OpenBase(dir)
			if err != nil {
				return err
			}
			list, err := savedPages(args[0], doubts, only)
			if err != nil {
				return err
			}
			var other recognition.Recogniser
			if compare {
				if other, err = recognition.Wappalyzer(); err != nil {
					return fmt.Errorf("load wappalyzer's fingerprints: %w", err)
				}
			}
			seen, err := recognition.Measure(args[0], list, base, other)
			if err != nil {
				return err
			}
			return l.report(recognition.Sum(base.ID, compare, seen))
		},
	}
	cmd.Flags().StringVar(&dir, "kb", "", "folder of a knowledge base, in place of the built-in one")
	cmd.Flags().StringSliceVar(&only, "only", nil, "measure the pages of these applications only")
	cmd.Flags().BoolVar(&compare, "compare", false, "let wappalyzergo recognise the pages too; it takes much longer")
	cmd.Flags().StringVar(&doubts, "doubts", "", "file that lists labels that are doubted: on each line a FILE, a tab and the reason")
	return cmd
}

func adaptCommand(l *lab) *cobra.Command {
	var dir string
	var only []string
	var seed uint64
	var fold string
	var least, made int
	var strengths []string
	cmd := &cobra.Command{
		Use:   "adapt DIR",
		Short: "Measure how well extraction survives changed templates, on the saved pages of DIR",
		Long: `Measure how well extraction survives changed templates, on the saved pages of DIR.

The templates of the pages are changed as a redesign would (none, mild, medium, heavy). "without" is the knowledge
base alone; "recrawl" knows what the pages held before; "beside" are pages never seen of sites of which every other page
was crawled before, "new" such of sites that were seen, none of these pages. Below stand the means over sites, with texts that
are nearly the same. What is chosen on some sites (--fold -1/3) is judged on the others (--fold 1/3). DIR is as for "muninn-lab aah".`,
		Args: cli.ExactArgs(1, "one folder with index.jsonl"),
		RunE: func(_ *cobra.Command, args []string) error {
			base, err := cli.OpenBase(dir)
			if err != nil {
				return err
			}
			list, err := savedPages(args[0], "", only)
			if err != nil {
				return err
			}
			sites, err := adaptation.ParseFold(fold)
			if err != nil {
				return cli.Usage("%w", err)
			}
			rows, err := adaptation.Measure(args[0], list, adaptation.Options{Base: base, Limits: aah.DefaultLimits(), Seed: seed, Fold: sites, LeastOfSite: least, Made: made, Strengths: strengths})
			if err != nil {
				return err
			}
			return l.report(adaptation.Sum(base.ID, seed, rows))
		},
	}
	cmd.Flags().StringVar(&dir, "kb", "", "folder of a knowledge base, in place of the built-in one")
	cmd.Flags().StringSliceVar(&only, "only", nil, "measure the pages of these applications only")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed of the random changes")
	cmd.Flags().StringVar(&fold, "fold", "", "measure a part of the sites: 1/3 is the first of three, -1/3 the others")
	cmd.Flags().IntVar(&least, "least", adaptation.LeastOfSite, "pages that a site must have to be measured as new")
	cmd.Flags().IntVar(&made, "made", 0, "measure new pages alone, on so many that are made of one page of each site: saved pages are of few sites")
	cmd.Flags().StringSliceVar(&strengths, "strength", nil, "measure these strengths of change only")
	return cmd
}

// savedPages reads the labels of saved pages, of some applications only if any are named.
func savedPages(dir, doubts string, only []string) ([]recognition.Labelled, error) {
	list, err := recognition.Read(dir, doubts)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	if len(only) > 0 {
		list = slices.DeleteFunc(list, func(l recognition.Labelled) bool { return !slices.Contains(only, l.Application()) })
	}
	return list, nil
}
