package page

import (
	"fmt"
	"strings"
	"testing"

	"github.com/muninn-archive/muninn/internal/urls"
)

func TestByline(t *testing.T) {
	for _, c := range []struct{ head, author, published string }{
		{``, "", ""},
		{`<meta name="author" content=" Ä.  Müller ">`, "Ä. Müller", ""},
		{`<meta property="article:author" content="https://example.org/mueller"><meta name="DC.creator" content="M">`, "M", ""},
		{`<meta name="date" content="2020"><meta property="article:published_time" content="2021-02-03"><meta name="pubdate" content="2019">`, "", "2021-02-03"},
		{`<meta itemprop="datePublished" content="2021-02-03"><meta name="citation_author" content="A"><meta name="author" content="B">`, "B", "2021-02-03"},
		{`<meta name="author" content=""><meta name="author" content="first"><meta name="author" content="second">`, "first, second", ""},
		{`<meta name="author" content="The Tower"><meta property="og:site_name" content="The Tower">`, "", ""},
		{`<meta name="author" content="admin"><meta name="publish_date" content="2021-02-03"><meta name="date" content="2022-01-01">`, "", "2021-02-03"},
		{`<meta name="author" content="www.a.example">`, "", ""}, {`<meta name="author" content="A.example">`, "", ""}, {`<meta name="author" content="17">`, "", ""},
		{`<meta name="citation_author" content="Smith, Jane"><meta name="citation_author" content="Doe, John"><meta name="citation_author" content="smith, jane">`, "Smith, Jane; Doe, John", ""},
		{`<meta name="twitter:label1" content="Verfasst von"><meta name="twitter:data1" content="Hugo Munin"><meta name="displaydate" content="2021-02-03">`, "Hugo Munin", "2021-02-03"},
		{`<meta name="twitter:label1" content="Ort"><meta name="twitter:data1" content="Turm"><meta name="article_date_original" content="2021-02-03"><meta name="date" content="2022">`, "", "2021-02-03"},
		{`<meta name="last-modified" content="2021-02-03"><meta property="article:published" content="2020-02-03">`, "", "2020-02-03"},
		{`<meta property="article:author" content="The Tower"><meta name="author" content="Ann Corvi"><meta property="og:site_name" content="The Tower">`, "Ann Corvi", ""},
		{`<meta name="author" content="Ann Corvi"><meta property="article:author" content="@tower">`, "Ann Corvi", ""},
		{`<meta property="article:author" content="facebook.com/x"><meta name="author" content="Ann Corvi">`, "Ann Corvi", ""},
		{`<meta property="article:author" content="admin"><meta name="author" content="Ann Corvi">`, "Ann Corvi", ""},
	} {
		d := Parse(Input{URL: "http://a.example/", MIME: "text/html; charset=utf-8", Body: []byte("<html><head>" + c.head + "</head><body>x</body>")}, DefaultLimits())
		if author, published := d.Byline(); author != c.author || published != c.published {
			t.Errorf("%s: %q, %q", c.head, author, published)
		}
	}
	if author, published := (&Document{}).Byline(); author+published != "" {
		t.Errorf("a page without a tree: %q, %q", author, published)
	}
}

func TestHeadSays(t *testing.T) {
	head := `<link rel="canonical" href="/r"><meta property="og:title" content="Ravens"><meta name="description" content="They fly."><meta property="og:image" content="/r.png">
<meta property="article:modified_time" content="2021-02-03"><meta property="og:site_name" content="The Tower"><meta name="last-modified" content="2022-01-01">`
	d := Parse(Input{URL: "http://a.example/", MIME: "text/html; charset=utf-8", Body: []byte("<html><head>" + head + "</head><body>x</body>")}, DefaultLimits())
	want := Metadata{Modified: "2021-02-03", Title: "Ravens", Site: "The Tower", Summary: "They fly.", Image: "/r.png", Canonical: "/r"}
	if got := d.Metadata(); got != want {
		t.Errorf("%+v", got)
	}
}

// TestManyAuthors: authors are compared with each other, so there are few; a URL that is too long is none.
func TestManyAuthors(t *testing.T) {
	var b strings.Builder
	for i := range 3 * maxAuthors {
		fmt.Fprintf(&b, `<meta name="author" content="Raven %c%c">`, 'A'+i/26, 'a'+i%26)
	}
	b.WriteString(`<link rel="canonical" href="http://a.test/` + strings.Repeat("x", urls.MaxPage) + `"><meta property="og:image" content="http://a.test/` + strings.Repeat("y", 2*maxByline) + `">`)
	d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(b.String())}, DefaultLimits())
	m := d.Metadata()
	if n := strings.Count(m.Author, "Raven"); n != maxAuthors || m.Canonical != "" || len(m.Image) != len("http://a.test/")+2*maxByline {
		t.Errorf("%d authors, canonical of %d bytes, image of %d", n, len(m.Canonical), len(m.Image))
	}
}

// TestAuthorElements: of elements that name an author a bounded number is kept until it is known which of them name one.
func TestAuthorElements(t *testing.T) {
	for _, c := range []struct {
		before int
		author string
	}{{maxAuthorMeta - 1, "Ann Corvi"}, {maxAuthorMeta, ""}} {
		head := strings.Repeat(`<meta name="author" content="admin">`, c.before) + `<meta name="author" content="Ann Corvi">`
		d := Parse(Input{URL: "http://a.test/", MIME: "text/html", Body: []byte(head)}, DefaultLimits())
		if author, _ := d.Byline(); author != c.author {
			t.Errorf("behind %d others: %q, want %q", c.before, author, c.author)
		}
	}
}
