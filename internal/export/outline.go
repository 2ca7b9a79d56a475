package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
)

// Outline is what an export will consist of.
type Outline struct {
	Version  int             `json:"version"`
	Order    Order           `json:"order"`
	Rules    string          `json:"rules,omitempty"`  // SHA-256 of Order.Keep, which is not repeated here
	Chosen   string          `json:"chosen,omitempty"` // name and SHA-256 of Order.Chosen
	Parts    []Outlined      `json:"parts"`
	Captures int             `json:"captures"`
	Groups   map[Why]int     `json:"groups"` // how many groups of records are exported, by the reason
	Missing  *archive.Stored `json:"missing_list,omitempty"`
	Lacks    int             `json:"missing"` // lines of the list of what cannot be exported
	Damaged  int             `json:"damaged"` // segments that cannot be read, of those that were
}

// Outlined is a part of an outline.
type Outlined struct {
	Plan    string `json:"plan"` // key
	Records int    `json:"records"`
	Bytes   int64  `json:"bytes"` // of the records
}

// Planned says where the outline of an export lies.
type Planned struct {
	Outline string `json:"outline"` // key, in the store that is exported to
	Parts   int    `json:"parts"`
	Missing int    `json:"missing"`
	Bytes   int64  `json:"bytes"`
}

// outlineVersion is that of the form of outlines and manifests.
const outlineVersion = 1

// Plan finds out what an order exports, and stores the plan of each part, the list of what is missing, and the outline. It reads all indexes of the
// crawls, and of each segment with a capture that is exported what is no response. It takes about a kilobyte of memory a capture that is exported, and half of one for each other of
// the crawls. reached is called with the name of each segment that is read; it may be nil.
func Plan(ctx context.Context, from, to archive.Store, o Order, reached func(string)) (Planned, error) {
	if err := o.Validate(); err != nil {
		return Planned{}, err
	}
	o.Crawls = distinct(o.Crawls)
	from = faulty(from)
	index, err := ReadIndex(ctx, from, o.Crawls)
	if err != nil {
		return Planned{}, fmt.Errorf("plan the export: %w", err)
	}
	c := newClosure(index, from, o.Keep == nil && o.Chosen == nil)
	if reached != nil {
		c.reached = reached
	}
	if err := c.collect(ctx, o); err != nil {
		return Planned{}, fmt.Errorf("plan the export: %w", err)
	}
	out, err := c.storePlans(ctx, to, o)
	if err != nil {
		return out, fmt.Errorf("plan the export: %w", err)
	}
	return out, nil
}

// faulty makes the faults of a store such as differ from damage of what it stores.
func faulty(s archive.Store) archive.Store { return archive.Faults(s) }

// collect picks what is exported.
func (c *closure) collect(ctx context.Context, o Order) error {
	if c.all {
		return c.takeAll(ctx)
	}
	decide := c.index.decider(&o)
	for i := range c.index.Captures {
		if decide(&c.index.Captures[i]).Keep {
			c.want(int32(i), WhyKept, "", 0)
		}
	}
	if err := c.run(ctx); err != nil {
		return err
	}
	return c.explain(ctx, o.Crawls)
}

// storePlans stores the plans, the list of what is missing, and the outline.
func (c *closure) storePlans(ctx context.Context, to archive.Store, o Order) (Planned, error) {
	list := c.ordered()
	out := Outline{Version: outlineVersion, Order: o, Groups: map[Why]int{}, Damaged: len(c.damaged) + len(c.index.Damaged)}
	for _, p := range list {
		out.Groups[p.why]++
		if p.capture != none {
			out.Captures++
		}
	}
	if o.Keep != nil {
		raw, err := json.Marshal(o.Keep)
		if err != nil {
			return Planned{}, err
		}
		out.Rules, out.Order.Keep = hashOf(raw), nil
	}
	if o.Chosen != nil {
		out.Chosen, out.Order.Chosen = o.Chosen.Name()+" "+o.Chosen.hash(), nil
	}
	planned := Planned{}
	err := c.parts(o, list, func(p *Part) error {
		raw, err := p.encode()
		if err != nil {
			return err
		}
		packed := planEncoder.EncodeAll(raw, nil)
		key, bytesOf := p.Key(suffixPlan), p.bytes()
		out.Parts = append(out.Parts, Outlined{key, p.records(), bytesOf})
		planned.Bytes += bytesOf
		return to.Put(ctx, key, bytes.NewReader(packed), int64(len(packed)))
	})
	if err != nil {
		return planned, err
	}
	if err := c.storeMissing(ctx, to, &out); err != nil {
		return planned, err
	}
	raw, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return planned, err
	}
	planned.Parts, planned.Missing = len(out.Parts), out.Lacks
	planned.Outline = o.Name + "-" + hashOf(raw)[:hashDigits] + suffixOutline
	return planned, to.Put(ctx, planned.Outline, bytes.NewReader(raw), int64(len(raw)))
}

func (c *closure) storeMissing(ctx context.Context, to archive.Store, out *Outline) error {
	lines := c.lines()
	if out.Lacks = len(lines); out.Lacks == 0 {
		return nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	for _, m := range lines {
		if err := enc.Encode(m); err != nil {
			return err
		}
	}
	stored, err := putText(ctx, to, out.Order.Name+"-"+hashOf(text.Bytes())[:hashDigits]+suffixMissing, text.String())
	out.Missing = &stored
	return err
}

// maxOutline bounds an outline or a manifest, in bytes: some 300 a part.
const maxOutline = 1 << 30

// ReadOutline reads the outline of an export.
func ReadOutline(ctx context.Context, store archive.Store, key string) (o Outline, err error) {
	raw, err := archive.ReadAll(ctx, store, key, maxOutline)
	if err != nil {
		return o, err
	}
	if err := json.Unmarshal(raw, &o); err != nil {
		return o, fmt.Errorf("read %s: %w", key, err)
	}
	if err := o.valid(); err != nil {
		return o, fmt.Errorf("read %s: %w", key, err)
	}
	return o, nil
}

// valid reports whether an outline is one that this version writes.
func (o *Outline) valid() error {
	if o.Version != outlineVersion {
		return fmt.Errorf("it is of version %d, want %d: make the export again, in another folder", o.Version, outlineVersion)
	}
	for _, p := range o.Parts {
		if !strings.HasSuffix(p.Plan, suffixPlan) {
			return fmt.Errorf("the plan of a part is %.200q, which is none: make the export again, in another folder", p.Plan)
		}
	}
	return nil
}

// Manifest ends an export: what it names is complete.
type Manifest struct {
	Outline
	Written []Written `json:"written"`
	Bytes   int64     `json:"bytes"` // of all files of the parts
}

// Finish puts the manifest of an export all of whose parts are written, if there is none yet. Its name has the hash of the outline.
func Finish(ctx context.Context, to archive.Store, outlineKey string) (key string, m Manifest, err error) {
	if m.Outline, err = ReadOutline(ctx, to, outlineKey); err != nil {
		return "", m, fmt.Errorf("finish the export: %w", err)
	}
	for _, p := range m.Parts {
		w, err := readWritten(ctx, to, p.Plan)
		if err != nil {
			return "", m, fmt.Errorf("finish the export: part %s: %w", p.Plan, err)
		}
		m.Written = append(m.Written, w)
		for _, f := range w.Files {
			m.Bytes += f.Bytes
		}
	}
	raw, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return "", m, err
	}
	key = strings.TrimSuffix(outlineKey, suffixOutline) + suffixManifest
	if err = to.PutIfAbsent(ctx, key, raw); errors.Is(err, archive.ErrExists) {
		err = nil
	}
	return key, m, err
}

// writtenOf is the name of the file that says what a part is, out of that of its plan.
func writtenOf(plan string) string { return strings.TrimSuffix(plan, suffixPlan) + suffixWritten }
