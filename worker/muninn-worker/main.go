// muninn-worker runs a worker of a cluster until it is told to stop (SIGTERM, SIGINT), and drains.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/version"
	"github.com/muninn-archive/muninn/worker"
)

// The collector's settings where GOGC and GOMEMLIMIT give none: pages are short-lived, so the heap may
// grow further between collections than by Go's default of 100 %, up to a limit.
const (
	gcPercent   = 250
	memoryLimit = 1536 << 20
)

func main() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if err := command().ExecuteContext(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, "muninn-worker:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	conf := worker.DefaultConfig()
	file, verbose := "", false
	cmd := &cobra.Command{
		Use:   "muninn-worker",
		Short: "Crawl for a Temporal service, as a worker of a cluster",
		Long: `Crawl for a Temporal service, as a worker of a cluster.

Every setting is a flag; an environment variable of the same name (MUNINN_S3_ENDPOINT for
--s3-endpoint) and a YAML file (s3-endpoint: …) are asked where the flag is not given, in that order.
Secrets have no flags: MUNINN_S3_ACCESS_KEY, MUNINN_S3_SECRET_KEY, MUNINN_TEMPORAL_API_KEY, or
s3-access-key, s3-secret-key, temporal-api-key in the file.

Health is at http://LISTEN/health, Prometheus metrics at http://LISTEN/metrics.`,
		Args: cobra.NoArgs, Version: version.Number, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				file = os.Getenv("MUNINN_CONFIG")
			}
			if err := conf.Load(file); err != nil {
				return err
			}
			return run(cmd.Context(), conf, verbose)
		},
	}
	conf.Flags(cmd.Flags())
	cmd.Flags().StringVar(&file, "config", "", "configuration file (YAML); also MUNINN_CONFIG")
	cmd.Flags().BoolVar(&verbose, "verbose", false, "log more")
	return cmd
}

func run(ctx context.Context, conf worker.Config, verbose bool) error {
	if verbose {
		conf.LogLevel = slog.LevelDebug
	}
	log := conf.Logger(os.Stderr)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	w, err := worker.Start(ctx, conf, log)
	if err != nil {
		return err
	}
	log.Info("worker is up", "version", version.Number, "revision", version.Build(), "name", conf.Name, "temporal", conf.Temporal.Address, "listen", conf.Listen)
	select {
	case <-ctx.Done():
		log.Info("draining")
		stop() // a second signal ends the program at once
		w.Stop()
		return nil
	case err := <-w.Fatal():
		w.Stop()
		return fmt.Errorf("the worker cannot go on: %w", err)
	}
}
