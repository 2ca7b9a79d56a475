package worker

import (
	"runtime"
	"testing"
)

// TestHeapSamples: a worker notes fewer allocations for the profile of its heap than Go does by default.
func TestHeapSamples(t *testing.T) {
	for _, set := range []string{"GOGC", "GOMEMLIMIT"} {
		t.Setenv(set, "as they are")
	}
	rate := runtime.MemProfileRate
	defer func() { runtime.MemProfileRate = rate }()
	if BoundMemory(); runtime.MemProfileRate != heapSample {
		t.Errorf("an allocation is noted every %d bytes", runtime.MemProfileRate)
	}
}
