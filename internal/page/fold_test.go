package page

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// byteFold is Fold byte by byte, without its short cuts.
func byteFold(out []byte, s string) []byte {
	space := false
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		c := s[:n]
		s = s[n:]
		switch {
		case r == 0 || r == utf8.RuneError:
		case strings.ContainsRune(" \n\t\r\f\u00a0", r):
			space = true
		default:
			if space {
				out = appendSpace(out)
				space = false
			}
			out = append(out, c...)
		}
	}
	if space {
		out = appendSpace(out)
	}
	return out
}

// TestFold compares Fold with what it does byte by byte, on texts in which all that it distinguishes is near each other.
func TestFold(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	parts := []string{"a", "b", "raven", "the", "x", " ", " ", "  ", "\n", "\t", "\r", "\f", "\v", "\x00", "\x01", "\x7f", "é", "狼", "\u00a0", "\ufffd", "\xff", "\xc3", "!", "~"}
	for range 200_000 {
		var b strings.Builder
		common := random.IntN(len(parts)) + 1
		for range random.IntN(30) {
			b.WriteString(parts[random.IntN(common)])
		}
		before := []string{"", "a", "a "}[random.IntN(3)]
		got, want := Fold([]byte(before), b.String()), byteFold([]byte(before), b.String())
		if string(got) != string(want) {
			t.Fatalf("%q behind %q gives %q, want %q", b.String(), before, got, want)
		}
	}
}

func BenchmarkFold(b *testing.B) {
	for name, text := range map[string]string{
		"folded": strings.Repeat("The raven flew over the hills and the sea. ", 20), "indented": strings.Repeat("\n      The raven flew over the hills", 20),
		"cyrillic": strings.Repeat("Ворон летел над холмами и морем. ", 20),
	} {
		b.Run(name, func(b *testing.B) {
			var out []byte
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				out = Fold(out[:0], text)
			}
		})
	}
}
