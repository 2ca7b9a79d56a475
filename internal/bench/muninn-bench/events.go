package main

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"go.temporal.io/api/enums/v1"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/activities/names"
)

// events counts what a crawl left in Temporal's histories, by workflow type.
type events map[string]*eventCount

// eventCount is what the executions of a workflow type cost.
type eventCount struct {
	executions, events, bytes int
	kinds                     map[string]int // events by type
	steps                     map[string]int // activities by type
	signals                   map[string]int // by name
	urls, claims              int            // of the batches
}

// countEvents reads the histories of all workflows of the rings.
func countEvents(ctx context.Context, address string, rings []ring) (events, error) {
	out := events{}
	for _, one := range rings {
		if err := out.count(ctx, address, one.namespace); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// count adds the workflows of a namespace.
func (e events) count(ctx context.Context, address, namespace string) error {
	c, err := client.DialContext(ctx, client.Options{HostPort: address, Namespace: namespace, Logger: silent{}})
	if err != nil {
		return err
	}
	defer c.Close()
	for token, more := []byte(nil), true; more; more = len(token) > 0 {
		list, err := c.ListWorkflow(ctx, &workflowservice.ListWorkflowExecutionsRequest{Namespace: namespace, PageSize: 1000, NextPageToken: token})
		if err != nil {
			return err
		}
		token = list.GetNextPageToken()
		for _, one := range list.GetExecutions() {
			name := one.GetType().GetName()
			if e[name] == nil {
				e[name] = &eventCount{kinds: map[string]int{}, steps: map[string]int{}, signals: map[string]int{}}
			}
			if err := e[name].add(ctx, c, one.GetExecution().GetWorkflowId(), one.GetExecution().GetRunId()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *eventCount) add(ctx context.Context, c client.Client, id, run string) error {
	n.executions++
	for history := c.GetWorkflowHistory(ctx, id, run, false, enums.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); history.HasNext(); {
		event, err := history.Next()
		if err != nil {
			return err
		}
		n.events++
		n.bytes += event.Size()
		n.kinds[event.GetEventType().String()]++
		if step := event.GetActivityTaskScheduledEventAttributes(); step != nil {
			n.steps[step.GetActivityType().GetName()]++
		}
		if signal := event.GetWorkflowExecutionSignaledEventAttributes(); signal != nil {
			n.signals[signal.GetSignalName()]++
		}
		if start := event.GetWorkflowExecutionStartedEventAttributes(); start.GetWorkflowType().GetName() == names.Batch {
			var in activities.BatchInput
			if err := converter.GetDefaultDataConverter().FromPayloads(start.GetInput(), &in); err != nil {
				return err
			}
			n.urls, n.claims = n.urls+in.URLs, n.claims+len(in.Claims)
		}
	}
	return nil
}

// print prints the events of each workflow type, the most expensive first, and the events per page; with all, the events of each kind.
func (e events) print(pages int, all bool) {
	total, tasks := 0, 0
	byEvents := slices.SortedFunc(maps.Keys(e), func(a, b string) int { return cmp.Compare(e[b].events, e[a].events) })
	for _, name := range byEvents {
		n := e[name]
		total += n.events
		tasks += n.kinds["WorkflowTaskCompleted"]
		fmt.Printf("  %-18s %4d executions %6d events %6d kB\n", name, n.executions, n.events, n.bytes>>10)
		if all {
			printCounts("    ", n.kinds)
			printCounts("      activity ", n.steps)
			printCounts("      signal ", n.signals)
		}
	}
	if b := e[names.Batch]; b != nil && e[names.FetcherController] != nil {
		fmt.Printf("  %d rounds; a batch has %.0f URLs in %.0f claims\n", e[names.FetcherController].kinds["ActivityTaskCompleted"], mean(b.urls, b.executions), mean(b.claims, b.executions))
	}
	fmt.Printf("  Temporal: %.3f events, %.3f workflow tasks a page\n", mean(total, pages), mean(tasks, pages))
}

// printCounts prints counts, the largest first, each on a line.
func printCounts(before string, counts map[string]int) {
	for _, name := range slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	}) {
		fmt.Printf("%s%6d %s\n", before, counts[name], name)
	}
}

func mean(sum, of int) float64 { return float64(sum) / float64(max(of, 1)) }

// silent is a logger that logs nothing.
type silent struct{}

func (silent) Debug(string, ...any) {}
func (silent) Info(string, ...any)  {}
func (silent) Warn(string, ...any)  {}
func (silent) Error(string, ...any) {}
