package webs

import (
	"net/url"

	"github.com/muninn-archive/muninn/internal/recorded"
	"github.com/muninn-archive/muninn/internal/webworld"
)

// defaultTrapped is how many pages of the endless calendar of the demo's web are recorded, if nobody says.
const defaultTrapped = 200

// demo records the web of the demo, with so many pages of its calendar, which has no end, and with the pages of its sites multiplied by a scale. What robots.txt disallows is left out.
func demo(trapped int, seed uint64, scale int) (*recorded.Web, error) {
	world := webworld.NewDemo(webworld.Options{Seed: seed, Scale: scale})
	if err := world.Build(); err != nil {
		return nil, err
	}
	w := recorded.New("demo")
	queue, met := world.Seeds(), map[string]bool{}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		truth, known := world.PageOf(at)
		trap := known && truth.Kind == "trap"
		if !known || !truth.Allowed || met[at] || trap && trapped == 0 {
			continue
		}
		met[at] = true
		status, header, body, found := world.Answer(at)
		if !found {
			continue
		}
		page, ok := recorded.NewPage(at, status, header, body)
		if !ok {
			continue
		}
		page.Group = truth.Host
		if truth.Relevant {
			page.Label = Relevant
		}
		if _, added := w.Add(page); !added {
			continue
		}
		if trap {
			trapped--
		}
		queue = append(queue, linked(at, page.Location, body)...)
	}
	w.Seeds, w.Topics = numbers(w, world.Seeds()), []string{Relevant}
	return w, nil
}

// linked are the URLs that a page leads to.
func linked(at, location string, body []byte) (list []string) {
	base, err := url.Parse(at)
	if err != nil {
		return nil
	}
	for _, l := range webworld.Links(base, body) {
		list = append(list, l.URL.String())
	}
	if to, err := base.Parse(location); location != "" && err == nil {
		list = append(list, to.String())
	}
	return list
}

// numbers are those of the pages of some URLs.
func numbers(w *recorded.Web, seeds []string) (list []int) {
	for _, s := range seeds {
		if u, ok := recorded.Canonical(s); ok {
			if at, known := w.At(u); known {
				list = append(list, at)
			}
		}
	}
	return list
}
