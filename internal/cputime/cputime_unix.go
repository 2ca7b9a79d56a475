//go:build unix

package cputime

import (
	"syscall"
	"time"
)

// Used is the processor time that this process has used.
func Used() time.Duration {
	var use syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}
