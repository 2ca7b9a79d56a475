package starter

import (
	"os"
	"syscall"
)

// lockFile locks the file for this process. The lock ends with the process, however it ends.
func lockFile(f *os.File) error {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}
