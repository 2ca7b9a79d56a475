package webworld

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
)

// picture is a small square PNG of a few coloured fields; size in pixels.
func picture(r *rand.Rand, size int) []byte {
	palette := color.Palette{}
	for range 4 {
		palette = append(palette, color.RGBA{uint8(r.IntN(256)), uint8(r.IntN(256)), uint8(r.IntN(256)), 255})
	}
	img := image.NewPaletted(image.Rect(0, 0, size, size), palette)
	for i := range img.Pix {
		img.Pix[i] = uint8((i/size/8 + i%size/8*3) % 4)
	}
	var out bytes.Buffer
	if err := png.Encode(&out, img); err != nil {
		return nil
	}
	return out.Bytes()
}
