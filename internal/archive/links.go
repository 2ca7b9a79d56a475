package archive

import (
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// Link is an outlink, and where it stood. Former versions wrote a line of the links sidecar for each, in this form.
type Link struct {
	Source string `json:"source"`
	Path   string `json:"path"` // hop letters of the source
	crawl.Outlink
	crawl.LinkVerdict
	HopLetter string `json:"hop"`
	Paragraph string `json:"paragraph,omitempty"`
	Language  string `json:"language,omitempty"` // of the source
	NoFollow  bool   `json:"nofollow,omitempty"` // it is not followed: its source asks robots not to, or the scope rejects the source
}

// Origin is the page that the link stands on.
func (l *Link) Origin() crawl.Origin {
	return crawl.Origin{URL: l.Source, Path: l.Path, Language: l.Language}
}

// LinkOf is the ith outlink of a page, as ReadLinks returns it when the page is archived. path are the hop letters of the page.
func LinkOf(p *crawl.Judged, path string, i int) Link {
	l := Link{
		Source: p.URL, Path: path, Outlink: p.Links[i], LinkVerdict: p.Verdict.Links[i], HopLetter: p.Links[i].Hop.String(),
		Language: p.Language, NoFollow: !p.Follows(p.Links[i].Hop),
	}
	if l.Block >= 0 && l.Block < len(p.Blocks) {
		l.Paragraph = p.Blocks[l.Block]
	}
	return l
}

// addLinks adds a page's outlinks to the sidecar.
func (s *Segment) addLinks(c Capture) {
	if c.Page != nil && len(c.Page.Links) > 0 {
		s.links.add(linkingPage{c.URL, c.Path, c.Page})
		s.counts.Links += len(c.Page.Links)
	}
}

// originOf is what an absolute URL begins with: scheme, host and port.
func originOf(url string) string {
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok {
		return ""
	}
	host, _, _ := strings.Cut(rest, "/")
	return url[:len(scheme)+len("://")+len(host)]
}
