package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/muninn-archive/muninn/internal/crawl"
	"github.com/muninn-archive/muninn/internal/urls"
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

// Robots reports whether the line is of a robots.txt: at the root of its host (RFC 9309 §2.3).
func (i *Indexed) Robots() bool {
	u, err := urls.Trusted(i.URL)
	return err == nil && u.RequestURI() == "/robots.txt"
}

// maxIndexLine bounds a line of a CDXJ, in bytes.
const maxIndexLine = 1 << 20

// ReadIndex calls fn with each line of a segment's CDXJ; without a key, as of a segment without responses, with none.
func ReadIndex(ctx context.Context, store Store, key string, fn func(Indexed) error) error {
	if key == "" {
		return nil
	}
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
			return damaged(fmt.Errorf("read %s: %w", key, err))
		}
		status, _ := strconv.Atoi(f.Status)
		length, _ := strconv.ParseInt(f.Length, 10, 64)
		offset, _ := strconv.ParseInt(f.Offset, 10, 64)
		score, err := strconv.ParseFloat(f.Score, 64)
		if err != nil {
			score = -1
		}
		line := Indexed{f.URL, date, status, fullDigest(f.Digest), f.MIME == "warc/revisit", f.MIME, length, offset, score, f.Application}
		if err := fn(line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return damaged(fmt.Errorf("read %s: %w", key, err))
	}
	return nil
}

// fullDigest is the digest of an index with its algorithm: pywb leaves out sha1.
func fullDigest(text string) string {
	if strings.Contains(text, ":") {
		return text
	}
	return crawl.DigestSHA1 + ":" + text
}

func (s *Segment) addIndex(c Capture, out Recorded, at span) {
	u, err := urls.Trusted(c.URL)
	if err != nil {
		return
	}
	mime, _, _ := strings.Cut(c.MIME, ";")
	mime = strings.ToLower(strings.TrimSpace(mime))
	if mime == "" {
		mime = "unk"
	}
	f := indexFields{
		URL: c.URL, MIME: mime, Status: fmt.Sprint(c.Status), Digest: strings.TrimPrefix(out.Digest, crawl.DigestSHA1+":"),
		Length: fmt.Sprint(at.length), Offset: fmt.Sprint(at.offset),
	}
	if p := c.Page; p != nil {
		if f.Application = p.Application; p.Verdict.Score >= 0 {
			f.Score = strconv.FormatFloat(p.Verdict.Score, 'f', 4, 64)
		}
	}
	if out.Revisit {
		f.MIME = "warc/revisit"
		if c.Status == 304 { // the replayed status is the original's
			f.Status = ""
		}
	}
	s.index = append(s.index, indexLine{u.Key(), c.Started.UTC().Format("20060102150405"), f})
}

// cdxj writes the index for a WARC object of the given name, sorted as pywb wants it.
func (s *Segment) cdxj(filename string) ([]byte, error) {
	lines := make([]string, len(s.index))
	for i, l := range s.index {
		l.fields.Filename = path.Base(filename)
		var line strings.Builder
		line.WriteString(l.key + " " + l.timestamp + " ")
		enc := json.NewEncoder(&line)
		enc.SetEscapeHTML(false) // "&" is a part of many URLs
		if err := enc.Encode(l.fields); err != nil {
			return nil, err
		}
		lines[i] = line.String()
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "")), nil
}
