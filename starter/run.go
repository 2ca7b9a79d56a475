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
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
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
	var anew bool
	cmd := &cobra.Command{
		Use:   "run DEFINITION.yaml | URL…",
		Short: "Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end",
		Long: `Crawl on this machine: a Temporal dev server, a worker and the crawl, to the end.

State is in --data, WARC files in --archive. Ctrl-C stops cleanly; run the same command to continue the
crawl. A second Ctrl-C stops at once, and loses nothing either. A crawl that has ended is crawled again:
what has not changed is archived as revisits.

A running crawl keeps its definition: if the file was changed since, run says so, and --anew ends the
old crawl first. Files of seeds are read when a crawl begins.

S3 keys come from MUNINN_S3_ACCESS_KEY and MUNINN_S3_SECRET_KEY.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if byFile := len(args) > 0 && !strings.Contains(args[0], "://"); byFile && topic+name != "" {
				return cli.Usage("--topic and --crawl are for crawls that are given by URLs: write topic and name into %s", args[0])
			}
			d, err := fromArgs(args, topic, pages, name)
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("pages") && pages < 1 {
				return cli.Usage("--pages must be at least 1")
			}
			if err := errors.Join(conf.Load(file), conf.Validate()); err != nil {
				return cli.Usage("%w", err)
			}
			warn(d)
			return g.run(cmd.Context(), local{conf: conf, definition: d, anew: anew})
		},
	}
	f := cmd.Flags()
	conf.Flags(f)
	f.StringVar(&topic, "topic", "", "what the crawl is about: keywords, separated by commas")
	f.Int64Var(&pages, "pages", 0, "pages at most (default: as the definition says, else 10000)")
	f.StringVar(&name, "crawl", "", "name of a crawl that is given by URLs (default: the first host)")
	f.BoolVar(&anew, "anew", false, "if the crawl runs with another definition, end it and start again")
	configFlag(f, &file)
	f.Lookup("temporal").Usage = "use this Temporal frontend, HOST:PORT, instead of a dev server of its own"
	hide(cmd, "name")
	groupFlags(cmd, "topic", "pages", "crawl", "anew", "data", "archive", "allow-network", "lanes", "config", "temporal")
	return cmd
}

// configFlag is the flag of a configuration file.
func configFlag(f *pflag.FlagSet, file *string) {
	f.StringVar(file, "config", os.Getenv("MUNINN_CONFIG"), "configuration file of the worker (YAML); also MUNINN_CONFIG")
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
	anew       bool                                  // end a crawl that is under way with another definition
	ended      func(context.Context, *outcome) error // has the last word; may be nil
}

// outcome is how a local crawl ended.
type outcome struct {
	workflows.CrawlResult
	UI       string   `json:"ui,omitempty"`
	WARCs    int      `json:"warc_files"`
	Manifest string   `json:"manifests"`
	data     string   // where the WARC files are in the archive
	Data     string   `json:"data"`
	Notes    []string `json:"notes,omitempty"`
}

// run brings up what is needed, crawls to the end, and prints the summary.
func (g *globals) run(ctx context.Context, l local) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	report := io.Writer(os.Stdout)
	if g.JSON {
		report = os.Stderr
	}
	release, err := hold(l.conf.Data)
	if err != nil {
		return err
	}
	defer release()
	allow(&l.conf, l.definition)
	stack, err := g.bringUp(ctx, &l.conf, false, report)
	if stack != nil {
		defer stack.stop()
	}
	if err != nil {
		return interruptedOr(ctx, err)
	}
	running, err := g.begin(ctx, stack, l, report)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	id := names.CrawlID(l.definition.Name)
	verb := "crawling"
	if running {
		verb = "going on with"
	}
	_, _ = fmt.Fprintf(report, "%s %s: %s\n", verb, l.definition.Name, stack.link(l.conf.Temporal.Namespace, id))
	_, _ = fmt.Fprintf(report, "scope: %s\n", scopeText(l.definition))
	result, err := g.watch(ctx, stack, l.definition, report)
	if err != nil {
		return interruptedOr(ctx, err)
	}
	out := &outcome{CrawlResult: result, UI: stack.link(l.conf.Temporal.Namespace, id), Data: l.conf.Data}
	if err := out.count(ctx, stack.worker, l.definition); err != nil {
		return err
	}
	switch {
	case l.ended != nil && ctx.Err() != nil:
		err = errInterrupted
	case l.ended != nil:
		err = l.ended(ctx, out)
	case out.Totals.Pages == 0:
		err = out.nothing()
	}
	return errors.Join(g.Print(out, out.write), err)
}

// allow lets the worker read and write what the definition names: who runs it gave both.
func allow(conf *worker.Config, d crawl.Definition) {
	for _, s := range d.Seeds {
		if s.File != "" {
			conf.Seeds = append(conf.Seeds, s.File)
		}
	}
	if d.Order.Thesaurus != "" {
		conf.Thesauri = append(conf.Thesauri, d.Order.Thesaurus)
	}
	if d.Archive.Where != "" {
		conf.Archives = append(conf.Archives, d.Archive.Where)
	}
}

// scopeText says where a crawl may go.
func scopeText(d crawl.Definition) string {
	switch d.Bound() {
	case crawl.WithinWeb:
		return "the whole web, by relevance; scope.within, hosts or plds in a definition limit it"
	case crawl.WithinHost:
		return "the hosts of the seeds"
	case crawl.WithinPLD:
		return "the pay-level domains of the seeds"
	}
	return "what the rules of the definition include"
}

// begin starts the crawl, or goes on with the one that is under way if it has the same definition.
func (g *globals) begin(ctx context.Context, s *stack, l local, report io.Writer) (running bool, err error) {
	c, conf := s.worker.Client(), l.conf.Temporal
	input, err := inputOf(l.definition)
	if err != nil {
		return false, err
	}
	running, err = start(ctx, c, l.definition, input, conf.Queue, conf.Namespace)
	if err != nil || !running {
		return running, err
	}
	differ, err := differences(ctx, c, l.definition)
	switch {
	case err != nil || differ == "":
		return true, err
	case !l.anew:
		return true, cli.Usage("crawl %q runs with another definition (other %s): give that definition to continue it, or --anew to end it and start with this one", l.definition.Name, differ)
	}
	_, _ = fmt.Fprintf(report, "ending the earlier crawl, which has other %s …\n", differ)
	id := names.CrawlID(l.definition.Name)
	if err := c.SignalWorkflow(ctx, id, "", names.SignalStop, nil); err != nil {
		return true, err
	}
	if err := c.GetWorkflow(ctx, id, "").Get(ctx, nil); err != nil && ctx.Err() != nil {
		return true, ctx.Err()
	}
	return start(ctx, c, l.definition, input, conf.Queue, conf.Namespace)
}

// nothing is the error of a crawl that archived no page.
func (o *outcome) nothing() error {
	if len(o.Ends) == 0 {
		return errors.New("no page was archived")
	}
	last := o.Ends[len(o.Ends)-1]
	return fmt.Errorf("no page was archived; %s: %s", last.URL, last.Reason)
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
		fmt.Fprintln(os.Stderr, "\nstopping: batches finish or are kept for later; Ctrl-C again stops at once")
		cancel()
		if _, ok := <-signals; ok {
			fmt.Fprintln(os.Stderr, "stopped; run the same command to continue the crawl")
			os.Exit(cli.ExitInterrupted)
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

// bringUp starts a Temporal server, unless the configuration names one, and a worker; own tells that the
// one that it names is ours.
func (g *globals) bringUp(ctx context.Context, conf *worker.Config, own bool, report io.Writer) (*stack, error) {
	s := &stack{}
	if err := worker.Check(ctx, localPart(*conf), slog.New(slog.DiscardHandler)); err != nil { // before Temporal is waited for
		return s, err
	}
	if conf.Temporal.Address == "" {
		_, _ = fmt.Fprintln(report, "starting Temporal …")
		server, err := localstack.Start(ctx, localstack.Options{Data: filepath.Join(conf.Data, "temporal"), Attrs: names.SearchAttributes})
		if err != nil {
			return nil, err
		}
		s.server, conf.Temporal.Address = server, server.Address
		_, _ = fmt.Fprintf(report, "Temporal at %s, its UI at %s\n", server.Address, server.UI)
	} else if !own {
		_, _ = fmt.Fprintf(report, "a worker of the Temporal service at %s, namespace %s (--temporal or MUNINN_TEMPORAL)\n", conf.Temporal.Address, conf.Temporal.Namespace)
	}
	log, err := openLog(filepath.Join(conf.Data, "worker.log"), maxLog)
	if err != nil {
		return s, fmt.Errorf("the data folder (--data): %w", err)
	}
	logger := conf.Logger(log)
	if g.verbose {
		logger = g.logger(os.Stderr)
	}
	worker.BoundMemory()
	s.worker, err = worker.Start(ctx, *conf, slog.New(troubled{logger.Handler(), &s.trouble}))
	return s, err
}

// localPart is a configuration without Temporal.
func localPart(conf worker.Config) worker.Config {
	conf.Temporal.Address = ""
	return conf
}

// watch shows the crawl's progress until it ends.
func (g *globals) watch(ctx context.Context, s *stack, d crawl.Definition, report io.Writer) (workflows.CrawlResult, error) {
	name := d.Name
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
	display := newDisplay(report, d.Budget.Pages)
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
			return workflows.CrawlResult{}, fmt.Errorf("the worker cannot continue: %w", err)
		case <-tick.C:
			if status, err := s.worker.Activities().Frontier.Status(name); err == nil {
				display.show(status, s.worker.Activities().UnderWay.Of(name), s.worker.Activities().Holds.Reason(name), s.trouble.take())
			}
		}
	}
}

// devCommand runs the local stack alone.
func devCommand(g *globals) *cobra.Command {
	conf := localConfig()
	port, uiPort := 7233, 8233
	var file string
	cmd := &cobra.Command{
		Use: "dev", Short: "Run only the local stack: a Temporal dev server and a worker", Args: cobra.NoArgs,
		Long: "Run only the local stack, a Temporal dev server and a worker, until Ctrl-C: for `muninn start`,\n`muninn schedule` and the Temporal CLI.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(conf.Load(file), conf.Validate()); err != nil {
				return cli.Usage("%w", err)
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
			up, err := g.bringUp(ctx, &conf, true, os.Stdout)
			if up != nil {
				s.worker = up.worker
			}
			if err != nil {
				return interruptedOr(ctx, err)
			}
			out := map[string]string{"temporal": server.Address, "ui": server.UI}
			err = g.Print(out, func(w io.Writer) {
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
				return fmt.Errorf("the worker cannot continue: %w", err)
			}
		},
	}
	f := cmd.Flags()
	conf.Flags(f)
	configFlag(f, &file)
	f.IntVar(&port, "port", port, "port of Temporal's frontend; 0 for a free one")
	f.IntVar(&uiPort, "ui-port", uiPort, "port of Temporal's UI; 0 for a free one")
	hide(cmd, "name", "temporal")
	return cmd
}
