package disk

import (
	"errors"
	"os"
)

// SyncDir makes the names in a folder durable: a file that was made or renamed survives a power failure only once its
// folder is written too.
func SyncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
