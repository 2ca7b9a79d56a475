package export

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Checked is what Check has found.
type Checked struct {
	Parts   int      `json:"parts"`
	Records int      `json:"records"` // copied ones, each with the SHA-256 of its source
	Bytes   int64    `json:"bytes"`   // of the files of the parts
	Faults  []string `json:"faults"`
}

// maxFaults bounds the faults that a check reports.
const maxFaults = 1000

// checker compares an export with its archive.
type checker struct {
	Checked
	from, to  archive.Store
	sources   map[string]bool // files of the archive that were checked
	originals map[revisited]bool
	revisits  map[revisited]string // and where the first stands that refers to it
}

// revisited is what a revisit refers to.
type revisited struct {
	url    string
	second int64
	digest string
}

// Check compares an export with the archive that it is of: files have the sizes and SHA-256 of the manifest, each record is a whole gzip member with the
// SHA-256 of the record that it is copied from, whose file has that of its own manifest, and each revisit refers to a capture of the export. It reads the export, and the
// files of the archive that records were copied from, whole.
func Check(ctx context.Context, from, to archive.Store, manifestKey string) (Checked, error) {
	raw, err := archive.ReadAll(ctx, to, manifestKey, maxOutline)
	if err != nil {
		return Checked{}, fmt.Errorf("check the export: %w", err)
	}
	var m Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return Checked{}, fmt.Errorf("check the export: read %s: %w", manifestKey, err)
	}
	c := &checker{from: faulty(from), to: faulty(to), sources: map[string]bool{}, originals: map[revisited]bool{}, revisits: map[revisited]string{}}
	c.Faults = []string{}
	if err := m.valid(); err != nil {
		c.fault("%s: %v", manifestKey, err)
		return c.Checked, nil
	}
	if len(m.Written) != len(m.Parts) {
		c.fault("%s: %d of %d parts are written", manifestKey, len(m.Written), len(m.Parts))
	}
	if m.Missing != nil {
		if err := c.file(ctx, c.to, *m.Missing); err != nil {
			return c.Checked, fmt.Errorf("check the export: %w", err)
		}
	}
	for i, w := range m.Written {
		if i >= len(m.Parts) || w.Plan != m.Parts[i].Plan || w.Records != m.Parts[i].Records || len(w.Files) == 0 {
			c.fault("%s: part %d is not what was planned", manifestKey, i+1)
			continue
		}
		if err := c.part(ctx, w); err != nil {
			return c.Checked, fmt.Errorf("check part %d of the export: %w", w.Part, err)
		}
	}
	for r, where := range c.revisits {
		if !c.originals[r] {
			c.fault("%s: it is a revisit of %s at %s, which the export does not have", where, r.url, time.Unix(r.second, 0).UTC().Format(time.RFC3339))
		}
	}
	return c.Checked, nil
}

func (c *checker) fault(format string, args ...any) {
	if len(c.Faults) < maxFaults {
		c.Faults = append(c.Faults, fmt.Sprintf(format, args...))
	}
}

// part checks a part.
func (c *checker) part(ctx context.Context, w Written) error {
	c.Parts++
	p, err := readPart(ctx, c.to, w.Plan)
	if err != nil {
		return c.orFault(ctx, err)
	}
	for _, s := range p.Sources {
		if !c.sources[s.WARC.Key] {
			c.sources[s.WARC.Key] = true
			if err := c.file(ctx, c.from, s.WARC); err != nil {
				return err
			}
		}
	}
	for _, f := range w.Files {
		c.Bytes += f.Bytes
		if err := c.file(ctx, c.to, f); err != nil {
			return err
		}
	}
	return c.orFault(ctx, c.records(ctx, p, w.Files[0].Key))
}

// orFault reports damage; faults of a store are errors.
func (c *checker) orFault(ctx context.Context, err error) error {
	if err == nil || ctx.Err() != nil || isFault(err) {
		return err
	}
	c.fault("%v", err)
	return nil
}

// file compares the size and the sum of a file.
func (c *checker) file(ctx context.Context, store archive.Store, f archive.Stored) error {
	r, err := store.Get(ctx, f.Key)
	if err != nil {
		return c.orFault(ctx, err)
	}
	defer func() { _ = r.Close() }()
	sum := sha256.New()
	n, err := io.Copy(sum, r)
	if err != nil {
		return c.orFault(ctx, fmt.Errorf("read %s: %w", f.Key, err))
	}
	if got := hex.EncodeToString(sum.Sum(nil)); n != f.Bytes || got != f.SHA256 {
		c.fault("%s has %d bytes with SHA-256 %s, but %d with %s were stored", f.Key, n, got, f.Bytes, f.SHA256)
	}
	return nil
}

// records compares the records of a part with their sources.
func (c *checker) records(ctx context.Context, p *Part, key string) error {
	file, err := c.to.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	in := bufio.NewReaderSize(file, 256<<10)
	if p.Of.Format == WACZ {
		if err := skipLocalHeader(in); err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
	}
	info, err := p.warcinfo()
	if err != nil {
		return err
	}
	head := make([]byte, len(info))
	if _, err := io.ReadFull(in, head); err != nil || !bytes.Equal(head, info) {
		return fmt.Errorf("%s does not begin with the warcinfo record of the part: %w", key, errors.Join(noEOF(err), ErrForeign))
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	source, to := io.Pipe()
	copied := make(chan struct{})
	go func() {
		defer close(copied)
		_ = to.CloseWithError(p.copyRecords(ctx, c.from, to))
	}()
	defer func() {
		cancel()
		_ = source.CloseWithError(context.Canceled)
		<-copied
	}()
	return c.compare(p, key, in, source)
}

// compare reads the records of a part side by side.
func (c *checker) compare(p *Part, key string, in, source io.Reader) error {
	at := int64(0)
	for i := range p.Groups {
		g := &p.Groups[i]
		for _, r := range g.Runs {
			offset := r[0]
			for _, n := range r[1:] {
				want := sha256.New()
				if _, err := io.CopyN(want, source, n); err != nil {
					return fmt.Errorf("read %s at %d: %w", p.Sources[g.Source].WARC.Key, offset, noEOF(err))
				}
				got := sha256.New()
				one := io.LimitReader(io.TeeReader(in, got), n)
				rec, err := newRecordReader(one, 0).next()
				if _, errRest := io.Copy(io.Discard, one); errRest != nil {
					return fmt.Errorf("read %s: %w", key, errRest)
				}
				where := fmt.Sprintf("%s, record %d of the part (%s at %d)", key, c.Records, p.Sources[g.Source].WARC.Key, offset)
				c.Records++
				switch {
				case err != nil || rec.length != n:
					c.fault("%s: it is no whole gzip member with a record: %v", where, err)
				case !bytes.Equal(want.Sum(nil), got.Sum(nil)):
					c.fault("%s: it has not the SHA-256 of its source", where)
				default:
					c.remember(g, offset, &rec, where)
				}
				offset, at = offset+n, at+n
			}
		}
	}
	return nil
}

// remember keeps what revisits refer to, and what they may refer to.
func (c *checker) remember(g *PartGroup, offset int64, rec *record, where string) {
	if g.Capture == nil || offset != g.Capture.Offset {
		return
	}
	if g.Capture.Revisit {
		r := revisited{rec.refersTo, rec.refersDate.Unix(), g.Capture.Digest}
		if c.revisits[r] == "" {
			c.revisits[r] = where
		}
		return
	}
	c.originals[revisited{g.Capture.URL, g.Capture.Date.Unix(), g.Capture.Digest}] = true
}

// skipLocalHeader passes over the header of the first file of a ZIP file, which is the WARC file.
func skipLocalHeader(in *bufio.Reader) error {
	head := make([]byte, 30)
	if _, err := io.ReadFull(in, head); err != nil {
		return noEOF(err)
	}
	if string(head[:4]) != "PK\x03\x04" {
		return errors.New("it is no ZIP file")
	}
	_, err := in.Discard(int(binary.LittleEndian.Uint16(head[26:])) + int(binary.LittleEndian.Uint16(head[28:])))
	return err
}
