package page

import "testing"

func TestByline(t *testing.T) {
	for _, c := range []struct{ head, author, published string }{
		{``, "", ""},
		{`<meta name="author" content=" Ä.  Müller ">`, "Ä. Müller", ""},
		{`<meta property="article:author" content="https://example.org/mueller"><meta name="DC.creator" content="M">`, "M", ""},
		{`<meta name="date" content="2020"><meta property="article:published_time" content="2021-02-03"><meta name="pubdate" content="2019">`, "", "2021-02-03"},
		{`<meta itemprop="datePublished" content="2021-02-03"><meta name="citation_author" content="A"><meta name="author" content="B">`, "B", "2021-02-03"},
		{`<meta name="author" content=""><meta name="author" content="first"><meta name="author" content="second">`, "first", ""},
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
