// muninn-worker runs a worker until SIGTERM or SIGINT, and then drains it.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/version"
	"github.com/muninn-archive/muninn/worker"
)

const program = "muninn-worker"

func main() {
	worker.BoundMemory()
	os.Exit(cli.Exit(program, cli.Run(context.Background(), command())))
}

func command() *cobra.Command {
	conf := worker.DefaultConfig()
	file, verbose := "", false
	load := func() error {
		if file == "" {
			file = os.Getenv("MUNINN_CONFIG")
		}
		if err := errors.Join(conf.Load(file), conf.Validate()); err != nil {
			return cli.Usage("%w", err)
		}
		if verbose {
			conf.LogLevel = slog.LevelDebug
		}
		return nil
	}
	cmd := &cobra.Command{
		Use:   program,
		Short: "Crawl for a Temporal service",
		Long: `Crawl for a Temporal service.

Every setting is a flag, an environment variable (MUNINN_S3_ENDPOINT for --s3-endpoint) and a key of the
YAML file (s3-endpoint: …), in this order of precedence.
Secrets have no flags: MUNINN_S3_ACCESS_KEY, MUNINN_S3_SECRET_KEY, MUNINN_TEMPORAL_API_KEY, or
s3-access-key, s3-secret-key, temporal-api-key in the file.

Exit codes: 0 it was stopped, 1 it could not start or continue, 2 flags or settings are wrong.

Health is at http://LISTEN/health, Prometheus metrics at http://LISTEN/metrics.`,
		Args: cli.NoArgs, Version: version.Number, SilenceUsage: true, SilenceErrors: true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(); err != nil {
				return err
			}
			return run(cmd.Context(), conf)
		},
	}
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return cli.Usage("%w", err) })
	cmd.PersistentFlags().StringVar(&file, "config", "", "configuration file (YAML); also MUNINN_CONFIG")
	cmd.PersistentFlags().BoolVar(&verbose, "verbose", false, "log more: the same as --log-level debug")
	conf.Flags(cmd.PersistentFlags())
	cmd.AddCommand(&cobra.Command{
		Use: "check", Short: "Check settings, disk, knowledge base, archive and Temporal, and report all faults", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := load(); err != nil {
				return err
			}
			if err := worker.Check(cmd.Context(), conf, slog.New(slog.DiscardHandler)); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "no faults: settings, disk of %s, knowledge base, archive, Temporal at %s, namespace %s\n", conf.Data, conf.Temporal.Address, conf.Temporal.Namespace)
			return err
		},
	})
	return cmd
}

func run(ctx context.Context, conf worker.Config) error {
	log := conf.Logger(os.Stderr)
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	w, err := worker.Start(ctx, conf, log)
	if err != nil && ctx.Err() != nil {
		log.Info("stopped before it was up", "error", err)
		return nil
	}
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
		return fmt.Errorf("the worker cannot continue: %w", err)
	}
}
