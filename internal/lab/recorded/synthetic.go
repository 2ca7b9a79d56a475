package recorded

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/muninn-archive/muninn/internal/webworld"
)

// Relevant is the label of the pages of a synthetic web that are on its topic.
const Relevant = "relevant"

// defaultSites is the size of a synthetic web, if nothing is said.
const defaultSites = 16

// synthetic makes a scattered web, without serving it.
func synthetic(form string) (*Web, error) {
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
	return World(webworld.NewScattered(webworld.Options{Seed: seed}, sites))
}

// World records a synthetic web that is served, or else builds it first.
func World(world *webworld.World) (*Web, error) {
	if world.Port() == 0 {
		if err := world.Build(); err != nil {
			return nil, err
		}
	}
	w := newWeb("webworld")
	for _, p := range world.Pages() {
		url, ok := canonical(p.URL)
		if !ok {
			continue
		}
		status, header, body, found := world.Answer(p.URL)
		if !found {
			continue
		}
		page := Page{URL: url, Group: p.Host, Status: status, MIME: mimeOf(header), Location: header.Get("Location"), Head: headOf(status, header), Body: body}
		if p.Relevant {
			page.Label = Relevant
		}
		w.add(page)
	}
	for _, s := range world.Seeds() {
		if url, ok := canonical(s); ok {
			if at, known := w.At(url); known {
				w.Seeds = append(w.Seeds, at)
			}
		}
	}
	w.Topics = []string{Relevant}
	return w, nil
}

// headOf writes a status line and header fields.
func headOf(status int, header http.Header) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\n", status, http.StatusText(status))
	_ = header.Write(&b)
	b.WriteString("\r\n")
	return []byte(b.String())
}

func mimeOf(header http.Header) string {
	mime, _, _ := strings.Cut(header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(mime))
}
