package crawl

import "slices"

// A page is understood in three steps, each with a type for what it says: the parser makes a [Page], the helper adds [Findings],
// the judge a [Verdict]. [Parsed] and [Judged] are a page after the second and after the third step: of a page that nobody has
// judged there is no score to be read.

// Page is what the parser says of one response (internal/page).
type Page struct {
	URL         string    `json:"url"`
	Status      int       `json:"status"`
	MIME        string    `json:"mime,omitempty"`
	Charset     string    `json:"charset,omitempty"`
	Title       string    `json:"title,omitempty"`
	Language    string    `json:"language,omitempty"` // ISO 639-1, empty if unsure
	Description string    `json:"description,omitempty"`
	Generator   string    `json:"generator,omitempty"`
	Canonical   string    `json:"canonical,omitempty"`
	Blocks      []string  `json:"blocks,omitempty"` // text blocks in document order
	Links       []Outlink `json:"links,omitempty"`  // without those that the helper drops
	LinksCut    int       `json:"links_cut,omitempty"`
	Cut         []Outlink `json:"cut,omitempty"` // what CutRequisites has left out of Links
	NoIndex     bool      `json:"noindex,omitempty"`
	NoFollow    bool      `json:"nofollow,omitempty"`
	Robots      string    `json:"robots,omitempty"` // what X-Robots-Tag and robots meta elements say, as lower-case words
	// Undecoded says why the content coding of the body could not be taken off it, or not to its end: all else is of what could be read. Empty: it could.
	Undecoded string `json:"undecoded,omitempty"`
	// Unfollowed says why the links are not followed, though the page asks robots for nothing: the scope's rules reject it.
	Unfollowed string `json:"unfollowed,omitempty"`
	// Opened says that a browser has opened the page, so that all else is of the document that it made: OpenedWhole, or what that lacks, or why there is none. Empty: it was
	// not opened.
	Opened string   `json:"opened,omitempty"`
	Loaded []string `json:"loaded,omitempty"` // what the page has loaded meanwhile
	Shown  uint64   `json:"shown,omitempty"`  // a hash of the texts and links of the document that a browser made; 0: there is none
}

// OpenedWhole says that a page was opened until it asked for nothing more.
const OpenedWhole = "yes"

// CutRequisites leaves out what the page embeds beyond a number: it is not asked for, and is in no list of links but that of the page's metadata.
func (p *Page) CutRequisites(most int64) {
	n := int64(0)
	all := len(p.Links)
	p.Links = slices.DeleteFunc(p.Links, func(l Outlink) bool {
		if l.Hop != HopEmbed {
			return false
		}
		if n++; n > most && most > 0 { // of a crawl that fetches none, none is missing
			p.Cut = append(p.Cut, l)
		}
		return n > most
	})
	p.LinksCut += all - len(p.Links)
}

// Follows reports whether the links of the page with a hop letter go to the frontier. A page that asks robots not to follow its links is shown with what it embeds, as any
// other; one that the scope rejects is not to be shown.
func (p *Page) Follows(hop Hop) bool { return p.Unfollowed == "" && (!p.NoFollow || hop == HopEmbed) }

// IconPath is where browsers look for the icon of a host whose pages name none. ContextIcon is the context of such a link, which stands nowhere in the page.
const (
	IconPath    = "/favicon.ico"
	ContextIcon = "implied/icon"
)

// Outlink is a discovered URL (paper §4.2), as the parser found it and the helper left it.
type Outlink struct {
	URL     string `json:"url"`
	Hop     Hop    `json:"hop"`               // the helper makes HopPaging of some links
	Context string `json:"context,omitempty"` // where it stood, such as "a/@href"
	Anchor  string `json:"anchor,omitempty"`
	Block   int    `json:"block"` // index of the page's text block around the anchor, −1 if there is none
	TagPath string `json:"tag_path,omitempty"`
	Rel     string `json:"rel,omitempty"`
	LinkFindings
}

// LinkFindings are what the helper says of a link. The zero LinkFindings: it said nothing.
type LinkFindings struct {
	Level string  `json:"level,omitempty"` // the page level behind it
	Prior float64 `json:"prior,omitempty"` // priority, in (0,1]
}

// Findings are what the helper says of a page (internal/aah). The zero Findings: it said nothing. What it says of links stands
// with them.
type Findings struct {
	Content     []bool   `json:"-"` // text blocks that are content; nil: it did not say
	Application string   `json:"application,omitempty"`
	Version     string   `json:"version,omitempty"` // of the application
	Level       string   `json:"level,omitempty"`
	Terminal    bool     `json:"terminal,omitempty"`   // the level holds what the archive is for
	Rule        string   `json:"rule,omitempty"`       // which rule of the knowledge base recognised the application
	LevelRule   string   `json:"level_rule,omitempty"` // … and the level
	Confidence  float64  `json:"confidence,omitempty"` // of the application, in (0,1]
	Base        string   `json:"kb,omitempty"`         // checksum of the knowledge base
	Prints      []byte   `json:"-"`                    // what is remembered of the objects for the next time
	Objects     []Object `json:"objects,omitempty"`
}

// Verdict is what the judge says of a page and of its links (internal/score).
type Verdict struct {
	Score        float64       // the document score, in [0,1]; −1 if nothing was said
	Worth        float64       // for the topic, in [0,1], by an order that learns
	PageFeatures []byte        // what such an order learns of the page; nil: nothing
	Links        []LinkVerdict // one for each link of the page, in their order
}

// LinkVerdict is what the judge says of a link.
type LinkVerdict struct {
	Score        float64 `json:"score"` // in [0,1]
	Parts        Parts   `json:"parts,omitempty"`
	LinkFeatures []byte  `json:"-"` // what the order wants to have again when the link is followed
}

// Parsed is a page that the parser and the helper have read.
type Parsed struct {
	Page
	Findings
	Print *Print // nil if nothing was understood
}

// Judged is a page that is judged, too.
type Judged struct {
	Parsed
	Verdict Verdict
}

// Origin is the page that a link stands on.
type Origin struct {
	URL, Path, Language string
}

// LinkNeeds says what the frontier needs to know of links, beside what it always does.
type LinkNeeds struct {
	Places   bool // what was learned of groups of links changes their priority (Definition.ByPlaces)
	Language bool // the scope asks for the language of the page that links
}

// LinkNeeds are those of the crawl.
func (d Definition) LinkNeeds() LinkNeeds {
	return LinkNeeds{Places: d.ByPlaces(), Language: d.Scope.Uses(func(c *Conditions) bool { return len(c.ViaLanguage) > 0 })}
}

// Discovery is the outlink on its way to the frontier. Its place counts where the helper said nothing.
func (l *Outlink) Discovery(v *LinkVerdict, from Origin, needs LinkNeeds) Discovery {
	d := Discovery{URL: l.URL, Via: from.URL, Path: Hopped(from.Path, l.Hop), Score: v.Score, LinkFeatures: v.LinkFeatures, Parts: v.Parts.Encode()}
	if needs.Language {
		d.Language = from.Language
	}
	if needs.Places && l.Prior == 0 && l.Hop == HopLink {
		d.TagPath = l.TagPath
	}
	return d
}
