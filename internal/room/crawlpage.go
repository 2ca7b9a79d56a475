package room

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/archive"
	"github.com/muninn-archive/muninn/internal/topic"
)

// Bounds of the page of a crawl.
const (
	maxDefinition = 1 << 20 // bytes of a definition or of a topic that is read
	maxFiles      = 200     // files of a kind that are listed
	topicWords    = 40
	maxSeeds      = 50
)

type crawlsPage struct {
	Crawls []crawlRow `json:"crawls"`
	State  *State     `json:"views,omitempty"`
	Faults int        `json:"faults"` // of the views, which the log of the server has
}

func (r *Room) crawls(*http.Request) (view, error) {
	p := crawlsPage{Crawls: r.crawlRows()}
	if r.State != nil {
		s := r.State()
		p.State, p.Faults = &s, len(s.Faults)
	}
	return view{Name: "crawls", Title: "Crawls", Data: p}, nil
}

// crawlPage is where what is archived of a crawl comes from: what was asked for, learned, fetched and refused.
type crawlPage struct {
	Name        string           `json:"name"`
	Whole       bool             `json:"whole"` // readers may see all of the crawl; else the rest is missing
	Runs        []runTally       `json:"runs"`
	Counted     bool             `json:"counted"` // the runs have all segments; else the next request counts further ones
	Definitions []definitionFile `json:"definitions"`
	Topics      []topicFile      `json:"topics"`
	Rules       []fileRow        `json:"learned_rules"`
	Reports     []fileRow        `json:"reports"`
	Search      string           `json:"search"`
	Notes       []string         `json:"notes,omitempty"`
}

// fileRow is a file of the archive that the room shows.
type fileRow struct {
	Name    string `json:"name"`
	Bytes   int64  `json:"bytes"`
	Address string `json:"address"`
}

type definitionFile struct {
	fileRow
	Run         uint32          `json:"run"`
	Definition  json.RawMessage `json:"definition"`
	Pretty      string          `json:"-"`
	Description string          `json:"-"`
	Keywords    []string        `json:"-"`
	Seeds       []string        `json:"-"`
	Budget      string          `json:"-"`
}

type topicFile struct {
	fileRow
	Words []string `json:"words"`
}

func (r *Room) crawl(req *http.Request) (view, error) {
	of, err := r.crawlNamed(req.URL.Query().Get("name"))
	if err != nil {
		return view{}, err
	}
	_, whole := r.Door.Crawl(of.Name)
	p := &crawlPage{Name: of.Name, Whole: whole, Search: address("/search", "q", part{"crawl", of.Name}.text()), Runs: []runTally{}}
	if whole {
		if err := r.provenance(req.Context(), of, p); err != nil {
			return view{}, err
		}
	}
	return view{Name: "crawl", Title: "Crawl " + of.Name, Data: p}, nil
}

func (r *Room) provenance(ctx context.Context, of Crawl, p *crawlPage) (err error) {
	if p.Runs, p.Counted, err = r.tallies.named(of.Name).read(ctx, of); err != nil {
		return err
	}
	layout := of.Layout()
	for _, list := range []struct {
		prefix string
		add    func(fileRow, string) error
	}{
		{layout.Definitions(), func(f fileRow, key string) error {
			d := definitionFile{fileRow: f, Run: layout.RunOf(key)}
			raw, err := archive.ReadAll(ctx, of.Store, key, maxDefinition)
			if err == nil {
				err = d.read(raw)
			}
			p.Definitions = append(p.Definitions, d)
			return err
		}},
		{layout.Topics(), func(f fileRow, key string) error {
			if path.Ext(key) != ".json" {
				return nil
			}
			raw, err := archive.ReadAll(ctx, of.Store, key, maxDefinition)
			var m topic.Model
			if err == nil {
				err = json.Unmarshal(raw, &m)
			}
			if err == nil {
				p.Topics = append(p.Topics, topicFile{f, m.TopWords(topicWords)})
			}
			return err
		}},
		{layout.RuleFiles(), func(f fileRow, _ string) error { p.Rules = append(p.Rules, f); return nil }},
		{layout.Reports(), func(f fileRow, _ string) error { p.Reports = append(p.Reports, f); return nil }},
	} {
		n := 0
		err := of.Store.List(ctx, list.prefix, func(o archive.Object) error {
			if n++; n > maxFiles {
				p.Notes = append(p.Notes, "only the first "+strconv.Itoa(maxFiles)+" files below "+list.prefix+" are listed")
				return errEnough
			}
			name := strings.TrimPrefix(o.Key, crawlFolder(layout))
			if err := list.add(fileRow{name, o.Size, address("/file", "crawl", of.Name, "name", name)}, o.Key); err != nil && ctx.Err() == nil {
				p.Notes = append(p.Notes, r.noted(name, err))
			}
			return ctx.Err()
		})
		if err := unlessEnough(err); err != nil {
			return err
		}
	}
	slices.SortStableFunc(p.Definitions, func(a, b definitionFile) int { return cmp.Compare(a.Run, b.Run) })
	slices.Reverse(p.Reports)
	return nil
}

// crawlFolder is what the keys of a crawl begin with.
func crawlFolder(l archive.Layout) string { return strings.TrimSuffix(l.Reports(), "reports/") }

// read takes what people look for first out of a definition, of whatever version.
func (d *definitionFile) read(raw []byte) error {
	var of struct {
		Description string `json:"description"`
		Topic       struct {
			Keywords []string `json:"keywords"`
		} `json:"topic"`
		Seeds  []json.RawMessage `json:"seeds"`
		Budget json.RawMessage   `json:"budget"`
	}
	if !json.Valid(raw) {
		return errors.New("it is no JSON")
	}
	d.Definition = raw
	var all any
	if err := json.Unmarshal(raw, &all); err != nil {
		return err
	}
	pretty, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	d.Pretty = string(pretty)
	if err := json.Unmarshal(raw, &of); err != nil {
		return nil // another version's: it is shown whole
	}
	d.Description, d.Keywords, d.Budget = of.Description, of.Topic.Keywords, string(of.Budget)
	for _, s := range of.Seeds[:min(len(of.Seeds), maxSeeds)] {
		var seed struct{ URL, File string }
		var text string
		if json.Unmarshal(s, &text) != nil && json.Unmarshal(s, &seed) == nil {
			text = cmp.Or(seed.URL, seed.File)
		}
		d.Seeds = append(d.Seeds, text)
	}
	return nil
}

// file serves a definition, a topic, a learned rule or a report, of a crawl that readers may see all of. Reports are HTML that was made without
// scripts; they are sealed all the same.
func (r *Room) file(w http.ResponseWriter, req *http.Request) error {
	v := req.URL.Query()
	of, err := r.crawlNamed(v.Get("crawl"))
	if err != nil {
		return err
	}
	name := v.Get("name")
	kind, known := fileKinds[path.Ext(name)]
	folder, _, _ := strings.Cut(name, "/")
	_, whole := r.Door.Crawl(of.Name)
	if !whole || !known || path.Clean(name) != name || !slices.Contains([]string{"definitions", "topic", "kb", "reports"}, folder) || kind == htmlKind && folder != "reports" {
		return missing("there is no such file of crawl %s here", of.Name)
	}
	from, err := of.Store.Get(req.Context(), crawlFolder(of.Layout())+name)
	if errors.Is(err, archive.ErrNotFound) || errors.Is(err, archive.ErrKey) || errors.Is(err, archive.ErrNotRegular) {
		return missing("there is no such file of crawl %s here", of.Name)
	}
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Security-Policy", sealed)
	_, _ = io.Copy(w, from)
	return nil
}

const htmlKind = "text/html; charset=utf-8"

var fileKinds = map[string]string{".json": "text/plain; charset=utf-8", ".xml": "text/plain; charset=utf-8", ".html": htmlKind}
