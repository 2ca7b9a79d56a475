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

// The default sizes of synthetic webs.
const (
	defaultSites  = 16
	defaultBoards = 8
	defaultHosts  = 4
)

// Forms describes what Open reads, for help texts.
const Forms = recorded.Forms + `;
webworld:SITES:SEED, a synthetic web of so many sites, in which a tenth of the pages is on a topic;
forum:BOARDS:SEED, a synthetic forum of one host, whose boards are the topics;
community:BOARDS:SEED, a synthetic forum whose texts say less of their boards than what its pages link to;
traps:HOSTS:SEED, a synthetic web of so many relevant hosts, with ten irrelevant ones that have endless calendars for each;
demo:PAGES:SEED:SCALE, the web of the demo, with so many pages of its endless calendar; SCALE multiplies the pages of its sites, 1 if it is missing (make demo: 8)`

// Open reads a recorded web, or makes a synthetic one.
func Open(where string) (*recorded.Web, error) {
	if sites, seed, is, err := synthetic(where, "webworld:SITES:SEED", defaultSites); is || err != nil {
		if err != nil {
			return nil, err
		}
		return World(scattered.New(webworld.Options{Seed: seed}, sites))
	}
	if boards, seed, is, err := synthetic(where, "forum:BOARDS:SEED", defaultBoards); is || err != nil {
		if err != nil {
			return nil, err
		}
		return forum(boards, seed), nil
	}
	if boards, seed, is, err := synthetic(where, "community:BOARDS:SEED", defaultBoards); is || err != nil {
		if err != nil {
			return nil, err
		}
		return newCommunity(boards, seed), nil
	}
	if hosts, seed, is, err := synthetic(where, "traps:HOSTS:SEED", defaultHosts); is || err != nil {
		if err != nil {
			return nil, err
		}
		return traps(hosts, seed), nil
	}
	web, scale := scaleOf(where)
	if pages, seed, is, err := synthetic(web, "demo:PAGES:SEED", defaultTrapped); is || err != nil {
		if err != nil {
			return nil, err
		}
		return demo(pages, seed, scale)
	}
	return recorded.Open(where)
}

// scaleOf cuts the scale off a form NAME:SIZE:SEED:SCALE; it is 1 if there is none.
func scaleOf(where string) (form string, scale int) {
	if parts := strings.Split(where, ":"); len(parts) == 4 {
		if n, err := strconv.Atoi(parts[3]); err == nil && n > 0 {
			return strings.Join(parts[:3], ":"), n
		}
	}
	return where, 1
}

// synthetic reads a form NAME:SIZE:SEED; false of what does not begin with the name.
func synthetic(where, form string, size int) (n int, seed uint64, is bool, err error) {
	name, _, _ := strings.Cut(form, ":")
	rest, is := strings.CutPrefix(where, name)
	if !is || rest != "" && rest[0] != ':' {
		return 0, 0, false, nil
	}
	n, seed = size, 1
	for i, part := range strings.Split(strings.TrimPrefix(rest, ":"), ":") {
		switch {
		case rest == "":
		case i == 0:
			n, err = strconv.Atoi(part)
		case i == 1:
			seed, err = strconv.ParseUint(part, 10, 64)
		default:
			err = strconv.ErrSyntax
		}
		if err != nil || n < 1 {
			return 0, 0, true, fmt.Errorf("%s: write %s, such as %s:%d:1", where, form, name, size)
		}
	}
	return n, seed, true, nil
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
	w.Seeds, w.Topics = numbers(w, world.Seeds()), []string{Relevant}
	return w, nil
}
