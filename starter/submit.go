package starter

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
	"github.com/muninn-archive/muninn/workflows"
)

func submitCommand(g *globals) *cobra.Command {
	var as frontier.Submission
	seed := false
	cmd := &cobra.Command{
		Use: "submit CRAWL URL|FILE…", Short: "Submit URLs to a running crawl",
		Long: `Submit URLs to a running crawl. A FILE has one URL on each line, or one JSON object as the service takes them (muninn intake --help):
{"url": "https://example.org/x", "score": 0.9}. Where URLs stand alone, empty lines are ignored, and so is text after a # at the start of a
line or after a blank. The answer for each URL is accepted, known, out of scope, blacklisted, malformed or refused, with the reason.
URLs with user information are malformed and are not sent. Ports of other services than HTTP are refused.

  muninn submit ravens https://example.org/ravens.html --score 0.8`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usage("give the name of a crawl, and URLs or files of URLs")
			}
			if err := cli.CheckCrawl(args[0]); err != nil {
				return err
			}
			if !(as.Score >= 0 && as.Score <= 1) { // false for NaN, too
				return cli.Usage("--score is %v, must be from 0 to 1", as.Score)
			}
			if seed {
				as.Path = crawl.HopSeed.String()
			}
			list, bad, err := submissions(args[1:], as)
			if err != nil {
				return err
			}
			out, err := g.submit(cmd.Context(), args[0], list)
			if err == nil || len(out.URLs) > 0 {
				out.add(bad)
				err = errors.Join(err, g.Print(out, func(w io.Writer) { writeAnswers(w, out.URLs) }))
			}
			return err
		},
	}
	cmd.Flags().Float64Var(&as.Score, "score", 1, "score of the URLs, from 0 to 1")
	cmd.Flags().BoolVar(&seed, "seed", false, "take them as seeds: only the black list of the scope can refuse them")
	cmd.Flags().BoolVar(&as.Blacklisted, "blacklist", false, "never fetch these URLs, in this run and in later ones, even if they are waiting")
	g.remote(cmd)
	return cmd
}

// submissions reads URLs and files of URLs, and answers the URLs that no crawl can take.
func submissions(args []string, as frontier.Submission) (list []frontier.Submission, bad []frontier.SubmitAnswer, err error) {
	add := func(url, where string) {
		if answer := frontier.CheckSubmission(url); answer.Answer != "" {
			answer.Reason += where
			bad = append(bad, answer)
			return
		}
		as.URL = url
		list = append(list, as)
	}
	for _, arg := range args {
		if strings.Contains(arg, "://") {
			add(arg, "")
			continue
		}
		entries, scored, err := readScored(arg)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			e.Path, e.Blacklisted = as.Path, e.Blacklisted || as.Blacklisted
			if answer := frontier.CheckSubmission(e.URL); answer.Answer != "" {
				answer.Reason += " (" + arg + ")"
				bad = append(bad, answer)
				continue
			}
			list = append(list, e)
		}
		if scored {
			continue
		}
		lines, err := readList(arg)
		if err != nil {
			return nil, nil, err
		}
		for _, l := range lines {
			add(l.Text, fmt.Sprintf(" (%s, line %d)", arg, l.Number))
		}
	}
	if len(list)+len(bad) == 0 {
		return nil, nil, cli.Usage("there is no URL in %s", strings.Join(args, ", "))
	}
	return list, bad, nil
}

// readList reads a file of URLs.
func readList(name string) ([]urls.Line, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, cli.Usage("%q is neither a URL nor a file of URLs: %v", name, err)
	}
	defer func() { _ = f.Close() }()
	list, err := urls.ReadList(name, f)
	if err != nil {
		return nil, cli.Usage("%w", err)
	}
	return list, nil
}

// submitTimeout bounds the wait for a crawl's answer to a list of URLs.
const submitTimeout = time.Minute

// submitted has the answers for the submitted URLs.
type submitted workflows.SubmitResult

func (s *submitted) add(list []frontier.SubmitAnswer) {
	if s.Answers == nil {
		s.Answers = map[string]int{}
	}
	for _, a := range list {
		s.Answers[a.Answer]++
	}
	s.URLs = append(s.URLs, list...)
}

// submit sends a list of URLs in parts. With an error it returns the answers up to then.
func (g *globals) submit(ctx context.Context, name string, list []frontier.Submission) (all submitted, err error) {
	c, err := g.dial(ctx)
	if err != nil {
		return all, err
	}
	defer c.Close()
	id, err := runningWorkflow(ctx, c, name, "start it again, and submit while it runs")
	if err != nil {
		return all, err
	}
	answers, err := sendParts(ctx, c, id, "", list)
	if len(answers) > 0 {
		all.add(answers)
	}
	return all, err
}

// sendParts sends a list of URLs to the workflow of a crawl, in parts. If there is a key, the updates have IDs that are made of it. With an
// error it returns the answers up to then.
func sendParts(ctx context.Context, c client.Client, workflow, key string, list []frontier.Submission) (all []frontier.SubmitAnswer, err error) {
	for number := 0; len(list) > 0; number++ {
		part, err := submitPart(list)
		if err != nil {
			return all, err
		}
		id := ""
		if key != "" {
			id = fmt.Sprintf("http-%s-%d", key, number)
		}
		out, err := updateAs[workflows.SubmitResult](ctx, c, workflow, id, names.UpdateSubmit, submitTimeout, list[:part])
		if err != nil {
			return all, err
		}
		all, list = append(all, out.URLs...), list[part:]
	}
	return all, nil
}

// submitPart is how many URLs of the list the next update can have.
func submitPart(list []frontier.Submission) (int, error) {
	size := 2
	for i := range list {
		raw, err := json.Marshal(list[i])
		if err != nil {
			return 0, err
		}
		if size += len(raw) + 1; i == activities.MaxSubmitURLs || size > activities.MaxSubmitBytes && i > 0 {
			return i, nil
		}
	}
	return len(list), nil
}

// update sends an update to a crawl and waits for its answer.
func update[Out any](ctx context.Context, c client.Client, id, name string, timeout time.Duration, arg any) (out Out, err error) {
	return updateAs[Out](ctx, c, id, "", name, timeout, arg)
}

// updateAs sends an update under an ID, by which Temporal knows that it has been sent before; empty for a new one.
func updateAs[Out any](ctx context.Context, c client.Client, id, updateID, name string, timeout time.Duration, arg any) (out Out, err error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	handle, err := c.UpdateWorkflow(ctx, client.UpdateWorkflowOptions{
		WorkflowID: id, UpdateID: updateID, UpdateName: name, Args: []any{arg}, WaitForStage: client.WorkflowUpdateStageCompleted,
	})
	if err == nil {
		err = handle.Get(ctx, &out)
	}
	if ctx.Err() != nil {
		return out, fmt.Errorf("the crawl has not answered for %s; is a worker running on its task queue?", timeout)
	}
	var ended *serviceerror.NotFound
	if errors.As(err, &ended) { // since it was looked up
		return out, cli.Usage("the crawl has ended: start it again, which starts another run")
	}
	var refused *temporal.ApplicationError
	if errors.As(err, &refused) && refused.Type() != activities.ErrorInput {
		return out, cli.Usage("%s", refused.Message())
	}
	return out, failureText(err)
}

func writeAnswers(w io.Writer, list []frontier.SubmitAnswer) {
	for _, a := range list {
		reason := ""
		if a.Reason != "" {
			reason = ": " + a.Reason
		}
		_, _ = fmt.Fprintf(w, "%-12s %s%s\n", a.Answer, a.URL, reason)
	}
}
