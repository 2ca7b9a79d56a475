package derive

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"

	"github.com/muninn-archive/muninn/internal/archive"
)

// verified is a store whose objects are compared with what manifests say of them while they are read: at its end, a reader gets an archive.DamagedError in place of io.EOF if the
// object has another length or digest. So nothing is derived of what is not what was archived.
type verified struct {
	archive.Store
	of map[string]archive.Stored // by key; other objects are read as they are
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
	want archive.Stored
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
	return &archive.DamagedError{Err: fmt.Errorf("read %s: %s", b.want.Key, fmt.Sprintf(format, args...))}
}
