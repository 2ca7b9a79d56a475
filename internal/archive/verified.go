package archive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
)

// Verified is a store whose objects are compared with what a manifest says of them while they are read with Get: at its end, a reader gets a DamagedError in place of io.EOF if the object
// has another length or digest. Other objects, and ranges, are read as they are.
func Verified(store Store, objects ...Stored) Store {
	v := verified{store, make(map[string]Stored, len(objects))}
	for _, o := range objects {
		v.of[o.Key] = o
	}
	return v
}

type verified struct {
	Store
	of map[string]Stored // by key
}

func (v verified) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	r, err := v.Store.Get(ctx, key)
	want, known := v.of[key]
	if err != nil || !known {
		return r, err
	}
	return &verifiedBody{ReadCloser: r, want: want, sum: sha256.New()}, nil
}

type verifiedBody struct {
	io.ReadCloser
	want Stored
	sum  hash.Hash
	n    int64
}

func (b *verifiedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.n += int64(n)
	_, _ = b.sum.Write(p[:n])
	switch {
	case b.n > b.want.Bytes, err == io.EOF && b.n < b.want.Bytes:
		return n, b.fault("it has not the %d bytes that its manifest says", b.want.Bytes)
	case err == io.EOF && hex.EncodeToString(b.sum.Sum(nil)) != b.want.SHA256:
		return n, b.fault("its SHA-256 is not that of its manifest")
	}
	return n, err
}

func (b *verifiedBody) fault(format string, args ...any) error {
	return &DamagedError{Err: fmt.Errorf("read %s: %s", b.want.Key, fmt.Sprintf(format, args...))}
}
