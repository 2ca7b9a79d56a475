package activities

import (
	"context"
	"fmt"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"
	"go.temporal.io/sdk/worker"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// step is an activity and what stands around it. All of them have their input checked, a heartbeat, and their errors made
// Temporal's.
type step struct {
	do any // the function
	// tries is the name under which the attempts of a step of a batch are counted; empty: Temporal alone decides how often it
	// is tried.
	tries string
	// beats says that it makes its heartbeat itself, which is more than a sign of life.
	beats     bool
	exclusive bool // stops and waits for any other step of its batch, which may have been cut off and still run
}

// steps are the activities by name. What is not here is not registered.
func (a *Activities) steps() map[string]step {
	return map[string]step{
		// of a crawl
		"ReadDefinition":   {do: a.ReadDefinition},
		"ChangeDefinition": {do: a.ChangeDefinition},
		"Members":          {do: a.Members},
		"AwaitMembers":     {do: a.AwaitMembers},
		"Absent":           {do: a.Absent},
		"LastRun":          {do: a.LastRun},
		"Begin":            {do: a.Begin},
		"QueueRest":        {do: a.QueueRest},
		"Phase":            {do: a.Phase},
		"Learn":            {do: a.Learn},
		"Samples":          {do: a.Samples},
		"LearnTogether":    {do: a.LearnTogether},
		"Owners":           {do: a.Owners},
		"Submit":           {do: a.Submit},
		"Left":             {do: a.Left},
		"Configure":        {do: a.Configure},
		"Abort":            {do: a.Abort},
		"Answerer":         {do: a.Answerer},
		"Explain":          {do: a.Explain},
		"Host":             {do: a.Host},
		"Report":           {do: a.Report},
		"End":              {do: a.End},
		"Forget":           {do: a.Forget},
		"Idle":             {do: a.Idle},
		"LostTotals":       {do: a.LostTotals},
		"FormerTotals":     {do: a.FormerTotals},
		"Retire":           {do: a.Retire},
		// of a derivation
		"Derivable": {do: a.Derivable},
		"Pending":   {do: a.Pending},
		"Derive":    {do: a.Derive},
		"Views":     {do: a.Views},
		// of an export
		"PlanExport":   {do: a.PlanExport},
		"ListParts":    {do: a.ListParts},
		"ExportPart":   {do: a.ExportPart},
		"FinishExport": {do: a.FinishExport},
		// of the ring
		"Serve":    {do: a.Serve, beats: true},
		"TakeView": {do: a.TakeView},
		// of a controller
		"Claim":     {do: a.Claim},
		"Start":     {do: a.Start},
		"AskLeases": {do: a.AskLeases},
		// of a batch
		"Open":         {do: a.Open, exclusive: true},
		"Lease":        {do: a.Lease},
		"FetchTargets": {do: a.FetchTargets, tries: nameFetch, exclusive: true},
		"Process":      {do: a.Process, tries: nameProcess, exclusive: true},
		"Undelivered":  {do: a.Undelivered},
		"Route":        {do: a.Route},
		"Deliver":      {do: a.Deliver},
		"LostBatches":  {do: a.LostBatches},
		"TakeLost":     {do: a.TakeLost},
		"TakeOver":     {do: a.TakeOver},
		"Commit":       {do: a.Commit},
		"GiveBack":     {do: a.GiveBack, exclusive: true},
	}
}

// Register registers the activities, each by its name.
func Register(r worker.ActivityRegistry, a *Activities) {
	for name, s := range a.steps() {
		r.RegisterActivityWithOptions(s.do, activity.RegisterOptions{Name: name})
	}
}

// Interceptor puts around each activity what its step says.
func Interceptor(a *Activities) interceptor.WorkerInterceptor {
	return &activityInterceptor{steps: a.steps(), a: a}
}

type activityInterceptor struct {
	interceptor.WorkerInterceptorBase
	a     *Activities
	steps map[string]step
}

// InterceptActivity is called for local activities, too.
func (i *activityInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &activityInbound{interceptor.ActivityInboundInterceptorBase{Next: next}, i}
}

type activityInbound struct {
	interceptor.ActivityInboundInterceptorBase
	*activityInterceptor
}

// ExecuteActivity runs an attempt.
func (i *activityInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	for _, arg := range in.Args {
		if err := checkInput(arg); err != nil {
			return nil, toApplicationError(&crawl.InputError{Message: err.Error()})
		}
		if err := i.a.checkHolder(arg); err != nil {
			return nil, err
		}
	}
	info := activity.GetInfo(ctx)
	if !info.IsLocalActivity && !i.steps[info.ActivityType.Name].beats {
		var stop func()
		ctx, stop = startHeartbeat(ctx)
		defer stop()
	}
	do := func(ctx context.Context) (any, error) {
		out, err := i.Next.ExecuteActivity(ctx, in)
		return out, toApplicationError(err)
	}
	s := i.steps[info.ActivityType.Name]
	if !s.exclusive && s.tries == "" {
		return do(ctx)
	}
	batch, is := in.Args[0].(BatchInput)
	if !is {
		return nil, fmt.Errorf("%s is a step of a batch, and its input is %T", info.ActivityType.Name, in.Args[0])
	}
	attempt := do
	if s.exclusive {
		attempt = func(ctx context.Context) (any, error) {
			ctx, leave, err := i.a.batches.enter(ctx, batch.Crawl+"/"+batch.Batch)
			if err != nil {
				return nil, err
			}
			defer leave()
			return do(ctx)
		}
	}
	if s.tries == "" {
		return attempt(ctx)
	}
	return i.a.runAttempt(ctx, batch, s.tries, attempt)
}
