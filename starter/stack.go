package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/localstack"
	"github.com/muninn-archive/muninn/worker"
)

// errServerEnded reports that the Temporal server of this machine has ended by itself.
var errServerEnded = errors.New("the Temporal server ended; its log is temporal/temporal.log in the data folder")

// stack is the local stack: a worker and a Temporal server.
type stack struct {
	server    *localstack.Server // nil if the stack uses a server of others
	worker    *worker.Worker
	lastError errorMemory
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

// bringUp starts a Temporal server, unless the configuration names one, and a worker. own reports that this command has started
// the server that the configuration names.
func (g *globals) bringUp(ctx context.Context, conf *worker.Config, own bool, report io.Writer) (*stack, error) {
	s := &stack{}
	if err := worker.Check(ctx, localPart(*conf), slog.New(slog.DiscardHandler)); err != nil { // report faults before the wait for Temporal
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
	s.worker, err = worker.Start(ctx, *conf, slog.New(errorRecorder{logger.Handler(), &s.lastError}))
	return s, err
}

// localPart is a configuration without Temporal.
func localPart(conf worker.Config) worker.Config {
	conf.Temporal.Address = ""
	return conf
}
