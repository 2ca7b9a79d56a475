package coding

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/fixture"
)

// pack writes a text through an encoder.
func pack(t testing.TB, text string, open func(io.Writer) io.WriteCloser) string {
	t.Helper()
	var b bytes.Buffer
	w := open(&b)
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zl(t testing.TB, s string) string {
	return pack(t, s, func(w io.Writer) io.WriteCloser { return zlib.NewWriter(w) })
}

func raw(t testing.TB, s string) string {
	return pack(t, s, func(w io.Writer) io.WriteCloser { z, _ := flate.NewWriter(w, 6); return z })
}

func br(t testing.TB, s string) string {
	return pack(t, s, func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) })
}

func zs(t testing.TB, s string) string {
	return pack(t, s, func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z })
}

func TestNewReader(t *testing.T) {
	for _, text := range []string{"x", "User-agent: *\nDisallow: /private\n", strings.Repeat("A rule of some length: /privé/\n", 3000)} {
		for _, c := range []struct{ name, field, body string }{
			{"no field", "", text},
			{"identity", "identity", text},
			{"gzip", "gzip", fixture.Gzip(text)},
			{"capitals", "GZIP", fixture.Gzip(text)},
			{"x-gzip", "x-gzip", fixture.Gzip(text)},
			{"two members", "gzip", fixture.Gzip(text[:len(text)/2]) + fixture.Gzip(text[len(text)/2:])},
			{"twice", "gzip, gzip", fixture.Gzip(fixture.Gzip(text))},
			{"identity first", "identity, gzip", fixture.Gzip(text)},
			{"empty element", ",gzip,", fixture.Gzip(text)},
			{"junk behind it", "gzip", fixture.Gzip(text) + "\r\n"},
			{"said twice, done once", "gzip, gzip", fixture.Gzip(text)},
			{"zlib", "deflate", zl(t, text)},
			{"deflate without its frame", "deflate", raw(t, text)},
			{"br", "br", br(t, text)},
			{"zstd", "zstd", zs(t, text)},
			{"br in gzip", "br, gzip", fixture.Gzip(br(t, text))},
			{"gzip that is plain", "gzip", text},
			{"br that is plain", "br", text},
			{"a charset for a coding", "utf-8", text},
		} {
			for n, in := range map[string]io.Reader{"": strings.NewReader(c.body), ", byte by byte": onebyte{strings.NewReader(c.body)}} {
				r, err := NewReader(in, c.field)
				if err != nil {
					t.Errorf("%s%s: %v", c.name, n, err)
					continue
				}
				got, err := io.ReadAll(r)
				if err != nil || string(got) != text {
					t.Errorf("%s%s: %.60q, %v; want %.60q", c.name, n, got, err, text)
				}
				if err := r.Close(); err != nil {
					t.Error(err)
				}
			}
		}
	}
}

// onebyte gives a byte a read.
type onebyte struct{ r io.Reader }

func (o onebyte) Read(p []byte) (int, error) { return o.r.Read(p[:min(len(p), 1)]) }

// TestEmpty: an empty body has no coding; the empty text is encoded in some codings.
func TestEmpty(t *testing.T) {
	for field, body := range map[string]string{"": "", "gzip": "", "br": "", "x-gzip": fixture.Gzip(""), "deflate": zl(t, ""), "zstd": zs(t, "")} {
		r, err := NewReader(strings.NewReader(body), field)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || len(got) > 0 {
			t.Errorf("%s: %q, %v", field, got, err)
		}
	}
}

func TestBroken(t *testing.T) {
	text := strings.Repeat("User-agent: *\nDisallow: /private\n", 50)
	flip := func(s string, at int) string { return s[:at] + string(s[at]^0xff) + s[at+1:] }
	zip := fixture.Gzip(text)
	for _, c := range []struct {
		name, field, body, reason string
		cut                       bool
	}{
		{"gzip, cut off", "gzip", zip[:len(zip)-12], "the gzip stream is cut off", true},
		{"gzip, without its sum", "gzip", zip[:len(zip)-8], "the gzip stream is cut off", true},
		{"gzip, cut off in its header", "gzip", zip[:5], "the gzip stream is cut off", true},
		{"gzip, damaged", "gzip", flip(zip, len(zip)-6), "content coding gzip", false},
		{"gzip that is br", "gzip", br(t, text), "another format", false},
		{"twice, damaged inside", "gzip, gzip", fixture.Gzip(zip[:len(zip)-9]), "the gzip stream is cut off", true},
		{"br, cut off", "br", br(t, text)[:20], "the br stream is cut off", true},
		{"zstd, cut off", "zstd", zs(t, text)[:20], "the zstd stream is cut off", true},
		{"deflate, cut off", "deflate", zl(t, text)[:20], "the deflate stream is cut off", true},
		{"raw deflate, cut off", "deflate", raw(t, text)[:20], "the deflate stream is cut off", true},
		{"not known", "compress", "\x1f\x9d\x90" + zip, "content coding compress: not known", false},
		{"many layers", "gzip,gzip,gzip,gzip,gzip,gzip", zip, "more than 5 codings", false},
	} {
		r, err := NewReader(strings.NewReader(c.body), c.field)
		if err == nil {
			_, err = io.ReadAll(r)
			_ = r.Close()
		}
		if err == nil || !errors.As(err, new(*Error)) || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%s: %v, want an error with %q", c.name, err, c.reason)
		}
		if errors.Is(err, io.ErrUnexpectedEOF) != c.cut {
			t.Errorf("%s: %v: cut off should be %v", c.name, err, c.cut)
		}
	}
}

func TestField(t *testing.T) {
	for head, want := range map[string]string{"": "", "User-agent": "", fixture.Gzip("x"): "gzip"} {
		if got := Field([]byte(head)); got != want {
			t.Errorf("%.10q: %q, want %q", head, got, want)
		}
	}
}

// FuzzNewReader: reading any body ends, with an Error or without.
func FuzzNewReader(f *testing.F) {
	const text = "User-agent: *\nDisallow: /\n"
	for field, body := range map[string]string{
		"gzip": fixture.Gzip(text), "deflate": zl(f, text), "br": br(f, text), "zstd": zs(f, text), "gzip, deflate": raw(f, fixture.Gzip(text)), "x": text,
	} {
		f.Add(field, []byte(body))
	}
	f.Fuzz(func(t *testing.T, field string, body []byte) {
		r, err := NewReader(bytes.NewReader(body), field)
		if err != nil {
			if !errors.As(err, new(*Error)) {
				t.Fatalf("%v is no Error", err)
			}
			return
		}
		defer r.Close()
		if _, err := io.Copy(io.Discard, io.LimitReader(r, 1<<20)); err != nil && !errors.As(err, new(*Error)) {
			t.Fatalf("%v is no Error", err)
		}
	})
}
