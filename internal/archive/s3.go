package archive

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
)

// partSize is the size of the parts of a multipart upload.
const partSize = 64 << 20

// streamedPart is the size of the parts of an object whose size is not known: each part is held in memory. An object has at most
// 10,000 parts, that is 160 GB.
const streamedPart = 16 << 20

// openTries bounds the tries of the first request: the user who configured the store waits for its answer.
const openTries = 2

// requestTries bounds the tries of any other request. A try waits a minute for a server that takes connections and does not
// answer; steps are tried again anyway, and a crawl must know soon that its archive is away.
const requestTries = 3

// s3Store keeps objects in a bucket.
type s3Store struct {
	client *minio.Client
	bucket string
	prefix string
	where  string
}

// OpenS3 opens a bucket; it must exist, and the keys must give access to it. The server must keep conditional puts
// (ErrUnconditional), which is tried: all that is archived once rests on them.
func OpenS3(ctx context.Context, conf S3, bucket, prefix string) (Store, error) {
	s, probe, err := connectS3(ctx, conf, bucket, prefix)
	if err != nil {
		return nil, err
	}
	if err := probe.tryConditional(ctx); err != nil {
		return nil, fmt.Errorf("open archive %s at %s: %w", s.where, probe.client.EndpointURL().Host, err)
	}
	return s, nil
}

// probeKey is the object that conditional puts are tried with. Only the worker that has put it deletes it: others that find it have
// their answer.
const probeKey = ".muninn-probe"

// tryConditional puts an object twice if it is absent: the server must refuse the second.
func (s *s3Store) tryConditional(ctx context.Context) error {
	for try := range 2 {
		err := s.PutIfAbsent(ctx, probeKey, []byte("whether conditional puts work\n"))
		switch {
		case errors.Is(err, ErrExists) && try == 0:
			return nil
		case errors.Is(err, ErrExists):
			return s.Delete(ctx, probeKey)
		case notImplemented(err):
			return fmt.Errorf("%w: %w", ErrUnconditional, err)
		case err != nil:
			return fmt.Errorf("the archive cannot be written: %w", err)
		}
	}
	return errors.Join(ErrUnconditional, s.Delete(ctx, probeKey))
}

func notImplemented(err error) bool {
	var answer minio.ErrorResponse
	return errors.As(err, &answer) && answer.StatusCode == http.StatusNotImplemented
}

// connectS3 reaches a bucket. probe is the same store, of which requests are tried a few times only.
func connectS3(ctx context.Context, conf S3, bucket, prefix string) (store, probe *s3Store, err error) {
	where := "s3://" + path.Join(bucket, prefix)
	endpoint, secure := conf.Endpoint, true
	if u, err := url.Parse(endpoint); err == nil && u.Host != "" {
		endpoint, secure = u.Host, u.Scheme != "http"
	}
	if endpoint == "" {
		return nil, nil, fmt.Errorf("open archive %s: no S3 endpoint is configured (s3-endpoint, MUNINN_S3_ENDPOINT)", where)
	}
	provider := credentials.NewStaticV4(conf.AccessKey, conf.SecretKey, "")
	if conf.AccessKey == "" {
		provider = credentials.NewChainCredentials([]credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: http.DefaultClient}})
	}
	options := minio.Options{Creds: provider, Secure: secure, Region: conf.Region, BucketLookup: minio.BucketLookupAuto, MaxRetries: requestTries}
	client, err := minio.New(endpoint, &options)
	if err != nil {
		return nil, nil, fmt.Errorf("open archive %s: %w", where, err)
	}
	options.MaxRetries = openTries
	probing, err := minio.New(endpoint, &options)
	if err != nil {
		return nil, nil, fmt.Errorf("open archive %s: %w", where, err)
	}
	found, err := probing.BucketExists(ctx, bucket)
	if err != nil {
		return nil, nil, fmt.Errorf("open archive %s at %s: %w", where, endpoint, explain(err))
	}
	if !found {
		for o := range probing.ListObjectsIter(ctx, bucket, minio.ListObjectsOptions{MaxKeys: 1}) {
			// HEAD has no words for the reason: some servers answer 404 to keys that they do not know
			if o.Err != nil && minio.ToErrorResponse(o.Err).Code != minio.NoSuchBucket {
				return nil, nil, fmt.Errorf("open archive %s at %s: %w", where, endpoint, explain(o.Err))
			}
			break
		}
		return nil, nil, fmt.Errorf("open archive %s at %s: the bucket does not exist: make it first", where, endpoint)
	}
	prefix = strings.Trim(prefix, "/")
	if prefix != "" {
		prefix += "/"
	}
	return &s3Store{client, bucket, prefix, where}, &s3Store{probing, bucket, prefix, where}, nil
}

func explain(err error) error {
	switch minio.ToErrorResponse(err).Code {
	case minio.InvalidAccessKeyID, minio.SignatureDoesNotMatch, minio.AccessDenied, "XAdminUserNotFound":
		return fmt.Errorf("the S3 keys are refused (MUNINN_S3_ACCESS_KEY, MUNINN_S3_SECRET_KEY): %w", err)
	}
	return err
}

func (s *s3Store) String() string { return s.where }

func (s *s3Store) Put(ctx context.Context, key string, r io.Reader, size int64) error {
	opts := minio.PutObjectOptions{ContentType: contentType(key), PartSize: partSize, NumThreads: 2}
	if size == UnknownSize {
		opts.PartSize = streamedPart
	}
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, r, size, opts)
	if err != nil {
		return fmt.Errorf("put %s: %w", key, explain(err))
	}
	return nil
}

func (s *s3Store) PutIfAbsent(ctx context.Context, key string, data []byte) error {
	opts := minio.PutObjectOptions{ContentType: contentType(key), DisableMultipart: true}
	opts.SetMatchETagExcept("*")
	_, err := s.client.PutObject(ctx, s.bucket, s.prefix+key, bytes.NewReader(data), int64(len(data)), opts)
	status := minio.ToErrorResponse(err).StatusCode
	switch {
	case err == nil:
		return nil
	case status == http.StatusPreconditionFailed:
		return fmt.Errorf("put %s: %w", key, ErrExists)
	case status == http.StatusConflict: // another conditional PUT is in progress: its outcome decides
		if r, errGet := s.Get(ctx, key); errGet == nil {
			_ = r.Close()
			return fmt.Errorf("put %s: %w", key, ErrExists)
		}
	}
	return fmt.Errorf("put %s: %w", key, explain(err))
}

func (s *s3Store) Get(ctx context.Context, key string) (io.ReadCloser, error) {
	return s.get(ctx, key, minio.GetObjectOptions{}, nil)
}

func (s *s3Store) GetRange(ctx context.Context, key string, offset, length int64) (io.ReadCloser, error) {
	var opts minio.GetObjectOptions
	outside := rangeError(key, offset, length)
	if offset < 0 || length <= 0 || opts.SetRange(offset, offset+length-1) != nil {
		return nil, outside
	}
	return s.get(ctx, key, opts, outside)
}

// get reads an object, or the range of it that the options name. It is one request: a client that asks for the object's size before it reads the first
// byte finds an object that is deleted in between, and its error is that of a read.
func (s *s3Store) get(ctx context.Context, key string, opts minio.GetObjectOptions, outside error) (io.ReadCloser, error) {
	object, _, _, err := (&minio.Core{Client: s.client}).GetObject(ctx, s.bucket, s.prefix+key, opts)
	if err == nil {
		return object, nil
	}
	switch minio.ToErrorResponse(err).StatusCode {
	case http.StatusNotFound:
		return nil, fmt.Errorf("get %s: %w", key, ErrNotFound)
	case http.StatusRequestedRangeNotSatisfiable:
		if outside != nil {
			return nil, outside
		}
	}
	return nil, fmt.Errorf("get %s: %w", key, explain(err))
}

func (s *s3Store) List(ctx context.Context, prefix string, fn func(Object) error) error {
	for o := range s.client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: s.prefix + prefix, Recursive: true}) {
		if o.Err != nil {
			return fmt.Errorf("list %s: %w", prefix, explain(o.Err))
		}
		if strings.HasSuffix(o.Key, "/") {
			continue // a folder of a server that keeps objects as files
		}
		if err := fn(Object{strings.TrimPrefix(o.Key, s.prefix), o.Size, o.LastModified}); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil { // the listing may end early without an error
		return fmt.Errorf("list %s: %w", prefix, err)
	}
	return nil
}

func (s *s3Store) Delete(ctx context.Context, key string) error {
	err := s.client.RemoveObject(ctx, s.bucket, s.prefix+key, minio.RemoveObjectOptions{})
	if err != nil && minio.ToErrorResponse(err).StatusCode != http.StatusNotFound {
		return fmt.Errorf("delete %s: %w", key, explain(err))
	}
	return nil
}

func (s *s3Store) Unfinished(ctx context.Context, before time.Time, remove bool, ours func(key string) bool) (list []string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the listing
	for upload := range s.client.ListIncompleteUploads(ctx, s.bucket, s.prefix, true) {
		if upload.Err != nil {
			return list, fmt.Errorf("list unfinished uploads: %w", explain(upload.Err))
		}
		key := strings.TrimPrefix(upload.Key, s.prefix)
		if !upload.Initiated.Before(before) || !ours(key) {
			continue
		}
		if remove {
			if err := s.client.RemoveIncompleteUpload(ctx, s.bucket, upload.Key); err != nil {
				return list, fmt.Errorf("remove the unfinished upload of %s: %w", upload.Key, explain(err))
			}
		}
		list = append(list, key)
	}
	return list, ctx.Err()
}

func contentType(key string) string {
	switch {
	case strings.HasSuffix(key, suffixWARC):
		return "application/warc"
	case strings.HasSuffix(key, ".json"):
		return "application/json"
	case strings.HasSuffix(key, ".cdxj"):
		return "text/x-cdxj"
	}
	return "application/octet-stream"
}

// inOrder yields objects in the order of their keys.
func inOrder(objects []Object, fn func(Object) error) error {
	slices.SortFunc(objects, func(a, b Object) int { return cmp.Compare(a.Key, b.Key) })
	for _, o := range objects {
		if err := fn(o); err != nil {
			return err
		}
	}
	return nil
}
