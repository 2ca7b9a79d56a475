package starter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/cli"
	"github.com/muninn-archive/muninn/internal/politeness"
	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// hostStatus is what all workers and politeness shards know of a host.
type hostStatus struct {
	Host    string                  `json:"host"` // its pay-level domain, by which queues and pauses go
	Workers []activities.HostResult `json:"workers"`
	Away    []string                `json:"away,omitempty"` // workers that do not answer, and why
	Shards  []shardReport           `json:"shards"`
}

type shardReport struct {
	Shard int `json:"shard"`
	politeness.HostReport
}

func hostCommand(g *globals) *cobra.Command {
	cmd := &cobra.Command{
		Use: "host NAME", Short: "Show why a host is slow: who asks it, who waits, until when it rests and why, over all crawls", Args: cli.ExactArgs(1, "the name or address of a host"),
		RunE: func(cmd *cobra.Command, args []string) error {
			u, err := urls.Parse("http://" + strings.TrimSuffix(args[0], "/") + "/")
			if err != nil || strings.Contains(args[0], "://") {
				return cli.Usage("%q is no host: write a name or an address, without scheme and path", args[0])
			}
			c, err := g.dial(cmd.Context())
			if err != nil {
				return err
			}
			defer c.Close()
			s, err := g.hostStatus(cmd.Context(), c, u)
			if err != nil {
				return err
			}
			return g.Print(s, func(w io.Writer) { writeHost(w, s, time.Now()) })
		},
	}
	g.remote(cmd)
	return cmd
}

// hostStatus asks all workers of the ring, and then all shards, which know addresses and not names.
func (g *globals) hostStatus(ctx context.Context, c client.Client, u urls.URL) (hostStatus, error) {
	s := hostStatus{Host: u.PLD()}
	members, err := ringStatus(ctx, c)
	if err != nil {
		return s, err
	}
	for _, m := range members.Workers {
		r, err := g.hostOf(ctx, c, m, u.Host())
		if err != nil {
			s.Away = append(s.Away, m.Name+": "+err.Error())
			continue
		}
		s.Workers = append(s.Workers, r)
	}
	addresses := serversOf(s.Workers)
	for shard := 0; ; shard++ {
		value, err := c.QueryWorkflow(ctx, names.PolitenessID(shard), "", names.QueryHost, s.Host, addresses)
		var none *serviceerror.NotFound
		if errors.As(err, &none) {
			return s, nil
		}
		r := shardReport{Shard: shard}
		if err == nil {
			err = value.Get(&r.HostReport)
		}
		if err != nil {
			return s, fmt.Errorf("%s does not answer: is a worker running? %w", names.PolitenessID(shard), err)
		}
		s.Shards = append(s.Shards, r)
	}
}

// serversOf are the addresses and host groups at which workers ask a host, each once. A shard knows a group by its name: which addresses
// belong to it is forgotten when nobody asks them any more, before it is forgiven what it has answered.
func serversOf(workers []activities.HostResult) (list []string) {
	add := func(name string) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	for _, r := range workers {
		if r.Address != "" {
			add(r.Address)
		}
		for _, group := range []string{r.Server.Group, r.Server.Network} {
			if group != "" {
				add(politeness.GroupKey(group))
			}
		}
	}
	return list
}

// hostOf asks a worker.
func (g *globals) hostOf(ctx context.Context, c client.Client, m ring.Worker, host string) (out activities.HostResult, err error) {
	if err := served(ctx, c, m.Queue); err != nil {
		return out, err
	}
	run, err := c.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: fmt.Sprintf("%s/%d", names.HostID(host), time.Now().UnixNano()), TaskQueue: g.temporal.Queue, WorkflowExecutionTimeout: time.Minute,
	}, names.Host, activities.HostInput{Queue: m.Queue, Host: host})
	if err != nil {
		return out, err
	}
	return out, run.Get(ctx, &out)
}

func writeHost(w io.Writer, s hostStatus, now time.Time) {
	line := func(format string, args ...any) { _, _ = fmt.Fprintf(w, format+"\n", args...) }
	until := func(t time.Time) string {
		return fmt.Sprintf("%s UTC (in %s)", t.UTC().Format(time.DateTime), max(t.Sub(now), 0).Round(time.Second))
	}
	line("%s", s.Host)
	for _, shard := range s.Shards {
		of := ""
		if len(s.Shards) > 1 {
			of = fmt.Sprintf(" (shard %d)", shard.Shard)
		}
		writeShard(line, until, shard, of)
	}
	if n := len(s.Shards); n > 1 {
		line("  politeness   has %d shards, by address: crawls of different workers may ask the host at a time at addresses of different shards", n)
	}
	for _, r := range s.Workers {
		writeWorker(line, until, r, now)
	}
	for _, away := range s.Away {
		line("  worker %s", away)
	}
	if len(s.Workers)+len(s.Away) == 0 {
		line("  no worker is in the ring")
	}
}

// writeShard writes what a shard knows; of names it, if there are several.
func writeShard(line func(string, ...any), until func(time.Time) string, r shardReport, of string) {
	if d := r.Slow; d != nil {
		line("  slowed down  step %d: %s at %s; rests of %s, forgiven at %s if nothing happens%s", d.Steps, d.Why, d.Reported().Format(time.DateTime),
			d.Rest.Round(time.Second), d.Until.Add(politeness.ForgiveAfter).UTC().Format(time.DateTime), of)
	}
	if !r.NotBefore.IsZero() {
		line("  host rests   until %s, for all crawls%s", until(r.NotBefore), of)
	}
	if !r.Floor.IsZero() {
		line("  politeness   grants nothing until %s: shard %d lost its state, or has no room for all addresses that rest", until(r.Floor), r.Shard)
	}
	for _, a := range r.Addresses {
		state := "is free"
		switch {
		case len(a.Leases) > 0:
			state = fmt.Sprintf("has %s", cli.Count(len(a.Leases), "lease"))
		case !a.NotBefore.IsZero():
			state = "rests until " + until(a.NotBefore)
		}
		if d := a.Slow; d != nil {
			state += fmt.Sprintf(", and rests up to %s between two batches: %s at %s", d.Rest.Round(time.Second), d.Why, d.Met.UTC().Format(time.DateTime))
		}
		if d := a.SlowGroup; d != nil {
			state += fmt.Sprintf(", and all its hosts rest until %s: %s at %s, step %d", until(d.Until), d.Why, d.Reported().Format(time.DateTime), d.Steps)
		}
		name := a.Address
		if group, is := politeness.GroupOf(name); is {
			name = "host group " + group
		}
		line("  %s %s, %s", name, state, cli.Count(a.Waiting, "ask")+" waiting")
		for _, l := range a.Leases {
			line("    held by %s/%s for %s since %s, until %s at the latest", l.Crawl, l.Worker, l.Host, l.Since.Format(time.TimeOnly), until(l.Until))
		}
		for _, l := range a.Waits {
			line("    wanted by %s/%s for %s since %s", l.Crawl, l.Worker, l.Host, l.Since.Format(time.TimeOnly))
		}
		if n := a.Waiting - len(a.Waits); n > 0 {
			line("    and %d more", n)
		}
	}
}

func writeWorker(line func(string, ...any), until func(time.Time) string, r activities.HostResult, now time.Time) {
	at := r.Address
	if at == "" {
		at = "it has no address: " + r.Unknown
	}
	line("  worker %s, at %s", r.Worker, at)
	if s := r.Server; s.Group+s.Network != "" || s.MinDelay > 0 || s.PerIP > 1 {
		line("    host group  %s%s: at most %s at a time, pauses of %s at least", s.Group, s.Network, cli.Count(s.PerIP, "lane"), s.MinDelay)
	}
	if r.Next.After(now) {
		line("    rests       until %s, for all crawls of the worker", until(r.Next))
	}
	for _, q := range r.Queues {
		writeQueue(line, until, q, r.Server.MinDelay, now)
	}
	if len(r.Queues) == 0 {
		line("    no crawl of it that runs has a queue of this host")
	}
}

func writeQueue(line func(string, ...any), until func(time.Time) string, q frontier.QueueReport, group time.Duration, now time.Time) {
	state := "is not claimed: nothing hinders it"
	switch {
	case q.Asking:
		state = "waits for the lease of " + q.IP
	case q.Busy && q.IP != "":
		state = "is fetched at " + q.IP
	case q.Busy:
		state = "is being claimed, or its last batch is not committed"
	case q.Ordered != "":
		state = "is " + string(q.Ordered) + " by an operator"
	case q.Spent:
		state = "is left alone: budget.per_pld is spent"
	case q.Waiting == 0:
		state = "has no URL that is due"
	case q.Next.After(now):
		state = "rests until " + until(q.Next)
	}
	line("    crawl %s %s; %s waiting, %s fetched", q.Crawl, state, cli.Count(q.Waiting, "URL"), cli.Count(int(q.Pages), "page"))
	delay, why := max(q.MinDelay, group), "definition"
	if group > q.MinDelay {
		why = "host group"
	}
	if q.CrawlDelay > delay {
		delay, why = q.CrawlDelay, "Crawl-delay"
	}
	line("      pause     %s at least (%s)", delay, why)
	if q.Fails > 0 {
		line("      errors    could not be reached %s in a row", cli.Count(q.Fails, "time"))
	}
	if q.Left != nil {
		line("      budget    %s left of budget.per_pld", cli.Count(int(*q.Left), "URL"))
	}
}
