package page

import (
	"encoding/json"
	"strings"

	"github.com/muninn-archive/muninn/internal/crawl"
)

// maxManifest is the largest manifest of a web application that is read, in bytes.
const maxManifest = 1 << 20

// icons are in a manifest, and in each of its shortcuts (W3C Web Application Manifest).
type icons struct {
	Icons []struct {
		Source string `json:"src"`
	} `json:"icons"`
}

// manifest takes the icons of a web application.
func (b *builder) manifest(body []byte) {
	var m struct {
		icons
		Shortcuts []icons `json:"shortcuts"`
	}
	if len(body) > maxManifest || json.Unmarshal(body, &m) != nil {
		return
	}
	for _, list := range append(m.Shortcuts, m.icons) {
		for _, icon := range list.Icons {
			b.link(icon.Source, crawl.HopEmbed, "manifest/icons", "", "")
		}
	}
}

// isManifest reports whether a response is such a manifest: by its type, or its name if it is JSON or its type says nothing.
func isManifest(kind, url string) bool {
	switch {
	case kind == "application/manifest+json":
		return true
	case kind == "application/json" || vague(kind):
		path, _, _ := strings.Cut(url, "?")
		return extension(url) == "webmanifest" || strings.HasSuffix(path, "/manifest.json")
	}
	return false
}
