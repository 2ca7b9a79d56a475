package starter

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/worker"
)

// demoMark is the file that marks the folder of a demo, so that the next demo may clear it.
const demoMark = ".muninn-demo"

// demoPages is the demo's budget; the demo web has no end.
const demoPages = 240

// demoScale multiplies the pages of the demo's sites: there are more than two and a half times as many relevant pages as the budget takes, so that the order of the crawl decides how many of them it finds.
const demoScale = 8

func demoCommand(g *globals) *cobra.Command {
	dir := "demo-data"
	cmd := &cobra.Command{
		Use: "demo", Short: "Crawl a small synthetic web on this machine", Args: cli.NoArgs,
		Long: "Crawl a small synthetic web, served on loopback addresses: a blog, a forum, a wiki, a news site, an\noff-topic site, a trap, and sites that refuse some paths. State and archive are in --dir.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := clearDemo(dir); err != nil {
				return err
			}
			return g.demo(cmd.Context(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", dir, "folder of state and archive; an earlier demo in it is deleted")
	return cmd
}

// clearDemo creates the folder, or deletes what an earlier demo left in it. It deletes nothing else.
func clearDemo(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("demo folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, demoMark)); err != nil && len(entries) > 0 {
		return cli.Usage("%s holds other files than those of an earlier demo: choose another folder (make demo DEMO_DIR=…)", dir)
	}
	for _, name := range []string{"state", "archive"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("demo folder: %w", err)
		}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("demo folder: %w", err)
	}
	return os.WriteFile(filepath.Join(dir, demoMark), []byte("made by muninn demo\n"), 0o644)
}

func (g *globals) demo(ctx context.Context, dir string) error {
	world := webworld.NewDemo(webworld.Options{Seed: 1, Scale: demoScale})
	if err := world.Start(ctx); err != nil {
		return fmt.Errorf("serve the demo web: %w", err)
	}
	defer func() { _ = world.Close() }()
	_, _ = fmt.Fprintf(os.Stderr, "a web of %d sites is served on loopback addresses, port %d\n", len(world.Sites()), world.Port())
	conf := localConfig()
	conf.Data, conf.Archive = filepath.Join(dir, "state"), filepath.Join(dir, "archive")
	serveWorld(&conf, world)
	return g.run(ctx, localCrawl{conf: conf, definition: demoDefinition(world), ended: func(_ context.Context, o *outcome) error {
		if err := judgeDemo(o, world.Stats()); err != nil {
			return err
		}
		pages, relevant, err := demoSupply(world)
		o.Notes = append(o.Notes, fmt.Sprintf("of some %d relevant pages that this web has, among %d and an endless calendar, the crawl found %d with a budget of %d pages", relevant, pages, o.Totals.Relevant, demoPages))
		return err
	}})
}

// serveWorld configures a worker for a synthetic web: its addresses, and shorter pauses than real sites get.
func serveWorld(conf *worker.Config, world *webworld.World) {
	conf.Networks = []string{"127.0.0.0/8"}
	conf.Resolve = map[string]string{}
	for host, addr := range world.Resolve() {
		conf.Resolve[host] = addr.String()
	}
	conf.DNS = "127.0.0.1:9" // nothing answers there: no DNS request leaves this machine
	second := crawl.Duration(time.Second)
	conf.Fetch.RetryBase, conf.Fetch.RobotsRetry = second, second
	conf.Fetch.HostFailures = 2
	conf.BatchTime = 10 * time.Second
}

func demoDefinition(world *webworld.World) crawl.Definition {
	d := crawl.DefaultDefinition()
	d.Name, d.Description = "demo", "ravens, in nature and in myth"
	for _, seed := range append(world.Seeds(), world.Forbidden()) {
		d.Seeds = append(d.Seeds, crawl.Seed{URL: seed})
	}
	d.Topic.Keywords = world.Topic()
	d.Budget.Pages = demoPages
	d.Order.PerQueue = 12
	d.Politeness.MinDelay = crawl.Duration(50 * time.Millisecond)
	d.Politeness.Factor = 1
	d.Archive.Operator = "Muninn demo"
	return d
}

// judgeDemo checks the outcome of the demo against what its servers saw.
func judgeDemo(o *outcome, s webworld.Stats) error {
	var errs []error
	if o.Totals.Pages < demoPages*9/10 {
		errs = append(errs, fmt.Errorf("only %d pages were archived, at least %d should be", o.Totals.Pages, demoPages*9/10))
	}
	if o.Totals.Relevant == 0 {
		errs = append(errs, errors.New("no page was found relevant"))
	}
	if o.Totals.Robots == 0 {
		errs = append(errs, errors.New("nothing was refused by robots.txt, though a seed is"))
	}
	if o.WARCs == 0 {
		errs = append(errs, errors.New("no WARC file was written"))
	}
	if len(s.Disallowed) > 0 {
		errs = append(errs, fmt.Errorf("paths were fetched that robots.txt disallows: %v", s.Disallowed))
	}
	if s.PeakConnections > 1 {
		errs = append(errs, fmt.Errorf("an address saw %d connections at once", s.PeakConnections))
	}
	if len(errs) == 0 {
		o.Notes = append(o.Notes, "the servers saw one connection at a time on each address, and no request for a disallowed path")
		return nil
	}
	return fmt.Errorf("the demo did not do what it should: %w", errors.Join(errs...))
}
