// Package pdf reads the text and the links of PDF files. The reader is PDFium, the one of Chromium, compiled to WebAssembly: it runs inside of
// the process, with no access to files or network, in memory of a fixed size, and is stopped when its time is over. So a hostile file costs its own
// text, and no worker.
package pdf

import (
	"context"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
	"golang.org/x/sync/semaphore"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/page"
)

// Limits bound what one file may cost.
type Limits struct {
	Time   time.Duration // to read a file; what was read until then counts. 0: no file is read
	Memory crawl.Bytes   // of the reader
}

// DefaultLimits are the documented defaults.
func DefaultLimits() Limits { return Limits{Time: 20 * time.Second, Memory: 128 << 20} }

// LeastMemory is what PDFium itself needs.
const LeastMemory crawl.Bytes = 32 << 20

// Bounds of what is read of a file.
const (
	maxPages = 2000 // pages
	maxLinks = 5000 // links that are looked at
)

// Reader reads one file at a time. The zero Reader reads none. PDFium is compiled when the first file comes, which takes some two seconds.
type Reader struct {
	limits Limits
	turn   *semaphore.Weighted
	pool   func() (pdfium.Pool, error)
}

// New makes a reader.
func New(l Limits) *Reader {
	r := &Reader{limits: l, turn: semaphore.NewWeighted(1)}
	r.pool = sync.OnceValues(func() (pdfium.Pool, error) {
		config := wazero.NewRuntimeConfig().
			WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(uint32(l.Memory >> 16)).WithCloseOnContextDone(true).WithDebugInfoEnabled(false)
		return webassembly.Init(webassembly.Config{
			MaxTotal: 1, RuntimeConfig: config, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		})
	})
	return r
}

// Read reads a file. With an error, the document is what was read before.
func (r *Reader) Read(ctx context.Context, data []byte, textBytes int) (d page.Paper, err error) {
	if r == nil || r.limits.Time == 0 {
		return d, nil
	}
	if err := r.turn.Acquire(ctx, 1); err != nil {
		return d, err
	}
	defer r.turn.Release(1)
	pool, err := r.pool()
	if err != nil {
		return d, fmt.Errorf("start PDFium: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, r.limits.Time)
	defer cancel()
	in, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return d, fmt.Errorf("start PDFium: %w", err)
	}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		_ = in.Kill()
		close(stopped)
	})
	f := file{Pdfium: in, room: textBytes}
	err = f.read(data)
	if stop() {
		_ = in.Close()
	} else {
		<-stopped
		err = fmt.Errorf("read a PDF file: stopped after %s: %w", r.limits.Time, context.Cause(ctx))
	}
	return f.paper, err
}
