// Package webs opens the webs that the laboratory crawls: recorded and synthetic ones.
package webs

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/webworld"
	"github.com/muninn-archive/muninn/internal/webworld/scattered"
)

// Relevant is the label of the pages of a synthetic web that are on its topic.
const Relevant = "relevant"

// defaultSites is the default number of sites of a synthetic web.
const defaultSites = 16

// Forms describes what Open reads, for help texts.
const Forms = recorded.Forms + `;
webworld:SITES:SEED, a synthetic web of so many sites, in which a tenth of the pages is on a topic`

// Open reads a recorded web, or makes a synthetic one.
func Open(where string) (*recorded.Web, error) {
	if rest, is := strings.CutPrefix(where, "webworld"); is && (rest == "" || rest[0] == ':') {
		return synthetic(rest)
	}
	return recorded.Open(where)
}

// synthetic makes a scattered web, without serving it.
func synthetic(form string) (*recorded.Web, error) {
	sites, seed := defaultSites, uint64(1)
	var err error
	for i, part := range strings.Split(strings.TrimPrefix(form, ":"), ":") {
		switch {
		case form == "":
		case i == 0:
			sites, err = strconv.Atoi(part)
		case i == 1:
			seed, err = strconv.ParseUint(part, 10, 64)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || sites < 1 {
			return nil, fmt.Errorf("webworld%s: write webworld:SITES:SEED, such as webworld:16:1", form)
		}
	}
	return World(scattered.New(webworld.Options{Seed: seed}, sites))
}

// World records a synthetic web. It builds the web first, unless it is served.
func World(world *webworld.World) (*recorded.Web, error) {
	if world.Port() == 0 {
		if err := world.Build(); err != nil {
			return nil, err
		}
	}
	w := recorded.New("webworld")
	for _, p := range world.Pages() {
		status, header, body, found := world.Answer(p.URL)
		if !found {
			continue
		}
		page, ok := recorded.NewPage(p.URL, status, header, body)
		if !ok {
			continue
		}
		page.Group = p.Host
		if p.Relevant {
			page.Label = Relevant
		}
		w.Add(page)
	}
	for _, s := range world.Seeds() {
		if url, ok := recorded.Canonical(s); ok {
			if at, known := w.At(url); known {
				w.Seeds = append(w.Seeds, at)
			}
		}
	}
	w.Topics = []string{Relevant}
	return w, nil
}
