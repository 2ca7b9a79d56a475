package starter

import (
	"fmt"
	"os"
	"sync"
)

// maxLog bounds worker.log, in bytes. A full file is renamed to worker.log.1, which replaces the former one.
const maxLog = 16 << 20

// rotatingLog is a log file that is renamed to PATH.1 when it is full.
type rotatingLog struct {
	path string
	most int64

	mu   sync.Mutex
	file *os.File
	size int64
}

func openLog(path string, most int64) (*rotatingLog, error) {
	t := &rotatingLog{path: path, most: most}
	return t, t.open()
}

func (t *rotatingLog) open() error {
	f, err := os.OpenFile(t.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return err
	}
	t.file, t.size = f, info.Size()
	return nil
}

// Write appends a line. A line that does not fit goes into a new file.
func (t *rotatingLog) Write(line []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size > 0 && t.size+int64(len(line)) > t.most {
		if err := t.rotate(); err != nil {
			return 0, fmt.Errorf("rotate the log: %w", err)
		}
	}
	n, err := t.file.Write(line)
	t.size += int64(n)
	return n, err
}

func (t *rotatingLog) rotate() error {
	if err := os.Rename(t.path, t.path+".1"); err != nil {
		return err
	}
	full := t.file
	if err := t.open(); err != nil {
		return err
	}
	return full.Close()
}
