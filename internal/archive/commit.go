package archive

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"time"
)

// ManifestVersion is the version of the manifest's form.
const ManifestVersion = 1

// maxManifest bounds a manifest in bytes.
const maxManifest = 1 << 20

// Stored names an object of a segment.
type Stored struct {
	Key    string `json:"key"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// Manifest commits a segment: what it names is archived, what no manifest names is not.
type Manifest struct {
	Version int       `json:"version"`
	Crawl   string    `json:"crawl"`
	Batch   string    `json:"batch"`
	Worker  string    `json:"worker"`
	Created time.Time `json:"created"`
	WARC    Stored    `json:"warc"`
	CDXJ    Stored    `json:"cdxj"`
	Links   Stored    `json:"links"`
	Objects *Stored   `json:"objects,omitempty"` // nil if no page had any
	Records int       `json:"records"`
	Counts
}

// Stored lists the objects of the segment.
func (m *Manifest) Stored() []Stored {
	list := []Stored{m.WARC, m.CDXJ, m.Links}
	if m.Objects != nil {
		list = append(list, *m.Objects)
	}
	return list
}

// ManifestPrefix is what the keys of a crawl's manifests begin with.
func ManifestPrefix(prefix, crawl string) string { return path.Join(prefix, crawl, "segments") + "/" }

// ManifestKey is where the manifest of a batch lies.
func ManifestKey(prefix, crawl, batch string) string {
	return ManifestPrefix(prefix, crawl) + batch + ".json"
}

// ReadManifest returns a batch's manifest; ErrNotFound if the batch is not committed.
func ReadManifest(ctx context.Context, s Store, prefix, crawl, batch string) (Manifest, error) {
	return readManifest(ctx, s, ManifestKey(prefix, crawl, batch))
}

func readManifest(ctx context.Context, s Store, key string) (m Manifest, err error) {
	raw, err := ReadAll(ctx, s, key, maxManifest)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, fmt.Errorf("read %s: %w", key, err)
	}
	return m, nil
}

// Manifests calls fn with each manifest of a crawl, in the order of keys.
func Manifests(ctx context.Context, store Store, prefix, crawl string, fn func(Manifest) error) error {
	var keys []string
	err := store.List(ctx, ManifestPrefix(prefix, crawl), func(o Object) error {
		keys = append(keys, o.Key)
		return nil
	})
	if err != nil {
		return err
	}
	for _, key := range keys {
		m, err := readManifest(ctx, store, key)
		if err != nil {
			return err
		}
		if err := fn(m); err != nil {
			return err
		}
	}
	return nil
}

// Commit uploads the segment and puts its manifest. If another attempt was first, this one's objects
// are deleted and ErrExists is returned: the other's manifest stands. It may be called again after an
// error: if the manifest was put and only the answer was lost, it returns that manifest.
func (s *Segment) Commit(ctx context.Context, store Store) (Manifest, error) {
	if err := errors.Join(s.links.zip.Close(), s.objects.zip.Close(), s.warc.out.Flush()); err != nil {
		return Manifest{}, fmt.Errorf("commit segment: %w", err)
	}
	sum := hex.EncodeToString(s.warc.sum.Sum(nil))
	base := path.Join(s.label.Prefix, s.label.Crawl, "data", s.label.Batch+"-"+sum[:16])
	index, err := s.cdxj(base + ".warc.gz")
	if err != nil {
		return Manifest{}, fmt.Errorf("commit segment: %w", err)
	}
	m := Manifest{
		Version: ManifestVersion, Crawl: s.label.Crawl, Batch: s.label.Batch, Worker: s.label.Worker,
		Created: s.created.UTC(), Records: s.warc.count, Counts: s.counts,
		WARC:  Stored{base + ".warc.gz", s.warc.size, sum},
		CDXJ:  stored(base+".cdxj", index),
		Links: stored(base+".links.zst", s.links.out.Bytes()),
	}
	type upload struct {
		key  string
		r    io.Reader
		size int64
	}
	uploads := []upload{
		{m.WARC.Key, io.NewSectionReader(s.warc.file, 0, s.warc.size), m.WARC.Bytes},
		{m.CDXJ.Key, bytes.NewReader(index), m.CDXJ.Bytes},
		{m.Links.Key, bytes.NewReader(s.links.out.Bytes()), m.Links.Bytes},
	}
	if s.objects.lines > 0 {
		o := stored(base+".objects.zst", s.objects.out.Bytes())
		m.Objects = &o
		uploads = append(uploads, upload{o.Key, bytes.NewReader(s.objects.out.Bytes()), o.Bytes})
	}
	for _, u := range uploads {
		if err := store.Put(ctx, u.key, u.r, u.size); err != nil {
			return Manifest{}, fmt.Errorf("commit segment: %w", err)
		}
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return Manifest{}, fmt.Errorf("commit segment: %w", err)
	}
	err = store.PutIfAbsent(ctx, ManifestKey(s.label.Prefix, m.Crawl, m.Batch), raw)
	if errors.Is(err, ErrExists) {
		mine, errDelete := s.withdraw(ctx, store, m)
		if mine {
			return m, nil
		}
		return Manifest{}, errors.Join(fmt.Errorf("commit segment %s: %w", m.Batch, ErrExists), errDelete)
	}
	if err != nil {
		return Manifest{}, fmt.Errorf("commit segment: %w", err)
	}
	return m, nil
}

// withdraw deletes the objects of an attempt that came second, unless they are the first one's: the
// manifest may have been put by this very attempt, whose answer was lost.
func (s *Segment) withdraw(ctx context.Context, store Store, m Manifest) (mine bool, err error) {
	first, err := ReadManifest(ctx, store, s.label.Prefix, m.Crawl, m.Batch)
	if err != nil {
		return false, err
	}
	if first.WARC.Key == m.WARC.Key {
		return true, nil
	}
	var errs []error
	for _, o := range m.Stored() {
		errs = append(errs, store.Delete(ctx, o.Key))
	}
	return false, errors.Join(errs...)
}

func stored(key string, data []byte) Stored {
	sum := sha256.Sum256(data)
	return Stored{key, int64(len(data)), hex.EncodeToString(sum[:])}
}
