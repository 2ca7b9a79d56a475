package archive

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
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
	Status      int    // at most 999; 0 of a revisit of a 304
	Digest      string // of the payload, with its algorithm
	Revisit     bool
	MIME        string  // of a revisit "warc/revisit"
	Length      int64   // of the record in the WARC file, in bytes
	Offset      int64   // … where it begins
	Score       float64 // the document score, in [0,1]; −1 if there is none
	Application string  // that the helper recognised
}

// Robots reports whether the line is of a robots.txt: at the root of its host (RFC 9309 §2.3).
func (i *Indexed) Robots() bool {
	u, err := urls.Trusted(i.URL)
	return err == nil && u.RequestURI() == "/robots.txt"
}

// maxIndexLine bounds a line of a CDXJ, in bytes.
const maxIndexLine = 1 << 20

// ReadIndex calls fn with each line of a segment's CDXJ; without a key, as of a segment without responses, with none. A line that no segment could have
// is a DamagedError: a record has at least one byte, and Offset+Length is no more than an int64 takes;
// a status is 0 to 999, a score 0 to 1.
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
		line, err := parseIndexed(lines.Text())
		if err != nil {
			return damaged(fmt.Errorf("read %s: %w", key, err))
		}
		if err := fn(line); err != nil {
			return err
		}
	}
	if err := lines.Err(); err != nil {
		return damaged(fmt.Errorf("read %s: %w", key, err))
	}
	return nil
}

// ReadIndexOf is ReadIndex for the segment of a manifest. An index that is not the one that the manifest names is a DamagedError, too, and so is a record that lies
// behind the end of the WARC object; fn may have been called by then.
func ReadIndexOf(ctx context.Context, store Store, m *Manifest, fn func(Indexed) error) error {
	return ReadIndex(ctx, Verified(store, m.CDXJ), m.CDXJ.Key, func(i Indexed) error {
		if i.Offset+i.Length > m.WARC.Bytes {
			return damaged(fmt.Errorf("read %s: %.200s lies at %d to %d of a file of %d bytes", m.CDXJ.Key, i.URL, i.Offset, i.Offset+i.Length, m.WARC.Bytes))
		}
		return fn(i)
	})
}

// parseIndexed reads a line of a CDXJ: a SURT key, 14 digits, a JSON object.
func parseIndexed(text string) (i Indexed, err error) {
	_, rest, _ := strings.Cut(text, " ")
	timestamp, raw, _ := strings.Cut(rest, " ")
	date, err := time.Parse(indexTime, timestamp)
	if err != nil {
		return i, err
	}
	var f indexFields
	if err := json.Unmarshal([]byte(raw), &f); err != nil {
		return i, err
	}
	i = Indexed{URL: f.URL, Date: date, Digest: fullDigest(f.Digest), Revisit: f.MIME == "warc/revisit", MIME: f.MIME, Application: f.Application}
	if i.Offset, i.Length, err = located(f.Offset, f.Length); err != nil {
		return i, err
	}
	if i.Status, err = statusOf(f.Status); err != nil {
		return i, err
	}
	i.Score, err = scoreOf(f.Score)
	return i, err
}

// statusOf reads a status of three digits at most, as HTTP has it. Revisits may have none, or "-" from pywb.
func statusOf(text string) (int, error) {
	if text == "" || text == "-" {
		return 0, nil
	}
	status, err := strconv.ParseUint(text, 10, 16)
	if err != nil || status > 999 {
		return 0, fmt.Errorf("status %.40q is not one of 0 to 999", text)
	}
	return int(status), nil
}

// scoreOf reads a document score; −1 if there is none. What is no number has no place in a database, and none in JSON.
func scoreOf(text string) (float64, error) {
	if text == "" {
		return -1, nil
	}
	score, err := strconv.ParseFloat(text, 64)
	if err != nil || !(score >= 0 && score <= 1) { // NaN is neither
		return -1, fmt.Errorf("score %.40q is not one of 0 to 1", text)
	}
	return score, nil
}

// located reads where a record lies. Readers add the two, and read from one to the sum.
func located(from, bytes string) (offset, length int64, err error) {
	offset, err = strconv.ParseInt(from, 10, 64)
	if err != nil || offset < 0 {
		return 0, 0, fmt.Errorf("offset %.40q is not a position in a file", from)
	}
	length, err = strconv.ParseInt(bytes, 10, 64)
	if err != nil || length <= 0 || offset > math.MaxInt64-length {
		return 0, 0, fmt.Errorf("length %.40q is not that of a record at %d", bytes, offset)
	}
	return offset, length, nil
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
	i := Indexed{
		URL: c.URL, Date: c.Started, Status: c.Status, Digest: out.Digest, Revisit: out.Revisit, MIME: mime, Length: at.length, Offset: at.offset, Score: -1,
	}
	if p := c.Page; p != nil {
		i.Application, i.Score = p.Application, min(p.Verdict.Score, 1)
	}
	if out.Revisit {
		i.MIME = "warc/revisit"
		if c.Status == 304 { // the replayed status is the original's
			i.Status = 0
		}
	}
	s.index = append(s.index, indexed{u.Key(), i})
}

// cdxj writes the index for a WARC object of the given name, sorted as pywb wants it.
func (s *Segment) cdxj(filename string) ([]byte, error) {
	lines := make([]string, len(s.index))
	for i := range s.index {
		l := &s.index[i]
		line, err := l.Line(l.key, path.Base(filename))
		if err != nil {
			return nil, err
		}
		lines[i] = line
	}
	slices.Sort(lines)
	return []byte(strings.Join(lines, "")), nil
}

// indexTime is the form of times in an index.
const indexTime = "20060102150405"

// indexFields are the members of a CDXJ line, as pywb and wabac read them: all are strings.
type indexFields struct {
	URL      string `json:"url"`
	MIME     string `json:"mime"`
	Status   string `json:"status,omitempty"`
	Digest   string `json:"digest"`
	Length   string `json:"length"`
	Offset   string `json:"offset"`
	Filename string `json:"filename"`
	// For parsed pages only; replay tools ignore them.
	Score       string `json:"score,omitempty"`
	Application string `json:"application,omitempty"`
}

// Line is the line of a CDXJ under a key (SURT), of a record in a WARC file.
func (i *Indexed) Line(key, file string) (string, error) {
	f := indexFields{
		URL: i.URL, MIME: i.MIME, Status: strconv.Itoa(i.Status), Digest: strings.TrimPrefix(i.Digest, crawl.DigestSHA1+":"),
		Length: strconv.FormatInt(i.Length, 10), Offset: strconv.FormatInt(i.Offset, 10), Filename: file, Application: i.Application,
	}
	if i.Revisit && i.Status == 0 {
		f.Status = ""
	}
	if i.Score >= 0 {
		f.Score = strconv.FormatFloat(i.Score, 'f', 4, 64)
	}
	var line strings.Builder
	line.WriteString(key + " " + i.Date.UTC().Format(indexTime) + " ")
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false) // "&" is a part of many URLs
	err := enc.Encode(f)
	return line.String(), err
}
