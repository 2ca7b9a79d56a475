package spool

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/muninn-archive/muninn/internal/disk"
)

// ErrMissing says that a batch has no such file: the step that writes it has to run again.
var ErrMissing = errors.New("the batch's working files are gone: run it again from its first step")

// Spool is the folder of all batches of a worker.
type Spool struct{ dir string }

// Open makes the folder if it is not there. No other process may have it open.
func Open(dir string) (*Spool, error) {
	s := &Spool{dir}
	if err := os.RemoveAll(s.TempDir()); err != nil { // what a process that was killed left
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if err := os.MkdirAll(s.TempDir(), 0o755); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	return s, nil
}

// TempDir is for files that need not outlive the process.
func (s *Spool) TempDir() string { return filepath.Join(s.dir, "tmp") }

// Batch names a batch's folder; it is made at the first write.
func (s *Spool) Batch(crawl, batch string) *Batch {
	return &Batch{dir: filepath.Join(s.dir, "batches", escape(crawl), escape(batch))}
}

// escape makes a folder name of any name; no name leads out of the spool.
func escape(name string) string {
	if escaped := url.PathEscape(name); strings.Trim(escaped, ".") != "" {
		return escaped
	}
	return "%" + name // "", "." and ".."; no escaped name has a % before anything but two digits
}

// Batch is one batch's folder.
type Batch struct{ dir string }

// Dir returns the folder's path.
func (b *Batch) Dir() string { return b.dir }

// Remove deletes the folder.
func (b *Batch) Remove() error { return os.RemoveAll(b.dir) }

// Write puts a small value into a file of its own, whole or not at all.
func (b *Batch) Write(name string, value any) error {
	raw, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	return b.writeFile(name, raw)
}

func (b *Batch) writeFile(name string, raw []byte) error {
	if err := os.MkdirAll(b.dir, 0o755); err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	return b.put(name, func(w io.Writer) error {
		_, err := w.Write(raw)
		return err
	})
}

// put writes a file whole or not at all: when it returns, the file is on disk under its name, and stays
// there if the power fails.
func (b *Batch) put(name string, write func(w io.Writer) error) error {
	err := disk.WriteFile(filepath.Join(b.dir, name), func(w io.Writer) error {
		out := bufio.NewWriterSize(w, 256<<10)
		return errors.Join(write(out), out.Flush())
	})
	if err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	return nil
}

// Has reports whether a file of the batch is there.
func (b *Batch) Has(name string) (bool, error) {
	_, err := b.Stat(name)
	if errors.Is(err, ErrMissing) {
		return false, nil
	}
	return err == nil, err
}

// Stat describes a file of the batch; ErrMissing if there is none. A file that is written again is another one, see os.SameFile.
func (b *Batch) Stat(name string) (fs.FileInfo, error) {
	info, err := os.Stat(filepath.Join(b.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("spool %s: %w", name, ErrMissing)
	}
	if err != nil {
		return nil, fmt.Errorf("spool %s: %w", name, err)
	}
	return info, nil
}

// Read reads what Write wrote; ErrMissing if it did not.
func (b *Batch) Read(name string, value any) error {
	raw, err := os.ReadFile(filepath.Join(b.dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("spool %s: %w", name, ErrMissing)
	}
	if err != nil {
		return fmt.Errorf("spool %s: %w", name, err)
	}
	if err := json.Unmarshal(raw, value); err != nil {
		return fmt.Errorf("spool %s: %w", name, errors.Join(ErrMissing, err))
	}
	return nil
}
