package starter

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// errDataInUse is the error of a data folder that another process has locked.
var errDataInUse = errors.New("another muninn uses the data folder")

// lockData makes the data folder and locks it for this process: two Temporal servers would corrupt one database.
func lockData(dir string) (release func(), err error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("the data folder (--data): %w", err)
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("the data folder (--data): %w", err)
	}
	if err := lockFile(f); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%w %s: wait until it ends, or choose another folder (--data)", errDataInUse, dir)
	}
	return func() { _ = f.Close() }, nil
}
