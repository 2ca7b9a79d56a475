package main

import (
	"strings"
	"testing"
)

func TestReadFlown(t *testing.T) {
	got, err := readFlown(strings.NewReader(`# TYPE go_goroutines gauge
go_goroutines 12034
go_memstats_heap_alloc_bytes 4.1943040e+07
process_resident_memory_bytes 2.097152e+08
muninn_spool_bytes 7
muninn_spool_batches 2000
`))
	if want := (flown{2000, 12034, 200 << 20, 40 << 20}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
}
