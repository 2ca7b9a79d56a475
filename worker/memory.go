package worker

import (
	"os"
	"runtime/debug"
)

// The collector's settings where GOGC and GOMEMLIMIT give none: pages are short-lived, so the heap may
// grow further between collections than by Go's default of 100 %, up to a limit.
const (
	gcPercent   = 250
	memoryLimit = 1536 << 20
)

// BoundMemory sets them for this process; a main that runs a worker calls it.
func BoundMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
}
