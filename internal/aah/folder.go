package aah

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/muninn-archive/muninn/kb"
)

// folder is where a base that can be replaced lies.
type folder struct {
	dir       string
	mu        sync.Mutex
	inForce   string // names, sizes and times of the files in force
	pending   string // … of files that have changed since
	checkedAt time.Time
	lastError error // with the files as they are now
}

// CheckEvery is how often a folder is looked at while pages come in.
const CheckEvery = 5 * time.Second

// Open makes a helper of the base in a folder, which may be changed while the helper is in use; "" is the
// base that is built in. The error of a broken base holds a kb.Faults.
func Open(dir string, limits Limits) (*Helper, error) {
	if dir == "" {
		base, err := kb.Shipped()
		if err != nil {
			return nil, err
		}
		return New(base, limits), nil
	}
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return nil, fmt.Errorf("knowledge base: there is no folder %s", dir)
	}
	h := New(&kb.Base{}, limits)
	h.folder = &folder{dir: dir}
	return h, h.Refresh(true)
}

// Refresh puts the base of the folder in force if it has changed. A base with faults is returned as an error, and the earlier one
// stays in force. Unless now is set, it checks the folder every CheckEvery, and returns each error once.
func (h *Helper) Refresh(now bool) error {
	f := h.folder
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if !now && time.Since(f.checkedAt) < CheckEvery {
		return nil
	}
	f.checkedAt = time.Now()
	files, err := f.state()
	if err != nil {
		return fmt.Errorf("knowledge base: %w", err)
	}
	if files == f.inForce {
		if now {
			return f.lastError
		}
		return nil
	}
	if !now && files != f.pending { // somebody may be writing: files count once they stay the same until the next check
		f.pending = files
		return nil
	}
	base, err := kb.Load(os.DirFS(f.dir))
	f.inForce, f.lastError = files, nil
	if err != nil {
		f.lastError = fmt.Errorf("knowledge base in %s:\n%w", f.dir, err)
		if faults := (kb.Faults)(nil); !errors.As(err, &faults) {
			f.inForce = "" // an error that may pass: the folder is read again
		}
		return f.lastError
	}
	h.SetBase(base)
	return nil
}

// state changes whenever a file has changed.
func (f *folder) state() (string, error) {
	var b strings.Builder
	err := fs.WalkDir(os.DirFS(f.dir), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if kb.Hidden(name) {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if entry.IsDir() || path.Ext(name) != ".xml" {
			return nil
		}
		info, err := os.Stat(filepath.Join(f.dir, filepath.FromSlash(name))) // of what a link leads to
		if errors.Is(err, fs.ErrNotExist) {
			return nil // gone meanwhile
		}
		if err != nil {
			return err
		}
		fmt.Fprintln(&b, name, info.Size(), info.ModTime().UnixNano())
		return nil
	})
	return b.String(), err
}
