package worker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/activities"
	"github.com/muninn-archive/muninn/internal/disk"
)

// epochFile is the data folder's note of the last epoch of the ring that its worker knew. A ring that has lost its state counts on from
// the highest that a worker knows: an epoch must never name two different tables.
type epochFile string

func (f epochFile) path() string { return filepath.Join(string(f), activities.EpochFile) }

// read returns 0 if there is no note.
func (f epochFile) read() (uint64, error) {
	raw, err := os.ReadFile(f.path())
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("setting data: %w", err)
	}
	epoch, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("setting data: %s does not hold the number of an epoch: delete it if no other worker of the cluster runs, or write the epoch that `muninn workers` shows", f.path())
	}
	return epoch, nil
}

// keep replaces an older note; a newer one stays.
func (f epochFile) keep(epoch uint64) error {
	if before, err := f.read(); err == nil && before >= epoch {
		return nil
	}
	return disk.WriteFile(f.path(), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, epoch)
		return err
	})
}
