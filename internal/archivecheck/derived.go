package archivecheck

import (
	"encoding/json"
	"errors"
	"io"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// derivation is what the checker reads of the manifest of a derivation.
type derivation struct {
	Version     int     `json:"version"`
	Step        string  `json:"step"`
	StepVersion int     `json:"step_version"`
	Crawl       string  `json:"crawl"`
	Segment     string  `json:"segment"`
	Data        *object `json:"data"`
	Lines       int     `json:"lines"`
}

// derivedFolder is the folder of a version of a step.
var derivedFolder = regexp.MustCompile(`^(.+)/derived/([a-z][a-z0-9_]*)-([0-9]+)$`)

// checkDerived checks what was derived of the segments of a crawl: the manifests, and the data that they name. Data that none names, as an attempt leaves that was cut off, is an orphan.
func (c *checker) checkDerived(crawl string, keys, segments []string) error {
	known := make(map[string]bool, len(segments))
	for _, key := range segments {
		known[strings.TrimSuffix(path.Base(key), ".json")] = true
	}
	for _, key := range keys {
		if !strings.HasSuffix(key, ".json") {
			continue
		}
		if err := c.checkDerivation(crawl, key, known); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if _, named := c.named[key]; !named && !strings.HasSuffix(key, ".json") {
			c.report.Orphans = append(c.report.Orphans, key)
		}
	}
	return nil
}

func (c *checker) checkDerivation(crawl, key string, segments map[string]bool) error {
	c.report.Derivations++
	raw, err := c.read(key)
	if errors.Is(err, ErrUnreadable) {
		c.fault(key, 0, "the manifest is not a regular file")
		return nil
	}
	if err != nil {
		return err
	}
	var m derivation
	if err := json.Unmarshal(raw, &m); err != nil {
		c.fault(key, 0, "the manifest is not JSON of the expected shape: %v", err)
		return nil
	}
	name := strings.TrimSuffix(path.Base(key), ".json")
	if m.Version != 1 {
		c.fault(key, 0, "the manifest has version %d, not 1", m.Version)
	}
	if m.Crawl != path.Base(crawl) || m.Segment != name {
		c.fault(key, 0, "the manifest is of segment %q of crawl %q", m.Segment, m.Crawl)
	}
	if step := derivedFolder.FindStringSubmatch(path.Dir(key)); m.Step != step[2] || strconv.Itoa(m.StepVersion) != step[3] {
		c.fault(key, 0, "the manifest is of step %s-%d", m.Step, m.StepVersion)
	}
	if !segments[name] {
		c.fault(key, 0, "there is no segment %q", name)
	}
	if m.Data == nil {
		if m.Lines != 0 {
			c.fault(key, 0, "the manifest says %d lines, and names no data", m.Lines)
		}
		return nil
	}
	if path.Dir(m.Data.Key) != path.Dir(key) || !strings.HasPrefix(path.Base(m.Data.Key), name+"-") || !strings.HasSuffix(m.Data.Key, ".zst") {
		c.fault(key, 0, "the data key %q is not of the form %s-HASH.zst beside the manifest", m.Data.Key, name)
		return nil
	}
	lines := 0
	err = c.readObject(key, *m.Data, func(r io.Reader) error {
		return c.eachLine(m.Data.Key, r, func([]byte, int64) { lines++ })
	})
	if err == nil && lines != m.Lines {
		c.fault(key, 0, "the manifest says %d lines, but %s has %d", m.Lines, path.Base(m.Data.Key), lines)
	}
	return err
}
