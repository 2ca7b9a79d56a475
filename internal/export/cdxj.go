package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/crawl"
)

// cdxjFields are the members of a line, as those of the archive's own indexes.
type cdxjFields struct {
	URL         string `json:"url"`
	MIME        string `json:"mime"`
	Status      string `json:"status,omitempty"`
	Digest      string `json:"digest"`
	Length      string `json:"length"`
	Offset      string `json:"offset"`
	Filename    string `json:"filename"`
	Score       string `json:"score,omitempty"`
	Application string `json:"application,omitempty"`
}

// cdxjTime is the form of times in an index.
const cdxjTime = "20060102150405"

// cdxj is the index of a part, sorted; its records begin at an offset of the file.
func (p *Part) cdxj(first int64) ([]string, error) {
	var lines []string
	at := first
	for i := range p.Groups {
		g := &p.Groups[i]
		if g.Capture != nil {
			offset, ok := g.Runs.moved(g.Capture.Offset, at)
			if !ok {
				return nil, fmt.Errorf("index of part %d: the record of %s is not in its group", p.Number, g.Capture.URL)
			}
			line, err := cdxjLine(g.Key, g.Capture, offset, p.Key(suffixWARC))
			if err != nil {
				return nil, err
			}
			lines = append(lines, line)
		}
		at += g.Runs.length()
	}
	slices.Sort(lines)
	return lines, nil
}

// moved is where a record lies in a file that the runs were copied into, from an offset on.
func (r runs) moved(offset, to int64) (int64, bool) {
	for _, one := range r {
		at := one[0]
		for _, n := range one[1:] {
			if at == offset {
				return to, true
			}
			at, to = at+n, to+n
		}
	}
	return 0, false
}

func cdxjLine(key string, c *archive.Indexed, offset int64, file string) (string, error) {
	f := cdxjFields{
		URL: c.URL, MIME: c.MIME, Status: strconv.Itoa(c.Status), Digest: strings.TrimPrefix(c.Digest, crawl.DigestSHA1+":"),
		Length: strconv.FormatInt(c.Length, 10), Offset: strconv.FormatInt(offset, 10), Filename: file, Application: c.Application,
	}
	if c.Status == 0 && c.Revisit {
		f.Status = ""
	}
	if c.Score >= 0 {
		f.Score = strconv.FormatFloat(c.Score, 'f', 4, 64)
	}
	var line bytes.Buffer
	line.WriteString(key + " " + c.Date.UTC().Format(cdxjTime) + " ")
	enc := json.NewEncoder(&line)
	enc.SetEscapeHTML(false)
	err := enc.Encode(f)
	return line.String(), err
}
