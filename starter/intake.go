package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/intake"
)

// intakeToken is the variable of the environment that holds the token of `muninn intake`.
const intakeToken = "MUNINN_INTAKE_TOKEN"

// Time-outs of the service's connections.
const (
	intakeHeader = 10 * time.Second
	intakeBody   = 30 * time.Second
	intakeEnd    = 10 * time.Second // how long requests may take that are in progress when it ends
)

func intakeCommand(g *globals) *cobra.Command {
	limits, listen, tokens := intake.DefaultLimits(), "127.0.0.1:8790", ""
	cmd := &cobra.Command{
		Use: "intake", Short: "Take scored URLs for running crawls over HTTP", Args: cli.NoArgs,
		Long: `Take scored URLs for running crawls over HTTP, from programs that have the token in the file of --token-file or in ` + intakeToken + `.
A file may have several tokens, one a line. Beyond this machine, serve behind a proxy with TLS: the token goes with each request.

  curl -H "Authorization: Bearer $TOKEN" -H "Idempotency-Key: 17" http://127.0.0.1:8790/crawls/ravens/urls \
    -d '[{"url": "https://example.org/x", "score": 0.9}, {"url": "https://example.org/spam", "blacklisted": true}]'`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := readTokens(tokens)
			if err != nil {
				return err
			}
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			service, err := intake.New(limits, list, submitter(c), nil)
			if err != nil {
				return cli.Usage("%v (--token-file, or %s)", err, intakeToken)
			}
			ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
			defer stop()
			ln, err := new(net.ListenConfig).Listen(ctx, "tcp", listen)
			if err != nil {
				return fmt.Errorf("--listen: %w", err)
			}
			out := map[string]string{"listen": ln.Addr().String()}
			err = g.Print(out, func(w io.Writer) { _, _ = fmt.Fprintf(w, "serving at http://%s\n", ln.Addr()) })
			if err != nil {
				return errors.Join(err, ln.Close())
			}
			return intakeHTTP(ctx, ln, service.Handler(), limits)
		},
	}
	f := cmd.Flags()
	f.StringVar(&listen, "listen", listen, "address of the service, HOST:PORT")
	f.StringVar(&tokens, "token-file", "", "file of tokens, one a line, of 16 bytes at least; also "+intakeToken)
	f.Int64Var(&limits.BodyBytes, "body-bytes", limits.BodyBytes, "largest body of a request")
	f.IntVar(&limits.URLs, "list-urls", limits.URLs, "most URLs of a request")
	f.Float64Var(&limits.Rate, "rate", limits.Rate, "requests a second")
	f.IntVar(&limits.Burst, "burst", limits.Burst, "requests at once beyond the rate")
	f.IntVar(&limits.Keys, "keys", limits.Keys, "idempotency keys that are remembered")
	f.Int64Var(&limits.KeyBytes, "key-bytes", limits.KeyBytes, "bytes of answers that are remembered for them")
	f.DurationVar(&limits.KeyTime, "key-time", limits.KeyTime, "how long they are remembered")
	f.DurationVar(&limits.Answer, "answer-time", limits.Answer, "how long a crawl may take to answer")
	g.remote(cmd)
	return cmd
}

// readTokens reads the tokens of a file, or the one of the environment.
func readTokens(file string) (list []string, err error) {
	text := os.Getenv(intakeToken)
	if file != "" {
		raw, err := os.ReadFile(file)
		if err != nil {
			return nil, cli.Usage("--token-file: %v", err)
		}
		text = string(raw)
	}
	return strings.Fields(text), nil
}

// intakeHTTP serves until the context ends, and lets requests in progress finish.
func intakeHTTP(ctx context.Context, ln net.Listener, h http.Handler, limits intake.Limits) error {
	server := &http.Server{
		Handler: h, ReadHeaderTimeout: intakeHeader, ReadTimeout: intakeBody, WriteTimeout: intakeBody + limits.Answer, MaxHeaderBytes: 16 << 10,
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ln) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), intakeEnd)
	defer cancel()
	return server.Shutdown(last)
}

// submitter hands lists to crawls by their update. The parts of a list with an id have update IDs that are made of it, so that Temporal
// answers a repeated one itself, also when another process asks.
func submitter(c client.Client) intake.Submit {
	return func(ctx context.Context, name, id string, list []frontier.Submission) (all []frontier.SubmitAnswer, err error) {
		workflow, state, err := workflowOf(ctx, c, name)
		var none *noCrawlError
		switch {
		case errors.As(err, &none):
			return nil, intake.ErrNoCrawl
		case err != nil:
			return nil, err
		case state != enums.WORKFLOW_EXECUTION_STATUS_RUNNING:
			return nil, intake.ErrEnded
		}
		all, err = sendParts(ctx, c, workflow, id, list)
		if cli.IsUsage(err) { // the crawl takes no more
			return nil, fmt.Errorf("%w: %w", intake.ErrEnded, err)
		}
		if err != nil {
			return nil, err
		}
		return all, nil
	}
}
