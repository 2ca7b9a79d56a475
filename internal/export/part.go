package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Written is what a part of an export is, once all its files are.
type Written struct {
	Part     int              `json:"part"`
	Records  int              `json:"records"` // copied ones: the warcinfo record of the part itself is one more
	Captures int              `json:"captures"`
	Pages    int              `json:"pages,omitempty"` // of a WACZ, that its list names
	Files    []archive.Stored `json:"files"`           // the first is the WARC or WACZ file
	Plan     string           `json:"plan"`            // the file that says which record comes from where
	Passed   bool             `json:"-"`               // it was there already
}

// WritePart writes the files of a part whose plan lies in the store that is exported to, unless they are there. It may be called again after any
// error or kill: it writes the same bytes.
func WritePart(ctx context.Context, from, to archive.Store, planKey string) (w Written, err error) {
	p, err := readPart(ctx, to, planKey)
	if err != nil {
		return w, fmt.Errorf("export: %w", err)
	}
	if w, err = readWritten(ctx, to, planKey); err == nil || !errors.Is(err, archive.ErrNotFound) {
		w.Passed = true
		return w, err
	}
	w = Written{Part: p.Number, Records: p.records(), Plan: planKey}
	for i := range p.Groups {
		if p.Groups[i].Capture != nil {
			w.Captures++
		}
	}
	if p.Of.Format == WACZ {
		err = p.writeWACZ(ctx, from, to, &w)
	} else {
		err = p.writeWARC(ctx, from, to, &w)
	}
	if err != nil {
		return w, fmt.Errorf("export part %d: %w", p.Number, err)
	}
	raw, err := json.MarshalIndent(w, "", " ")
	if err != nil {
		return w, err
	}
	return w, to.Put(ctx, p.Key(suffixWritten), bytes.NewReader(raw), int64(len(raw)))
}

// maxWritten bounds the file that says what a part is, in bytes.
const maxWritten = 1 << 20

func readWritten(ctx context.Context, store archive.Store, plan string) (w Written, err error) {
	key := writtenOf(plan)
	raw, err := archive.ReadAll(ctx, store, key, maxWritten)
	if err != nil {
		return w, err
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return w, fmt.Errorf("read %s: %w", key, err)
	}
	if w.Plan != plan || len(w.Files) == 0 {
		return w, fmt.Errorf("read %s: it is not of the part that %s plans: delete it, and make the export again", key, plan)
	}
	return w, nil
}

// writeWARC writes a part as a WARC file and its index.
func (p *Part) writeWARC(ctx context.Context, from, to archive.Store, w *Written) error {
	info, err := p.warcinfo()
	if err != nil {
		return err
	}
	lines, err := p.cdxj(int64(len(info)))
	if err != nil {
		return err
	}
	warc, err := put(ctx, to, p.Key(suffixWARC), int64(len(info))+p.bytes(), func(ctx context.Context, out io.Writer) error {
		if _, err := out.Write(info); err != nil {
			return err
		}
		return p.copyRecords(ctx, from, out)
	})
	if err != nil {
		return err
	}
	index, err := putText(ctx, to, p.Key(suffixCDXJ), strings.Join(lines, ""))
	w.Files = []archive.Stored{warc, index}
	return err
}

func putText(ctx context.Context, to archive.Store, key, text string) (archive.Stored, error) {
	err := to.Put(ctx, key, strings.NewReader(text), int64(len(text)))
	return archive.Stored{Key: key, Bytes: int64(len(text)), SHA256: hashOf([]byte(text))}, err
}

// put stores what a function writes, while it does.
func put(ctx context.Context, to archive.Store, key string, size int64, write func(context.Context, io.Writer) error) (archive.Stored, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in, out := io.Pipe()
	written := make(chan error, 1)
	go func() {
		err := write(ctx, out)
		_ = out.CloseWithError(err)
		written <- err
	}()
	sum, counted := sha256.New(), &countingReader{r: in}
	err := to.Put(ctx, key, io.TeeReader(counted, sum), size)
	_ = in.CloseWithError(errors.Join(err, errPutEnded))
	cancel()
	if failed := <-written; failed != nil && !errors.Is(failed, errPutEnded) && !errors.Is(failed, context.Canceled) {
		err = failed // the store's error says only that its reader failed
	}
	return archive.Stored{Key: key, Bytes: counted.n, SHA256: hex.EncodeToString(sum.Sum(nil))}, err
}

// errPutEnded ends the writing of what a store has, or does not take.
var errPutEnded = errors.New("the store reads no more")

type countingReader struct {
	r io.Reader
	n int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}
