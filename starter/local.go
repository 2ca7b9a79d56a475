package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/scope"
	"github.com/muninn-archive/muninn/worker"
	"github.com/muninn-archive/muninn/workflows"
)

// localWorker is the name of the worker of `run`.
const localWorker = "local"

// localConfig is the configuration of a worker for one machine.
func localConfig() worker.Config {
	conf := worker.DefaultConfig()
	conf.Name, conf.Temporal.Address, conf.Listen = localWorker, "", ""
	conf.Linger = 100 * time.Millisecond
	conf.StartWait = 15 * time.Second // somebody waits for it
	return conf
}

// localCrawl is a crawl on this machine.
type localCrawl struct {
	conf       worker.Config
	definition crawl.Definition
	replace    bool                                  // end a running crawl that has another definition
	ended      func(context.Context, *outcome) error // judges the outcome; may be nil
}

// run starts the local stack, crawls to the end, and prints the summary.
func (g *globals) run(ctx context.Context, l localCrawl) error {
	ctx, stop := interruptible(ctx)
	defer stop()
	report := io.Writer(os.Stdout)
	if g.JSON {
		report = os.Stderr
	}
	release, err := lockData(l.conf.Data)
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
	action := "crawling"
	if running {
		action = "continuing"
	}
	_, _ = fmt.Fprintf(report, "%s %s: %s\n", action, l.definition.Name, stack.link(l.conf.Temporal.Namespace, id))
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

// allow lets the worker read and write all files and archives that the definition names: the same user gives both.
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

// scopeText describes the scope of a crawl.
func scopeText(d crawl.Definition) string {
	bounds, _ := boundsOf(d) // seeds that cannot be read are a fault when the crawl begins
	text := scope.Words(d, bounds)
	if d.Bound() == crawl.WithinWeb {
		text += ", by relevance; scope.within, hosts or plds in a definition limit it"
	}
	return text
}

// begin starts the crawl. If it runs already, it continues it if the definition is the same; else it fails, or ends it first if
// l.replace is set.
func (g *globals) begin(ctx context.Context, s *stack, l localCrawl, report io.Writer) (running bool, err error) {
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
	case !l.replace:
		return true, cli.Usage("crawl %q runs with another definition (other %s): give its definition to continue it, or --anew to end it and start with this one", l.definition.Name, differ)
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
			return e.result, failureText(e.err)
		case <-gone:
			display.end()
			return workflows.CrawlResult{}, errServerEnded
		case err := <-s.worker.Fatal():
			display.end()
			return workflows.CrawlResult{}, fmt.Errorf("the worker cannot continue: %w", err)
		case <-tick.C:
			if status, err := s.worker.Activities().Frontier.Crawl(name).Status(); err == nil {
				display.show(status, s.worker.Activities().InFlight.Of(name), s.worker.Activities().Holds.Reason(name), s.lastError.takeLast())
			}
		}
	}
}
