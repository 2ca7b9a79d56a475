package derive

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/page"
)

// Deriver derives segments of an archive. It is safe for concurrent use; each call has working files of its own.
type Deriver struct {
	Store archive.Store
	Dir   string // of working files; empty: that of the system
	PDF   func(ctx context.Context, file []byte, textBytes int) (page.Paper, error)
	Now   func() time.Time
}

// Result says what became of a segment.
type Result struct {
	Manifest
	Known bool // it was derived before: nothing was done
}

// Segment has a step derive a segment, unless it has before. The data is put first, under a name with its digest, and then the manifest, if there is none: an attempt that is cut off leaves
// at most data that the next attempt puts again. Of two attempts at a time one commits. A segment that cannot be read is an archive.DamagedError, and leaves nothing.
func (d *Deriver) Segment(ctx context.Context, at archive.CrawlAt, segment string, step Step) (out Result, err error) {
	if out.Manifest, err = ReadManifest(ctx, d.Store, at, step, segment); err == nil {
		out.Known = true
		return out, nil
	}
	if !errors.Is(err, archive.ErrNotFound) {
		return out, fmt.Errorf("derive %s of segment %s: %w", step.Name, segment, err)
	}
	source, err := archive.ReadSegment(ctx, d.Store, layoutOf(at), segment)
	if err == nil {
		out.Manifest, err = d.derive(ctx, at, source, step)
	}
	if err != nil {
		return Result{}, fmt.Errorf("derive %s of segment %s: %w", step.Name, segment, err)
	}
	return out, nil
}

func (d *Deriver) derive(ctx context.Context, at archive.CrawlAt, source archive.Manifest, step Step) (m Manifest, err error) {
	m = Manifest{Version: ManifestVersion, Step: step.Name, StepVersion: step.Version, Crawl: at.Name, Segment: source.Segment(), Run: source.Run, GivenBack: source.GivenBack}
	lines, err := newLines(d.Dir)
	if err != nil {
		return m, err
	}
	defer lines.free()
	reader := &Reader{Store: d.Store, Dir: d.Dir, PDF: d.PDF}
	defer reader.Close()
	err = reader.Each(ctx, source, func(c *Capture) error {
		m.Captures++
		line, err := apply(ctx, step, c)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case storeFault(err):
			return err
		case err != nil:
			m.fail(c, err)
			return nil
		case line == nil:
			return nil
		}
		m.Lines++
		return lines.put(line)
	})
	if err != nil {
		return m, err
	}
	if m.Lines > 0 {
		if m.Data, err = lines.upload(ctx, d.Store, func(sum string) string {
			return layoutOf(at).DerivedData(step.Name, step.Version, m.Segment, sum)
		}); err != nil {
			return m, err
		}
	}
	m.Created = d.Now().UTC()
	return put(ctx, d.Store, at, step, m)
}

// apply calls a step; a panic of it, as hostile pages may cause, is an error of the capture.
func apply(ctx context.Context, step Step, c *Capture) (line any, err error) {
	defer func() {
		if r := recover(); r != nil {
			line, err = nil, fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return step.Of(ctx, c)
}

// storeFault reports whether an error is the store's, so that it may be better later.
func storeFault(err error) bool {
	var fault *archive.StoreError
	return errors.As(err, &fault)
}

// The bounds of Counts.Failures.
const (
	maxFailures = 20
	maxFailure  = 500 // bytes
)

func (c *Counts) fail(of *Capture, err error) {
	if c.Failed++; c.Failed <= maxFailures {
		c.Failures = append(c.Failures, cut(of.URL, maxFailure/2)+": "+cut(err.Error(), maxFailure/2))
	}
}

// lines is a file of JSON lines, compressed by zstd, while it is written.
type lines struct {
	file *os.File
	out  *bufio.Writer
	zip  *zstd.Encoder
	json *json.Encoder
}

// The compression of data: as that of the sidecars of segments.
const (
	dataLevel  = zstd.SpeedDefault
	dataWindow = 1 << 20 // bytes
)

func newLines(dir string) (l *lines, err error) {
	l = &lines{}
	if l.file, err = os.CreateTemp(dir, "derive-*.zst"); err != nil {
		return nil, err
	}
	_ = os.Remove(l.file.Name()) // the open file stays until it is closed
	l.out = bufio.NewWriter(l.file)
	if l.zip, err = zstd.NewWriter(l.out, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(dataLevel), zstd.WithWindowSize(dataWindow)); err != nil {
		l.free()
		return nil, err
	}
	l.json = json.NewEncoder(l.zip)
	l.json.SetEscapeHTML(false)
	return l, nil
}

func (l *lines) put(line any) error { return l.json.Encode(line) }

// upload puts the file under a key that is made of its digest.
func (l *lines) upload(ctx context.Context, store archive.Store, key func(sha256 string) string) (*archive.Stored, error) {
	if err := errors.Join(l.zip.Close(), l.out.Flush()); err != nil {
		return nil, err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	sum := sha256.New()
	n, err := io.Copy(sum, l.file)
	if err != nil {
		return nil, err
	}
	if _, err := l.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	digest := hex.EncodeToString(sum.Sum(nil))
	o := &archive.Stored{Key: key(digest), Bytes: n, SHA256: digest}
	return o, store.Put(ctx, o.Key, l.file, n)
}

func (l *lines) free() {
	if l.zip != nil {
		_ = l.zip.Close() // of a file that is given up
	}
	_ = l.file.Close()
}
