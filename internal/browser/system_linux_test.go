package browser

import (
	"os"
	"testing"
)

// TestMemoryOf: what a process shares counts, and files that can be read again do not.
func TestMemoryOf(t *testing.T) {
	raw := []byte("1-2 ---p 0 00:00 0 [rollup]\nRss: 9999 kB\nPss:  900 kB\nPss_Dirty: 30 kB\nPss_Anon:  20 kB\nPss_File: 800 kB\nPss_Shmem:  5 kB\nSwapPss: 7 kB\n")
	for name, want := range map[string]int64{"Pss_Anon:": 20 << 10, "Pss_Dirty:": 30 << 10, "SwapPss:": 7 << 10, "Pss_Other:": 0} {
		if got := kilobytes(raw, name); got != want {
			t.Errorf("%s %d, want %d", name, got, want)
		}
	}
	if got := memoryOf(os.Getpid()); got < 1<<20 || got > 8<<30 {
		t.Errorf("this process has %d bytes", got)
	}
}
