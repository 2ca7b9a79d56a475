package starter

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/muninn-archive/muninn/internal/cli"
)

// interruptible returns a context that the first Ctrl-C or SIGTERM ends; the second ends the program.
func interruptible(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		if _, ok := <-signals; !ok {
			return
		}
		fmt.Fprintln(os.Stderr, "\nstopping: what was begun ends or is kept for later; Ctrl-C again stops at once")
		cancel()
		if _, ok := <-signals; ok {
			fmt.Fprintln(os.Stderr, "stopped; run the same command to continue")
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
