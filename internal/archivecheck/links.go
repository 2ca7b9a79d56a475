package archivecheck

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/ring"
	"github.com/muninn-archive/muninn/internal/urls"
)

// linksFooter is the end of a links sidecar: where its frames stand.
type linksFooter struct {
	Version int `json:"version"`
	Sources int `json:"sources"`
	Frames  []struct {
		Bytes      int   `json:"bytes"`
		Links      int   `json:"links"`
		Partitions []int `json:"partitions"`
	} `json:"frames"`
}

// readLinks checks a links sidecar: its lines, and its footer if it has one; those of earlier versions have none.
func (c *checker) readLinks(key string, r io.Reader) error {
	raw, err := io.ReadAll(r)
	if err != nil {
		return err
	}
	if err := c.readLines(key, bytes.NewReader(raw)); err != nil {
		return err
	}
	if !bytes.HasSuffix(raw, []byte("MUNINNLF")) {
		return nil
	}
	return c.checkFooter(key, raw)
}

func (c *checker) checkFooter(key string, raw []byte) error {
	end := len(raw) - 8 - 4 // of the text
	start := end
	if end >= 8 {
		start -= int(binary.LittleEndian.Uint32(raw[end:]))
	}
	if start < 8 || start > end || binary.LittleEndian.Uint32(raw[start-8:]) != 0x184D2A50 || int(binary.LittleEndian.Uint32(raw[start-4:])) != len(raw)-start {
		c.fault(key, int64(max(end, 0)), "the footer is not a skippable frame of zstd that ends the file")
		return nil
	}
	at := int64(start)
	var f linksFooter
	if err := json.Unmarshal(raw[start:end], &f); err != nil {
		c.fault(key, at, "the footer is not JSON: %v", err)
		return nil
	}
	if f.Version != 1 {
		c.fault(key, at, "the footer has version %d, not 1", f.Version)
		return nil
	}
	zr, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return err
	}
	defer zr.Close()
	frame := func(offset, length int) (text []byte, ok bool) {
		if length <= 0 || offset+length > start-8 {
			c.fault(key, at, "the footer has a frame at %d of %d bytes, behind the end of the frames at %d", offset, length, start-8)
			return nil, false
		}
		text, err := zr.DecodeAll(raw[offset:offset+length], nil)
		if err != nil {
			c.fault(key, int64(offset), "no frame of %d bytes begins here, as the footer says: %v", length, err)
		}
		return text, err == nil
	}
	var sources []string
	if f.Sources > 0 {
		text, ok := frame(0, f.Sources)
		if !ok {
			return nil
		}
		var line struct {
			Pages []string `json:"pages"`
		}
		if err := json.Unmarshal(text, &line); err != nil {
			c.fault(key, 0, "the first frame does not list the pages: %v", err)
			return nil
		}
		sources = line.Pages
	}
	offset := f.Sources
	for _, of := range f.Frames {
		text, ok := frame(offset, of.Bytes)
		if !ok {
			return nil
		}
		if !slices.IsSorted(of.Partitions) {
			c.fault(key, at, "the partitions of the frame at %d are not in order", offset)
		}
		links := 0
		for line := range bytes.Lines(text) {
			links += c.checkTargets(key, int64(offset), line, sources, of.Partitions)
		}
		if links != of.Links {
			c.fault(key, int64(offset), "the frame has %d links, the footer says %d", links, of.Links)
		}
		offset += of.Bytes
	}
	if offset != start-8 {
		c.fault(key, at, "the frames that the footer lists end at %d, not where the footer begins, at %d", offset, start-8)
	}
	return nil
}

// checkTargets checks that the links of a line lead to partitions that the footer names, and counts them. The line is JSON, or a fault already.
func (c *checker) checkTargets(key string, offset int64, line []byte, sources []string, partitions []int) (links int) {
	var l struct {
		Page string   `json:"page"`
		From []int    `json:"from"`
		URL  []string `json:"url"`
	}
	if err := json.Unmarshal(line, &l); err != nil {
		return 0
	}
	for i, url := range l.URL {
		if strings.HasPrefix(url, "/") {
			page := l.Page
			if i < len(l.From) && l.From[i] >= 0 && l.From[i] < len(sources) {
				page = sources[l.From[i]]
			}
			url = page
		}
		if p := ring.PartitionOf(urls.PLD(urls.HostOf(url))); !slices.Contains(partitions, p) {
			c.fault(key, offset, "the link to %s is of partition %d, which the footer does not name for its frame", clip([]byte(url)), p)
		}
	}
	for _, n := range l.From {
		if n < 0 || n >= len(sources) {
			c.fault(key, offset, "a link is of page %d, and the first frame lists %d", n, len(sources))
		}
	}
	return len(l.URL)
}
