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
	URL         string
	Date        time.Time
	Status      int    // 0 of a revisit of a 304
	Digest      string // of the payload, with its algorithm
	Revisit     bool
	MIME        string  // of a revisit "warc/revisit"
	Length      int64   // of the record in the WARC file, in bytes
	Offset      int64   // … where it begins
	Score       float64 // the document score, −1 if there is none
	Application string  // that the helper recognised
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
		length, _ := strconv.ParseInt(f.Length, 10, 64)
		offset, _ := strconv.ParseInt(f.Offset, 10, 64)
		score, err := strconv.ParseFloat(f.Score, 64)
		if err != nil {
			score = -1
		}
		line := Indexed{f.URL, date, status, "sha1:" + f.Digest, f.MIME == "warc/revisit", f.MIME, length, offset, score, f.Application}
		if err := fn(line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read %s: %w", key, err)
	}
	return nil
}
