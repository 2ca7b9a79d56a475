package coding

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// panics is a body at whose end, in place of its decoder, something panics.
type panics struct{ r io.Reader }

func (p panics) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if errors.Is(err, io.EOF) {
		panic("a raven")
	}
	return n, err
}

// TestPanics: a panic within a decoder, whether it is made or read, is an error that names the coding, and stays.
func TestPanics(t *testing.T) {
	var packed bytes.Buffer
	w := brotli.NewWriter(&packed)
	noise := make([]byte, 1<<16)
	for i := range noise {
		noise[i] = byte(i * i >> 3)
	}
	_, err := w.Write(noise)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	for body, coding := range map[string]string{"": "br", packed.String()[:packed.Len()-1]: "br", "\x78\x9c": "deflate", "\x28\xb5\x2f\xfd": "zstd", "\x1f\x8b\x08": "gzip"} {
		r, err := NewReader(panics{strings.NewReader(body)}, coding)
		for range 2 {
			if err == nil {
				_, err = io.ReadAll(r)
			}
			var named *Error
			if !errors.As(err, &named) || named.Coding != coding || !strings.Contains(err.Error(), "panicked: a raven") {
				t.Errorf("%s of %d bytes: %v", coding, len(body), err)
			}
			if r != nil {
				err = nil
			}
		}
		if r != nil {
			_ = r.Close()
		}
	}
}
