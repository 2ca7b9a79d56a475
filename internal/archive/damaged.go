package archive

import (
	"context"
	"errors"
	"io"
)

// DamagedError says that an object of a segment is not what was written. Its text names the object.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string { return e.Err.Error() + ": the object is damaged" }
func (e *DamagedError) Unwrap() error { return e.Err }

// damaged says of an error in the content of an object that it is damaged. A fault of its store is no such error: it may be read later.
func damaged(err error) error {
	var store *StoreError
	if err == nil || errors.As(err, &store) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &DamagedError{err}
}

// Damaged reports whether an error says that an object of a segment is damaged, or lost, so that it can be read by no attempt. The store must be one of Faults:
// of others the fault of a network may look like damage.
func Damaged(err error) bool {
	var of *DamagedError
	return errors.As(err, &of) || errors.Is(err, ErrNotFound) || errors.Is(err, ErrRange)
}

// faultyBody is what a store gives of an object: a fault while it is read is the store's.
type faultyBody struct {
	io.ReadCloser
	ctx context.Context
}

func (b faultyBody) Read(p []byte) (n int, err error) {
	n, err = b.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		err = AsFault(b.ctx, err)
	}
	return n, err
}

func withFaults(ctx context.Context, r io.ReadCloser, err error) (io.ReadCloser, error) {
	if err != nil {
		return r, AsFault(ctx, err)
	}
	return faultyBody{r, ctx}, nil
}
