package export

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Part says what a file of an export consists of: groups of records, each of which is copied from a file of the archive.
type Part struct {
	Number  int         `json:"part"` // from 1
	Of      Order       `json:"order"`
	Date    time.Time   `json:"date"` // of its warcinfo record: when the last of the archive's segments was committed
	Sources []PartOf    `json:"sources"`
	Groups  []PartGroup `json:"-"` // a line each
	hash    string      // of all this
}

// PartOf is a file of the archive that a part copies records from.
type PartOf struct {
	Crawl   archive.CrawlAt `json:"crawl"`
	Segment string          `json:"segment"`
	WARC    archive.Stored  `json:"warc"`
}

// PartGroup is a record and those that belong to it.
type PartGroup struct {
	Source  int              `json:"s"`           // of Part.Sources
	Runs    runs             `json:"r"`           // where the records lie: the offset of the first, and the length of each
	Why     Why              `json:"w"`           // why it is exported
	Key     string           `json:"k,omitempty"` // SURT
	Capture *archive.Indexed `json:"c,omitempty"` // nil of what is no capture
}

// bytes is the length of the records.
func (p *Part) bytes() (sum int64) {
	for i := range p.Groups {
		sum += p.Groups[i].Runs.length()
	}
	return sum
}

func (p *Part) records() (n int) {
	for i := range p.Groups {
		n += p.Groups[i].Runs.records()
	}
	return n
}

// Key is the name of a file of the part, in the folder or below the prefix that is exported to. It has a hash of what the part consists of.
func (p *Part) Key(suffix string) string {
	return fmt.Sprintf("%s-%05d-%s%s", p.Of.Name, p.Number, p.hash[:hashDigits], suffix)
}

// hashDigits is the length of the hashes in the names of files.
const hashDigits = 16

// The suffixes of the files of an export.
const (
	suffixWARC     = ".warc.gz"
	suffixWACZ     = ".wacz"
	suffixCDXJ     = ".cdxj"
	suffixPlan     = ".plan.zst"
	suffixWritten  = ".json"
	suffixMissing  = ".missing.jsonl"
	suffixOutline  = ".outline.json"
	suffixManifest = ".manifest.json"
)

// planVersion is that of the form of plans; it counts in the hashes that name parts.
const planVersion = 1

// encode writes the plan of a part: JSON lines, first of what it says itself, then of each group.
func (p *Part) encode() ([]byte, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err := enc.Encode(struct {
		Version int `json:"version"`
		*Part
	}{planVersion, p})
	for i := range p.Groups {
		if err == nil {
			err = enc.Encode(&p.Groups[i])
		}
	}
	if err != nil {
		return nil, fmt.Errorf("write the plan of part %d: %w", p.Number, err)
	}
	p.hash = hashOf(out.Bytes())
	return out.Bytes(), nil
}

// The coder and decoder of plans. One goroutine encodes, so that the bytes are always the same.
var (
	planEncoder, _ = zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	planDecoder, _ = zstd.NewReader(nil, zstd.WithDecoderMaxMemory(maxPlan), zstd.WithDecoderConcurrency(1))
)

// maxPlan bounds a plan of a part, in bytes, without its compression.
const maxPlan = 2 << 30

// readPart reads the plan of a part.
func readPart(ctx context.Context, store archive.Store, key string) (*Part, error) {
	packed, err := archive.ReadAll(ctx, store, key, maxPlan)
	if err != nil {
		return nil, err
	}
	raw, err := planDecoder.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	p, err := decodePart(raw)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", key, err)
	}
	if p.Key(suffixPlan) != key {
		return nil, fmt.Errorf("read %s: the content is of %s: %w", key, p.Key(suffixPlan), ErrForeign)
	}
	return p, nil
}

// decodePart reads what encode has written.
func decodePart(raw []byte) (*Part, error) {
	p := &Part{}
	dec := json.NewDecoder(bytes.NewReader(raw))
	if err := dec.Decode(p); err != nil {
		return nil, err
	}
	p.hash = hashOf(raw)
	for dec.More() {
		var g PartGroup
		if err := dec.Decode(&g); err != nil {
			return nil, err
		}
		if g.Source < 0 || g.Source >= len(p.Sources) || !g.Runs.within(p.Sources[g.Source].WARC.Bytes) {
			return nil, fmt.Errorf("group %d has no source, or no records, or records that lie outside of it", len(p.Groups))
		}
		p.Groups = append(p.Groups, g)
	}
	return p, nil
}

// within reports whether there are records, all of which lie within so many bytes.
func (r runs) within(size int64) bool {
	for _, one := range r {
		if len(one) < 2 || one[0] < 0 {
			return false
		}
		left := size - one[0]
		for _, n := range one[1:] {
			if left -= n; n <= 0 || left < 0 {
				return false
			}
		}
	}
	return len(r) > 0
}

// ordered are the groups of a closure in the order of the export: by SURT, time, segment and position. Before the first of a segment stands the warcinfo
// record of that.
func (c *closure) ordered() []*picked {
	list := make([]*picked, 0, len(c.picked))
	for _, p := range c.picked {
		list = append(list, p)
	}
	slices.SortFunc(list, func(a, b *picked) int {
		return cmp.Or(cmp.Compare(a.key, b.key), a.date.Compare(b.date), cmp.Compare(a.source, b.source), cmp.Compare(a.runs[0][0], b.runs[0][0]))
	})
	seen := map[int32]bool{}
	out := make([]*picked, 0, len(list)+len(c.infos))
	for _, p := range list {
		if !seen[p.source] {
			seen[p.source] = true
			if info := c.infos[p.source]; info != nil {
				out = append(out, &picked{source: p.source, capture: none, runs: runs{info}, why: WhyInfo})
			}
		}
		out = append(out, p)
	}
	return out
}

// parts divides groups into parts.
func (c *closure) parts(o Order, list []*picked, add func(*Part) error) error {
	part, size := c.newPart(o, 1), int64(0)
	at := map[int32]int{}
	for i, p := range list {
		length := p.runs.length()
		if p.why == WhyInfo && i+1 < len(list) { // it stays with what follows
			length += list[i+1].runs.length()
		}
		if len(part.Groups) > 0 && size+length > o.Size && !(i > 0 && list[i-1].why == WhyInfo) {
			if err := add(part); err != nil {
				return err
			}
			part, size = c.newPart(o, part.Number+1), 0
			clear(at)
		}
		size += p.runs.length()
		source, known := at[p.source]
		if !known {
			source = len(part.Sources)
			at[p.source] = source
			s := &c.index.Sources[p.source]
			part.Sources = append(part.Sources, PartOf{s.Crawl, s.Segment(), s.WARC})
		}
		g := PartGroup{Source: source, Runs: p.runs, Why: p.why, Key: p.key}
		if p.capture != none {
			g.Capture = &c.index.Captures[p.capture].Indexed
		}
		part.Groups = append(part.Groups, g)
	}
	if len(part.Groups) == 0 {
		return nil
	}
	return add(part)
}

func (c *closure) newPart(o Order, number int) *Part {
	o.Keep, o.Chosen = nil, nil // their outcome is in the groups
	return &Part{Number: number, Of: o, Date: c.index.newest.UTC().Truncate(time.Second)}
}

// explain says of what the crawls have no capture of why, if their logs do.
func (c *closure) explain(ctx context.Context, crawls []archive.CrawlAt) error {
	wanted := map[string]*archive.Logged{}
	for _, m := range c.missing {
		if m.Reason == notCaptured {
			wanted[m.URL] = nil
		}
	}
	if len(wanted) == 0 {
		return nil
	}
	for _, at := range distinct(crawls) {
		err := archive.EachLogged(ctx, c.store, at, func(l archive.Logged) error {
			if last, is := wanted[l.URL]; is && (last == nil || !l.Time.Before(last.Time)) {
				wanted[l.URL] = &l
			}
			return nil
		})
		if err != nil && (ctx.Err() != nil || !archive.Damaged(err)) {
			return err
		}
	}
	for key, m := range c.missing {
		if l := wanted[m.URL]; l != nil && m.Reason == notCaptured {
			m.Reason += ": " + strings.TrimSpace(fmt.Sprintf("%s %s", l.Kind, l.Reason))
			c.missing[key] = m
		}
	}
	return nil
}

// lines is what is missing, in the order of URLs.
func (c *closure) lines() []Missing {
	var list []Missing
	for _, reason := range c.index.Damaged {
		list = append(list, Missing{Why: WhyKept, Reason: reason})
	}
	for _, m := range c.missing {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Missing) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), a.Date.Compare(b.Date), cmp.Compare(a.Why, b.Why), cmp.Compare(a.Reason, b.Reason))
	})
	return list
}
