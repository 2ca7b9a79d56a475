package extract

import (
	"bytes"
	"path"
	"strings"
	"time"

	"golang.org/x/net/html/atom"
)

// Bounds of the scripts that dates are looked for in.
const (
	maxScript   = 1 << 20 // bytes of one script
	maxKeys     = 200     // names that may be those of a date, of all scripts
	maxKeyBytes = 32
	nearKey     = 2000 // bytes around a date in which the page is named
	leastSlug   = 8    // bytes of the end of an address that names a page
)

// dateKeys are the names that programs give the date of a publication, in small letters without signs.
var dateKeys = wordSet("publishedat publisheddate datepublished datepublish publishdate publicationdate firstpublished firstpublishedat firstpublisheddate publishedon published publishtime publishedtime publishdatetime publisheddatetime originalpublicationdate publicationdatetime articlepublishdate datetimepublished")

var withoutSigns = strings.NewReplacer("_", "", "-", "")

// isProgram reports whether a script is a program or its data, by its type (HTML §4.12.1). Others are of another use: JSON-LD has a reader of its
// own, which knows of what a date is said; templates, import maps and rules for loading say nothing of the page.
func isProgram(kind string) bool {
	kind, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(kind)), ";")
	switch kind = strings.TrimSpace(kind); kind {
	case "", "module", "application/json", "text/json":
		return true
	}
	return strings.HasSuffix(kind, "javascript") || strings.HasSuffix(kind, "ecmascript")
}

// scriptDate is the date that the data of scripts give the page: pages that are made in the browser have it there alone. If they have
// several days, it is that of the data that name the end of the page's address; nil: none is.
func (p *Page) scriptDate(*window) *dated {
	if !bytes.Contains(p.Doc.Source, []byte("ublish")) {
		return nil
	}
	slug := strings.TrimSuffix(path.Base(strings.TrimSuffix(p.Doc.URL, "/")), path.Ext(p.Doc.URL))
	var only, named *dated
	several, keys := false, 0
	for n := range p.Doc.Root.Descendants() {
		if n.DataAtom != atom.Script || n.FirstChild == nil || len(n.FirstChild.Data) > maxScript || !isProgram(attr(n, "type")) {
			continue
		}
		script := n.FirstChild.Data
		for at := 0; keys < maxKeys; {
			next := strings.Index(script[at:], "ublish")
			if next < 0 {
				break
			}
			from, end := keyAround(script, at+next)
			at, keys = end, keys+1
			value := valueBehind(script, from, end)
			if value == "" {
				continue
			}
			list := appendDate(nil, value, published, 0, 0)
			if len(list) == 0 {
				continue
			}
			d := &list[0]
			if only == nil {
				only = d
			}
			several = several || only.at.Sub(d.at).Abs() >= 24*time.Hour
			if near := script[max(0, from-nearKey):min(len(script), end+nearKey)]; named == nil && len(slug) >= leastSlug && strings.Contains(near, slug) {
				named = d
			}
		}
	}
	if several {
		return named
	}
	return only
}

// keyAround is the name around a place in a script.
func keyAround(script string, at int) (from, end int) {
	part := func(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == '-' }
	for from = at; from > 0 && at-from < maxKeyBytes && part(script[from-1]); from-- {
	}
	for end = at + 1; end < len(script) && end-at < maxKeyBytes && part(script[end]); end++ {
	}
	return from, end
}

// valueBehind is the value of a name that is one of a date's: a text in quotes, or a number; empty if there is none.
func valueBehind(script string, from, end int) string {
	if !dateKeys[strings.ToLower(withoutSigns.Replace(script[from:end]))] {
		return ""
	}
	rest := script[end:min(len(script), end+maxDateAlone)]
	rest = strings.TrimLeft(rest, "\\\"' \t")
	if rest == "" || rest[0] != ':' && rest[0] != '=' {
		return ""
	}
	rest = strings.TrimLeft(rest[1:], "\\\"' \t")
	if at := strings.IndexAny(rest, "\\\"'},;]\n"); at >= 0 {
		return rest[:at]
	}
	return ""
}
