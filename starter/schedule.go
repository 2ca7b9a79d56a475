package starter

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/worker"
)

// overlaps are the overlap policies by name.
var overlaps = map[string]enums.ScheduleOverlapPolicy{
	"skip": enums.SCHEDULE_OVERLAP_POLICY_SKIP, "buffer-one": enums.SCHEDULE_OVERLAP_POLICY_BUFFER_ONE,
	"cancel-other": enums.SCHEDULE_OVERLAP_POLICY_CANCEL_OTHER, "terminate-other": enums.SCHEDULE_OVERLAP_POLICY_TERMINATE_OTHER,
}

func scheduleCommand(g *globals) *cobra.Command {
	cmd := cli.Group(&cobra.Command{Use: "schedule", Short: "Crawl at regular times (Temporal Schedules)"})
	cmd.AddCommand(scheduleCreate(g), scheduleUpdate(g), scheduleList(g),
		scheduleDo(g, "pause", "Pause a schedule", func(cmd *cobra.Command, h client.ScheduleHandle) error {
			return h.Pause(cmd.Context(), client.SchedulePauseOptions{Note: "paused by muninn schedule pause"})
		}),
		scheduleDo(g, "resume", "Resume a paused schedule", func(cmd *cobra.Command, h client.ScheduleHandle) error {
			return h.Unpause(cmd.Context(), client.ScheduleUnpauseOptions{})
		}),
		scheduleDo(g, "trigger", "Crawl now", func(cmd *cobra.Command, h client.ScheduleHandle) error {
			return h.Trigger(cmd.Context(), client.ScheduleTriggerOptions{})
		}),
		scheduleDo(g, "delete", "Delete a schedule; a running crawl continues", func(cmd *cobra.Command, h client.ScheduleHandle) error {
			return h.Delete(cmd.Context())
		}))
	return cmd
}

func scheduleCreate(g *globals) *cobra.Command {
	var cron []string
	var every time.Duration
	overlap := "skip"
	cmd := &cobra.Command{
		Use: "create DEFINITION.yaml (--cron SPEC | --every DURATION)", Short: "Create a schedule; its ID is the crawl's name",
		Args: cli.ExactArgs(1, "one definition file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			policy, known := overlaps[overlap]
			switch {
			case !known:
				return cli.Usage("--overlap %q: must be skip, buffer-one, cancel-other or terminate-other", overlap)
			case len(cron) == 0 && every == 0:
				return cli.Usage("give --cron or --every")
			case every != 0 && every < time.Minute:
				return cli.Usage("--every must be at least 1m")
			}
			spec := client.ScheduleSpec{CronExpressions: cron}
			if every > 0 {
				spec.Intervals = []client.ScheduleIntervalSpec{{Every: every}}
			}
			return g.withDefinition(cmd, args[0], func(c client.Client, d crawl.Definition, input json.RawMessage) error {
				err := worker.WithAttributes(cmd.Context(), c, g.temporal.Namespace, func() error {
					_, err := c.ScheduleClient().Create(cmd.Context(), client.ScheduleOptions{
						ID: d.Name, Spec: spec, Overlap: policy, PauseOnFailure: false, Action: scheduledCrawl(d, input, g.temporal.Queue),
					})
					return err
				})
				if err != nil {
					return notCreated(d.Name, err)
				}
				return g.Print(map[string]string{"schedule": d.Name}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "created schedule %s\n", d.Name) })
			})
		},
	}
	cmd.Flags().StringSliceVar(&cron, "cron", nil, "cron expression, such as \"0 3 * * *\" (repeatable)")
	cmd.Flags().DurationVar(&every, "every", 0, "interval, such as 24h")
	cmd.Flags().StringVar(&overlap, "overlap", overlap, "if the crawl is still running: skip, buffer-one, cancel-other or terminate-other")
	g.remote(cmd)
	return cmd
}

// notCreated is the error of a schedule that could not be created; it says what to do if it exists.
func notCreated(name string, err error) error {
	var exists *serviceerror.AlreadyExists
	if errors.As(err, &exists) || strings.Contains(err.Error(), "already registered") {
		return fmt.Errorf("there is a schedule %q already: `muninn schedule update` gives it this definition", name)
	}
	var wrong *serviceerror.InvalidArgument
	if errors.As(err, &wrong) {
		return cli.Usage("create schedule: %w", err)
	}
	return fmt.Errorf("create schedule: %w", err)
}

// scheduledCrawl is what a schedule starts.
func scheduledCrawl(d crawl.Definition, input json.RawMessage, queue string) *client.ScheduleWorkflowAction {
	o := startOptions(d, queue)
	return &client.ScheduleWorkflowAction{
		ID: o.ID, Workflow: names.Crawl, TaskQueue: o.TaskQueue, Args: []any{input},
		StaticSummary: o.StaticSummary, TypedSearchAttributes: o.TypedSearchAttributes,
	}
}

func scheduleUpdate(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "update DEFINITION.yaml", Short: "Give a schedule a changed definition, from its next run on; its times stay",
		Args: cli.ExactArgs(1, "one definition file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.withDefinition(cmd, args[0], func(c client.Client, d crawl.Definition, input json.RawMessage) error {
				err := c.ScheduleClient().GetHandle(cmd.Context(), d.Name).Update(cmd.Context(), client.ScheduleUpdateOptions{
					DoUpdate: func(in client.ScheduleUpdateInput) (*client.ScheduleUpdate, error) {
						schedule := in.Description.Schedule
						schedule.Action = scheduledCrawl(d, input, g.temporal.Queue)
						return &client.ScheduleUpdate{Schedule: &schedule}, nil
					},
				})
				var missing *serviceerror.NotFound
				if errors.As(err, &missing) {
					return fmt.Errorf("there is no schedule %q: create it with `muninn schedule create`", d.Name)
				}
				if err != nil {
					return fmt.Errorf("update schedule: %w", err)
				}
				return g.Print(map[string]string{"schedule": d.Name, "done": "update"}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: update\n", d.Name) })
			})
		},
	}
	g.remote(cmd)
	return cmd
}

// scheduled is a row of `schedule list`.
type scheduled struct {
	ID     string      `json:"id"`
	Paused bool        `json:"paused"`
	Note   string      `json:"note,omitempty"`
	Next   []time.Time `json:"next,omitempty"`
	Recent []string    `json:"recent,omitempty"` // workflow IDs
}

func scheduleList(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list", Short: "List the schedules of crawls", Args: cli.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			list, err := c.ScheduleClient().List(cmd.Context(), client.ScheduleListOptions{})
			if err != nil {
				return fmt.Errorf("list schedules: %w", err)
			}
			rows := []scheduled{}
			for list.HasNext() {
				s, err := list.Next()
				if err != nil {
					return fmt.Errorf("list schedules: %w", err)
				}
				if s.WorkflowType.Name != names.Crawl {
					continue
				}
				row := scheduled{ID: s.ID, Paused: s.Paused, Note: s.Note, Next: s.NextActionTimes}
				for _, a := range s.RecentActions {
					if a.StartWorkflowResult != nil {
						row.Recent = append(row.Recent, a.StartWorkflowResult.WorkflowID)
					}
				}
				rows = append(rows, row)
			}
			return g.Print(rows, func(w io.Writer) {
				if len(rows) == 0 {
					_, _ = fmt.Fprintln(w, "there is no schedule of a crawl")
				}
				for _, r := range rows {
					state := "active"
					if r.Paused {
						state = "paused"
					}
					next := "-"
					if len(r.Next) > 0 {
						next = r.Next[0].Format(time.RFC3339)
					}
					_, _ = fmt.Fprintf(w, "%-32s %-7s next %s, %d recent runs\n", r.ID, state, next, len(r.Recent))
				}
			})
		},
	}
	g.remote(cmd)
	return cmd
}

func scheduleDo(g *globals, command, short string, do func(*cobra.Command, client.ScheduleHandle) error) *cobra.Command {
	cmd := &cobra.Command{
		Use: command + " NAME", Short: short, Args: cli.ExactArgs(1, "the name of one schedule"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			if err := do(cmd, c.ScheduleClient().GetHandle(cmd.Context(), args[0])); err != nil {
				var missing *serviceerror.NotFound
				if errors.As(err, &missing) {
					return fmt.Errorf("there is no schedule %q: see `muninn schedule list`", args[0])
				}
				return fmt.Errorf("%s schedule: %w", command, err)
			}
			return g.Print(map[string]string{"schedule": args[0], "done": command}, func(w io.Writer) { _, _ = fmt.Fprintf(w, "%s: %s\n", args[0], command) })
		},
	}
	g.remote(cmd)
	return cmd
}
