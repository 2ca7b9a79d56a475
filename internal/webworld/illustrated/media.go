package illustrated

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"image"
	"image/color"
	imagegif "image/gif"
	"image/jpeg"
	imagepng "image/png"
	"net/url"
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// format is a kind of image file.
type format struct {
	extension, mime string
	draw            func(name string) []byte
}

var imageFormats = []format{{".png", "image/png", png}, {".gif", "image/gif", gif}, {".jpg", "image/jpeg", jpg}}

func hash(name string) int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(name))
	return int(h.Sum64() >> 8)
}

func colour(name string) string { return fmt.Sprintf("#%06x", hash(name)&0xffffff) }

// picture is an image whose size and colours are those of a name.
func picture(name string) *image.Paletted {
	h := hash(name)
	shade := func(at int) color.Color {
		return color.RGBA{uint8(h >> at), uint8(h >> (at + 8)), uint8(h >> (at + 16)), 255}
	}
	img := image.NewPaletted(image.Rect(0, 0, 16+h%48, 16+h/48%24), color.Palette{shade(0), shade(24)})
	for i := range img.Pix {
		img.Pix[i] = uint8((i%img.Stride/8 + i/img.Stride/8) % 2)
	}
	return img
}

func png(name string) []byte {
	var out bytes.Buffer
	_ = imagepng.Encode(&out, picture(name)) // a buffer takes everything
	return out.Bytes()
}

func gif(name string) []byte {
	var out bytes.Buffer
	_ = imagegif.Encode(&out, picture(name), nil)
	return out.Bytes()
}

func jpg(name string) []byte {
	var out bytes.Buffer
	_ = jpeg.Encode(&out, picture(name), nil)
	return out.Bytes()
}

// sound is a tone of a tenth of a second.
func sound(name string) []byte {
	samples := make([]byte, 800)
	for i := range samples {
		samples[i] = byte(128 + 30*(i/(4+hash(name)%8)%2))
	}
	out := []byte("RIFF\x00\x00\x00\x00WAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x40\x1f\x00\x00\x40\x1f\x00\x00\x01\x00\x08\x00data\x00\x00\x00\x00")
	binary.LittleEndian.PutUint32(out[4:], uint32(len(out)-8+len(samples)))
	binary.LittleEndian.PutUint32(out[len(out)-4:], uint32(len(samples)))
	return append(out, samples...)
}

// noise is what no player can play; it is asked for all the same.
func noise(name string) []byte { return bytes.Repeat([]byte(name), 40) }

// escaped is a path as it stands in a URL.
func escaped(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// latin is a text in ISO 8859-1.
func latin(s string) string {
	out, _ := charmap.ISO8859_1.NewEncoder().String(s)
	return out
}

// bare takes the escapes off an attribute.
func bare(attribute string) string { return strings.ReplaceAll(attribute, "&amp;", "&") }

func identified(markup, id string) string {
	return strings.Replace(markup, `id="ID"`, `id="`+id+`"`, 1)
}
