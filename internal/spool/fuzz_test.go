package spool

import (
	"bytes"
	"testing"
)

// FuzzScan: in any file, the entries that are found can be read, and so can entries that are appended.
func FuzzScan(f *testing.F) {
	_, raw, last := filled(f, 3)
	f.Add(raw)
	f.Add(raw[:last+9])
	f.Add(append(bytes.Clone(raw), raw...))
	f.Add([]byte("MNN1\x00\x00\x00\x01\x00\x00\x00\x01\xff\xff\xff\xff\xff\xff\xff\xff"))
	f.Add([]byte{})
	scanAll := func(t *testing.T, raw []byte) (list []Entry, end int64) {
		r := bytes.NewReader(raw)
		for {
			e, next, ok, err := frame(r, end, int64(len(raw)), make([]byte, 1024))
			if err != nil {
				t.Fatal(err)
			}
			if !ok {
				return list, end
			}
			if next <= end || next > int64(len(raw)) {
				t.Fatalf("a frame from %d to %d of %d", end, next, len(raw))
			}
			list, end = append(list, e), next
		}
	}
	f.Fuzz(func(t *testing.T, bytesOnDisk []byte) {
		list, end := scanAll(t, bytesOnDisk)
		for i := range list {
			if n := len(readAll(t, list[i].Response())); int64(n) != list[i].ResponseN {
				t.Fatalf("%d bytes of %d", n, list[i].ResponseN)
			}
			readAll(t, list[i].Body())
		}
		more, _ := scanAll(t, append(bytes.Clone(bytesOnDisk[:end]), raw...))
		if len(more) != len(list)+3 {
			t.Fatalf("%d entries, %d after three more were written", len(list), len(more))
		}
		check(t, &more[len(more)-1], 2)
	})
}
