package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Indexed is a line of a CDXJ.
type Indexed struct {
	URL     string
	Date    time.Time
	Status  int    // 0 of a revisit of a 304
	Digest  string // of the payload, with its algorithm
	Revisit bool
}

// maxIndexLine bounds a line of a CDXJ, in bytes.
const maxIndexLine = 1 << 20

// ReadIndex calls fn with each line of a segment's CDXJ.
func ReadIndex(ctx context.Context, store Store, key string, fn func(Indexed) error) error {
	r, err := store.Get(ctx, key)
	if err != nil {
		return err
	}
	defer func() { _ = r.Close() }()
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), maxIndexLine)
	for lines.Scan() {
		_, rest, _ := strings.Cut(lines.Text(), " ")
		timestamp, raw, _ := strings.Cut(rest, " ")
		var f indexFields
		date, err := time.Parse("20060102150405", timestamp)
		if err == nil {
			err = json.Unmarshal([]byte(raw), &f)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", key, err)
		}
		status, _ := strconv.Atoi(f.Status)
		if err := fn(Indexed{f.URL, date, status, "sha1:" + f.Digest, f.MIME == "warc/revisit"}); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}
