package worker

import (
	"errors"
	"testing"
	"time"

	"go.temporal.io/api/serviceerror"
)

// TestRetryUnknown: a start is tried again as long as the service does not know a search attribute yet; other errors are returned at once.
func TestRetryUnknown(t *testing.T) {
	unknown := serviceerror.NewInvalidArgument("Namespace default has no mapping defined for search attribute MuninnCrawl")
	other := errors.New("other")
	for _, c := range []struct {
		name    string
		limit   time.Duration
		answers []error
		want    error
		calls   int
	}{
		{"known", time.Minute, []error{nil}, nil, 1},
		{"known later", time.Minute, []error{unknown, unknown, nil}, nil, 3},
		{"never known", 0, []error{unknown}, unknown, 1},
		{"another error", time.Minute, []error{other}, other, 1},
		{"another error later", time.Minute, []error{unknown, other}, other, 2},
		{"another fault of the input", time.Minute, []error{serviceerror.NewInvalidArgument("no")}, serviceerror.NewInvalidArgument("no"), 1},
	} {
		calls := 0
		err := retryUnknown(t.Context(), c.limit, time.Microsecond, func() error {
			calls++
			return c.answers[calls-1]
		})
		if (err == nil) != (c.want == nil) || err != nil && err.Error() != c.want.Error() || calls != c.calls {
			t.Errorf("%s: %v after %d calls, want %v after %d", c.name, err, calls, c.want, c.calls)
		}
	}
}
