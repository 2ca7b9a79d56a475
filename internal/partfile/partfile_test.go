package partfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/frontier"
	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// filled is a frontier with URLs of some PLDs, in two crawls.
func filled(t testing.TB, urls int) *frontier.Frontier {
	t.Helper()
	f, err := frontier.Open(t.TempDir(), frontier.Options{NoSync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	for i, name := range []string{"one", "two"} {
		d := crawl.DefaultDefinition()
		d.Name, d.Seeds, d.Scope.Within = name, []crawl.Seed{{URL: "http://a.example/"}}, crawl.WithinWeb
		_, err := f.Begin(name, "owner", 0, d, []string{"http://a.example/"}, false)
		if err != nil {
			t.Fatal(err)
		}
		for n := 0; n < urls/(i+1); n += 1000 {
			var list []crawl.Discovery
			for at := range min(1000, urls/(i+1)-n) {
				list = append(list, crawl.Discovery{URL: fmt.Sprintf("http://a.example/some/folder/page-%d.html", n+at), Path: "SL", Via: "http://a.example/", Score: 0.5})
			}
			if err := f.Crawl(name).URLs().Offer(fmt.Sprint("offer", n), list); err != nil {
				t.Fatal(err)
			}
		}
	}
	return f
}

// full is the partition that has most.
func full(t testing.TB, f *frontier.Frontier) frontier.Partition {
	t.Helper()
	best, most := frontier.Partition(0), 0
	err := f.Export(func(e *frontier.Export) error {
		for p := range frontier.Partition(frontier.Partitions) {
			n := 0
			err := e.Partition(p, func([]*frontier.PartitionCrawl) error { return nil }, func(frontier.PartitionEntry) error { n++; return nil })
			if err != nil {
				return err
			}
			if n > most {
				best, most = p, n
			}
		}
		return nil
	})
	if err != nil || most == 0 {
		t.Fatalf("%d entries, %v", most, err)
	}
	return best
}

func written(t testing.TB, f *frontier.Frontier, p frontier.Partition) []byte {
	t.Helper()
	var out bytes.Buffer
	err := f.Export(func(e *frontier.Export) error {
		_, err := Write(&out, Header{Partition: p, Epoch: 3, Worker: "w", Created: time.Unix(1700000000, 0).UTC()}, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestRoundTrip: a partition that goes through a store to another frontier is the same object there.
func TestRoundTrip(t *testing.T) {
	one, two := filled(t, 500), filled(t, 3)
	p := full(t, one)
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	key := archive.Frontiers{}.HandedOver(int(p), 3, "w")
	var n uint64
	err = one.Export(func(e *frontier.Export) (err error) {
		n, err = Put(t.Context(), store, key, Header{Partition: p, Epoch: 3, Worker: "w"}, e)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var h Header
	in, err := Import(t.Context(), store, key, p, frontier.AllCrawls, two, nil, func(of Header) error { h = of; return nil })
	if err != nil || uint64(in.Entries) != n || h.Epoch != 3 || h.Worker != "w" || len(h.Crawls) != 2 || h.Crawls[0].Name != "one" {
		t.Errorf("%d entries of %d, %+v, %v", in.Entries, n, h, err)
	}
	if !bytes.Equal(written(t, one, p), written(t, two, p)) {
		t.Error("the two frontiers export different objects")
	}
	refused := errors.New("refused")
	if _, err := Import(t.Context(), store, key, p, frontier.AllCrawls, two, nil, func(Header) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("an object that is refused by its header: %v", err)
	}
	if _, err := Import(t.Context(), store, key, p^1, frontier.AllCrawls, two, nil, nil); !errors.Is(err, ErrPartition) {
		t.Errorf("as another partition: %v", err)
	}
	if _, err := Import(t.Context(), store, key+"x", p, frontier.AllCrawls, two, nil, nil); !errors.Is(err, archive.ErrNotFound) {
		t.Errorf("no object: %v", err)
	}
}

// count reads an object to its end.
func count(raw []byte) (n int, err error) {
	r, err := NewReader(bytes.NewReader(raw))
	if err != nil {
		return 0, err
	}
	defer r.Close()
	for _, err := range r.Entries() {
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// TestTruncated: an object that ends after any number of its bytes is not taken for a whole one, nor is one of which a byte is another.
func TestTruncated(t *testing.T) {
	f := filled(t, 5)
	raw := written(t, f, full(t, f))
	whole, err := count(raw)
	if err != nil || whole == 0 {
		t.Fatalf("%d entries, %v", whole, err)
	}
	plain, zip := unpacked(t, raw), packer(t)
	for n := range raw {
		if _, err := count(raw[:n]); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut off after %d of %d bytes: %v", n, len(raw), err)
		}
		changed := bytes.Clone(raw)
		changed[n] ^= 0x10
		if _, err := count(changed); err == nil && !bytes.Equal(unpacked(t, changed), plain) { // some bits of zstd mean nothing
			t.Errorf("byte %d of %d is another, which nobody notices", n, len(raw))
		}
	}
	for n := range plain {
		if _, err := count(zip(plain[:n])); !errors.Is(err, ErrTruncated) {
			t.Errorf("cut off after %d of %d bytes before compression: %v", n, len(plain), err)
		}
		changed := bytes.Clone(plain)
		changed[n] ^= 1
		if _, err := count(zip(changed)); err == nil {
			t.Errorf("byte %d of %d before compression is another, which nobody notices", n, len(plain))
		}
	}
	if _, err := count(zip(append(plain, 0))); !errors.Is(err, ErrDamaged) {
		t.Errorf("with a byte more: %v", err)
	}
	version := bytes.Replace(plain, []byte{1, Version, 2}, []byte{1, Version + 1, 2}, 1)
	if _, err := count(zip(version)); !errors.Is(err, ErrVersion) {
		t.Errorf("of a later version: %v", err)
	}
	if _, err := count([]byte(strings.Repeat("no object ", 10))); !errors.Is(err, ErrDamaged) {
		t.Errorf("no object: %v", err)
	}
	away := errors.New("the store is away")
	r, err := NewReader(io.MultiReader(bytes.NewReader(raw[:len(raw)/2]), iotest.ErrReader(away)))
	for err == nil {
		for _, err = range r.Entries() {
			if err != nil {
				break
			}
		}
	}
	if !errors.Is(err, away) || errors.Is(err, ErrDamaged) || errors.Is(err, ErrTruncated) {
		t.Errorf("a store that is away: %v", err)
	}
}

func unpacked(t testing.TB, raw []byte) []byte {
	t.Helper()
	z, err := zstd.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return plain
}

func packer(t testing.TB) func([]byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(plain []byte) []byte { return z.EncodeAll(plain, nil) }
}

// TestPutFails: if the store does not take the object, or the frontier is closed, the export ends with that error.
func TestPutFails(t *testing.T) {
	f := filled(t, 5)
	p := full(t, f)
	store, err := archive.OpenDir(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	err = f.Export(func(e *frontier.Export) error {
		_, err := Put(t.Context(), store, "../x", Header{Partition: p}, e)
		return err
	})
	if !errors.Is(err, archive.ErrKey) {
		t.Errorf("%v", err)
	}
}

// FuzzReader: whatever the bytes are, the reader ends, and an object that it reads without an error is one that the writer writes.
func FuzzReader(f *testing.F) {
	from := filled(f, 5)
	raw := written(f, from, full(f, from))
	plain, zip := unpacked(f, raw), packer(f)
	for _, n := range []int{0, 4, 8, 9, 40, len(plain) / 2, len(plain) - 9, len(plain) - 1, len(plain)} {
		f.Add(plain[:n])
	}
	f.Fuzz(func(t *testing.T, plain []byte) {
		r, err := NewReader(bytes.NewReader(zip(plain)))
		if err != nil {
			return
		}
		defer r.Close()
		var out bytes.Buffer
		w, err := NewWriter(&out, r.Header, r.crawls)
		if err != nil {
			t.Fatal(err)
		}
		for e, err := range r.Entries() {
			if err != nil {
				return
			}
			if err := w.Add(e); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		n, err := count(out.Bytes())
		if err != nil || uint64(n) != r.n {
			t.Errorf("%d entries are written again as %d: %v", r.n, n, err)
		}
	})
}

// BenchmarkObject writes and reads an object of 10^5 URLs of one PLD.
func BenchmarkObject(b *testing.B) {
	const urls = 100_000
	f := filled(b, urls)
	p := full(b, f)
	known := float64(urls + urls/2)
	var raw []byte
	b.Run("write", func(b *testing.B) {
		for b.Loop() {
			raw = written(b, f, p)
		}
		b.ReportMetric(float64(len(raw))/known, "B/URL")
		b.ReportMetric(known*float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
	})
	b.Run("read", func(b *testing.B) {
		for b.Loop() {
			if _, err := count(raw); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(known*float64(b.N)/b.Elapsed().Seconds(), "URLs/s")
	})
}

// awayReader fails where the object ends.
type awayReader struct{ io.Reader }

func (r awayReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err != nil {
		err = errAway
	}
	return n, err
}

var errAway = errors.New("the store does not answer")

// TestStoreFailsAtTheEnd: a store that fails behind the last byte is no damage of the object: who takes it for one would make the partition again.
func TestStoreFailsAtTheEnd(t *testing.T) {
	var object bytes.Buffer
	w, err := NewWriter(&object, Header{Partition: 3}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := NewReader(awayReader{&object})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	err = nil
	for _, fault := range r.Entries() {
		err = fault
	}
	if !errors.Is(err, errAway) || errors.Is(err, ErrDamaged) {
		t.Errorf("%v", err)
	}
}

// TestAhead: an object says by how much the clock of its writer was ahead, and times are changed by the difference of two clocks if both are known; objects of earlier versions do not say it.
func TestAhead(t *testing.T) {
	fast, slow, near := 2*time.Minute, -2*time.Minute, 2*time.Minute+leastShift/2
	late := fast + 3*time.Second // three seconds too much: its tasks took that long
	for _, test := range []struct {
		of, here *time.Duration
		want     time.Duration
	}{{nil, nil, 0}, {&fast, nil, 0}, {nil, &fast, 0}, {&fast, &slow, -4 * time.Minute}, {&slow, &fast, 4 * time.Minute}, {&fast, &near, 0}, {&late, &fast, 0}, {&fast, &late, 3 * time.Second}} {
		var object bytes.Buffer
		w, err := NewWriter(&object, Header{Partition: 3, Ahead: test.of}, nil)
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := NewReader(&object)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		if got := r.shift(test.here); got != test.want {
			t.Errorf("%v here, %v there: %v, want %v", test.here, test.of, got, test.want)
		}
	}
}
