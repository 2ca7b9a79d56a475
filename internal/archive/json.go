package archive

import (
	"math"
	"strconv"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// The lines of sidecars are appended by hand, as encoding/json would write them but for how some characters are escaped, for a
// third of the cost and less.

// appendNumber appends a score; what is no number counts as 0.
func appendNumber(b []byte, name string, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.AppendFloat(append(b, name...), x, 'g', -1, 64)
}

// appendScore appends six digits of a score.
func appendScore(b []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		x = 0
	}
	return strconv.AppendFloat(b, x, 'g', 6, 64)
}

// appendExactScore appends a score with the digits that the frontier keeps of it: those of a float32.
func appendExactScore(b []byte, x float64) []byte {
	if exact := float64(float32(x)); !math.IsNaN(exact) && !math.IsInf(exact, 0) {
		return strconv.AppendFloat(b, exact, 'g', -1, 32)
	}
	return append(b, '0')
}

// appendSome appends a string unless it is empty.
func appendSome(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendText(b, name, s)
}

func appendText(b []byte, name, s string) []byte { return crawl.AppendString(append(b, name...), s) }
