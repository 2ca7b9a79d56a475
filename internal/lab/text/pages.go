package text

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/muninn-archive/muninn/internal/lab/recognition"
	"github.com/muninn-archive/muninn/internal/page"
)

// Page is a saved page with its gold.
type Page struct {
	Gold
	Application string
	URL         string
	Raw         []byte   // as it was saved
	Source      []byte   // in UTF-8, as Muninn decodes it
	Right       []string // the words of the body
}

// noURL stands for the URL of a page that was saved without it.
const noURL = "http://unknown.invalid/page"

// Load reads the pages of a folder that gold has a line for, and finds their bodies. Errors name the file: that it is not in the
// folder's index, that it is used for the wrong half, that an expression selects nothing, or that the text is another than that of the
// page which was looked at.
func Load(dir string, list []Gold) ([]*Page, error) {
	index, err := recognition.Read(dir, "")
	if err != nil {
		return nil, err
	}
	labels, alone := map[string]recognition.Labelled{}, singleHosts(index)
	for _, l := range index {
		labels[l.File] = l
	}
	use := map[string]*Page{} // by host
	var out []*Page
	for _, g := range list {
		l, known := labels[g.File]
		if !known {
			return nil, fmt.Errorf("gold: %s is not in the index of %s", g.File, dir)
		}
		host := hostOf(l)
		if want := UseOf(host, alone[l.Application()]); g.Use != want {
			return nil, fmt.Errorf("gold: %s: use is %q, but the pages of %s are for %s", g.File, g.Use, host, want)
		}
		p, err := open(dir, l)
		if err != nil {
			return nil, err
		}
		p.Gold = g
		if other := use[host]; other != nil && other.Use != g.Use {
			return nil, fmt.Errorf("gold: %s is for %s and %s for %s: pages of one host (%s) are for the same", g.File, g.Use, other.File, other.Use, host)
		}
		use[host] = p
		body, err := bodyOf(p.document().Root, &g)
		if err != nil {
			return nil, fmt.Errorf("gold: %s: %w", g.File, err)
		}
		if p.Right = Tokens(body.Text); body.Sum != g.Sum || len(p.Right) != g.Words {
			return nil, fmt.Errorf("gold: %s: the body has %d words and the sum %q, not %d and %q: look at the page again (--show)", g.File, len(p.Right), body.Sum, g.Words, g.Sum)
		}
		out = append(out, p)
	}
	return out, nil
}

// open reads one page.
func open(dir string, l recognition.Labelled) (*Page, error) {
	raw, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(l.File)))
	if err != nil {
		return nil, err
	}
	p := &Page{Application: l.Application(), URL: l.URL, Raw: raw}
	if p.URL == "" {
		p.URL = noURL
	}
	d := p.document()
	if d.Root == nil {
		return nil, fmt.Errorf("%s: is no HTML that can be read", l.File)
	}
	p.Source = d.Source
	return p, nil
}

func (p *Page) document() *page.Document {
	return page.Parse(page.Input{URL: p.URL, MIME: "text/html", Body: p.Raw}, page.DefaultLimits())
}

// hostOf is the host of a page without "www."; its file if its URL names none.
func hostOf(l recognition.Labelled) string {
	u, err := url.Parse(l.URL)
	if err != nil || u.Hostname() == "" {
		return l.File
	}
	return strings.TrimPrefix(strings.ToLower(u.Hostname()), "www.")
}

// UseOf is the half that the pages of a host belong to: by the host's SHA-256 three of five are for choosing. An application of which
// there is one host only (alone) is for judging: nothing is chosen for one site.
func UseOf(host string, alone bool) string {
	h := sha256.Sum256([]byte(host))
	if !alone && binary.BigEndian.Uint64(h[:8])%5 < 3 {
		return Choosing
	}
	return Judging
}

// singleHosts are the applications whose pages are all of one host.
func singleHosts(index []recognition.Labelled) map[string]bool {
	first, alone := map[string]string{}, map[string]bool{}
	for _, l := range index {
		name, host := l.Application(), hostOf(l)
		switch before, known := first[name]; {
		case !known:
			first[name], alone[name] = host, true
		case before != host:
			alone[name] = false
		}
	}
	return alone
}
