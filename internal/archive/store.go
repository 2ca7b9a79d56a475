package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The errors of a store.
var (
	ErrExists   = errors.New("there is an object of that key already")
	ErrNotFound = errors.New("no such object")
	ErrKey      = errors.New("not a valid key")
	// ErrRange says that an object has no byte in a range.
	ErrRange = errors.New("the object has nothing in that range")
	// ErrNotRegular says that a folder has something else than a file in the place of an object.
	ErrNotRegular = errors.New("is a pipe, a device or the like, not a regular file")
	// ErrUnconditional says that a store would let two attempts of a batch both commit.
	ErrUnconditional = errors.New("the server does not keep conditional puts (If-None-Match: *), without which a batch could be archived twice: " +
		"name another store (settings archive and s3-endpoint, or archive.where of the crawl)")
	// ErrPlace says that what is named as an archive is none.
	ErrPlace = errors.New("an archive is a folder, or s3://bucket/prefix")
	// ErrGivenBack says that a batch's URLs went back to their queues before its segment was committed.
	ErrGivenBack = errors.New("the batch was given back")
	// ErrForeign says that the manifest under the key of a batch's life is another's: of another nonce, or another worker's.
	ErrForeign = errors.New("the manifest under this key is not of this batch's life")
	// ErrAbove says that what was opened as an archive is a folder or prefix above one: manifests name objects from where the archive begins.
	ErrAbove = errors.New("the archive begins below the folder or prefix that was given")
)

// Object is an entry of a listing.
type Object struct {
	Key     string
	Size    int64
	Changed time.Time
}

// UnknownSize is the size of what is put while it is made.
const UnknownSize = -1

// Store keeps objects under keys of '/'-separated names. Implementations are safe for concurrent use
// and pass the suite in internal/archive/storetest.
type Store interface {
	// Put stores size bytes of r under key, or all of them if size is UnknownSize; it is durable when Put returns, and never seen in part.
	// A key is put once, or again with the same content.
	Put(ctx context.Context, key string, r io.Reader, size int64) error
	// PutIfAbsent stores data under key if there is no such object, else returns ErrExists. Of
	// several at once exactly one succeeds.
	PutIfAbsent(ctx context.Context, key string, data []byte) error
	// Get opens an object; ErrNotFound if there is none, ErrNotRegular if a folder has no file there.
	Get(ctx context.Context, key string) (io.ReadCloser, error)
	// GetRange opens the bytes of an object from an offset on, at most length of them, which is above 0: those that it has. ErrRange
	// if there are none; else as Get.
	GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error)
	// List calls fn for each object whose key begins with prefix, in the order of keys.
	List(ctx context.Context, prefix string, fn func(Object) error) error
	// Delete removes an object; it is no error if there is none.
	Delete(ctx context.Context, key string) error
	// Unfinished lists what puts have left that were cut off before a time, and with remove deletes it: files half written,
	// uploads in parts. No listing shows them, but they take room. Those of other programs, whose keys are not ours, are
	// passed over.
	Unfinished(ctx context.Context, before time.Time, remove bool, ours func(key string) bool) ([]string, error)
	// String says where the store is, for people.
	String() string
}

// S3 is how an S3 service is reached.
type S3 struct {
	Endpoint  string `json:"endpoint"` // host:port, or a URL; http:// turns TLS off
	Region    string `json:"region"`
	AccessKey string `json:"-"`
	SecretKey string `json:"-"`
}

// Open opens "s3://bucket/prefix" or a directory.
func Open(ctx context.Context, where string, conf S3) (Store, error) {
	if rest, ok := strings.CutPrefix(where, "s3://"); ok {
		bucket, prefix, _ := strings.Cut(rest, "/")
		return OpenS3(ctx, conf, bucket, prefix)
	}
	if scheme, _, ok := strings.Cut(where, "://"); ok && scheme != "file" {
		return nil, fmt.Errorf("%q: %w", where, ErrPlace)
	}
	return OpenDir(strings.TrimPrefix(where, "file://"))
}

// OpenReader opens a store that will only be read: nothing is made or tried. A directory must exist.
func OpenReader(ctx context.Context, where string, conf S3) (Store, error) {
	if rest, ok := strings.CutPrefix(where, "s3://"); ok {
		bucket, prefix, _ := strings.Cut(rest, "/")
		s, _, err := connectS3(ctx, conf, bucket, prefix)
		return s, err
	}
	if scheme, _, ok := strings.Cut(where, "://"); ok && scheme != "file" {
		return nil, fmt.Errorf("%q: %w", where, ErrPlace)
	}
	root, err := filepath.Abs(strings.TrimPrefix(where, "file://"))
	if err != nil {
		return nil, fmt.Errorf("open archive: %w", err)
	}
	if info, err := os.Stat(root); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("there is no folder %s: %w", root, ErrPlace)
	}
	return &dirStore{root}, nil
}

// errTooLarge says that an object has more bytes than any of its kind.
var errTooLarge = errors.New("it is too large")

// ReadAll reads an object that is known to be small: at most limit bytes.
func ReadAll(ctx context.Context, s Store, key string, limit int64) ([]byte, error) {
	r, err := s.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = r.Close() }()
	raw, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	if int64(len(raw)) > limit {
		return nil, fmt.Errorf("read %s: %w: more than %d bytes", key, errTooLarge, limit)
	}
	return raw, nil
}
