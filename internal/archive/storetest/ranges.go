package storetest

import (
	"errors"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/muninn-archive/muninn/internal/archive"
)

// getRange reads parts of objects, and asks for parts that they do not have.
func getRange(t *testing.T, s archive.Store) {
	random := rand.New(rand.NewPCG(1, 2))
	data := make([]byte, 100_000)
	for i := range data {
		data[i] = byte(random.Uint32())
	}
	put(t, s, "c/data/x", string(data))
	put(t, s, "c/data/empty", "")
	size := int64(len(data))
	ranges := [][2]int64{{0, 1}, {0, size}, {0, 10 * size}, {size - 1, 1}, {size - 1, 50}, {1, size - 2}, {777, 4096}}
	for range 20 {
		from := random.Int64N(size)
		ranges = append(ranges, [2]int64{from, 1 + random.Int64N(size-from)})
	}
	for _, at := range ranges {
		r, err := s.GetRange(t.Context(), "c/data/x", at[0], at[1])
		if err != nil {
			t.Fatalf("%d bytes from %d on: %v", at[1], at[0], err)
		}
		raw, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatalf("%d bytes from %d on: %v", at[1], at[0], err)
		}
		if want := data[at[0]:min(at[0]+at[1], size)]; string(raw) != string(want) {
			t.Errorf("%d bytes from %d on: %d bytes came back of %d, or others", at[1], at[0], len(raw), len(want))
		}
	}
	for _, bad := range []struct {
		key            string
		offset, length int64
		want           error
	}{
		{"c/data/x", size, 1, archive.ErrRange}, {"c/data/x", size + 100, 5, archive.ErrRange}, {"c/data/x", -1, 1, archive.ErrRange},
		{"c/data/x", 0, 0, archive.ErrRange}, {"c/data/x", 5, -1, archive.ErrRange}, {"c/data/empty", 0, 1, archive.ErrRange},
		{"c/data/y", 0, 1, archive.ErrNotFound}, {"c/data", 0, 1, archive.ErrNotFound},
	} {
		r, err := s.GetRange(t.Context(), bad.key, bad.offset, bad.length)
		if err == nil {
			_ = r.Close()
		}
		if !errors.Is(err, bad.want) {
			t.Errorf("%d bytes of %s from %d on: %v, not %v", bad.length, bad.key, bad.offset, err, bad.want)
		}
	}
}
