package crawl

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"
)

// Definition is what an archivist writes: the crawl definition (paper §3). Zero values are never
// defaults: DefaultDefinition gives those, and decoding starts from it.
type Definition struct {
	// Name is the crawl's name: letters, digits, '.', '-' and '_', at most 64 bytes.
	Name string `json:"name"`
	// Description describes the collection for people.
	Description string `json:"description,omitempty"`
	// Seeds is where the crawl starts.
	Seeds []Seed `json:"seeds"`
	// Topic is what the crawl looks for; empty means everything in scope, in breadth-first order.
	Topic Topic `json:"topic,omitzero"`
	// Scope says which URLs may be crawled.
	Scope Scope `json:"scope,omitzero"`
	// Canonical says which URLs are taken for one page.
	Canonical Canonical `json:"canonical,omitzero"`
	// Sitemaps says that the sitemaps which the robots.txt of hosts names are crawled, and the pages that they name, if they are in scope.
	Sitemaps bool `json:"sitemaps,omitempty"`
	// ProbeMissing says that a host whose pages bring nothing new is asked once for a URL that cannot exist: the links of pages that read like its answer
	// are not followed.
	ProbeMissing bool `json:"probe_missing,omitempty"`
	// Order says how the scores of a URL make its position in its queue.
	Order Order `json:"order"`
	// Weights are the weights of the score parts; a part without a score for a URL is left out.
	Weights Weights `json:"weights"`
	// Budget bounds the crawl.
	Budget Budget `json:"budget"`
	// Politeness bounds the load on hosts.
	Politeness Politeness `json:"politeness"`
	// Robots says what the crawl makes of robots.txt, and of what pages ask robots for.
	Robots Robots `json:"robots,omitzero"`
	// Overrides are settings of single PLDs and hosts.
	Overrides Overrides `json:"overrides,omitzero"`
	// Helper says which links of a page are followed if its application is known: "strict" follows links of the site only if
	// its rules want them, "lenient" follows the others as well, with a lower score, "off" does not judge links.
	Helper string `json:"helper"`
	// Browser says which pages are opened in a browser, so that their scripts run: "auto" (those that are empty without), "always" (every page) or "never".
	Browser string `json:"browser,omitempty"`
	// Reference is the reference crawl, from which the topic vector is learned before the broad crawl.
	Reference Reference `json:"reference,omitzero"`
	// Recrawl says how often later runs ask for a page again; empty: each run asks for all.
	Recrawl Recrawl `json:"recrawl,omitzero"`
	// Archive says where the WARC files go.
	Archive Archive `json:"archive"`
	// Spread says that all workers crawl together, each the pay-level domains that the ring of workers gives to it. Else one worker
	// has the whole crawl, in all its runs. All runs of a crawl are the same in this.
	Spread bool `json:"spread,omitempty"`
}

// Seed is one start: exactly one of the three fields is set. A bare string is a URL.
type Seed struct {
	URL     string `json:"url,omitempty"`     // a page
	Sitemap string `json:"sitemap,omitempty"` // the URL of a sitemap or sitemap index (sitemaps.org 0.9)
	File    string `json:"file,omitempty"`    // a text file with one URL a line, '#' starts a comment
}

// Topic is the subject of the collection (paper §3: keywords, entities, example pages).
type Topic struct {
	Keywords []string  `json:"keywords,omitempty"` // words and phrases
	Entities []Entity  `json:"entities,omitempty"` // people, places, organisations, events
	Examples []Example `json:"examples,omitempty"` // pages about the topic
	// Paths are example paths: URLs of pages that lead from one to the next, the last of which is about the topic. The
	// reference crawl fetches them first; orders that learn which pages lead to a topic are trained with them.
	Paths [][]string `json:"paths,omitempty"`
	// Languages are the wanted languages of pages, as ISO 639-1 codes ("de"). Empty: any.
	Languages []string `json:"languages,omitempty"`
	// URLPatterns score a URL by its form: the best matching pattern's score counts.
	URLPatterns []URLPattern `json:"url_patterns,omitempty"`
	// Threshold is the document score from which a page counts as relevant, in [0,1].
	Threshold float64 `json:"threshold,omitempty"`
}

// Empty reports whether the topic has no field that describes it.
func (t Topic) Empty() bool {
	return len(t.Keywords)+len(t.Entities)+len(t.Examples)+len(t.Paths)+len(t.URLPatterns) == 0
}

// ExampleURLs are the pages that are about the topic: the examples that are given by URL, and the ends of example paths.
func (t Topic) ExampleURLs() (urls []string) {
	for _, e := range t.Examples {
		if e.URL != "" {
			urls = append(urls, e.URL)
		}
	}
	for _, path := range t.Paths {
		if len(path) > 0 {
			urls = append(urls, path[len(path)-1])
		}
	}
	return urls
}

// Named is a URL with the field of the definition that names it.
type Named struct{ Field, URL string }

// Named are the URLs of examples and example paths, which are fetched first.
func (t Topic) Named() (list []Named) {
	for i, e := range t.Examples {
		if e.URL != "" {
			list = append(list, Named{fmt.Sprintf("topic.examples[%d]", i), e.URL})
		}
	}
	for i, path := range t.Paths {
		for j, url := range path {
			list = append(list, Named{fmt.Sprintf("topic.paths[%d][%d]", i, j), url})
		}
	}
	return list
}

// Canonical is the topic as text: equal for topics that mean the same.
func (t Topic) Canonical() string {
	raw, err := json.Marshal(t)
	if err != nil {
		return fmt.Sprint(err) // NaN or infinity
	}
	return string(raw)
}

// Entity is a named thing of the topic.
type Entity struct {
	Name    string   `json:"name"`              // as texts write it
	Type    string   `json:"type,omitempty"`    // person, organisation, place, event, work, …
	Aliases []string `json:"aliases,omitempty"` // its other names; they count half
}

// Example is a page that is about the topic: exactly one field is set. A bare string is a URL, which
// the reference crawl fetches first and learns from.
type Example struct {
	URL  string `json:"url,omitempty"`  // a page
	Text string `json:"text,omitempty"` // the text itself; HTML if it begins with a tag
}

// URLPattern gives the URLs that match a pattern (see Scope) a score in [0,1].
type URLPattern struct {
	Pattern string  `json:"pattern"` // a glob over the whole URL, "surt:…" or "re:…"
	Score   float64 `json:"score"`   // in [0,1]
}

// Scope says which URLs belong to the crawl. A URL is in scope if it is within the bound of Within or
// matches Hosts, PLDs or Include, and matches nothing of Exclude. A pattern is a glob over the whole
// URL ("https://example.org/blog/*"), "surt:" and a SURT prefix ("surt:org,example,)/blog/"), or
// "re:" and a regular expression (RE2).
type Scope struct {
	// Within bounds the crawl by its seeds: "host", "pld" or "web" (no bound). Empty: "web" if there is a topic and
	// no other rule of inclusion, "pld" if there is neither; with other rules, only these.
	Within  string   `json:"within,omitempty"`
	Hosts   []string `json:"hosts,omitempty"`   // host names
	PLDs    []string `json:"plds,omitempty"`    // pay-level domains with all their hosts
	Include []string `json:"include,omitempty"` // patterns
	Exclude []string `json:"exclude,omitempty"` // patterns
	// Rules decide before all that includes URLs, and after Exclude, Blacklist, MaxHops and MaxRedirects: the first rule whose conditions hold for a
	// URL accepts or rejects it. The other fields decide about URLs that no rule decides about.
	Rules []Rule `json:"rules,omitempty"`
	// Blacklist names hosts and PLDs (with all their hosts) that are spam: never crawled.
	Blacklist []string `json:"blacklist,omitempty"`
	// MaxHops is the greatest number of links from a seed. 0: no bound but budgets.
	MaxHops int `json:"max_hops,omitempty"`
	// MaxRedirects is how many redirects and refreshes in a row are followed from a page, at least 1.
	MaxRedirects int `json:"max_redirects"`
}

// Canonical says which URLs are taken for one page: those that differ only in parameters that it names. The first that is found is asked for and archived as
// it is written; later ones count as links to it. A name may end in an asterisk; upper and lower case are the same. The zero Canonical, which crawls of
// earlier versions have, takes no two URLs for one but those that differ in sessions.
type Canonical struct {
	Parameters     []string `json:"parameters"`      // of the query: those that track visitors, and sessions
	PathParameters []string `json:"path_parameters"` // of names of the path: ";jsessionid=…"
	// SessionParameters are those of the query that count as sessions only if they look like one: 32 hexadecimal digits, for phpsessid 22 to 48 letters,
	// digits, commas and hyphens. nil, as in definitions of earlier versions, which took such sessions off all URLs: sid, s, jsessionid, phpsessid.
	SessionParameters []string `json:"session_parameters"`
}

// Sessions are the SessionParameters in force.
func (c Canonical) Sessions() []string {
	if c.SessionParameters == nil {
		return []string{"sid", "s", "jsessionid", "phpsessid"}
	}
	return c.SessionParameters
}

// DefaultCanonical are the parameters that common sites, mailers and advertisers use.
func DefaultCanonical() Canonical {
	return Canonical{
		Parameters: []string{
			"utm_*", "fbclid", "gclid", "gclsrc", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "ysclid", "twclid", "ttclid", "igshid", "igsh", "li_fat_id",
			"srsltid", "mc_cid", "mc_eid", "mkt_tok", "_ga", "_gl", "_hsenc", "_hsmi", "_openstat", "vero_id", "oly_anon_id", "oly_enc_id", "wickedid",
			"jsessionid", "phpsessid", "aspsessionid*", "cfid", "cftoken",
		},
		PathParameters:    []string{"jsessionid", "phpsessid"},
		SessionParameters: Canonical{}.Sessions(),
	}
}

// The update functions of Order: how the scores that a URL got from several pages become one
// (paper §4.4 and Table 1).
const (
	UpdateFirst = "first"
	UpdateLast  = "last"
	UpdateAvg   = "avg"
	UpdateMax   = "max"
	UpdateSum   = "sum"
)

// Updates are the update functions.
var Updates = []string{UpdateFirst, UpdateLast, UpdateAvg, UpdateMax, UpdateSum}

// The strategies of Order: what makes the priority of a link.
const (
	StrategyFused         = "fused"              // learned while the crawl runs, from everything that is known of a link
	StrategyWeighted      = "weighted"           // the average of the score parts by their weights (paper §4.2)
	StrategyBreadth       = "breadth-first"      // in the order of discovery
	StrategyContent       = "content"            // best first by the page (Batsakis et al. 2009)
	StrategyAnchor        = "anchor"             // … by the anchor
	StrategyContentAnchor = "content-anchor"     // … by both (Eq. 3)
	StrategyNBest         = "n-best-first"       // … the N best before their links are looked at (Menczer et al. 2004)
	StrategySynonyms      = "synonyms"           // … by what their words mean (Eq. 4)
	StrategyBroader       = "synonyms-broader"   // … broader and narrower terms among them
	StrategyShark         = "shark-search"       // Hersovici et al. 1998
	StrategyHMM           = "hmm"                // hidden Markov model (Eq. 5 and 6)
	StrategyHMMContent    = "hmm-content"        // … with the mean page of the topic
	StrategyHMMAnchor     = "hmm-content-anchor" // … by page and anchor
	StrategyPlaces        = "places"             // by the relevance of pages behind links with similar tag paths
)

// Strategies are the strategies of Order.
var Strategies = []string{
	StrategyFused, StrategyWeighted, StrategyBreadth, StrategyContent, StrategyAnchor, StrategyContentAnchor, StrategyNBest,
	StrategySynonyms, StrategyBroader, StrategyShark, StrategyHMM, StrategyHMMContent, StrategyHMMAnchor, StrategyPlaces,
}

// Order says how scores become priority (paper §5.1).
type Order struct {
	Strategy string `json:"strategy"` // one of Strategies
	// Thesaurus is a folder with a WordNet 3 database or a SKOS file (RDF/XML, Turtle, N-Triples), on the disk of the worker,
	// for the strategies that compare meanings of words. Empty: the folder of Debian's package wordnet-base.
	Thesaurus string `json:"thesaurus,omitempty"`
	// Seed is the seed of the random draws of an order that learns: the same crawl with the same seed has the same order.
	Seed     uint64 `json:"seed"`
	Update   string `json:"update"`    // first, last, avg, max or sum
	PerQueue int    `json:"per_queue"` // b_l: URLs taken from one queue together
	Batch    bool   `json:"batch"`     // batch prioritisation: the pages of a batch that cite a URL are scored as one
}

// Weights of the score parts, each ≥ 0; 0 turns a part off.
type Weights struct {
	Document  float64 `json:"document"`  // the page that the link is on
	Paragraph float64 `json:"paragraph"` // the paragraph around the link
	Anchor    float64 `json:"anchor"`    // the link's own text
	URL       float64 `json:"url"`       // URL patterns
	Tokens    float64 `json:"tokens"`    // words of the URL
	Entities  float64 `json:"entities"`  // names of the topic's entities, in the page and by the link
	History   float64 `json:"history"`   // the scores of the pages of the link's host and folder
	Language  float64 `json:"language"`  // whether the page is in a language of the topic, if any are named
	Freshness float64 `json:"freshness"` // how young the page is; halves with each year
	Spam      float64 `json:"spam"`      // a low score for pages that look like spam, no score for others
	Social    float64 `json:"social"`    // the score that the page was submitted with
	Helper    float64 `json:"helper"`    // the relevance that the helper expects behind the link
}

// Sum is the sum of all weights.
func (w Weights) Sum() float64 {
	return w.Document + w.Paragraph + w.Anchor + w.URL + w.Tokens + w.Entities + w.History + w.Language + w.Freshness + w.Spam + w.Social + w.Helper
}

// ByName are the weights by the names of the parts.
func (w Weights) ByName() map[PartName]float64 {
	v := reflect.ValueOf(w)
	m := make(map[PartName]float64, v.NumField())
	for i := range v.NumField() {
		m[PartName(jsonName(v.Type().Field(i)))] = v.Field(i).Float()
	}
	return m
}

// Budget bounds a run of the crawl. Every bound is at least 1; PerPLD 0 means no bound.
type Budget struct {
	Pages  int64    `json:"pages"`             // successful responses (2xx and 304), without requisites of pages and what is probably one
	Bytes  Bytes    `json:"bytes"`             // bytes on the wire
	Time   Duration `json:"time"`              // from the start of the run
	PerPLD int64    `json:"per_pld,omitempty"` // pages of one PLD
	// Requests bounds the answers of any kind: pages, redirects, errors, and repeated attempts. robots.txt, DNS and requisites are not
	// counted. 0: ten times the pages, and 1000 more.
	Requests int64 `json:"requests,omitempty"`
	// Requisites is how many images, style sheets, scripts and frames of one document are fetched with it, and, on the average, of one page with
	// all that those need. Requisites count neither as pages nor as requests. What pages probably need
	// (ClassSpeculative) has what they leave, and counts alike. Absent: 200. 0: none of both are fetched.
	Requisites *int64 `json:"requisites,omitempty"`
	// RequisiteBytes bounds what the requisites of a page take on the wire, on the average of the pages; it counts in Bytes, too. 0: 50 MB.
	RequisiteBytes Bytes `json:"requisite_bytes,omitempty"`
}

// The defaults of the budget of requisites.
const (
	DefaultRequisites     = 200
	DefaultRequisiteBytes = 50_000_000
)

// MaxRequisites is Requisites, or its default.
func (b Budget) MaxRequisites() int64 {
	if b.Requisites != nil {
		return *b.Requisites
	}
	return DefaultRequisites
}

// MaxRequisiteBytes is RequisiteBytes, or its default.
func (b Budget) MaxRequisiteBytes() int64 {
	if b.RequisiteBytes > 0 {
		return int64(b.RequisiteBytes)
	}
	return DefaultRequisiteBytes
}

// MaxRequests is Requests, or its default.
func (b Budget) MaxRequests() int64 {
	if b.Requests > 0 {
		return b.Requests
	}
	return requestsFor(b.Pages) + 1000
}

// MaxRequestsPerPLD is how many answers of any kind one PLD may give, where PerPLD bounds its pages; 0: any number.
func (b Budget) MaxRequestsPerPLD() int64 {
	if b.PerPLD == 0 {
		return 0
	}
	return requestsFor(b.PerPLD) + 100
}

// requestsFor bounds the requests for a number of pages. On the web at large one answer in ten or so is a redirect or an
// error; where ten in eleven are, a site has no end.
func requestsFor(pages int64) int64 { return 10 * min(pages, math.MaxInt64/20) }

// What the helper does with links (paper §4.1).
const (
	HelperStrict  = "strict"
	HelperLenient = "lenient"
	HelperOff     = "off"
)

// Which pages are opened in a browser.
const (
	BrowserNever  = "never"
	BrowserAuto   = "auto"
	BrowserAlways = "always"
)

// BrowserModes are the values of Definition.Browser; empty, as in definitions of earlier versions, is never.
var BrowserModes = []string{BrowserAuto, BrowserNever, BrowserAlways}

// Browses reports whether pages of the crawl are opened in a browser.
func (d *Definition) Browses() bool { return d.Browser == BrowserAuto || d.Browser == BrowserAlways }

// HelperModes are the values of Definition.Helper.
var HelperModes = []string{HelperStrict, HelperLenient, HelperOff}

// Politeness bounds the load on a host. The pause between two requests to a host is
// Factor times the last response time, at least MinDelay, at most MaxDelay; a Crawl-delay in
// robots.txt raises it (to at most MaxCrawlDelay).
type Politeness struct {
	MinDelay      Duration `json:"min_delay"`       // the shortest pause
	MaxDelay      Duration `json:"max_delay"`       // the longest pause, without Crawl-delay
	MaxCrawlDelay Duration `json:"max_crawl_delay"` // the longest Crawl-delay that is obeyed
	Factor        float64  `json:"factor"`          // of the last response time
	PerIP         int      `json:"per_ip"`          // claims that may ask one IP address at a time, over all crawls; more than 1 only where the workers' host groups allow it
	// Weight is how many turns the crawl gets, beside those of others, at an address that several want, and of the lanes of a worker
	// that runs more than two; 0 counts as 1.
	Weight int `json:"weight,omitempty"`
	// UserAgent is the product token and robots.txt name.
	UserAgent string `json:"user_agent"`
	// Contact is a URL or mail address at which webmasters can reach the operator.
	Contact string `json:"contact,omitempty"`
}

// Agent returns the User-Agent header: the product with its contact.
func (p Politeness) Agent() string {
	if p.Contact == "" {
		return p.UserAgent
	}
	return p.UserAgent + " (+" + p.Contact + ")"
}

// Reference is the reference crawl (paper §3): the topic vector is learned from its pages.
type Reference struct {
	// Pages is the size of the reference crawl; absent: a tenth of the page budget, at least 20 and at
	// most 500, or none where there is no topic. 0 turns it off.
	Pages *int64 `json:"pages,omitempty"`
}

// Recrawl bounds the interval of each page, from its last request to the next: it begins with the shortest, is halved when the page has changed,
// and doubled when it has not, or is 404 or 410. Runs between leave the page out. Seeds are asked in each run.
type Recrawl struct {
	// Min is the shortest interval.
	Min Duration `json:"min"`
	// Max is the longest interval.
	Max Duration `json:"max"`
}

// Adapts reports whether pages have intervals.
func (r Recrawl) Adapts() bool { return r.Max > 0 }

// Archive says where segments are stored, and names their operator.
type Archive struct {
	// Where is "s3://bucket/prefix" or a directory; empty: the archive in the worker's settings.
	Where string `json:"where,omitempty"`
	// Prefix is put before every key of the crawl.
	Prefix string `json:"prefix,omitempty"`
	// Operator is the person or institution that runs the crawl, for warcinfo.
	Operator string `json:"operator,omitempty"`
	// Digest is the algorithm of the digests of payloads and blocks, sha1 or sha256; empty: sha1. Payloads are compared with those of the same
	// algorithm alone.
	Digest string `json:"digest,omitempty"`
}

// The algorithms of digests in WARC files.
const (
	DigestSHA1   = "sha1"
	DigestSHA256 = "sha256"
)

// DefaultDefinition holds the default of every field.
func DefaultDefinition() Definition {
	return Definition{
		Topic: Topic{Threshold: 0.1},
		Scope: Scope{MaxRedirects: 20}, Canonical: DefaultCanonical(),
		Order: Order{Strategy: StrategyFused, Seed: 1, Update: UpdateMax, PerQueue: 20, Batch: false},
		Weights: Weights{
			Document: 1, Paragraph: 1, Anchor: 2, URL: 1, Tokens: 0.5, Entities: 1, History: 1, Language: 0.5, Spam: 2, Social: 1, Helper: 1,
		},
		Helper: HelperLenient,
		Budget: Budget{Pages: 10_000, Bytes: 100e9, Time: Duration(7 * 24 * time.Hour)},
		Politeness: Politeness{
			MinDelay: Duration(time.Second), MaxDelay: Duration(30 * time.Second),
			MaxCrawlDelay: Duration(time.Minute), Factor: 2, PerIP: 1, Weight: 1,
			UserAgent: "Muninn/1.0",
		},
		Robots: Robots{Policy: RobotsObey, NoFollow: RobotsObey},
	}
}

// ByPlaces reports whether what was learned of the places of links counts for the order.
func (d Definition) ByPlaces() bool {
	switch d.Order.Strategy {
	case StrategyPlaces:
		return !d.Topic.Empty()
	case StrategyWeighted:
		return !d.Topic.Empty() && d.Helper != HelperOff && d.Weights.Helper > 0
	}
	return false
}

// ReferencePages is the size of the reference crawl that the definition asks for.
func (d Definition) ReferencePages() int64 {
	switch {
	case d.Reference.Pages != nil:
		return min(*d.Reference.Pages, d.Budget.Pages)
	case d.Topic.Empty():
		return 0
	}
	return min(max(d.Budget.Pages/10, 20), 500, d.Budget.Pages/2)
}

// Inherit is the score of a link without any score part, on a page with a priority. Without a topic it is a little less than
// the priority, which makes the order breadth-first.
func (d Definition) Inherit(priority float64) float64 {
	if d.Topic.Empty() {
		return priority * 0.9
	}
	return priority
}

// Bound is Scope.Within, or its default.
func (d Definition) Bound() string {
	s := d.Scope
	switch {
	case s.Within != "":
		return s.Within
	case len(s.Hosts)+len(s.PLDs)+len(s.Include) > 0 || s.accepts():
		return WithinNothing
	case d.Topic.Empty():
		return WithinPLD
	}
	return WithinWeb
}

// The values of Scope.Within; WithinNothing stands for a scope that is made of rules only.
const (
	WithinHost    = "host"
	WithinPLD     = "pld"
	WithinWeb     = "web"
	WithinNothing = "rules"
)
