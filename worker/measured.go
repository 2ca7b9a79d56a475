package worker

import (
	"context"
	"errors"
	"io"
	"runtime/pprof"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/interceptor"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/archive"
)

// attemptInterceptor counts the attempts of steps.
type attemptInterceptor struct {
	interceptor.WorkerInterceptorBase
	meter *meter
	steps *draining
}

// InterceptActivity counts each attempt, including those of local activities.
func (s *attemptInterceptor) InterceptActivity(_ context.Context, next interceptor.ActivityInboundInterceptor) interceptor.ActivityInboundInterceptor {
	return &attemptInbound{interceptor.ActivityInboundInterceptorBase{Next: next}, s.meter, s.steps}
}

type attemptInbound struct {
	interceptor.ActivityInboundInterceptorBase
	meter *meter
	steps *draining
}

// ExecuteActivity counts the attempt if it is a retry, and if it fails; it ends with the worker. It labels its CPU profile with the step.
func (s *attemptInbound) ExecuteActivity(ctx context.Context, in *interceptor.ExecuteActivityInput) (any, error) {
	ctx, done := s.steps.begin(ctx)
	defer done()
	info := activity.GetInfo(ctx)
	if info.Attempt > 1 {
		s.meter.retries.WithLabelValues(info.ActivityType.Name).Inc()
	}
	var out any
	var err error
	pprof.Do(ctx, pprof.Labels(activities.LabelStep, info.ActivityType.Name), func(ctx context.Context) { out, err = s.Next.ExecuteActivity(ctx, in) })
	if err != nil && ctx.Err() == nil {
		s.meter.faults.WithLabelValues(info.ActivityType.Name).Inc()
	}
	return out, err
}

// measuredStore counts and times the calls to a store whose faults are StoreErrors.
type measuredStore struct {
	archive.Store
	meter *meter
}

// done counts a call that has returned.
func (m measuredStore) done(call string, began time.Time, err error) {
	m.meter.store.WithLabelValues(call).Observe(time.Since(began).Seconds())
	var fault *archive.StoreError
	if errors.As(err, &fault) {
		m.meter.storeErrors.WithLabelValues(call).Inc()
	}
}

func (m measuredStore) Put(ctx context.Context, key string, r io.Reader, size int64) (err error) {
	defer func(began time.Time) { m.done("put", began, err) }(time.Now())
	return m.Store.Put(ctx, key, r, size)
}

func (m measuredStore) PutIfAbsent(ctx context.Context, key string, data []byte) (err error) {
	defer func(began time.Time) { m.done("put-if-absent", began, err) }(time.Now())
	return m.Store.PutIfAbsent(ctx, key, data)
}

func (m measuredStore) Get(ctx context.Context, key string) (_ io.ReadCloser, err error) {
	defer func(began time.Time) { m.done("get", began, err) }(time.Now())
	return m.Store.Get(ctx, key)
}

func (m measuredStore) List(ctx context.Context, prefix string, fn func(archive.Object) error) (err error) {
	defer func(began time.Time) { m.done("list", began, err) }(time.Now())
	return m.Store.List(ctx, prefix, fn)
}

func (m measuredStore) Delete(ctx context.Context, key string) (err error) {
	defer func(began time.Time) { m.done("delete", began, err) }(time.Now())
	return m.Store.Delete(ctx, key)
}
