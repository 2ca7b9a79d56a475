package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"

	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
)

// orderCommand is an order of an operator to a crawl, which is sent as a signal; or to some of its PLDs, whose state changes.
func orderCommand(g *globals, order string, state crawl.PLDState, short string) *cobra.Command {
	var plds []string
	cmd := &cobra.Command{
		Use: order + " CRAWL", Short: short, Args: cli.CrawlArgs(1, 0, "the name of one crawl"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(plds) == 0 {
				return g.signal(cmd.Context(), args[0], order)
			}
			var value any // null: takes the state back
			if state != "" {
				value = state
			}
			fields, err := overridesOf(plds, nil, map[string]any{"state": value})
			if err != nil {
				return err
			}
			if _, err := g.configure(cmd.Context(), args[0], fields); err != nil {
				return err
			}
			out := map[string]any{"crawl": args[0], "order": order, "plds": plds}
			return g.Print(out, func(w io.Writer) {
				for _, pld := range plds {
					_, _ = fmt.Fprintf(w, "%s: %s %s\n", args[0], order, pld)
				}
			})
		},
	}
	cmd.Flags().StringSliceVar(&plds, "pld", nil, "only this pay-level domain with all its hosts; several are separated by commas")
	g.remote(cmd)
	return cmd
}

// signal sends an operator's signal to a crawl.
func (g *globals) signal(ctx context.Context, name, signal string) error {
	c, err := g.dial(ctx)
	if err != nil {
		return err
	}
	defer c.Close()
	id, _, err := workflowOf(ctx, c, name)
	if err != nil {
		return err
	}
	if err := c.SignalWorkflow(ctx, id, "", signal, nil); err != nil {
		var ended *serviceerror.NotFound
		if errors.As(err, &ended) {
			return fmt.Errorf("the crawl %s has ended: see `muninn status %s`", name, name)
		}
		return err
	}
	out := map[string]string{"crawl": name, "signal": signal}
	return g.Print(out, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: %s\n", name, signal) })
}

// overridesOf is a change of the overrides of PLDs and hosts; nil fields take their entries back.
func overridesOf(plds, hosts []string, fields map[string]any) ([]byte, error) {
	overrides := map[string]map[string]any{}
	add := func(kind, flag string, names []string, check func(string) error) error {
		for _, name := range names {
			if err := check(name); err != nil {
				return cli.Usage("%s: %q %v", flag, name, err)
			}
			if overrides[kind] == nil {
				overrides[kind] = map[string]any{}
			}
			if overrides[kind][name] = fields; fields == nil {
				overrides[kind][name] = nil
			}
		}
		return nil
	}
	if err := errors.Join(add("plds", "--pld", plds, urls.CheckPLD), add("hosts", "--host", hosts, urls.CheckHost)); err != nil {
		return nil, err
	}
	return json.Marshal(map[string]any{"overrides": overrides})
}
