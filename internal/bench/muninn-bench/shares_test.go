package main

import (
	"maps"
	"testing"
)

func TestReadShares(t *testing.T) {
	const tags = ` step: Total 6.0s
        3500.00ms (35.00%): AAH
        1500.00ms (15.00%): ARCHIVE

 temporal: Total 2.0s
        900.00ms ( 9.00%): other
`
	const top = `File: muninn-worker
Duration: 20s, Total samples = 10000ms (50.0%)
      flat  flat%   sum%        cum   cum%
         0     0%     0%  3500.00ms 35.00%  github.com/muninn-archive/muninn/internal/page.Parse
   10.00ms 0.10%     0%  1000.00ms 10.00%  runtime.gcBgMarkWorker
         0     0%     0%   900.00ms  9.00%  runtime.gcBgMarkWorker.func2
`
	want := map[string]float64{"AAH": 3500, "ARCHIVE": 1500, "garbage collector": 1000, "other": 4000}
	if got := readShares(tags, top); !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
