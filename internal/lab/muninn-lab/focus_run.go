package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/muninn-archive/muninn/internal/aah"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/lab/focus"
)

// focus measures orders on a web, and writes the results.
func (l *lab) focus(web string, o *focusOptions) error {
	corpus, err := o.open(web)
	if err != nil {
		return err
	}
	result, err := focus.Measure(corpus, o.measure)
	if err != nil {
		return cli.Usage("%w", err)
	}
	if err := errors.Join(writeFile(o.curves, result.CSV), writeFile(o.page, result.HTML)); err != nil {
		return err
	}
	if err := l.report(result); err != nil {
		return err
	}
	if o.hosts && !l.JSON {
		if err := result.HostsTable(l.Out); err != nil {
			return err
		}
	}
	if !o.published || l.JSON {
		return nil
	}
	return result.Beside(l.Out)
}

// open reads the files that the options name, and passes them to the measurement.
func (o *focusOptions) open(web string) (*focus.Corpus, error) {
	words, err := focus.WordNet(o.wordnet)
	switch {
	case words != nil:
		o.measure.Words = words
	case o.wordnetNamed:
		return nil, cli.Usage("%w", err)
	default:
		fmt.Fprintf(os.Stderr, "note: %v; orders that need it are left out\n", err)
	}
	corpus, err := focus.Open(web)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	if len(corpus.Seeds) == 0 && o.measure.Seeds == 0 {
		return nil, cli.Usage("the corpus names no seeds: write seeds.txt, or take --random-seeds")
	}
	if o.definition != "" {
		d, err := cli.ReadDefinition(o.definition)
		if err != nil {
			return nil, err
		}
		if err := corpus.LabelBy(d); err != nil {
			return nil, cli.Usage("%w", err)
		}
		o.settings.Definition = &d
	}
	if o.live {
		if o.settings.Helper, err = aah.Open("", aah.DefaultLimits()); err != nil {
			return nil, err
		}
		o.measure.Live = &o.settings
	}
	return corpus, nil
}

// writeFile calls write with a new file; it does nothing if name is empty.
func writeFile(name string, write func(io.Writer) error) error {
	if name == "" {
		return nil
	}
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	return errors.Join(write(f), f.Close())
}
