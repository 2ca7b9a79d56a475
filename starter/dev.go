package starter

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/localstack"
)

// devCommand runs the local stack alone.
func devCommand(g *globals) *cobra.Command {
	conf := localConfig()
	port, uiPort := 7233, 8233
	var file string
	cmd := &cobra.Command{
		Use: "dev", Short: "Run only the local stack: a Temporal dev server and a worker", Args: cli.NoArgs,
		Long: "Run only the local stack, a Temporal dev server and a worker, until Ctrl-C: for `muninn start`,\n`muninn schedule` and the Temporal CLI.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := errors.Join(conf.Load(file), conf.Validate()); err != nil {
				return cli.Usage("%w", err)
			}
			if min(port, uiPort) < 0 || max(port, uiPort) > 65535 {
				return cli.Usage("--port and --ui-port must be from 0 to 65535; 0 takes a free one")
			}
			ctx, stop := interruptible(cmd.Context())
			defer stop()
			release, err := lockData(conf.Data)
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
				return errServerEnded
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
