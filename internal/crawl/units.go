package crawl

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Duration is a time.Duration that is written "1.5s", "2m" or "24h" in YAML and JSON.
type Duration time.Duration

// D returns the standard library's duration.
func (d Duration) D() time.Duration { return time.Duration(d) }

func (d Duration) String() string { return time.Duration(d).String() }

// MarshalJSON writes the duration as a string.
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(d.String()) }

// UnmarshalJSON reads "90s" and the like; a bare number is refused, for its unit is a guess.
func (d *Duration) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return fmt.Errorf("duration %s needs a unit: write it as \"30s\", \"5m\" or \"24h\"", b)
	}
	v, err := time.ParseDuration(s)
	if err != nil {
		return fmt.Errorf("duration %q: write it as \"30s\", \"5m\" or \"24h\"", s)
	}
	*d = Duration(v)
	return nil
}

// Bytes is a size that is written "64MiB", "1GB" or as a plain number of bytes.
type Bytes int64

var byteUnits = []struct {
	suffix string
	size   int64
}{
	{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40},
	{"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"TB", 1e12}, {"B", 1},
}

// ParseBytes reads a size such as "512MiB"; units are powers of 1024 with an i and of 1000 without.
func ParseBytes(s string) (Bytes, error) {
	text, size := strings.TrimSpace(s), int64(1)
	for _, u := range byteUnits {
		if rest, ok := strings.CutSuffix(text, u.suffix); ok {
			text, size = strings.TrimSpace(rest), u.size
			break
		}
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil && n >= 0 && n <= 1<<62/size {
		return Bytes(n * size), nil // exact, as a float is not
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !(v >= 0) || v*float64(size) > 1<<62 { // not v < 0, which is false of NaN
		return 0, fmt.Errorf("size %q: write it as \"64MiB\", \"1GB\" or a number of bytes", s)
	}
	return Bytes(v * float64(size)), nil
}

func (b Bytes) String() string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB"}
	v, i := float64(b), 0
	for v >= 1024 && i < len(units)-1 {
		v, i = v/1024, i+1
	}
	if i == 0 {
		return fmt.Sprintf("%d B", int64(b))
	}
	return fmt.Sprintf("%.1f %s", v, units[i])
}

// MarshalJSON writes the number of bytes.
func (b Bytes) MarshalJSON() ([]byte, error) { return strconv.AppendInt(nil, int64(b), 10), nil }

// UnmarshalJSON reads a number of bytes or a string with a unit.
func (b *Bytes) UnmarshalJSON(raw []byte) error {
	v, err := ParseBytes(strings.Trim(string(raw), `"`))
	if err != nil {
		return err
	}
	*b = v
	return nil
}
