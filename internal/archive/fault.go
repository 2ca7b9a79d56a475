package archive

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/minio/minio-go/v7"
)

// StoreError says that a store did not do what it was asked to: it cannot be reached, refuses, or is full. It is no fault of
// what was to be stored: the same call may succeed later.
type StoreError struct{ Err error }

func (e *StoreError) Error() string { return e.Err.Error() }
func (e *StoreError) Unwrap() error { return e.Err }

// Faults returns a store whose faults are StoreErrors; answers such as ErrExists and ErrNotFound are none, nor is a
// context that was cancelled. A deadline that is reached in a call is one: the store did not answer in time.
func Faults(s Store) Store { return faults{s} }

type faults struct{ Store }

// AsFault makes an error of a store, or of opening one, a StoreError, unless it is an answer.
func AsFault(ctx context.Context, err error) error {
	if err == nil || errors.Is(ctx.Err(), context.Canceled) {
		return err
	}
	for _, answer := range []error{ErrExists, ErrNotFound, ErrKey, ErrRange, ErrUnconditional, ErrGivenBack} {
		if errors.Is(err, answer) {
			return err
		}
	}
	return &StoreError{err}
}

func (f faults) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	return AsFault(ctx, f.Store.Put(ctx, key, r, size))
}

func (f faults) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	return AsFault(ctx, f.Store.PutIfAbsent(ctx, key, data))
}

func (f faults) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := f.Store.Get(ctx, key)
	return withFaults(ctx, r, err)
}

func (f faults) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	r, err := f.Store.GetRange(ctx, key, offset, length)
	return withFaults(ctx, r, err)
}

func (f faults) List(ctx context.Context, prefix string, fn func(Object) error) error {
	var own error // of fn, which is not the store's
	err := f.Store.List(ctx, prefix, func(o Object) error {
		own = fn(o)
		return own
	})
	if own != nil {
		return err
	}
	return AsFault(ctx, err)
}

func (f faults) Unfinished(ctx context.Context, before time.Time, remove bool, ours func(key string) bool) ([]string, error) {
	list, err := f.Store.Unfinished(ctx, before, remove, ours)
	return list, AsFault(ctx, err)
}

func (f faults) Delete(ctx context.Context, key string) error {
	return AsFault(ctx, f.Store.Delete(ctx, key))
}

// Away reports whether an error of a store, or of opening one, says that its service cannot be reached, or does not serve for the moment. What is wrong with
// settings is not: keys that are refused, a bucket that does not exist, TLS where there is none.
func Away(err error) bool {
	var answer minio.ErrorResponse
	if errors.As(err, &answer) && answer.StatusCode != 0 {
		return answer.StatusCode == http.StatusTooManyRequests || answer.StatusCode >= 500 && answer.StatusCode != http.StatusNotImplemented
	}
	var network *net.OpError
	var wait net.Error
	return errors.As(err, &network) || errors.As(err, &wait) && wait.Timeout() || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
}
