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
	"slices"
	"strings"
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

// Manifest commits a segment: the objects that it names are archived, objects that no manifest names are not. A batch without any
// response has only a crawl log. The manifest of a batch that was given back names nothing: it occupies the key, so that a late
// attempt cannot commit.
type Manifest struct {
	Version int    `json:"version"`
	Crawl   string `json:"crawl"`
	Batch   string `json:"batch"`
	Nonce   string `json:"nonce,omitempty"` // of the batch's life; a batch that is run again after it was given back has another
	Worker  string `json:"worker"`
	// Instance is the identity of the worker's data folder; empty in segments of versions that did not write it.
	Instance string    `json:"instance,omitempty"`
	Run      uint32    `json:"run,omitempty"` // of the crawl; 0 in segments of versions that did not write it
	Created  time.Time `json:"created"`
	// GivenBack reports that the URLs of the batch went back to their queues, and that it left nothing.
	GivenBack bool    `json:"given_back,omitempty"`
	WARC      Stored  `json:"warc,omitzero"`
	CDXJ      Stored  `json:"cdxj,omitzero"`
	Links     Stored  `json:"links,omitzero"`
	Objects   *Stored `json:"objects,omitempty"` // nil if no page had any
	Log       *Stored `json:"log,omitempty"`     // nil in segments that were written before there was a crawl log
	Records   int     `json:"records"`
	Counts
}

// Stored lists the objects of the segment.
func (m *Manifest) Stored() []Stored {
	var list []Stored
	for _, o := range []Stored{m.WARC, m.CDXJ, m.Links} {
		if o.Key != "" {
			list = append(list, o)
		}
	}
	if m.Objects != nil {
		list = append(list, *m.Objects)
	}
	if m.Log != nil {
		list = append(list, *m.Log)
	}
	return list
}

// Segment is the name of the segment, unique in its crawl.
func (m *Manifest) Segment() string { return SegmentName(m.Batch, m.Nonce) }

// ReadManifest returns the manifest of a segment: ErrNotFound if it is not committed, ErrGivenBack if it never will be, ErrForeign if
// another's manifest has its key, which is no reason to believe that anything of this one is archived.
func ReadManifest(ctx context.Context, s Store, label Label) (Manifest, error) {
	m, err := readManifest(ctx, s, label.Layout().Manifest(label.Segment()))
	switch {
	case err != nil:
		return m, err
	case !label.wrote(&m):
		return Manifest{}, fmt.Errorf("read manifest of %s: %w: it says batch %q, nonce %q, worker %q", label.Segment(), ErrForeign, m.Batch, m.Nonce, m.Worker)
	case m.GivenBack:
		return m, fmt.Errorf("read manifest of %s: %w", label.Segment(), ErrGivenBack)
	}
	if err := m.fits(label.Layout(), label.Segment(), label.Layout().Manifest(label.Segment())); err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// ReadSegment returns the manifest of a segment by its name, as a listing of the archive gives it: ErrNotFound if there is none, a DamagedError if it is another's or names another's objects. It may be
// that of a batch that was given back.
func ReadSegment(ctx context.Context, s Store, of Layout, segment string) (Manifest, error) {
	return readSegment(ctx, s, of, segment)
}

// readSegment reads a manifest and compares it with its key.
func readSegment(ctx context.Context, s Store, of Layout, segment string) (Manifest, error) {
	key := of.Manifest(segment)
	m, err := readManifest(ctx, s, key)
	if err == nil {
		err = m.fits(of, segment, key)
	}
	if err != nil {
		return Manifest{}, err
	}
	return m, nil
}

// fits reports, as a DamagedError, that a manifest is not that of a segment, or names objects that are not the segment's: what stands in a manifest is no reason to read another segment's
// captures a second time. The prefix is that of the key, because a manifest does not have it; of a crawl that is named with its prefix, the name counts. A manifest of an archive that begins below
// the store's root is no damage, but ErrAbove.
func (m *Manifest) fits(of Layout, segment, key string) error {
	if m.Crawl != path.Base(of.Crawl) || m.Segment() != segment {
		return damaged(fmt.Errorf("read %s: it is the manifest of segment %q of crawl %q", key, m.Segment(), m.Crawl))
	}
	if !m.GivenBack && (m.WARC.Key == "") != (m.CDXJ.Key == "") {
		return damaged(fmt.Errorf("read %s: it names one of a WARC object and its index, not both", key))
	}
	named := Layout{Crawl: m.Crawl}.objects(segment)
	above, below := strings.CutSuffix(of.objects(segment), "/"+named)
	for _, o := range m.Stored() {
		if below && strings.HasPrefix(o.Key, named) {
			return fmt.Errorf("read %s: %w: give its folder or prefix %q", key, ErrAbove, above)
		}
		name, is := strings.CutPrefix(o.Key, of.objects(segment))
		if !is || !objectName.MatchString(name) {
			return damaged(fmt.Errorf("read %s: %.300q is not an object of the segment", key, o.Key))
		}
	}
	return nil
}

// wrote reports whether a manifest is of the same life. Nonces of different lives differ. A life of a version that had none is known
// by its worker: two workers may have given a batch the same name.
func (l Label) wrote(m *Manifest) bool {
	return m.Crawl == l.Crawl && m.Batch == l.Batch && m.Nonce == l.Nonce && (l.Nonce != "" || m.Worker == l.Worker)
}

// GiveBack puts a manifest that names nothing, so that the segment can never be committed: its URLs may be fetched again. If its
// manifest is there already it returns ErrExists, and the segment stays archived. If the key is another's, nothing can be committed
// under it either. It may be called again.
func GiveBack(ctx context.Context, store Store, label Label, at time.Time) error {
	raw, err := json.MarshalIndent(Manifest{
		Version: ManifestVersion, Crawl: label.Crawl, Batch: label.Batch, Nonce: label.Nonce, Worker: label.Worker,
		Instance: label.Instance, Run: label.Run, Created: at.UTC(), GivenBack: true,
	}, "", " ")
	if err != nil {
		return fmt.Errorf("give back segment: %w", err)
	}
	err = store.PutIfAbsent(ctx, label.Layout().Manifest(label.Segment()), raw)
	if !errors.Is(err, ErrExists) {
		return err
	}
	_, errRead := ReadManifest(ctx, store, label)
	switch {
	case errRead == nil:
		return err
	case errors.Is(errRead, ErrGivenBack), errors.Is(errRead, ErrForeign):
		return nil
	}
	return errRead
}

// Segment is the name of the segment.
func (l Label) Segment() string { return SegmentName(l.Batch, l.Nonce) }

// Layout makes the keys of the crawl that the segment is of.
func (l Label) Layout() Layout { return Layout{l.Prefix, l.Crawl} }

func readManifest(ctx context.Context, s Store, key string) (m Manifest, err error) {
	raw, err := ReadAll(ctx, s, key, maxManifest)
	if errors.Is(err, errTooLarge) {
		return m, damaged(err)
	}
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, damaged(fmt.Errorf("read %s: %w", key, err))
	}
	return m, nil
}

// commitTimeout bounds an attempt to commit a segment, from its first object to its manifest: that of ARCHIVE, and that of a batch
// that failed and archives what it has fetched before it goes back. A sweep relies on it: it deletes what no manifest names and is
// older than twice that.
const commitTimeout = time.Hour

// errCommitTimeout is why the context of an attempt ends. The error of a store says only that a deadline was exceeded.
var errCommitTimeout = fmt.Errorf("the segment was not written within %v, the limit of one attempt", commitTimeout)

// Commit uploads the segment and puts its manifest. If another attempt was first, this one's objects
// are deleted and ErrExists is returned: the other's manifest stands; ErrGivenBack if the batch's URLs went back, ErrForeign if the
// manifest is not of this life. It
// may be called again after an error: if the manifest was put and only the answer was lost, it returns that manifest.
func (s *Segment) Commit(ctx context.Context, store Store) (Manifest, error) {
	if err := errors.Join(s.links.close(), s.objects.zip.Close(), s.log.zip.Close(), s.warc.out.Flush()); err != nil {
		return Manifest{}, fmt.Errorf("commit segment: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, commitTimeout, errCommitTimeout)
	defer cancel()
	m, err := s.putAll(ctx, store)
	switch {
	case err == nil:
		return m, nil
	case errors.Is(context.Cause(ctx), errCommitTimeout):
		err = fmt.Errorf("%w: %w", errCommitTimeout, err)
	}
	return Manifest{}, fmt.Errorf("commit segment %s: %w", s.label.Segment(), err)
}

// putAll puts the objects of the segment, and then its manifest.
func (s *Segment) putAll(ctx context.Context, store Store) (Manifest, error) {
	m, uploads, err := s.manifest()
	if err != nil {
		return m, err
	}
	for _, u := range uploads {
		if err := store.Put(ctx, u.key, u.r, u.size); err != nil {
			return m, err
		}
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return m, err
	}
	err = store.PutIfAbsent(ctx, s.label.Layout().Manifest(m.Segment()), raw)
	if !errors.Is(err, ErrExists) {
		return m, err
	}
	mine, err := s.withdraw(ctx, store, m)
	if mine {
		err = nil
	}
	return m, err
}

// upload is an object of a segment on its way.
type upload struct {
	key  string
	r    io.Reader
	size int64
}

// manifest makes the manifest, and the objects that it names: what has nothing in it is left out. They are named by
// the SHA-256 of the first, so that attempts of one batch never write under one name: those of a WARC object differ at
// least by the IDs of its records.
func (s *Segment) manifest() (m Manifest, uploads []upload, err error) {
	m = Manifest{
		Version: ManifestVersion, Crawl: s.label.Crawl, Batch: s.label.Batch, Nonce: s.label.Nonce, Worker: s.label.Worker,
		Instance: s.label.Instance, Run: s.label.Run, Created: s.created.UTC(), Counts: s.counts,
	}
	hash := ""
	key := func(suffix string) string { return s.label.Layout().object(s.label.Segment(), hash, suffix) }
	add := func(suffix string, data []byte) Stored {
		o := stored(key(suffix), data)
		uploads = append(uploads, upload{o.Key, bytes.NewReader(data), o.Bytes})
		return o
	}
	if s.captured() {
		sum := hex.EncodeToString(s.warc.sum.Sum(nil))
		hash = sum[:hashLength]
		index, err := s.cdxj(key(suffixWARC))
		if err != nil {
			return m, nil, err
		}
		m.Records, m.WARC = s.warc.count, Stored{key(suffixWARC), s.warc.size, sum}
		uploads = append(uploads, upload{m.WARC.Key, io.NewSectionReader(s.warc.file, 0, s.warc.size), m.WARC.Bytes})
		m.CDXJ, m.Links = add(suffixCDXJ, index), add(suffixLinks, s.links.out.Bytes())
	} else {
		sum := sha256.Sum256(s.log.out.Bytes())
		hash = hex.EncodeToString(sum[:])[:hashLength]
	}
	if s.objects.lines > 0 {
		o := add(suffixObjects, s.objects.out.Bytes())
		m.Objects = &o
	}
	if s.log.lines > 0 {
		o := add(suffixLog, s.log.out.Bytes())
		m.Log = &o
	}
	return m, uploads, nil
}

// withdraw deletes the objects of an attempt that came second, unless they are the first one's: the
// manifest may have been put by this very attempt, whose answer was lost. err is ErrExists, ErrGivenBack or ErrForeign, with
// what else went wrong.
func (s *Segment) withdraw(ctx context.Context, store Store, m Manifest) (mine bool, err error) {
	first, err := ReadManifest(ctx, store, s.label)
	switch {
	case err == nil && slices.Equal(first.Stored(), m.Stored()):
		return true, nil
	case err == nil:
		err = ErrExists
	case !errors.Is(err, ErrGivenBack) && !errors.Is(err, ErrForeign):
		return false, errors.Join(ErrExists, err)
	}
	errs := []error{err}
	for _, o := range m.Stored() {
		errs = append(errs, store.Delete(ctx, o.Key))
	}
	return false, errors.Join(errs...)
}

func stored(key string, data []byte) Stored {
	sum := sha256.Sum256(data)
	return Stored{key, int64(len(data)), hex.EncodeToString(sum[:])}
}
