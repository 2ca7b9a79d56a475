package main

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/lab/focus"
	"github.com/muninn-archive/muninn/internal/lab/replay"
)

// compared are the fields of a definition that have flags of their own, which take several values.
var compared = []string{"order.strategy", "order.update", "order.per_queue", "order.batch"}

// validate checks the flags before anything is read, and sets options that follow from several flags. changed reports whether the user
// gave a flag.
func (o *focusOptions) validate(changed func(flag string) bool) error {
	m := &o.measure
	if o.settings.Pace.Lanes < 1 || o.settings.Pace.Delay <= 0 {
		return cli.Usage("--lanes must be at least 1, --delay above 0")
	}
	if (changed("lanes") || changed("delay")) && !o.hosts {
		return cli.Usage("--lanes and --delay are of politeness: add --hosts")
	}
	if o.live = o.live || o.hosts; !o.hosts {
		o.settings.Pace = replay.Pace{}
	}
	if m.Draws < 1 || m.Examples < 1 || m.Seeds < 0 || !(m.Share > 0 && m.Share <= 1) {
		return cli.Usage("--draws and --examples must be at least 1, --random-seeds at least 0, --share in (0,1]")
	}
	if m.Keywords < 0 || m.Keywords > 0 && (o.definition != "" || len(o.learners) > 0) {
		return cli.Usage("--keywords must be at least 0, and is not used with --definition and --learners")
	}
	for _, flag := range []string{"set", "batch", "per-queue", "grid"} {
		if changed(flag) && !o.live {
			return cli.Usage("--%s is of the live crawl: add --live", flag)
		}
	}
	for _, n := range o.settings.PerQueue {
		if n < 1 || n > crawl.MaxPerQueue {
			return cli.Usage("--per-queue must be between 1 and %d", crawl.MaxPerQueue)
		}
	}
	for _, update := range m.Updates {
		if !slices.Contains(crawl.Updates, update) {
			return cli.Usage("--update is %q, must be some of %q", update, crawl.Updates)
		}
	}
	if err := o.validateLearners(changed); err != nil {
		return err
	}
	var err error
	if o.settings.Change, err = changeOf(o.fields); err != nil {
		return err
	}
	o.wordnetNamed = changed("wordnet")
	if o.grid {
		m.Updates, o.settings.Batch = crawl.Updates, []bool{false, true}
	}
	return nil
}

// changeOf is the change of a definition by all FIELD=VALUE; nil if there are none.
func changeOf(fields []string) (json.RawMessage, error) {
	if len(fields) == 0 {
		return nil, nil
	}
	for _, field := range fields {
		if name, _, _ := strings.Cut(field, "="); slices.Contains(compared, name) {
			return nil, cli.Usage("--set %s: settings that are compared have flags of their own: --order, --update, --per-queue, --batch", name)
		}
	}
	tree, err := crawl.Fields(fields)
	if err == nil {
		err = crawl.CheckChange(tree)
	}
	if err != nil {
		return nil, cli.Usage("--set: %w", err)
	}
	change, err := crawl.JSON(tree)
	if err != nil {
		return nil, cli.Usage("--set: %w", err)
	}
	return change, nil
}

// validateLearners checks the flags of crawls by several workers, and makes their settings.
func (o *focusOptions) validateLearners(changed func(flag string) bool) error {
	for _, flag := range []string{"share-learned", "share-every", "turns"} {
		if changed(flag) && len(o.learners) == 0 {
			return cli.Usage("--%s is of crawls by several workers: add --learners", flag)
		}
	}
	if len(o.learners) > 0 && (o.live || changed("order")) {
		return cli.Usage("--learners is of the simulation, and of the order that learns: leave out --live and --order")
	}
	for _, n := range o.learners {
		if n < 1 || n > maxLearners {
			return cli.Usage("--learners must be between 1 and %d", maxLearners)
		}
	}
	for _, n := range o.exchanges {
		if n < 0 {
			return cli.Usage("--share-every must be at least 1, or 0: as spread crawls do")
		}
	}
	for _, share := range o.shares {
		if !slices.Contains(focus.Shares, share) {
			return cli.Usage("--share-learned is %q, must be some of %q", share, focus.Shares)
		}
	}
	o.measure.Learners = focus.LearnersOf(o.learners, o.shares, o.exchanges, o.turns)
	return nil
}

// maxLearners bounds the workers of a crawl.
const maxLearners = 64
