package disk

import (
	"errors"
	"io"
	"os"
	"path/filepath"
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

// WriteFile writes a file whole or not at all, beside what Place says. Two writers of one path must not work at the same time: the
// temporary file is the path with ".new" after it. One that a killed process has left is replaced by the next call.
func WriteFile(path string, write func(w io.Writer) error) error {
	f, err := os.Create(path + ".new")
	if err != nil {
		return err
	}
	return Place(f, path, os.Rename, write)
}

// Place writes a temporary file, which is open and lies in the folder of path, and puts it under its name by place: os.Rename, or a link
// that fails if the name is taken. When it returns nil, the file is on disk under its name, and stays there if the power fails. After an error
// the temporary file is gone; what lay under the name lies there still, unless only the sync of the folder has failed.
func Place(f *os.File, path string, place func(from, to string) error, write func(w io.Writer) error) error {
	err := errors.Join(write(f), f.Sync(), f.Close())
	if err == nil {
		err = place(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return err
	}
	return SyncDir(filepath.Dir(path))
}
