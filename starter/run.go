package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// localWorker is the name of the worker of `run`.
const localWorker = "local"

func runCommand(g *globals) *cobra.Command {
	conf := localConfig()
	var topic, name, file string
	var pages int64
	cmd := &cobra.Command{
		Use:   "run DEFINITION.yaml | URL…",
		Short: "Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end",
		Long: `Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end.

State lies in --data, WARC files in --archive. Ctrl-C stops cleanly, and the same command goes on
with the crawl; a second Ctrl-C stops at once, and loses nothing either. A crawl that has ended is
crawled anew: what has not changed is archived as revisits.

S3 keys come from MUNINN_S3_ACCESS_KEY and MUNINN_S3_SECRET_KEY.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			d, err := fromArgs(args, topic, pages, name)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("pages") && pages < 1 {
				return usage("--pages must be at least 1")
			}
			if err := errors.Join(conf.Load(cmd.Flags(), file), conf.Validate()); err != nil {
				return &usageError{err}
			}
			return g.run(cmd.Context(), local{conf: conf, definition: d})
		},
	}
	f := cmd.Flags()
	conf.Flags(f)
	f.StringVar(&topic, "topic", "", "what the crawl is about: keywords, separated by commas")
	f.Int64Var(&pages, "pages", 0, "pages at most (default: as the definition says, else 10000)")
	f.StringVar(&name, "crawl", "", "name of a crawl that is given by URLs (default: the first host)")
	f.StringVar(&file, "config", "", "configuration file of the worker (YAML)")
	f.Lookup("temporal").Usage = "use this Temporal frontend, HOST:PORT, instead of a dev server of its own"
	hide(cmd, "name")
	return cmd
}

// localConfig is the configuration of a worker for one machine.
func localConfig() worker.Config {
	conf := worker.DefaultConfig()
	conf.Name, conf.Temporal.Address, conf.Listen = localWorker, "", ""
	conf.Linger = 100 * time.Millisecond
	return conf
}

func hide(cmd *cobra.Command, flags ...string) {
	for _, name := range flags {
		_ = cmd.Flags().MarkHidden(name)
	}
}

// local is a crawl on this machine.
type local struct {
	conf       worker.Config
	definition crawl.Definition
	ended      func(context.Context, *outcome) error // has the last word; may be nil
}

// outcome is how a local crawl ended.
type outcome struct {
	workflows.CrawlResult
	UI       string   `json:"ui,omitempty"`
	WARCs    int      `json:"warc_files"`
	Manifest string   `json:"manifests"`
	Data     string   `json:"data"`
	Notes    []string `json:"notes,omitempty"`
}

// run brings up what is needed, crawls to the end, and prints the summary.
func (g *globals) run(ctx context.Context, l local) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	report := io.Writer(os.Stdout)
	if g.json {
		report = os.Stderr
	}
	release, err := hold(l.conf.Data)
	if err != nil {
		return err
	}
	defer release()
	stack, err := g.bringUp(ctx, &l.conf, report)
	if stack != nil {
		defer stack.stop()
	}
	if err != nil {
		return interruptedOr(ctx, err)
	}
	running, err := start(ctx, stack.worker.Client(), l.definition, l.conf.Temporal.Queue, l.conf.Temporal.Namespace)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	id := names.CrawlID(l.definition.Name)
	verb := "crawling"
	if running {
		verb = "going on with"
	}
	_, _ = fmt.Fprintf(report, "%s %s: %s\n", verb, l.definition.Name, stack.link(l.conf.Temporal.Namespace, id))
	result, err := g.watch(ctx, stack, l.definition.Name, report)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	out := &outcome{CrawlResult: result, UI: stack.link(l.conf.Temporal.Namespace, id), Data: l.conf.Data}
	if err := out.count(ctx, stack.worker, l.definition); err != nil {
		return err
	}
	if l.ended != nil {
		err = l.ended(ctx, out)
	}
	return errors.Join(err, g.print(out, out.write))
}

// interruptible ends the context at the first Ctrl-C or SIGTERM and the program at the second.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		fmt.Fprintln(os.Stderr, "\nstopping: what is under way is finished or kept for later; once more stops at once")
		cancel()
		if _, ok := <-signals; ok {
			os.Exit(ExitInterrupted)
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(signals)
		cancel()
	}
}

func interruptedOr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errInterrupted
	}
	return err
}

// stack is what runs on this machine.
type stack struct {
	server  *localstack.Server // nil if another's is used
	worker  *worker.Worker
	trouble trouble
}

func (s *stack) stop() {
	if s.worker != nil {
		s.worker.Stop()
	}
	if s.server != nil {
		s.server.Stop()
	}
}

// link is the address of a workflow in the Temporal UI.
func (s *stack) link(namespace, id string) string {
	if s.server == nil {
		return "workflow " + id
	}
	return s.server.UI + "/namespaces/" + namespace + "/workflows/" + url.PathEscape(id)
}

func (g *globals) bringUp(ctx context.Context, conf *worker.Config, report io.Writer) (*stack, error) {
	s := &stack{}
	if conf.Temporal.Address == "" {
		_, _ = fmt.Fprintln(report, "starting Temporal …")
		server, err := localstack.Start(ctx, localstack.Options{Data: filepath.Join(conf.Data, "temporal"), Attrs: names.SearchAttributes})
		if err != nil {
			return nil, err
		}
		s.server, conf.Temporal.Address = server, server.Address
		_, _ = fmt.Fprintf(report, "Temporal at %s, its UI at %s\n", server.Address, server.UI)
	}
	log, err := os.OpenFile(filepath.Join(conf.Data, "worker.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return s, fmt.Errorf("the data folder (--data): %w", err)
	}
	logger := g.logger(log)
	if g.verbose {
		logger = g.logger(os.Stderr)
	}
	s.worker, err = worker.Start(ctx, *conf, slog.New(troubled{logger.Handler(), &s.trouble}))
	return s, err
}

// watch shows the crawl's progress until it ends.
func (g *globals) watch(ctx context.Context, s *stack, name string, report io.Writer) (workflows.CrawlResult, error) {
	type ending struct {
		result workflows.CrawlResult
		err    error
	}
	ended := make(chan ending, 1)
	go func() {
		var e ending
		e.err = s.worker.Client().GetWorkflow(ctx, names.CrawlID(name), "").Get(ctx, &e.result)
		ended <- e
	}()
	var gone <-chan struct{}
	if s.server != nil {
		gone = s.server.Exited()
	}
	display := newDisplay(report)
	tick := time.NewTicker(display.every)
	defer tick.Stop()
	for {
		select {
		case e := <-ended:
			display.end()
			return e.result, explain(e.err)
		case <-gone:
			display.end()
			return workflows.CrawlResult{}, errors.New("the Temporal server ended; its log is temporal/temporal.log in the data folder")
		case err := <-s.worker.Fatal():
			display.end()
			return workflows.CrawlResult{}, fmt.Errorf("the worker cannot go on: %w", err)
		case <-tick.C:
			if status, err := s.worker.Activities().Frontier.Status(name); err == nil {
				display.show(status, s.trouble.take())
			}
		}
	}
}

// devCommand runs the local stack alone.
func devCommand(g *globals) *cobra.Command {
	conf := localConfig()
	port, uiPort := 7233, 8233
	cmd := &cobra.Command{
		Use: "dev", Short: "Run only the local stack: a Temporal dev server and a worker", Args: cobra.NoArgs,
		Long: "Run only the local stack, a Temporal dev server and a worker, until Ctrl-C: for `muninn start`,\n`muninn schedule` and the Temporal CLI.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(conf.Load(cmd.Flags(), ""), conf.Validate()); err != nil {
				return &usageError{err}
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			release, err := hold(conf.Data)
			if err != nil {
				return err
			}
			defer release()
			s := &stack{}
			defer func() { s.stop() }()
			server, err := localstack.Start(ctx, localstack.Options{
				Data: filepath.Join(conf.Data, "temporal"), Port: port, UIPort: uiPort, Attrs: names.SearchAttributes,
			})
			if err != nil {
				return interruptedOr(ctx, err)
			}
			s.server, conf.Temporal.Address = server, server.Address
			up, err := g.bringUp(ctx, &conf, os.Stdout)
			if up != nil {
				s.worker = up.worker
			}
			if err != nil {
				return interruptedOr(ctx, err)
			}
			out := map[string]string{"temporal": server.Address, "ui": server.UI}
			err = g.print(out, func(w io.Writer) {
				_, _ = fmt.Fprintf(w, "Temporal at %s, its UI at %s; a worker is up; Ctrl-C ends both\n", server.Address, server.UI)
			})
			if err != nil {
				return err
			}
			select {
			case <-ctx.Done():
				return nil
			case <-server.Exited():
				return errors.New("the Temporal server ended; its log is temporal/temporal.log in the data folder")
			case err := <-s.worker.Fatal():
				return fmt.Errorf("the worker cannot go on: %w", err)
			}
		},
	}
	f := cmd.Flags()
	conf.Flags(f)
	f.IntVar(&port, "port", port, "port of Temporal's frontend; 0 for a free one")
	f.IntVar(&uiPort, "ui-port", uiPort, "port of Temporal's UI; 0 for a free one")
	hide(cmd, "name", "temporal")
	return cmd
}
