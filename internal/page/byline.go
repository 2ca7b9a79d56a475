package page

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/muninn-archive/muninn/internal/urls"
)

// The names of meta elements that say something of a page, best first: those of Open Graph, of schema.org, of HTML, Dublin Core, Google
// Scholar, Parsely and others. "author" is often that of the site, so what is said of the article comes first. "date" comes last, as it may be that of a change.
var (
	authorNames = []string{"article:author", "author", "article.author", "dc.creator", "dcterms.creator", "dcterms.author", "citation_author", "citation_authors",
		"parsely-author", "sailthru.author", "author_name", "article:author_name", "og:article:author", "og:author", "authors", "dc.author", "rbauthors", "mediator_author", "bt:author",
		"cxenseparse:author", "byl"}
	publishedNames = []string{"article:published_time", "datepublished", "og:published_time", "article:published", "article.published", "rnews:datepublished", "dc.date.issued",
		"dcterms.issued", "dc.date.created", "dcterms.created", "dcterms.available", "published_at", "publishdate", "publish_date", "publish-date", "publication_date",
		"cxenseparse:recs:publishtime", "bt:pubdate", "citation_publication_date", "citation_date", "parsely-pub-date", "sailthru.date",
		"shareaholic:article_published_time", "article:publish_date", "article.published_time", "article_date_original", "originalpublicationdate", "og:article:published_time", "og:publish_date",
		"og:pubdate", "vr:published_time", "lp.article:published_time", "prism.publicationdate", "dcsext.articlefirstpublished", "date_published", "published-date", "published_date", "publisheddate",
		"published", "publicationdate", "publication-date", "pub_date", "pub-date", "pdate", "displaydate", "release_date", "articledate", "article_date", "weibo:article:create_at", "weibo: article:create_at",
		"cxense:publishtime", "publish_time", "publishtime", "pubtime", "ptime", "rbpubdate", "iso-8601-publish-date", "firstpublished", "first-published-date", "citation_online_date",
		"bepress_citation_online_date", "bepress_citation_date", "eprints.date", "datecreated", "date-created", "date.created", "creation_date", "creationdate", "gentime", "dc.date", "dcterms.date",
		"pubdate", "created", "date"}
	modifiedNames = []string{"article:modified_time", "datemodified", "og:updated_time", "dcterms.modified", "dc.date.modified", "article:modified", "article:updated_time", "article.updated",
		"last-modified", "last_modified", "lastmodified", "lastmod", "date.modified", "date-modified", "dateupdated", "revised"}
	titleNames   = []string{"og:title", "citation_title", "dc.title", "dcterms.title", "twitter:title"}
	siteNames    = []string{"og:site_name", "application-name"}
	summaryNames = []string{"description", "og:description", "dc.description"}
	imageNames   = []string{"og:image"}
)

// bylineNames are all of them with the kind of what they name and their place in its list.
var bylineNames = func() map[string]bylineName {
	all := map[string]bylineName{}
	for kind, names := range [][]string{authorNames, publishedNames, modifiedNames, titleNames, siteNames, summaryNames, imageNames} {
		for rank, name := range names {
			all[name] = bylineName{kind, rank}
		}
	}
	return all
}()

type bylineName struct{ kind, rank int }

const (
	maxByline     = 512 // bounds what Metadata has of one value, in bytes
	maxBylineName = 48  // and the name of an element, in bytes
	maxAuthors    = 20  // that a page's meta elements name
	maxAuthorMeta = 200 // such elements that are looked at: some name the site or a role first
	maxName       = 80  // letters of an author's name
)

// Metadata is what the elements of a page's head say of it, as it stands there; empty is what they do not say.
type Metadata struct {
	Author, Published, Modified, Title, Site, Summary, Image string
	Canonical                                                string // the reference of the page's own address
}

// Metadata reads the meta elements of a page, and its canonical link. A page without a tree says nothing. A value that cannot be the
// name of an author (IsAuthor) is none.
func (d *Document) Metadata() (m Metadata) {
	if d.Root == nil {
		return m
	}
	values := [...]*string{&m.Author, &m.Published, &m.Modified, &m.Title, &m.Site, &m.Summary, &m.Image}
	var best [len(values)]int
	for i := range best {
		best[i] = len(bylineNames)
	}
	var authors []authorName
	label, first := "", ""
	for n := range d.Root.Descendants() {
		if n.Type != html.ElementNode || n.DataAtom != atom.Meta {
			if n.DataAtom == atom.Link && m.Canonical == "" && strings.EqualFold(attr(n, "rel"), "canonical") {
				m.Canonical = whole(attr(n, "href"))
			}
			continue
		}
		for _, attribute := range []string{"name", "property", "itemprop"} {
			name := attr(n, attribute)
			if name == "" || len(name) > maxBylineName {
				continue
			}
			switch name {
			case "twitter:label1":
				label = attr(n, "content")
			case "twitter:data1":
				first = cut(attr(n, "content"), maxByline)
			}
			at, ok := bylineNames[strings.ToLower(name)]
			if !ok || at.rank > best[at.kind] || at.rank == best[at.kind] {
				continue
			}
			content := cut(attr(n, "content"), maxByline)
			if values[at.kind] == &m.Image {
				content = whole(attr(n, "content"))
			}
			value := string(bytes.TrimSpace(Fold(nil, content)))
			switch {
			case value == "":
			case at.kind == 0 && len(authors) == maxAuthorMeta:
			case at.kind == 0: // which of them is no name is known at the end of the head
				authors = append(authors, authorName{at.rank, value})
			default:
				*values[at.kind], best[at.kind] = value, at.rank
			}
		}
	}
	if first != "" && labelsAuthor(label) {
		authors = append(authors, authorName{len(authorNames), string(bytes.TrimSpace(Fold(nil, first)))})
	}
	m.Author = d.authors(authors, m.Site)
	return m
}

// labelsAuthor reports whether a label of a card of Twitter says "Written by" in some language, as the commonest program for such cards has it.
func labelsAuthor(label string) bool {
	label = strings.ToLower(label)
	for _, word := range []string{"written", "author", "geschrieben", "verfasst", "autor", "escrit", "écrit", "scritto", "geschreven", "skrevet", "skriven", "kirjoit", "napisa", "автор", "написа",
		"yazan", "oleh", "bởi", "作者", "執筆", "投稿者", "글쓴이"} {
		if strings.Contains(label, word) {
			return true
		}
	}
	return false
}

// whole is a URL, or nothing if it is longer than any that is followed: a part of it leads elsewhere.
func whole(url string) string {
	if len(url) > urls.MaxPage {
		return ""
	}
	return url
}

// authorName is what an element says is the author, with its place in authorNames.
type authorName struct {
	rank int
	name string
}

// authors joins the names of the elements of the first rank that has any; what is no name is left out, and what is there twice.
func (d *Document) authors(list []authorName, site string) string {
	host := urls.HostOf(d.URL)
	list = slices.DeleteFunc(list, func(a authorName) bool { return !IsAuthor(a.name, site, host) })
	best := len(authorNames)
	for _, a := range list {
		best = min(best, a.rank)
	}
	var out []string
	between := ", "
	for _, a := range list {
		name := a.name
		if a.rank != best || len(out) == maxAuthors { // each is compared with the others
			continue
		}
		twice := false
		for _, o := range out {
			twice = twice || strings.EqualFold(o, name)
		}
		if !twice {
			out = append(out, name)
		}
		if strings.Contains(name, ",") {
			between = "; "
		}
	}
	return cut(strings.Join(out, between), maxByline)
}

// IsAuthor reports whether a text may be the name of a page's author: neither an address nor the name of the site or of the role that
// programs give to their first user, not without letters and not longer than 80 letters. Site and host may be empty.
func IsAuthor(name, site, host string) bool {
	switch {
	case strings.Contains(name, "://") || strings.Contains(name, "www.") || strings.HasPrefix(name, "@") || utf8.RuneCountInString(name) > maxName:
		return false
	case strings.Contains(name, "/") && !strings.Contains(name, " "): // facebook.com/x
		return false
	case !strings.ContainsFunc(name, unicode.IsLetter):
		return false
	case strings.EqualFold(name, site) || strings.HasSuffix("."+host, "."+strings.ToLower(name)):
		return false
	}
	switch strings.ToLower(name) {
	case "admin", "administrator", "webmaster", "root", "unknown", "undefined", "null", "none", "author", "default":
		return false
	}
	return !strings.EqualFold(strings.ReplaceAll(name, " ", ""), label(host))
}

// label is the name in a host: that of www.the-raven.co.uk is the-raven.
func label(host string) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(host, "www."), ".")
	return name
}

// Byline is what the meta elements of a page say of its author and of the date of its publication, as they stand there; empty of a page that
// does not say so, or has no tree.
func (d *Document) Byline() (author, published string) {
	m := d.Metadata()
	return m.Author, m.Published
}
