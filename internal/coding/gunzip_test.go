package coding

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	kgzip "github.com/klauspost/compress/gzip"
)

// gzipped packs a text at a level of compress/gzip or of the other encoder, whose blocks and codes differ.
func gzipped(t testing.TB, text string, level int, other bool) string {
	return pack(t, text, func(w io.Writer) io.WriteCloser {
		if other {
			z, _ := kgzip.NewWriterLevel(w, level)
			return z
		}
		z, _ := gzip.NewWriterLevel(w, level)
		return z
	})
}

// samples are texts of all kinds: without repetition, with long and short ones, near and far, with rare characters.
func samples() (list []string) {
	random := rand.New(rand.NewPCG(1, 2))
	bytesOf := func(n, of int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = byte(random.IntN(of))
		}
		return string(b)
	}
	var page strings.Builder
	for i := range 900 {
		fmt.Fprintf(&page, `<div class="item"><a href="/year/%d/entry-%d.html?from=%d">raven %c</a> The raven flew.</div>`, i%20, i, random.IntN(1e9), rune(0x41+random.IntN(2000)))
	}
	var skewed strings.Builder // codes of up to 15 bits
	for i := range 18 {
		skewed.WriteString(strings.Repeat(string(rune('a'+i)), 1<<i))
	}
	mixed := []byte(skewed.String())
	random.Shuffle(len(mixed), func(i, j int) { mixed[i], mixed[j] = mixed[j], mixed[i] })
	list = append(list, "", "x", "raven", strings.Repeat("a", 1000), strings.Repeat("ab", 9000), strings.Repeat("abcdefg", 300), page.String(), string(mixed))
	far := bytesOf(31_000, 256)
	list = append(list, bytesOf(100, 256), bytesOf(70_000, 256), bytesOf(70_000, 3), far+strings.Repeat(" ", 400)+far, page.String()[:3000]+bytesOf(500, 256)+page.String())
	return list
}

// TestGunzip: whole members of all encoders and levels are decoded, and nothing else is.
func TestGunzip(t *testing.T) {
	var g Gunzip
	for i, text := range samples() {
		for level := -2; level <= 9; level++ {
			for _, other := range []bool{false, true} {
				body := gzipped(t, text, level, other)
				got, ok := g.Append([]byte("before "), strings.NewReader(body), len(text))
				if taken := ok || len(text) < 2000; !taken || ok && string(got) != "before "+text {
					t.Errorf("sample %d at level %d: %v, %d bytes instead of %d", i, level, ok, len(got)-7, len(text))
				}
				for name, wrong := range map[string]string{
					"cut off": body[:len(body)-1], "something behind it": body + "x", "two members": body + body, "no gzip": text, "nothing": "",
					"its sum": body[:len(body)-8] + "\x00\x01\x02\x03" + body[len(body)-4:], "a name": strings.Replace(body, "\x08\x00", "\x08\x08", 1),
					"a length that no member has": body[:len(body)-4] + "\xff\xff\xff\x7f",
				} {
					if got, ok := g.Append([]byte("before "), strings.NewReader(wrong), 1<<24); ok || string(got) != "before " {
						t.Errorf("sample %d at level %d, %s: taken as %d bytes", i, level, name, len(got))
					}
				}
				if _, ok := g.Append(nil, strings.NewReader(body), len(text)-1); ok {
					t.Errorf("sample %d at level %d is longer than the limit", i, level)
				}
			}
		}
	}
	long := gzipped(t, string(make([]byte, MaxWhole+100)), gzip.NoCompression, false)
	if _, ok := g.Append(nil, strings.NewReader(long), 1<<30); ok {
		t.Error("a body that is too long is taken")
	}
}

// FuzzGunzip: what is decoded is what a reader decodes.
func FuzzGunzip(f *testing.F) {
	for _, text := range samples() {
		for _, level := range []int{-2, 0, 1, 9} {
			body := gzipped(f, text[:min(len(text), 2000)], level, false)
			f.Add([]byte(body[10:len(body)-8]), len(text))
		}
	}
	f.Add([]byte("\x4b\x4c\x04\x00"), 1) // a fixed block
	var g Gunzip
	f.Fuzz(func(t *testing.T, deflated []byte, size int) {
		size = size & (1<<20 - 1)
		body := append([]byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"), deflated...)
		var want []byte
		if z, err := gzip.NewReader(bytes.NewReader(body)); err == nil {
			want, _ = io.ReadAll(io.LimitReader(z, 1<<20))
			size = len(want) // else it is most probably a lie
		}
		body = binary.LittleEndian.AppendUint32(body, crc32.ChecksumIEEE(want))
		body = binary.LittleEndian.AppendUint32(body, uint32(size))
		got, ok := g.Append(nil, bytes.NewReader(body), 1<<20)
		if !ok {
			return
		}
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		if want, err = io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("%x gives %x, want %x (%v)", body, got, want, err)
		}
	})
}

// TestGunzipDamaged: a body that is damaged anywhere is not taken, unless a reader takes it for the same.
func TestGunzipDamaged(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var g Gunzip
	for _, text := range samples() {
		for range 300 {
			body := []byte(gzipped(t, text[:min(len(text), 5000)], 1+random.IntN(9), random.IntN(2) == 0))
			for range 1 + random.IntN(3) {
				body[random.IntN(len(body))] ^= 1 << random.IntN(8)
			}
			got, ok := g.Append(nil, bytes.NewReader(body), 1<<24)
			if !ok {
				continue
			}
			z, err := gzip.NewReader(bytes.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			if want, err := io.ReadAll(z); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%x gives %x, want %x (%v)", body, got, want, err)
			}
		}
	}
}

func BenchmarkGunzip(b *testing.B) {
	text := samples()[6]
	body := []byte(gzipped(b, text[:30_000], 6, false))
	b.Run("whole", func(b *testing.B) {
		var g Gunzip
		var out []byte
		b.SetBytes(30_000)
		for b.Loop() {
			var ok bool
			if out, ok = g.Append(out[:0], bytes.NewReader(body), 1<<20); !ok {
				b.Fatal("not taken")
			}
		}
	})
	b.Run("reader", func(b *testing.B) {
		z := new(kgzip.Reader)
		var out bytes.Buffer
		b.SetBytes(30_000)
		for b.Loop() {
			out.Reset()
			if err := z.Reset(bytes.NewReader(body)); err != nil {
				b.Fatal(err)
			}
			_, _ = io.Copy(&out, io.LimitReader(z, 1<<20))
		}
	})
}
